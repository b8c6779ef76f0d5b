//! What the environment may choose: values of the inputs that `assume` allows.
//!
//! Upper bounds keep every choice that may be allowed (`modes.rs` drops the others). A claim that something *can* happen needs a choice that is
//! allowed for certain: lower ends of probabilities, and that a state has a successor. Such choices are searched for in plain numbers
//! (constants first, then the choice that is allowed by the widest margin) and confirmed in interval arithmetic.

use certus_graph::canonical::canonicalize;
use certus_graph::eval::{Evaluator, Workspace, enclose};
use certus_graph::{Graph, GraphError, Interval};
use certus_lang::system::Integers;
use certus_numerics::Random;

use super::{Abstraction, element_major};

/// Corners of the inputs' ranges are candidates up to so many inputs, and a lattice up to so many points.
const MOST_CORNERED: usize = 4;
const MOST_LATTICE: usize = 125;

/// Points per input of the lattice, and random candidates beyond it.
const PER_INPUT: usize = 5;
const SCATTERED: usize = 16;

/// Constants that the environment is let play against the property, to see which is worst.
const MOST_BEHAVIOURS: usize = 5;

/// Rounds of the search for the choice with the widest margin.
const ROUNDS: usize = 24;

/// A region is halved so often to show that none of its states is a deadlock.
const HALVINGS: u32 = 5;

/// The environment's choices.
pub(super) struct Inputs {
    /// Constants, each with the free parameters in the middle of their ranges behind it.
    candidates: Vec<Vec<f64>>,
    /// How many numbers are inputs; what follows are free parameters.
    count: usize,
    assumed: Option<Assumed>,
}

/// What `assume` says.
struct Assumed {
    /// For each move whether the choice is allowed, then for each move by how much.
    graph: Graph,
    evaluator: Evaluator<f64>,
    moves: usize,
    /// Whether some constant is allowed in every state, so that there is no deadlock.
    everywhere: bool,
}

impl Inputs {
    /// The inputs are the numbers of the range from place `states` on, as many as there are elements; some of these are integers.
    pub(super) fn new(
        range: (&[f64], &[f64]),
        states: usize,
        integers: &[Option<Integers>],
        allowed: Option<&Graph>,
    ) -> Result<Inputs, GraphError> {
        let (lower, upper) = (&range.0[states..], &range.1[states..]);
        let count = integers.len();
        let whole = |i: usize, value: f64| match integers.get(i) {
            Some(Some(own)) => own.nearest(value),
            _ => value,
        };
        let middle: Vec<f64> =
            lower.iter().zip(upper).enumerate().map(|(i, (low, high))| whole(i, low / 2.0 + high / 2.0)).collect();
        let mut candidates = vec![middle.clone()];
        let mut at = |shares: &dyn Fn(usize) -> f64| {
            let mut own = middle.clone();
            for i in 0..count {
                let share = shares(i);
                own[i] = whole(i, (lower[i] * (1.0 - share) + upper[i] * share).clamp(lower[i], upper[i]));
            }
            if !candidates.contains(&own) {
                candidates.push(own);
            }
        };
        if count > 0 {
            at(&|_| 0.0);
            at(&|_| 1.0);
            if count <= MOST_CORNERED {
                (0..1usize << count).for_each(|corner| at(&|i| (corner >> i & 1) as f64));
            }
            if let Some(points) = PER_INPUT.checked_pow(count as u32).filter(|&points| points <= MOST_LATTICE) {
                let digit = |number: usize, i: usize| number / PER_INPUT.pow(i as u32) % PER_INPUT;
                (0..points).for_each(|number| at(&|i| digit(number, i) as f64 / (PER_INPUT - 1) as f64));
            }
            let mut random = Random::new(0, 0xa55);
            for _ in 0..SCATTERED {
                let shares: Vec<f64> = (0..count).map(|_| random.unit()).collect();
                at(&|i| shares[i]);
            }
        }
        let mut own = Inputs { candidates, count, assumed: None };
        if let Some(graph) = allowed {
            let graph = canonicalize(graph)?;
            let moves = graph.outputs().len() / 2;
            own.assumed = Some(Assumed { evaluator: Evaluator::new(&graph), graph, moves, everywhere: false });
            let (low, high) = (&range.0[..states], &range.1[..states]);
            let everywhere = own.candidates.iter().any(|choice| own.permits(low, high, choice));
            own.assumed.iter_mut().for_each(|assumed| assumed.everywhere = everywhere);
        }
        Ok(own)
    }

    /// Whether a choice is allowed for certain in every state of a box, whatever the move.
    fn permits(&self, lower: &[f64], upper: &[f64], choice: &[f64]) -> bool {
        let Some(assumed) = &self.assumed else { return true };
        let state = lower.iter().zip(upper).map(|(&low, &high)| Interval::new(low.min(high), high.max(low)));
        let point: Vec<Interval> = state.chain(choice.iter().map(|&value| Interval::point(value))).collect();
        enclose(&assumed.graph, &[&point])
            .is_ok_and(|found| found[..assumed.moves].iter().all(|truth| truth[0].certainty() == Some(true)))
    }

    /// By how much choices are allowed in a state, in plain numbers: at least zero only where they are.
    fn margins(&self, state: &[f64], choices: &[Vec<f64>]) -> Vec<f64> {
        self.margins_at(&choices.iter().map(|choice| [state, choice].concat()).collect::<Vec<_>>())
    }

    /// The same for states with choices.
    fn margins_at(&self, points: &[Vec<f64>]) -> Vec<f64> {
        let Some(assumed) = &self.assumed else { return vec![f64::INFINITY; points.len()] };
        let table = element_major(points);
        let mut workspace = Workspace::default();
        if assumed.evaluator.run(&mut workspace, &[&table], points.len()).is_err() {
            return vec![f64::NEG_INFINITY; points.len()];
        }
        let outputs: Vec<&[f64]> =
            (0..2 * assumed.moves).map(|number| assumed.evaluator.output(&workspace, &[&table], number)).collect();
        let margin = |point: usize| {
            let of_move = |number: usize| {
                let margin = outputs[assumed.moves + number][point];
                let margin = if margin.is_nan() { f64::NEG_INFINITY } else { margin };
                if outputs[number][point] != 0.0 { margin.max(0.0) } else { margin.min(-f64::MIN_POSITIVE) }
            };
            (0..assumed.moves).map(of_move).fold(f64::INFINITY, f64::min)
        };
        (0..points.len()).map(margin).collect()
    }

    /// The choice that is allowed by the widest margin in a state, as far as a search in plain numbers finds it.
    fn widest(&self, range: (&[f64], &[f64]), state: &[f64]) -> Vec<f64> {
        let best = |choices: &[Vec<f64>]| {
            let margins = self.margins(state, choices).into_iter().zip(choices);
            margins.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(m, c)| (m, c.clone()))
        };
        let Some((mut margin, mut choice)) = best(&self.candidates) else { return Vec::new() };
        let mut share = 1.0 / PER_INPUT as f64;
        for _ in 0..ROUNDS {
            let near: Vec<Vec<f64>> = (0..2 * self.count)
                .map(|way| {
                    let (i, sign) = (way / 2, if way % 2 == 0 { 1.0 } else { -1.0 });
                    let (low, high) = (range.0[state.len() + i], range.1[state.len() + i]);
                    let mut near = choice.clone();
                    near[i] = (near[i] + sign * share * (high - low)).clamp(low, high);
                    near
                })
                .collect();
            match best(&near) {
                Some((wider, near)) if wider > margin => (margin, choice) = (wider, near),
                _ => share /= 2.0,
            }
        }
        choice
    }
}

impl Abstraction {
    /// How many constant behaviours of the environment are worth trying; the first is the middle of all ranges.
    pub fn behaviours(&self) -> usize {
        self.inputs.candidates.len().min(MOST_BEHAVIOURS)
    }

    /// States with values of the inputs, in plain numbers: those of a behaviour where it is allowed, another choice that is allowed where there is
    /// one, and nothing in states where none was found.
    pub fn played(&self, states: &[Vec<f64>], behaviour: usize) -> Vec<Option<Vec<f64>>> {
        let own = &self.inputs.candidates[behaviour];
        let points: Vec<Vec<f64>> = states.iter().map(|state| [state.as_slice(), own].concat()).collect();
        let margins = self.inputs.margins_at(&points);
        let chosen = |((state, point), margin): ((&Vec<f64>, Vec<f64>), f64)| match margin >= 0.0 {
            true => Some(point),
            false => self.choice(state, behaviour).map(|choice| [state.as_slice(), &choice].concat()),
        };
        states.iter().zip(points).zip(margins).map(chosen).collect()
    }

    /// What a behaviour chooses in a state, if anything is allowed there in plain numbers.
    fn choice(&self, state: &[f64], behaviour: usize) -> Option<Vec<f64>> {
        let own = &self.inputs.candidates[behaviour];
        if self.inputs.assumed.is_none() {
            return Some(own.clone());
        }
        let allowed = |choice: &Vec<f64>| self.inputs.margins(state, std::slice::from_ref(choice))[0] >= 0.0;
        if allowed(own) {
            return Some(own.clone());
        }
        let margins = self.inputs.margins(state, &self.inputs.candidates);
        let first = margins.iter().position(|&margin| margin >= 0.0);
        first.map(|place| self.inputs.candidates[place].clone()).or_else(|| {
            let found = self.inputs.widest(self.range(), state);
            allowed(&found).then_some(found)
        })
    }

    /// Choices for a state that is known as a box, best first: what a behaviour would do in its middle, and the choice with the widest margin
    /// there. Each is allowed in all of the box for certain.
    pub(crate) fn certain_choice(&self, lower: &[f64], upper: &[f64], behaviour: usize) -> Option<Vec<f64>> {
        if self.inputs.assumed.is_none() {
            return Some(self.inputs.candidates[behaviour].clone());
        }
        let middle: Vec<f64> = lower.iter().zip(upper).map(|(low, high)| low / 2.0 + high / 2.0).collect();
        self.choice(&middle, behaviour)
            .filter(|choice| self.inputs.permits(lower, upper, choice))
            .or_else(|| Some(self.inputs.widest(self.range(), &middle)))
            .filter(|choice| self.inputs.permits(lower, upper, choice))
    }

    /// Whether some state of a box might have no allowed choice.
    pub(super) fn may_deadlock(&self, lower: &[f64], upper: &[f64]) -> bool {
        match &self.inputs.assumed {
            None => false,
            Some(assumed) if assumed.everywhere => false,
            Some(_) => !self.is_live(lower, upper, HALVINGS),
        }
    }

    fn is_live(&self, lower: &[f64], upper: &[f64], halvings: u32) -> bool {
        if self.certain_choice(lower, upper, 0).is_some() {
            return true;
        }
        let widths = lower.iter().zip(upper).enumerate().map(|(i, (low, high))| (i, high - low));
        let widest = widths.filter(|(_, width)| *width > 0.0).max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((dimension, _)) = widest.filter(|_| halvings > 0) else { return false };
        let place = lower[dimension] / 2.0 + upper[dimension] / 2.0;
        let (mut low, mut high) = (upper.to_vec(), lower.to_vec());
        (low[dimension], high[dimension]) = (place, place);
        self.is_live(lower, &low, halvings - 1) && self.is_live(&high, upper, halvings - 1)
    }
}
