//! A tableau: what a formula asks of the letter at hand, and of the word behind it.
//!
//! A node is a set of formulas that the word from here on has to satisfy. Each edge is one way to satisfy them: truth
//! values of some atoms now, a set of formulas for the next step, and the `U` formulas whose end is put off. A word
//! satisfies the formula if some path for it puts nothing off for ever.

use std::collections::{BTreeSet, HashMap};

use crate::formula::{Formula, Steps};
use crate::graph::{self, Edge};

/// Tableaux do not grow beyond this.
const MOST_NODES: usize = 20_000;

/// A formula in negation normal form, by its place in a table.
type Id = usize;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Normal {
    Constant(bool),
    Literal(usize, bool),
    And(Id, Id),
    Or(Id, Id),
    Next(Id),
    Until(Steps, Id, Id),
    Release(Steps, Id, Id),
}

/// One way to satisfy a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// Atoms that are true now, as bits.
    pub positive: u64,
    /// Atoms that are false now, as bits.
    pub negative: u64,
    /// The node behind.
    pub to: usize,
    /// The `U` formulas whose end is put off, as bits.
    pub put_off: u64,
}

impl Way {
    /// Whether it goes with a letter, of which some atoms may have no value.
    pub fn fits(&self, letter: &[Option<bool>]) -> bool {
        letter.iter().enumerate().all(|(atom, truth)| match truth {
            Some(true) => self.negative >> atom & 1 == 0,
            Some(false) => self.positive >> atom & 1 == 0,
            None => true,
        })
    }
}

/// A tableau. Its first node is where words begin.
#[derive(Clone, Debug)]
pub(crate) struct Tableau {
    /// The ways to satisfy each node.
    pub ways: Vec<Vec<Way>>,
    /// Whether some word satisfies the node.
    pub satisfiable: Vec<bool>,
}

impl Tableau {
    /// The tableau of a formula.
    pub fn new(formula: &Formula) -> Result<Tableau, String> {
        let mut table = Table::default();
        let root = table.normal(formula, true);
        let mut nodes: Vec<BTreeSet<Id>> = vec![BTreeSet::from([root])];
        let mut index: HashMap<BTreeSet<Id>, usize> = HashMap::from([(nodes[0].clone(), 0)]);
        let mut ways: Vec<Vec<Way>> = Vec::new();
        while ways.len() < nodes.len() {
            let mut covers = Vec::new();
            let todo = nodes[ways.len()].iter().copied().collect();
            table.cover(todo, Cover::default(), &mut covers)?;
            let mut own = Vec::new();
            for cover in covers {
                let to = *index.entry(cover.next.clone()).or_insert_with(|| {
                    nodes.push(cover.next);
                    nodes.len() - 1
                });
                let way = Way { positive: cover.positive, negative: cover.negative, to, put_off: cover.put_off };
                if !own.contains(&way) {
                    own.push(way);
                }
            }
            ways.push(own);
            if nodes.len() > MOST_NODES {
                return Err("the tableau is too large".to_owned());
            }
        }
        let edges: Vec<Vec<Edge>> =
            ways.iter().map(|own| own.iter().map(|way| Edge { to: way.to, put_off: way.put_off }).collect()).collect();
        Ok(Tableau { satisfiable: graph::live(&edges), ways })
    }

    /// The satisfiable nodes behind a letter, from some nodes.
    pub fn behind(&self, nodes: &[usize], letter: &[Option<bool>]) -> Vec<usize> {
        let mut behind: Vec<usize> = nodes
            .iter()
            .flat_map(|node| &self.ways[*node])
            .filter(|way| self.satisfiable[way.to] && way.fits(letter))
            .map(|way| way.to)
            .collect();
        behind.sort_unstable();
        behind.dedup();
        behind
    }

    /// Where words begin, if any word satisfies the formula.
    pub fn beginning(&self) -> Vec<usize> {
        if self.satisfiable[0] { vec![0] } else { Vec::new() }
    }
}

#[derive(Clone, Debug, Default)]
struct Cover {
    positive: u64,
    negative: u64,
    next: BTreeSet<Id>,
    put_off: u64,
}

#[derive(Debug, Default)]
struct Table {
    formulas: Vec<Normal>,
    known: HashMap<Normal, Id>,
    /// The unbounded `U` formulas, in the order of their bits.
    promises: Vec<Id>,
}

impl Table {
    fn id(&mut self, formula: Normal) -> Id {
        if let Some(id) = self.known.get(&formula) {
            return *id;
        }
        let id = self.formulas.len();
        if matches!(formula, Normal::Until(Steps { upper: None, .. }, ..)) {
            self.promises.push(id);
        }
        self.known.insert(formula.clone(), id);
        self.formulas.push(formula);
        id
    }

    /// A formula, or its negation, in normal form.
    fn normal(&mut self, formula: &Formula, positive: bool) -> Id {
        let normal = match formula {
            Formula::Constant(truth) => Normal::Constant(*truth == positive),
            Formula::Atom(atom) => Normal::Literal(*atom, positive),
            Formula::Not(inner) => return self.normal(inner, !positive),
            Formula::Next(inner) => Normal::Next(self.normal(inner, positive)),
            Formula::And(left, right) | Formula::Or(left, right) => {
                let conjunction = matches!(formula, Formula::And(..)) == positive;
                let (left, right) = (self.normal(left, positive), self.normal(right, positive));
                if conjunction { Normal::And(left, right) } else { Normal::Or(left, right) }
            }
            Formula::Until(steps, left, right) | Formula::Release(steps, left, right) => {
                let until = matches!(formula, Formula::Until(..)) == positive;
                let (left, right) = (self.normal(left, positive), self.normal(right, positive));
                if until { Normal::Until(*steps, left, right) } else { Normal::Release(*steps, left, right) }
            }
        };
        self.id(normal)
    }

    /// Every way to satisfy the formulas that are left to do.
    fn cover(&mut self, mut todo: Vec<Id>, mut cover: Cover, found: &mut Vec<Cover>) -> Result<(), String> {
        let Some(formula) = todo.pop() else {
            found.push(cover);
            return if found.len() > MOST_NODES { Err("the tableau is too large".to_owned()) } else { Ok(()) };
        };
        match self.formulas[formula].clone() {
            Normal::Constant(false) => Ok(()),
            Normal::Constant(true) => self.cover(todo, cover, found),
            Normal::Literal(atom, positive) => {
                if atom >= 64 {
                    return Err("there are too many atoms".to_owned());
                }
                if positive {
                    cover.positive |= 1 << atom;
                } else {
                    cover.negative |= 1 << atom;
                }
                if cover.positive & cover.negative != 0 { Ok(()) } else { self.cover(todo, cover, found) }
            }
            Normal::And(left, right) => {
                todo.extend([left, right]);
                self.cover(todo, cover, found)
            }
            Normal::Or(left, right) => {
                let mut other = todo.clone();
                other.push(left);
                todo.push(right);
                self.cover(other, cover.clone(), found)?;
                self.cover(todo, cover, found)
            }
            Normal::Next(inner) => {
                cover.next.insert(inner);
                self.cover(todo, cover, found)
            }
            Normal::Until(steps, left, right) => {
                if steps.lower == 0 {
                    let mut now = todo.clone();
                    now.push(right);
                    self.cover(now, cover.clone(), found)?;
                }
                let Some(later) = later(steps) else { return Ok(()) };
                let later = self.id(Normal::Until(later, left, right));
                if let Some(bit) = self.promises.iter().position(|promise| *promise == formula) {
                    if bit >= 64 {
                        return Err("there are too many promises".to_owned());
                    }
                    cover.put_off |= 1 << bit;
                }
                todo.push(left);
                cover.next.insert(later);
                self.cover(todo, cover, found)
            }
            Normal::Release(steps, left, right) => {
                if steps.lower == 0 {
                    todo.push(right);
                }
                let Some(later) = later(steps) else { return self.cover(todo, cover, found) };
                let later = self.id(Normal::Release(later, left, right));
                let mut now = todo.clone();
                now.push(left);
                self.cover(now, cover.clone(), found)?;
                cover.next.insert(later);
                self.cover(todo, cover, found)
            }
        }
    }
}

/// The same steps, seen from the next one; none if there are none left.
fn later(steps: Steps) -> Option<Steps> {
    match steps.upper {
        Some(0) => None,
        upper => Some(Steps { lower: steps.lower.saturating_sub(1), upper: upper.map(|upper| upper - 1) }),
    }
}
