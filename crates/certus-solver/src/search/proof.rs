//! The branch tree of a search, with what refutes each leaf.

use std::fmt::Write as _;

use crate::bound::goal::Multiplier;
use crate::bound::optimise_slopes::OptimisedBound;
use crate::relaxation::Alpha;

/// A weighted sum of rows and ranges with the alphas of its lines: what a bound was computed for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Combination {
    pub(crate) rows: Vec<(usize, f64)>,
    pub(crate) multipliers: Vec<Multiplier>,
    pub(crate) alphas: Vec<(usize, usize, Alpha)>,
}

impl Combination {
    /// One row alone.
    pub(crate) fn row(row: usize) -> Self {
        Combination { rows: vec![(row, 1.0)], ..Combination::default() }
    }

    /// What an optimised bound was computed for.
    pub(crate) fn optimised(optimised: &OptimisedBound) -> Self {
        Combination {
            rows: optimised.rows.clone(),
            multipliers: optimised.multipliers.clone(),
            alphas: optimised.alphas.clone(),
        }
    }
}

/// A new bound of an input: its number, whether it is an upper one, and the value.
pub(crate) type Claim = (usize, bool, f64);

/// One step of a proof.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Record {
    /// Bounds are computed.
    Bound,
    /// Bounds are computed, and those of what curves read refined; subproblems of this one inherit them where `true`.
    Refine(bool),
    /// The inputs are bounded by what a combination forbids.
    Clip(Combination, Vec<Claim>),
    /// An input is split.
    SplitInput(usize, f64),
    /// An element's range is split.
    SplitNode(usize, usize, f64),
    /// One child per disjunct.
    Either(usize),
    /// The combination is positive everywhere in the subproblem.
    Close(Combination),
    /// Nothing is left of the subproblem.
    Empty,
}

/// What became of a subproblem.
#[derive(Clone, Debug)]
pub(crate) enum Tree<P> {
    /// It was verified.
    Leaf(Record),
    /// It is verified when the rest is.
    Then(Record, Box<Tree<P>>),
    /// It is verified when all of these are.
    Branch(Record, Vec<Tree<P>>),
    /// It is open.
    Open(P),
    /// It is open and cannot be split any further.
    Stuck,
}

/// The tree of a whole search: nodes that refer to each other by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proof {
    nodes: Vec<Entry>,
    beginning: Option<String>,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    record: Option<Record>,
    children: Vec<u32>,
}

impl Proof {
    /// A place that is not decided yet.
    pub(crate) fn open(&mut self) -> u32 {
        self.nodes.push(Entry::default());
        (self.nodes.len() - 1) as u32
    }

    /// Decides a place.
    pub(crate) fn set(&mut self, place: u32, record: Record, children: Vec<u32>) {
        self.nodes[place as usize] = Entry { record: Some(record), children };
    }

    /// A proof whose beginning was written earlier, with `open` where subproblems were open; those are places 0, 1, ….
    pub(crate) fn resumed(beginning: String, open: usize) -> Proof {
        Proof { nodes: vec![Entry::default(); open], beginning: Some(beginning) }
    }

    /// The records in preorder, one line each; nothing if a place is open.
    pub(crate) fn text(&self) -> Option<String> {
        let mut text = String::new();
        self.write(&mut text, &mut |_, _| None)?;
        Some(text)
    }

    /// The same with `open` for the open places, and these in their order.
    pub(crate) fn beginning(&self) -> (String, Vec<u32>) {
        let (mut text, mut places) = (String::new(), Vec::new());
        let mut note = |place: u32, out: &mut String| {
            out.push_str("open\n");
            places.push(place);
            Some(())
        };
        // Open places are noted, so nothing is missing.
        let _ = self.write(&mut text, &mut note);
        (text, places)
    }

    fn write(&self, out: &mut String, open: &mut dyn FnMut(u32, &mut String) -> Option<()>) -> Option<()> {
        let Some(beginning) = &self.beginning else { return self.write_from(0, out, open) };
        let mut place = 0;
        for line in beginning.lines() {
            if line == "open" {
                self.write_from(place, out, open)?;
                place += 1;
            } else {
                out.push_str(line);
                out.push('\n');
            }
        }
        Some(())
    }

    fn write_from(
        &self,
        place: u32,
        out: &mut String,
        open: &mut dyn FnMut(u32, &mut String) -> Option<()>,
    ) -> Option<()> {
        let mut stack = vec![place];
        while let Some(place) = stack.pop() {
            let entry = self.nodes.get(place as usize)?;
            match &entry.record {
                Some(record) => write_record(record, out),
                None => open(place, out)?,
            }
            stack.extend(entry.children.iter().rev());
        }
        Some(())
    }
}

fn write_record(record: &Record, out: &mut String) {
    // Writing to a string does not fail.
    let _ = match record {
        Record::Bound => writeln!(out, "bound"),
        Record::Refine(keep) => writeln!(out, "{}", if *keep { "refine keep" } else { "refine" }),
        Record::Clip(combination, claims) => {
            write_combination("clip", combination, out);
            for (input, upper, value) in claims {
                let _ = write!(out, " ; x{input} {} {value:?}", if *upper { "<=" } else { ">=" });
            }
            writeln!(out)
        }
        Record::SplitInput(input, at) => writeln!(out, "split input {input} {at:?}"),
        Record::SplitNode(node, element, at) => writeln!(out, "split node {node} {element} {at:?}"),
        Record::Either(number) => writeln!(out, "either {number}"),
        Record::Close(combination) => {
            write_combination("close", combination, out);
            writeln!(out)
        }
        Record::Empty => writeln!(out, "empty"),
    };
}

fn write_combination(word: &str, combination: &Combination, out: &mut String) {
    out.push_str(word);
    for (row, weight) in combination.rows.iter().filter(|(_, weight)| *weight > 0.0) {
        let _ = write!(out, " a{row}:{weight:?}");
    }
    for m in combination.multipliers.iter().filter(|m| m.weight > 0.0) {
        let _ = write!(out, " n{}.{}:{:?}", m.node, m.element, if m.from_below { -m.weight } else { m.weight });
    }
    for (node, element, alpha) in &combination.alphas {
        let _ = write!(out, " t{node}.{element}:{:?}/{:?}", alpha.lower, alpha.upper);
    }
}
