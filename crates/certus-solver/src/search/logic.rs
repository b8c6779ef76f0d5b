//! The formula as rows over the lowered graph, and which of them a subproblem must satisfy.

use certus_graph::{Graph, Interval};

use crate::bound::goal::Row;
use crate::bound::table::Range;
use crate::formula::{Atom, Formula};
use crate::query::place;
use crate::vnnlib::Variable;

/// Atoms and disjunctions that must hold together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub(crate) atoms: Vec<usize>,
    pub(crate) disjunctions: Vec<usize>,
}

/// A formula, taken apart. Atoms and disjunctions are numbered in preorder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Logic {
    pub(crate) rows: Vec<Row>,
    /// For each row, what it says when it is about a single element.
    ranges: Vec<Option<Range>>,
    pub(crate) disjunctions: Vec<Vec<Group>>,
    root: Group,
}

/// A disjunct that was chosen: (disjunction, disjunct).
pub(crate) type Choice = (u32, u32);

/// What must hold given some choices.
#[derive(Clone, Debug, Default)]
pub(crate) struct Core {
    /// Rows that must be ≤ 0.
    pub(crate) rows: Vec<usize>,
    /// Disjunctions that must hold and are not decided.
    pub(crate) pending: Vec<usize>,
}

impl Logic {
    /// Takes a formula over the inputs and outputs of a graph apart.
    pub(crate) fn new(graph: &Graph, formula: &Formula<Variable>) -> Logic {
        let mut logic = Logic::default();
        let mut root = Group::default();
        logic.collect(graph, formula, &mut root);
        logic.root = root;
        logic
    }

    fn collect(&mut self, graph: &Graph, formula: &Formula<Variable>, group: &mut Group) {
        match formula {
            Formula::Atom(atom) => {
                group.atoms.push(self.rows.len());
                let row = row(graph, atom);
                self.ranges.push(range(&row, atom));
                self.rows.push(row);
            }
            Formula::And(parts) => parts.iter().for_each(|part| self.collect(graph, part, group)),
            Formula::Or(parts) => {
                let number = self.disjunctions.len();
                group.disjunctions.push(number);
                self.disjunctions.push(Vec::new());
                for part in parts {
                    let mut disjunct = Group::default();
                    self.collect(graph, part, &mut disjunct);
                    self.disjunctions[number].push(disjunct);
                }
            }
        }
    }

    /// What must hold given some choices.
    pub(crate) fn core(&self, choices: &[Choice]) -> Core {
        let mut core = Core::default();
        let mut groups = vec![&self.root];
        while let Some(group) = groups.pop() {
            core.rows.extend(&group.atoms);
            for &number in &group.disjunctions {
                match choices.iter().find(|choice| choice.0 as usize == number) {
                    Some(&(_, disjunct)) => groups.push(&self.disjunctions[number][disjunct as usize]),
                    None => core.pending.push(number),
                }
            }
        }
        core.rows.sort_unstable();
        core.pending.sort_unstable();
        core
    }

    /// Takes a row about a single element for what it is, because its constant will move.
    pub(crate) fn forget_range(&mut self, row: usize) {
        self.ranges[row] = None;
    }

    /// The ranges that rows about single elements fix.
    pub(crate) fn ranges<'a>(&'a self, rows: &'a [usize]) -> impl Iterator<Item = Range> + 'a {
        rows.iter().filter_map(|&row| self.ranges[row])
    }
}

/// An atom with its variables as elements of nodes. Coefficients that are no doubles, or variables that are one node, keep what they
/// may differ by.
fn row(graph: &Graph, atom: &Atom<Variable>) -> Row {
    let mut terms: Vec<(usize, usize, Interval)> = Vec::new();
    for (variable, coefficient) in &atom.linear.terms {
        let Some(place) = place(graph, variable) else { continue };
        let (node, element) = (place.node.index(), place.element);
        match terms.iter_mut().find(|term| term.0 == node && term.1 == element) {
            Some(term) => term.2 = term.2 + *coefficient,
            None => terms.push((node, element, *coefficient)),
        }
    }
    let terms = terms.into_iter().map(|(node, element, wanted)| {
        let middle = wanted.lo / 2.0 + wanted.hi / 2.0;
        let radius = (wanted - Interval::point(middle)).magnitude();
        (node, element, middle, radius)
    });
    Row {
        terms: terms.filter(|term| term.2 != 0.0 || term.3 != 0.0).collect(),
        constant: atom.linear.constant.lo,
        strict: atom.strict,
    }
}

/// c·v + k ≤ 0 as a range of v.
fn range(row: &Row, atom: &Atom<Variable>) -> Option<Range> {
    let &[(node, element, coefficient, radius)] = row.terms.as_slice() else { return None };
    let coefficient = Interval::point(coefficient).widen(radius);
    let end = -atom.linear.constant / coefficient;
    if coefficient.lo > 0.0 {
        Some(Range { node, element, lo: f64::NEG_INFINITY, hi: end.hi })
    } else if coefficient.hi < 0.0 {
        Some(Range { node, element, lo: end.lo, hi: f64::INFINITY })
    } else {
        None
    }
}
