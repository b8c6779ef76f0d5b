//! What a system is asked: properties, their kinds, and what others want to know of them.
//!
//! An engine, the simulator or a front end asks a [`Property`] what it needs: the formula that every run satisfies, the formula that one
//! run satisfies or not, the probability that is asked for. It never takes the kind apart. So a new kind of property answers the questions
//! of this file, and the code that cannot decide it refuses it with the reason that is given here.

use crate::system::{AtomId, Formula};

/// What must hold, or what is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Its documentation.
    pub doc: String,
    /// What it says.
    pub kind: PropertyKind,
    /// The verdict that the file expects.
    pub expect: Option<Expect>,
    /// The formula as written.
    pub source: String,
}

/// The kinds of property.
#[derive(Clone, Debug, PartialEq)]
pub enum PropertyKind {
    /// A formula that every run from every initial state satisfies.
    Ltl(Formula),
    /// The probability of a formula.
    Probability(PathProbability),
}

/// The probability of a path formula, and what is asked of it.
#[derive(Clone, Debug, PartialEq)]
pub struct PathProbability {
    /// What is asked of it.
    pub query: ProbabilityQuery,
    /// Which of the environment's choices it speaks of.
    pub quantifier: Quantifier,
    /// The formula.
    pub path: Formula,
}

/// What is asked of a probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProbabilityQuery {
    /// Whether it compares so with a number.
    Bound(BoundOp, f64),
    /// How large it is.
    Value,
}

/// Comparisons of a probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BoundOp {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// Which of the environment's choices a probability speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// All of them.
    None,
    /// Those that make it smallest.
    Min,
    /// Those that make it largest.
    Max,
}

/// The verdict that a file expects of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// It holds.
    Holds,
    /// It does not.
    Violated,
}

impl Property {
    /// A property that an engine asks about by itself: that every run satisfies a formula.
    pub fn of_every_run(name: &str, formula: Formula) -> Property {
        Property {
            name: name.to_owned(),
            doc: String::new(),
            kind: formula.into(),
            expect: None,
            source: String::new(),
        }
    }

    /// The formula that every run satisfies where the property holds; the reason why there is none for a property of another kind.
    pub fn over_runs(&self) -> Result<&Formula, String> {
        match &self.kind {
            PropertyKind::Ltl(formula) => Ok(formula),
            PropertyKind::Probability(_) => Err(format!("{} asks for a probability", self.name)),
        }
    }

    /// Whether one run can violate the property.
    pub fn is_over_runs(&self) -> bool {
        matches!(self.kind, PropertyKind::Ltl(_))
    }

    /// The formula that one run satisfies or not, whatever is asked about all of them.
    pub fn path(&self) -> &Formula {
        match &self.kind {
            PropertyKind::Ltl(formula) => formula,
            PropertyKind::Probability(asked) => &asked.path,
        }
    }

    /// What an environment that works against the property wants a run to violate.
    pub fn against_the_environment(&self) -> Formula {
        match &self.kind {
            PropertyKind::Ltl(formula) => formula.clone(),
            // A path formula is what must not happen.
            PropertyKind::Probability(asked) => Formula::Not(Box::new(asked.path.clone())),
        }
    }

    /// The atom φ of an invariant: `G φ` over every run, for all time.
    pub fn invariant(&self) -> Option<AtomId> {
        match self.over_runs() {
            Ok(Formula::Globally(bounds, inner)) if bounds.lower == 0 && bounds.upper.is_none() => match **inner {
                Formula::Atom(atom) => Some(atom),
                _ => None,
            },
            _ => None,
        }
    }

    /// The probability that is asked for, if one is.
    pub fn probability(&self) -> Option<&PathProbability> {
        match &self.kind {
            PropertyKind::Probability(asked) => Some(asked),
            PropertyKind::Ltl(_) => None,
        }
    }

    /// The fragment that the property belongs to, in the words of the literature.
    pub fn fragment(&self) -> &'static str {
        let plain = |formula: &Formula| !formula.is_temporal();
        match (&self.kind, self.path()) {
            (PropertyKind::Ltl(_), Formula::Globally(bounds, inner)) if plain(inner) => match bounds.upper {
                Some(_) => "bounded safety",
                None => "safety",
            },
            (PropertyKind::Ltl(_), Formula::Finally(bounds, inner)) if plain(inner) => match bounds.upper {
                Some(_) => "bounded liveness",
                None => "liveness",
            },
            (PropertyKind::Ltl(_), formula) if plain(formula) => "initial condition",
            (PropertyKind::Ltl(_), _) => "LTL",
            (PropertyKind::Probability(_), Formula::Finally(bounds, inner)) if plain(inner) => match bounds.upper {
                Some(_) => "probability of bounded reachability",
                None => "probability of reachability",
            },
            (PropertyKind::Probability(_), _) => "probability of a path formula",
        }
    }
}

impl From<Formula> for PropertyKind {
    fn from(formula: Formula) -> PropertyKind {
        PropertyKind::Ltl(formula)
    }
}

impl From<PathProbability> for PropertyKind {
    fn from(asked: PathProbability) -> PropertyKind {
        PropertyKind::Probability(asked)
    }
}

impl PropertyKind {
    /// Whether the answer is a verdict, not a number alone.
    pub fn has_verdict(&self) -> bool {
        match self {
            PropertyKind::Ltl(_) => true,
            PropertyKind::Probability(asked) => asked.query != ProbabilityQuery::Value,
        }
    }
}
