//! What a verdict rests on, as data.
//!
//! A proof can be said in a few words: a depth, an invariant, a ranking function. The queries that must be unsatisfiable follow from the
//! words and the system alone, so that anyone who does not believe the engine can derive and refute them again: `certus-check` and,
//! with code of its own, `certus-obligations` do.
//!
//! k-induction: Sheeran, Singh, Stålmarck, "Checking safety properties using induction and a SAT-solver", FMCAD 2000. Ranking
//! functions: Podelski, Rybalchenko, "A complete method for the synthesis of linear ranking functions", VMCAI 2004.

use certus_graph::Interval;

use crate::numbers::{short, short_down};

/// What a verdict that a property holds rests on.
#[derive(Clone, Debug, PartialEq)]
pub enum Proof {
    /// No run of so many steps shows a violation, and no loop within them.
    Bounded {
        /// How many steps.
        steps: usize,
        /// Periods that no loop has on which a violation could end, wherever it begins.
        cycles: Vec<usize>,
    },
    /// After so many steps no run can violate the property any more.
    OutOfReach {
        /// How many steps.
        steps: usize,
    },
    /// A proof for all time of each formula that the property is the conjunction of.
    ForAllTime(Vec<Method>),
}

/// A proof for all time.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// From so many positions in a row at which no violation begins no step leads to one at which one does, within the invariant.
    Induction {
        /// How many positions; 0 if none begins in any state of a box that no run leaves, reached or not.
        depth: usize,
        /// How many steps are looked at to see whether a violation begins: what shows of it by then is shown to be nowhere.
        ahead: usize,
        /// The invariant; without faces if none was needed.
        invariant: Invariant,
        /// Whether the good states are pairwise different. A shortest run to a bad state visits none twice.
        simple: bool,
    },
    /// A function goes down as long as a violation lasts.
    Ranking(Ranking),
}

impl Method {
    /// In words, with the names of the elements of the state and of the policies' outputs; the faces of an invariant are to follow.
    pub fn text(&self, names: &[String]) -> String {
        match self {
            Method::Induction { depth, ahead, invariant, simple } => {
                let states = match (depth, simple) {
                    (1, _) => "one state".to_owned(),
                    (_, false) => format!("{depth} states in a row"),
                    (_, true) => format!("{depth} different states in a row"),
                };
                let everywhere = match invariant.faces.is_empty() {
                    true => "every state of a box that no run leaves",
                    false => "every state of the invariant",
                };
                let within = if invariant.faces.is_empty() { "" } else { " within the invariant" };
                match (depth, ahead) {
                    (0, 0) => format!("in {everywhere}"),
                    (0, _) => format!("from {everywhere}, by what a run does in {}", crate::steps(*ahead)),
                    (_, 0) => format!("by induction over {states}{within}"),
                    (_, _) => format!("by induction over {states}, looking {} ahead{within}", crate::steps(*ahead)),
                }
            }
            Method::Ranking(ranking) => format!(
                "by the ranking function {}, which goes down by at least {} on every step of a violation",
                linear_text(&ranking.coefficients, names),
                short_down(ranking.decrease)
            ),
        }
    }
}

/// Why no run has a model error before the property is decided on it.
#[derive(Clone, Debug, PartialEq)]
pub enum NoErrors {
    /// No state of a box that no run leaves has one.
    Everywhere,
    /// No run of at most so many steps on which the property is open has one.
    Bounded {
        /// How many steps.
        steps: usize,
    },
    /// No state that the proof of the property leaves has one.
    Within,
    /// By a proof of its own for all time.
    Induction(Method),
    /// Nobody has shown it: it was to be assumed.
    Assumed,
}

/// A halfspace: coefficients · (state, outputs) ≤ bound. With outputs, the states in it are those where the policy does
/// something, which need not be a convex set.
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// The coefficient of each element of the state, then of each output of the policies; those that are left out are zero.
    pub coefficients: Vec<f64>,
    /// What the sum is at most.
    pub bound: f64,
}

/// The positions in all of some halfspaces (and in their declared ranges).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Invariant {
    /// The halfspaces.
    pub faces: Vec<Face>,
}

impl Invariant {
    /// The states whose elements, by their places, lie in some ranges.
    pub fn of_box(ends: &[(usize, Interval)]) -> Invariant {
        let face = |place: usize, sign: f64, bound: f64| {
            let coefficients = (0..=place).map(|own| if own == place { sign } else { 0.0 }).collect();
            Face { coefficients, bound }
        };
        let faces = ends.iter().flat_map(|&(place, own)| [face(place, 1.0, own.hi), face(place, -1.0, -own.lo)]);
        Invariant { faces: faces.collect() }
    }
}

impl Face {
    /// The sum at a state, with the outputs there if these matter.
    pub fn value(&self, numbers: &[f64]) -> f64 {
        self.coefficients.iter().zip(numbers).map(|(coefficient, value)| coefficient * value).sum()
    }
}

/// A linear function in words, with coefficients of few digits.
pub fn linear_text(coefficients: &[f64], names: &[String]) -> String {
    let mut text = String::new();
    for (coefficient, name) in coefficients.iter().zip(names).filter(|(coefficient, _)| **coefficient != 0.0) {
        let sign = if *coefficient < 0.0 { "-" } else { "+" };
        match (text.is_empty(), sign) {
            (true, "-") => text.push('-'),
            (true, _) => {}
            (false, sign) => text.push_str(&format!(" {sign} ")),
        }
        match coefficient.abs() {
            1.0 => text.push_str(name),
            size => text.push_str(&format!("{} * {name}", short(size))),
        }
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

impl Invariant {
    /// Whether the policies' outputs matter to it, for a state of so many elements.
    pub fn reads_outputs(&self, state_len: usize) -> bool {
        self.faces.iter().any(|face| face.coefficients.iter().skip(state_len).any(|coefficient| *coefficient != 0.0))
    }

    /// A box of states without what single halfspaces of one element cut off; nothing if nothing is left.
    pub fn narrowed(&self, state: &[Interval]) -> Option<Vec<Interval>> {
        let mut narrow = state.to_vec();
        for face in &self.faces {
            let mut used = face.coefficients.iter().enumerate().filter(|(_, coefficient)| **coefficient != 0.0);
            let (Some((element, &coefficient)), None) = (used.next(), used.next()) else { continue };
            let Some(range) = narrow.get_mut(element) else { continue };
            let end = Interval::point(face.bound) / Interval::point(coefficient);
            let half = if coefficient > 0.0 {
                Interval { lo: f64::NEG_INFINITY, hi: end.hi }
            } else {
                Interval { lo: end.lo, hi: f64::INFINITY }
            };
            *range = range.intersection(half)?;
        }
        Some(narrow)
    }

    /// Whether a position with these numbers lies in it.
    pub fn contains(&self, numbers: &[f64]) -> bool {
        self.faces.iter().all(|face| face.value(numbers) <= face.bound)
    }
}

/// A linear function of the state that goes down.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The coefficient of each element of the state.
    pub coefficients: Vec<f64>,
    /// By how much it goes down at least on each step.
    pub decrease: f64,
    /// How many steps among the states in question a step begins: those that follow it count as known.
    pub context: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_narrowed_by_halfspaces_of_one_element() {
        let face = |coefficients: &[f64], bound: f64| Face { coefficients: coefficients.to_vec(), bound };
        let state = [Interval::new(-4.0, 4.0), Interval::new(-4.0, 4.0)];
        // The third is about an output of a policy, the last about both elements.
        let faces =
            vec![face(&[2.0, 0.0], 2.0), face(&[0.0, -1.0], 3.0), face(&[0.0, 0.0, 1.0], 0.0), face(&[1.0, 1.0], 0.0)];
        let narrow = Invariant { faces }.narrowed(&state).unwrap();
        assert_eq!(narrow, [Interval::new(-4.0, 1.0), Interval::new(-3.0, 4.0)]);
        assert_eq!(Invariant { faces: vec![face(&[1.0, 0.0], -5.0)] }.narrowed(&state), None);
    }
}
