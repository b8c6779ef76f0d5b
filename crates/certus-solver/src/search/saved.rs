//! The state of a search as text, so that it can go on another day.
//!
//! ```text
//! certus-search 1
//! strategy inputs
//! closed 12 0.375 0
//! part <share> <bound> <refine>
//! box <lower> <upper> …
//! range <node> <element> <lo> <hi>
//! choice <disjunction> <disjunct>
//! proof <lines>
//! …
//! ```
//!
//! Open parts stand in the order in which they were open; closed ones are only counted. Bounds that a larger part lent are not kept: they are found
//! again.

use std::fmt::{self, Write as _};

use super::Budget;
use super::Search;
use super::examine::Strategy;
use super::part::Part;
use super::proof::Proof;
use super::run::Run;
use crate::answer::Progress;
use crate::bound::table::Range;

/// The state of a search.
#[derive(Clone, Debug)]
pub struct Saved {
    strategy: Strategy,
    progress: Progress,
    stuck: bool,
    open: Vec<Part>,
    /// The proof so far, with `open` where the parts stand, in their order.
    proof: Option<String>,
}

/// Why a text is no state of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for SavedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for SavedError {}

const VERSION: &str = "certus-search 1";

impl Saved {
    /// How far the search was.
    pub fn progress(&self) -> Progress {
        Progress { open: self.open.len() as u64, ..self.progress }
    }

    /// Whether a certificate can be completed from here.
    pub fn has_proof(&self) -> bool {
        self.proof.is_some()
    }

    pub(super) fn of(run: &Run) -> Saved {
        let mut open: Vec<Part> =
            run.open.iter().map(|part| Part { known: None, warm: Vec::new(), ..part.clone() }).collect();
        let proof = run.proof.as_ref().map(|proof| {
            let (text, places) = proof.beginning();
            let order = |part: &Part| places.iter().position(|&place| place == part.proof);
            open.sort_by_cached_key(order);
            text
        });
        // A part without the bounds that it inherited needs bounds of its own.
        open.iter_mut().for_each(|part| part.refine = true);
        Saved { strategy: run.strategy, progress: run.state, stuck: run.stuck, open, proof }
    }

    pub(super) fn resume(mut self, search: &Search<'_>, budget: &Budget<'_>) -> Run {
        let proof = self.proof.take().filter(|_| budget.certify).map(|text| Proof::resumed(text, self.open.len()));
        for (place, part) in self.open.iter_mut().enumerate() {
            part.proof = place as u32;
        }
        let mut run = Run::from_parts(search, self.strategy, self.open, proof);
        run.state = self.progress;
        run.stuck = self.stuck;
        run
    }

    /// The state as text.
    pub fn print(&self) -> String {
        let mut text = format!("{VERSION}\n");
        let strategy = match self.strategy {
            Strategy::Inputs => "inputs",
            Strategy::Nodes => "nodes",
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "strategy {strategy}");
        let _ = writeln!(text, "closed {} {:?} {}", self.progress.closed, self.progress.done, u8::from(self.stuck));
        for part in &self.open {
            let _ = writeln!(text, "part {:?} {:?} {}", part.share, part.bound, u8::from(part.refine));
            text.push_str("box");
            for (low, high) in part.lower.iter().zip(&part.upper) {
                let _ = write!(text, " {low:?} {high:?}");
            }
            text.push('\n');
            for range in &part.ranges {
                let _ = writeln!(text, "range {} {} {:?} {:?}", range.node, range.element, range.lo, range.hi);
            }
            for (number, disjunct) in &part.choices {
                let _ = writeln!(text, "choice {number} {disjunct}");
            }
        }
        if let Some(proof) = &self.proof {
            let _ = writeln!(text, "proof {}", proof.lines().count());
            text.push_str(proof);
        }
        text.push_str("end\n");
        text
    }

    /// Reads what [`Saved::print`] wrote. Whether it belongs to a query is for [`Saved::fits`] to say.
    pub fn parse(text: &str) -> Result<Saved, SavedError> {
        let mut lines = text.lines().enumerate();
        let fail = |line: usize, message: &str| SavedError { line: line + 1, message: message.to_string() };
        match lines.next() {
            Some((_, VERSION)) => {}
            _ => return Err(fail(0, "this is no saved search of this version")),
        }
        let mut saved = Saved {
            strategy: Strategy::Inputs,
            progress: Progress::default(),
            stuck: false,
            open: Vec::new(),
            proof: None,
        };
        while let Some((number, line)) = lines.next() {
            let words: Vec<&str> = line.split(' ').collect();
            let float = |at: usize| -> Result<f64, SavedError> {
                let value = words.get(at).and_then(|word| word.parse::<f64>().ok()).filter(|value| !value.is_nan());
                value.ok_or_else(|| fail(number, "a number is missing"))
            };
            let count = |at: usize| -> Result<usize, SavedError> {
                words.get(at).and_then(|word| word.parse().ok()).ok_or_else(|| fail(number, "a count is missing"))
            };
            let last = saved.open.last_mut();
            match words[0] {
                "strategy" if words.get(1) == Some(&"inputs") => saved.strategy = Strategy::Inputs,
                "strategy" if words.get(1) == Some(&"nodes") => saved.strategy = Strategy::Nodes,
                "closed" => {
                    saved.progress = Progress { closed: count(1)? as u64, done: float(2)?, ..Progress::default() };
                    saved.stuck = count(3)? != 0;
                }
                "part" => {
                    let (share, bound, refine) = (float(1)?, float(2)?, count(3)? != 0);
                    saved.open.push(Part { share, bound, refine, ..Part::default() });
                }
                "box" => {
                    let Some(part) = last else { return Err(fail(number, "a box without its part")) };
                    for pair in 0..(words.len() - 1) / 2 {
                        part.lower.push(float(1 + 2 * pair)?);
                        part.upper.push(float(2 + 2 * pair)?);
                    }
                }
                "range" => {
                    let Some(part) = last else { return Err(fail(number, "a range without its part")) };
                    part.ranges.push(Range { node: count(1)?, element: count(2)?, lo: float(3)?, hi: float(4)? });
                }
                "choice" => {
                    let Some(part) = last else { return Err(fail(number, "a choice without its part")) };
                    part.choices.push((count(1)? as u32, count(2)? as u32));
                }
                "proof" => {
                    let mut proof = String::new();
                    for _ in 0..count(1)? {
                        let Some((_, line)) = lines.next() else { return Err(fail(number, "the proof is cut short")) };
                        proof.push_str(line);
                        proof.push('\n');
                    }
                    saved.proof = Some(proof);
                }
                "end" => return Ok(saved),
                _ => return Err(fail(number, "this line is not understood")),
            }
        }
        Err(fail(text.lines().count(), "the end is missing"))
    }

    /// Whether the parts are parts of this query's region, by their sizes and numbers.
    pub fn fits(&self, query: &crate::Query) -> bool {
        let region = &query.region;
        let nodes = query.lowered.nodes();
        let logic = super::Logic::new(&query.lowered, &query.formula);
        let choice = |&(number, disjunct): &(u32, u32)| {
            logic.disjunctions.get(number as usize).is_some_and(|own| (disjunct as usize) < own.len())
        };
        let range = |range: &Range| {
            nodes.get(range.node).is_some_and(|node| range.element < node.shape.iter().product())
                && range.lo <= range.hi
        };
        let inside = |part: &Part| {
            let ends = part.lower.iter().zip(&part.upper).zip(region.lower.iter().zip(&region.upper));
            part.lower.len() == region.lower.len()
                && ends.clone().all(|((low, high), (first, last))| first <= low && low <= high && high <= last)
        };
        let open = self.proof.as_ref().map(|proof| proof.lines().filter(|line| *line == "open").count());
        open.is_none_or(|open| open == self.open.len())
            && self
                .open
                .iter()
                .all(|part| inside(part) && part.ranges.iter().all(range) && part.choices.iter().all(choice))
    }
}
