//! Interval iteration: reachability and until without a bound on the steps.
//!
//! S. Haddad and B. Monmege, 'Reachability in MDPs: refining convergence of value iteration', RP 2014, and 'Interval iteration algorithm for
//! MDPs and IMDPs', Theoretical Computer Science 735 (2018). Both ends of an interval are iterated, so the result carries its error.
//!
//! *Idea.* The value is the least fixed point of the Bellman operator (`bellman.rs`). From below iteration approaches it; from above it may
//! get stuck above it where players who want a large value can stay in a set for ever, each state's value resting on the others'. In
//! such a set T (an end component without the goal) the value is at most that of the best exit: while the players stay nothing is gained,
//! so v ≤ p·v + Σ_{t∉T} p_t v_t for the probability p of staying. Every few iterations the upper values of each end component are
//! deflated to the best ratio Σ p_t v_t / Σ p_t of a choice that leaves it. That is sound for any set and any upper values.
//!
//! *Departure.* Haddad and Monmege collapse maximal end components beforehand. Here they are deflated during the iteration, as E. Kelmendi,
//! J. Krämer, J. Křetínský and M. Weininger do for stochastic games ('Value iteration for simple stochastic games', CAV 2018), because with
//! nature as an opponent the exit that counts depends on the values.
//!
//! *Rounding.* Each step is computed to nearest and moved outwards by its error, so lower values stay below the fixed point and upper
//! values above it. When that leaves no progress the iteration ends with the interval it has.

use super::bellman::{Block, blocks, step_error};
use super::end_components::{can_enter, can_stay, end_components, positive};
use super::robust_value_iteration::{Resources, Values, step};
use super::{Imdp, Objective, Players};

/// Iterations between two looks at end components.
const PERIOD: usize = 8;

/// Iterations without any progress after which nothing more is expected.
const STUBBORN: usize = 4 * PERIOD;

/// Probabilities of `stay U goal`, with intervals no wider than `gap` unless rounding or the budget forbids it; and whether they are so narrow.
#[tracing::instrument(level = "debug", name = "interval iteration", skip_all)]
pub fn until(
    model: &Imdp,
    stay: &[bool],
    goal: &[bool],
    gap: f64,
    players: Players,
    resources: Resources<'_>,
) -> (Values, bool) {
    let states = model.states();
    let possible = positive(model, stay, goal, players);
    let open = |state: usize| possible[state] && !goal[state];
    let mut lower: Vec<f64> = goal.iter().map(|&goal| f64::from(u8::from(goal))).collect();
    let mut upper: Vec<f64> = possible.iter().map(|&possible| f64::from(u8::from(possible))).collect();
    let can_loop = players.scheduler == Objective::Max || players.nature == Objective::Max;
    let sets = match can_loop {
        true => end_components(model, &(0..states).map(open).collect::<Vec<_>>()),
        false => Vec::new(),
    };
    let threads = if model.transition_count() < 20_000 { 1 } else { resources.threads };
    let mut below = blocks(model, threads);
    let mut above = blocks(model, threads);
    let error = step_error(model);
    let mut next = lower.clone();
    let mut idle = 0;
    for round in 1.. {
        let mut moved = false;
        step(&mut below, &lower, &mut next, &open, players);
        for state in (0..states).filter(|&state| open(state)) {
            let value = (next[state] - error * (next[state] + 1.0)).max(0.0);
            if value > lower[state] {
                moved |= value - lower[state] > 1e-3 * gap.min(1e-9);
                lower[state] = value;
            }
        }
        step(&mut above, &upper, &mut next, &open, players);
        for state in (0..states).filter(|&state| open(state)) {
            let value = next[state] + error * (next[state] + 1.0);
            if value < upper[state] {
                moved |= upper[state] - value > 1e-3 * gap.min(1e-9);
                upper[state] = value;
            }
        }
        if round % PERIOD == 0 || round < PERIOD {
            for set in &sets {
                moved |= deflate(model, set, &mut upper, players, error);
            }
        }
        debug_assert!(
            (0..states).all(|state| lower[state] <= upper[state]),
            "the lower value of a state exceeds the upper one"
        );
        let widest = (0..states).map(|state| upper[state] - lower[state]).fold(0.0, f64::max);
        idle = if moved { 0 } else { idle + 1 };
        if widest <= gap || idle > STUBBORN || (resources.stop)() {
            return (Values { lower, upper }, widest <= gap);
        }
    }
    (Values { lower, upper }, false)
}

/// Deflates the values of an end component to the best exit. Whether anything changed.
fn deflate(model: &Imdp, set: &[usize], upper: &mut [f64], players: Players, error: f64) -> bool {
    // Sets are small beside the model as a rule; a sorted list tells members.
    let inside = |state: usize| set.binary_search(&state).is_ok();
    let mut best = 0.0f64;
    for &state in set {
        for choice in model.choices(state) {
            // Against nature's will nothing leaves where it can stay; with it, only what can leave counts.
            if players.nature == Objective::Min && can_stay(model, choice, &inside) {
                continue;
            }
            let mut edges: Vec<(f64, f64, f64, bool)> = model
                .transitions(choice)
                .map(|(target, lo, hi)| (upper[target], lo, hi - lo, !inside(target)))
                .collect();
            if edges.iter().any(|&(_, lo, room, out)| out && lo + room > 0.0) {
                best = best.max(best_ratio(&mut edges, players.nature, best, error));
            }
        }
    }
    let mut changed = false;
    for &state in set {
        if best < upper[state] {
            changed |= upper[state] - best > 1e-15;
            upper[state] = best;
        }
    }
    changed
}

/// The best ratio Σ p·v / Σ p over what leaves, for nature's distributions, by Dinkelbach's method; `floor` is a ratio that does
/// not matter. Edges are value, lower end, room above it, and whether they leave. The result is no smaller than the exact one.
fn best_ratio(edges: &mut [(f64, f64, f64, bool)], nature: Objective, floor: f64, error: f64) -> f64 {
    let rest = (1.0 - edges.iter().map(|edge| edge.1).sum::<f64>()).max(0.0);
    let leaving = edges.iter().filter(|edge| edge.3 && edge.1 + edge.2 > 0.0);
    let largest = leaving.map(|edge| edge.0).fold(0.0, f64::max);
    // What nature makes of the gains v − λ outside and 0 inside, and how much leaves then.
    let mut at = |ratio: f64| {
        let gain = |edge: &(f64, f64, f64, bool)| if edge.3 { edge.0 - ratio } else { 0.0 };
        edges.sort_by(|a, b| match nature {
            Objective::Max => gain(b).total_cmp(&gain(a)),
            Objective::Min => gain(a).total_cmp(&gain(b)),
        });
        let mut left = rest;
        let (mut sum, mut leaving) = (0.0, 0.0);
        for edge in edges.iter() {
            let taken = left.min(edge.2);
            left -= taken;
            sum += (edge.1 + taken) * gain(edge);
            leaving += if edge.3 { edge.1 + taken } else { 0.0 };
        }
        (sum, leaving)
    };
    if at(floor).0 <= -error {
        return floor;
    }
    let mut ratio = floor;
    for _ in 0..64 {
        let (sum, leaving) = at(ratio);
        // Against nature the ratio first jumps above the answer and then comes down to it; with it, it only grows.
        let settled = if nature == Objective::Max { sum <= error } else { sum.abs() <= error };
        if settled || leaving <= 0.0 {
            break;
        }
        ratio = (ratio + sum / leaving).clamp(floor, 1.0);
    }
    // A little more, until it is certainly enough; at the largest value that anything leaves for it is.
    let most = largest.min(1.0);
    let mut slack = 4.0 * error;
    while ratio < most && at(ratio).0 > -error {
        ratio = (ratio + slack).min(most);
        slack *= 2.0;
    }
    ratio
}

/// A memoryless choice for every state, by number within the state, that keeps the values of [`until`] as far as it can tell.
///
/// Among choices that look optimal, one is taken that comes nearer to the goal: a choice that only keeps the value could keep it for ever.
pub fn strategy(model: &Imdp, goal: &[bool], values: &Values, players: Players) -> Vec<usize> {
    let states = model.states();
    let middle: Vec<f64> = (0..states).map(|state| (values.lower[state] + values.upper[state]) / 2.0).collect();
    let mut chosen = vec![0usize; states];
    let mut block = Block::new(model, 0..states);
    let mut good: Vec<Vec<usize>> = Vec::with_capacity(states);
    for (state, slot) in chosen.iter_mut().enumerate() {
        let (best, place) = block.state_value(state, &middle, players);
        *slot = place;
        let tolerance = 2.0 * (values.upper[state] - values.lower[state]) + 1e-12;
        let count = model.choices(state).len();
        let mut value = |place: usize| block.one_choice(state, place, &middle, players.nature);
        let values: Vec<f64> = (0..count).map(&mut value).collect();
        good.push((0..count).filter(|&place| (values[place] - best).abs() <= tolerance).collect());
    }
    if players.scheduler == Objective::Min {
        return chosen;
    }
    let (starts, sources) = model.predecessors();
    let mut done = goal.to_vec();
    let mut pending: Vec<usize> = (0..states).filter(|&state| goal[state]).collect();
    while let Some(state) = pending.pop() {
        for &source in &sources[starts[state] as usize..starts[state + 1] as usize] {
            let source = source as usize;
            if done[source] {
                continue;
            }
            let first = model.choices(source).start;
            let forward = |place: &&usize| match players.nature {
                Objective::Max => can_enter(model, first + **place, &|target| done[target]),
                Objective::Min => !can_stay(model, first + **place, &|target| !done[target]),
            };
            if let Some(&place) = good[source].iter().find(forward) {
                chosen[source] = place;
                done[source] = true;
                pending.push(source);
            }
        }
    }
    chosen
}

/// The model in which every state has only its chosen choice.
pub fn induced(model: &Imdp, chosen: &[usize]) -> Imdp {
    let mut builder = super::Builder::new();
    for (state, &place) in chosen.iter().enumerate() {
        builder.state();
        let choice = model.choices(state).start + place;
        builder.choice(&model.transitions(choice).collect::<Vec<_>>());
    }
    model.initial().for_each(|state| builder.initial(state));
    builder.finish().unwrap_or_default()
}
