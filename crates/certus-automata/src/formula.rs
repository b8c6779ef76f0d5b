//! Formulas of linear temporal logic.
//!
//! A [`Formula`] is the number of a node in a store, [`Formulas`]: equal formulas have equal numbers (hash consing, after Ershov, "On Programming of Arithmetic Operations", Communications
//! of the ACM 1(8), 1958), so
//! comparing is free, sharing is automatic, and a pass over a formula visits each distinct subformula once. Children are
//! made before their parents and so have smaller numbers; [`Formulas::below`] lists a formula's parts in that order, and
//! passes are loops over the list: no recursion whose depth an input controls.
//!
//! Constructors normalise only what costs nothing and loses nothing: conjunctions and disjunctions are flat, sorted sets
//! without constants, a set with `x` and `!x` is a constant, double negations go. Everything else is [`simplify`]'s work.
//!
//! Bounded operators count steps from now: `a U[l,k] b` says that `b` holds at some step in l..=k and `a` at all steps
//! before that one, from now on; `a R[l,k] b` is its dual; `a W[l,k] b` is `(a U[l,k] b) | G[0,k] a`, and `M` its dual.
//!
//! [`simplify`]: crate::simplify

use crate::intern::Interner;

/// A formula: the number of a node in a [`Formulas`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Formula(pub(crate) u32);

/// The steps a temporal operator speaks of, counted from now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bounds {
    /// First step.
    pub lower: u64,
    /// Last step; none for all steps.
    pub upper: Option<u64>,
}

impl Bounds {
    /// All steps from now on.
    pub const ALL: Bounds = Bounds { lower: 0, upper: None };

    /// Whether all steps from now on are meant.
    pub fn is_all(self) -> bool {
        self == Bounds::ALL
    }
}

/// What a formula is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// Always true.
    True,
    /// Always false.
    False,
    /// True where the atom with this number is.
    Atom(u32),
    /// Negation.
    Not(Formula),
    /// Conjunction of at least two formulas.
    And(Box<[Formula]>),
    /// Disjunction of at least two formulas.
    Or(Box<[Formula]>),
    /// Implication.
    Implies(Formula, Formula),
    /// Equivalence.
    Iff(Formula, Formula),
    /// At the next step.
    Next(Formula),
    /// At some step within the bounds.
    Finally(Bounds, Formula),
    /// At every step within the bounds.
    Globally(Bounds, Formula),
    /// The second at some step within the bounds, the first at all steps before that one.
    Until(Bounds, Formula, Formula),
    /// `(a U b) | G a`, with the bounds of `W` on `U` and their upper end on `G`.
    WeakUntil(Bounds, Formula, Formula),
    /// `!(!a U !b)`, with the same bounds.
    Release(Bounds, Formula, Formula),
    /// `!(!a W !b)`, with the same bounds.
    StrongRelease(Bounds, Formula, Formula),
}

impl Node {
    /// Calls the function with each child.
    pub fn children(&self, mut visit: impl FnMut(Formula)) {
        match self {
            Node::True | Node::False | Node::Atom(_) => {}
            Node::Not(a) | Node::Next(a) | Node::Finally(_, a) | Node::Globally(_, a) => visit(*a),
            Node::And(all) | Node::Or(all) => all.iter().for_each(|a| visit(*a)),
            Node::Implies(a, b)
            | Node::Iff(a, b)
            | Node::Until(_, a, b)
            | Node::WeakUntil(_, a, b)
            | Node::Release(_, a, b)
            | Node::StrongRelease(_, a, b) => {
                visit(*a);
                visit(*b);
            }
        }
    }
}

/// A store of formulas. Formulas of different stores must not be mixed.
#[derive(Clone, Debug)]
pub struct Formulas {
    nodes: Interner<Node>,
    sizes: Vec<u64>,
}

impl Default for Formulas {
    fn default() -> Self {
        Self::new()
    }
}

impl Formulas {
    /// True.
    pub const TRUE: Formula = Formula(0);
    /// False.
    pub const FALSE: Formula = Formula(1);

    /// A store with the two constants.
    pub fn new() -> Formulas {
        let mut store = Formulas { nodes: Interner::default(), sizes: Vec::new() };
        store.make(Node::True);
        store.make(Node::False);
        store
    }

    /// How a formula is made.
    pub fn node(&self, formula: Formula) -> &Node {
        self.nodes.get(formula.0)
    }

    /// The number of nodes of the formula as a tree (at most 2⁶⁴ − 1).
    pub fn size(&self, formula: Formula) -> u64 {
        self.sizes[formula.0 as usize]
    }

    fn make(&mut self, node: Node) -> Formula {
        let mut size = 1u64;
        node.children(|child| size = size.saturating_add(self.sizes[child.0 as usize]));
        let (number, new) = self.nodes.insert(node);
        if new {
            self.sizes.push(size);
        }
        Formula(number)
    }

    /// All parts of a formula, the formula included, children before parents.
    pub fn below(&self, formula: Formula) -> Vec<Formula> {
        let (mut parts, mut stack) = (Vec::new(), vec![formula]);
        let mut seen = std::collections::HashSet::from([formula]);
        while let Some(next) = stack.pop() {
            parts.push(next);
            self.node(next).children(|child| {
                if seen.insert(child) {
                    stack.push(child);
                }
            });
        }
        parts.sort_unstable();
        parts
    }

    /// The smallest number that is greater than the numbers of all atoms in a formula.
    pub fn atoms(&self, formula: Formula) -> u32 {
        let atom = |part| if let Node::Atom(n) = self.node(part) { n.saturating_add(1) } else { 0 };
        self.below(formula).into_iter().map(atom).max().unwrap_or(0)
    }

    /// A constant.
    pub fn constant(&self, value: bool) -> Formula {
        if value { Self::TRUE } else { Self::FALSE }
    }

    /// An atom.
    pub fn atom(&mut self, number: u32) -> Formula {
        self.make(Node::Atom(number))
    }

    /// Negation.
    pub fn not(&mut self, a: Formula) -> Formula {
        match self.node(a) {
            Node::True => Self::FALSE,
            Node::False => Self::TRUE,
            Node::Not(b) => *b,
            _ => self.make(Node::Not(a)),
        }
    }

    /// The flat, sorted set of a conjunction's or disjunction's parts; none where it is `absorbing`.
    fn flat(&self, parts: &[Formula], and: bool) -> Option<Vec<Formula>> {
        let (neutral, absorbing) = if and { (Self::TRUE, Self::FALSE) } else { (Self::FALSE, Self::TRUE) };
        let mut set = Vec::with_capacity(parts.len());
        for &part in parts {
            match self.node(part) {
                Node::And(inner) if and => set.extend_from_slice(inner),
                Node::Or(inner) if !and => set.extend_from_slice(inner),
                _ if part != neutral => set.push(part),
                _ => {}
            }
        }
        set.sort_unstable();
        set.dedup();
        let clash = |part: &Formula| {
            *part == absorbing || matches!(self.node(*part), Node::Not(inner) if set.binary_search(inner).is_ok())
        };
        if set.iter().any(clash) { None } else { Some(set) }
    }

    /// Conjunction.
    pub fn and(&mut self, parts: &[Formula]) -> Formula {
        match self.flat(parts, true) {
            None => Self::FALSE,
            Some(set) if set.is_empty() => Self::TRUE,
            Some(set) if set.len() == 1 => set[0],
            Some(set) => self.make(Node::And(set.into())),
        }
    }

    /// Disjunction.
    pub fn or(&mut self, parts: &[Formula]) -> Formula {
        match self.flat(parts, false) {
            None => Self::TRUE,
            Some(set) if set.is_empty() => Self::FALSE,
            Some(set) if set.len() == 1 => set[0],
            Some(set) => self.make(Node::Or(set.into())),
        }
    }

    /// Implication.
    pub fn implies(&mut self, a: Formula, b: Formula) -> Formula {
        self.make(Node::Implies(a, b))
    }

    /// Equivalence.
    pub fn iff(&mut self, a: Formula, b: Formula) -> Formula {
        self.make(Node::Iff(a, b))
    }

    /// At the next step.
    pub fn next(&mut self, a: Formula) -> Formula {
        self.make(Node::Next(a))
    }

    /// At some step within the bounds.
    pub fn finally(&mut self, bounds: Bounds, a: Formula) -> Formula {
        self.make(Node::Finally(bounds, a))
    }

    /// At every step within the bounds.
    pub fn globally(&mut self, bounds: Bounds, a: Formula) -> Formula {
        self.make(Node::Globally(bounds, a))
    }

    /// The second at some step within the bounds, the first at all steps before that one.
    pub fn until(&mut self, bounds: Bounds, a: Formula, b: Formula) -> Formula {
        self.make(Node::Until(bounds, a, b))
    }

    /// `(a U b) | G a`.
    pub fn weak_until(&mut self, bounds: Bounds, a: Formula, b: Formula) -> Formula {
        self.make(Node::WeakUntil(bounds, a, b))
    }

    /// `!(!a U !b)`.
    pub fn release(&mut self, bounds: Bounds, a: Formula, b: Formula) -> Formula {
        self.make(Node::Release(bounds, a, b))
    }

    /// `!(!a W !b)`.
    pub fn strong_release(&mut self, bounds: Bounds, a: Formula, b: Formula) -> Formula {
        self.make(Node::StrongRelease(bounds, a, b))
    }
}

/// Names of atoms: the name at place `n` belongs to the atom with number `n`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

impl Names {
    /// The number of a name; a new name gets the next number.
    pub fn number(&mut self, name: &str) -> u32 {
        let known = self.0.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.0.push(name.to_string());
            self.0.len() - 1
        }) as u32
    }

    /// The name of an atom; `p` and its number where none was given.
    pub fn name(&self, atom: u32) -> String {
        self.0.get(atom as usize).cloned().unwrap_or_else(|| format!("p{atom}"))
    }

    /// At least `count` names: missing ones are made up.
    pub fn padded(&self, count: u32) -> Vec<String> {
        (0..count.max(self.0.len() as u32)).map(|atom| self.name(atom)).collect()
    }
}
