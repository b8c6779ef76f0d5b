//! The state of a search as text, so that it can go on another day.
//!
//! ```text
//! certus-search 2
//! strategy input-splits
//! verified 12 0.375 0
//! subproblem <share> <bound> <refine>
//! box <lower> <upper> …
//! range <node> <element> <lo> <hi>
//! choice <disjunction> <disjunct>
//! proof <lines>
//! …
//! end <checksum>
//! ```
//!
//! A subproblem that got lost would be taken for verified, so nothing is read whose checksum (FNV-1a of all that stands before the
//! last line) does not fit.
//!
//! Open subproblems stand in the order in which they were open; verified ones are only counted. Inherited bounds are not kept: they are
//! found again.

use std::fmt::{self, Write as _};

use super::Budget;
use super::Search;
use super::proof::Proof;
use super::run::Run;
use super::strategy::Strategy;
use super::subproblem::Subproblem;
use crate::answer::Progress;
use crate::bound::table::Range;

/// The state of a search.
#[derive(Clone, Debug)]
pub struct Saved {
    strategy: Strategy,
    progress: Progress,
    stuck: bool,
    open: Vec<Subproblem>,
    /// The proof so far, with `open` where the subproblems stand, in their order.
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

const VERSION: &str = "certus-search 2";

/// The last line behind a text: its checksum.
fn ending(body: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("end {:016x}\n", body.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

/// What stands before the last line, if that fits it.
fn checked(text: &str) -> Option<&str> {
    let last = text.strip_suffix('\n')?.rfind('\n')? + 1;
    let (body, end) = text.split_at(last);
    (end == ending(body)).then_some(body)
}

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
        let mut open: Vec<Subproblem> = run
            .open
            .iter()
            .map(|subproblem| Subproblem { known: None, warm: Vec::new(), ..subproblem.clone() })
            .collect();
        // Once a subproblem could not be split any further no certificate comes of it.
        let proof = run.proof.as_ref().filter(|_| !run.stuck).map(|proof| {
            let (text, places) = proof.beginning();
            let order = |subproblem: &Subproblem| places.iter().position(|&place| place == subproblem.proof);
            open.sort_by_cached_key(order);
            text
        });
        // A subproblem without the bounds that it inherited needs bounds of its own.
        open.iter_mut().for_each(|subproblem| subproblem.refine = true);
        Saved { strategy: run.strategy, progress: run.state, stuck: run.stuck, open, proof }
    }

    pub(super) fn resume(mut self, search: &Search<'_>, budget: &Budget<'_>) -> Run {
        let proof = self.proof.take().filter(|_| budget.certify).map(|text| Proof::resumed(text, self.open.len()));
        for (place, subproblem) in self.open.iter_mut().enumerate() {
            subproblem.proof = place as u32;
        }
        let state = self.progress();
        let mut run = Run::from_subproblems(search, self.strategy, self.open, proof);
        run.state = state;
        run.stuck = self.stuck;
        run
    }

    /// The state as text.
    pub fn print(&self) -> String {
        let mut text = format!("{VERSION}\n");
        let strategy = match self.strategy {
            Strategy::InputSplits => "input-splits",
            Strategy::NeuronSplits => "neuron-splits",
            Strategy::StrongBranching => "strong-branching",
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "strategy {strategy}");
        let _ = writeln!(text, "verified {} {:?} {}", self.progress.verified, self.progress.done, u8::from(self.stuck));
        for subproblem in &self.open {
            let _ = writeln!(
                text,
                "subproblem {:?} {:?} {}",
                subproblem.share,
                subproblem.bound,
                u8::from(subproblem.refine)
            );
            text.push_str("box");
            for (low, high) in subproblem.lower.iter().zip(&subproblem.upper) {
                let _ = write!(text, " {low:?} {high:?}");
            }
            text.push('\n');
            for range in &subproblem.ranges {
                let _ = writeln!(text, "range {} {} {:?} {:?}", range.node, range.element, range.lo, range.hi);
            }
            for (number, disjunct) in &subproblem.choices {
                let _ = writeln!(text, "choice {number} {disjunct}");
            }
        }
        if let Some(proof) = &self.proof {
            let _ = writeln!(text, "proof {}", proof.lines().count());
            text.push_str(proof);
        }
        let end = ending(&text);
        text + &end
    }

    /// Reads what [`Saved::print`] wrote. Whether it belongs to a query is for [`Saved::fits`] to say.
    pub fn parse(text: &str) -> Result<Saved, SavedError> {
        let fail = |line: usize, message: &str| SavedError { line: line + 1, message: message.to_string() };
        if text.lines().next() != Some(VERSION) {
            return Err(fail(0, "not a saved search of this version"));
        }
        let Some(body) = checked(text) else {
            return Err(fail(text.lines().count().saturating_sub(1), "the file is incomplete or was changed"));
        };
        let mut lines = body.lines().enumerate().skip(1);
        let mut saved = Saved {
            strategy: Strategy::InputSplits,
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
                "strategy" if words.get(1) == Some(&"input-splits") => saved.strategy = Strategy::InputSplits,
                "strategy" if words.get(1) == Some(&"neuron-splits") => saved.strategy = Strategy::NeuronSplits,
                "strategy" if words.get(1) == Some(&"strong-branching") => saved.strategy = Strategy::StrongBranching,
                "verified" => {
                    saved.progress = Progress { verified: count(1)? as u64, done: float(2)?, ..Progress::default() };
                    saved.stuck = count(3)? != 0;
                }
                "subproblem" => {
                    let (share, bound, refine) = (float(1)?, float(2)?, count(3)? != 0);
                    saved.open.push(Subproblem { share, bound, refine, ..Subproblem::default() });
                }
                "box" => {
                    let Some(subproblem) = last else { return Err(fail(number, "a box without its subproblem")) };
                    for pair in 0..(words.len() - 1) / 2 {
                        subproblem.lower.push(float(1 + 2 * pair)?);
                        subproblem.upper.push(float(2 + 2 * pair)?);
                    }
                }
                "range" => {
                    let Some(subproblem) = last else { return Err(fail(number, "a range without its subproblem")) };
                    subproblem.ranges.push(Range { node: count(1)?, element: count(2)?, lo: float(3)?, hi: float(4)? });
                }
                "choice" => {
                    let Some(subproblem) = last else { return Err(fail(number, "a choice without its subproblem")) };
                    let small = |at: usize| u32::try_from(count(at)?).map_err(|_| fail(number, "a count is too large"));
                    subproblem.choices.push((small(1)?, small(2)?));
                }
                "proof" => {
                    let mut proof = String::new();
                    for _ in 0..count(1)? {
                        let Some((_, line)) = lines.next() else {
                            return Err(fail(number, "the proof is split short"));
                        };
                        proof.push_str(line);
                        proof.push('\n');
                    }
                    saved.proof = Some(proof);
                }
                _ => return Err(fail(number, "this line is not understood")),
            }
        }
        Ok(saved)
    }

    /// Whether the subproblems are subproblems of this query's region, by their sizes and numbers.
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
        let inside = |subproblem: &Subproblem| {
            let ends = subproblem.lower.iter().zip(&subproblem.upper).zip(region.lower.iter().zip(&region.upper));
            subproblem.lower.len() == region.lower.len()
                && ends.clone().all(|((low, high), (first, last))| first <= low && low <= high && high <= last)
        };
        let open = self.proof.as_ref().map(|proof| proof.lines().filter(|line| *line == "open").count());
        open.is_none_or(|open| open == self.open.len())
            && self.open.iter().all(|subproblem| {
                inside(subproblem) && subproblem.ranges.iter().all(range) && subproblem.choices.iter().all(choice)
            })
    }
}
