//! Convergence to an equilibrium, over the reals.
//!
//! A loop that settles does not repeat a state: it comes ever nearer to an equilibrium, and a property like `F omega > 0` depends on the side from
//! which it does. Doubles cannot show that, since near the equilibrium their rounding is larger than the motion. What shows it is a proof, by
//! mean-value enclosures and an invariant cone (cone conditions as in Vandergraft: "Spectral properties of matrices which have invariant
//! cones", SIAM J. Appl. Math. 16, 1968):
//!
//! 1. the run is enclosed for some steps, each with the middle of its box and the slopes around it;
//! 2. from there on, increments `x(k+1) − x(k)` stay in a cone around the slowest direction and shrink by a factor, because every matrix that
//!    slopes allow maps the cone into itself (`cone`); so the run stays in a small box for ever;
//! 3. an atom is known from then on if it is on all of the box. Where a coordinate is the speed of another one
//!    (`next x = x + h · next v`, found in the step itself, `speeds`), it has the sign of the other's increments, which the cone knows.
//!
//! So all atoms are the same from some step on, and the property is judged as on a run that stays there. Only loops in which nobody
//! chooses anything come into question.

mod cone;
mod speeds;

use certus_graph::eval::{Evaluator, Workspace, enclose};
use certus_graph::{Fault, Graph, GraphError, Interval};
use certus_lang::system::{ActionRole, AtomId, Formula, System, Variable};
use certus_model::{Run, nnf};
use certus_solver::{Jacobian, JacobianEnclosure};

use crate::condition::{always, never};
use crate::lasso_semantics;
use crate::ltl_encoding::{Beyond, Shape, encode};
use crate::replay::split;
use cone::Cone;
use speeds::Speed;

/// What the engine is called.
pub const NAME: &str = "convergence";

/// A loop without choices, prepared.
pub struct Convergence<'a> {
    system: &'a System,
    step: Evaluator<f64>,
    slopes: Jacobian,
    /// Every atom, then where operations are defined and transitions allowed, then whether a state is initial.
    truths: Graph,
    /// Whether a state is terminal.
    terminal: Option<Graph>,
}

/// What such a violation rests on.
pub const OVER_THE_REALS: &str = "shown over the reals: the run converges to an equilibrium, and from its last step on no atom \
     changes; the rounding of doubles may hide it";

/// So many steps a run has to come near rest.
const MOST_STEPS: usize = 400;

/// One that has become slow by then, by this factor, has more.
const SLOWED_DOWN: f64 = 1e-2;
const STEPS_OF_SLOW_RUNS: usize = 1600;

/// Increments of a run that has settled are this small beside its first distance from rest.
const SETTLED: f64 = 1e-5;

/// Distances from rest, beside the first one, at which the argument for all time is tried.
const NEARNESS: [f64; 6] = [0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6];

/// What is certain at a position.
type Known = Vec<Option<bool>>;

/// A run in which every number is enclosed.
#[derive(Default)]
struct Tube {
    states: Vec<Vec<Interval>>,
    /// The step over each state's box.
    steps: Vec<JacobianEnclosure>,
    atoms: Vec<Known>,
}

impl<'a> Convergence<'a> {
    /// Prepares a system; nothing if somebody chooses something in it.
    pub fn new(system: &'a System) -> Result<Option<Convergence<'a>>, GraphError> {
        let random = system.roles.actions.iter().any(|role| matches!(role, ActionRole::Softmax { .. }));
        let chosen = !system.inputs.is_empty() || !system.chances.is_empty() || random;
        let open = !system.roles.free_params.is_empty() || !system.networks.is_empty();
        if chosen || open {
            return Ok(None);
        }
        let roles = &system.roles;
        let next: Vec<usize> = roles.next.iter().map(|next| next.port).collect();
        let defined = roles.atoms_defined.iter().flatten().chain(&roles.defined);
        let conditions = defined.chain(&roles.assume).chain(&roles.init);
        let truths: Vec<usize> = roles.atoms.iter().chain(conditions).map(|truth| truth.truth.port).collect();
        Ok(Some(Convergence {
            system,
            step: Evaluator::new(&system.step),
            slopes: Jacobian::new(&system.step.keep_outputs(&next))?,
            truths: system.step.keep_outputs(&truths),
            terminal: roles.terminal.map(|terminal| system.step.keep_outputs(&[terminal.truth.port])),
        }))
    }

    /// The run from a state, if it converges to an equilibrium and thereby violates a formula. It repeats its last position, as far as atoms can tell.
    #[tracing::instrument(level = "debug", name = "convergence", skip_all)]
    pub fn violation(&self, formula: &Formula, start: &[f64]) -> Result<Option<Run>, GraphError> {
        let run = self.run(start)?;
        let Some(near) = settles(&run.states) else { return Ok(None) };
        let mut tube = Tube::default();
        for last in near {
            if !self.enclose(start, last, &mut tube)? {
                return Ok(None);
            }
            let Some(settled) = self.settled(&tube, &run.states)? else { continue };
            // Positions up to the last one of the tube, and one more for all that follow.
            let positions = last + 2;
            let shape = Shape { positions, loop_to: Some(positions - 1) };
            let mut atom = |id: AtomId, position: usize, wanted: bool| {
                let known = if position > last { &settled } else { &tube.atoms[position] };
                if known[id.0] == Some(wanted) { always() } else { never() }
            };
            if encode(&nnf(formula, false), 0, shape, Beyond::Anything, &mut atom) != always() {
                continue;
            }
            let found = shortened(run.clone(), positions);
            // Judged once more, by the doubles of the run and by somebody else.
            let atom = |id: AtomId, position: usize| found.atoms[position][id.0];
            if !lasso_semantics::holds(formula, positions, positions - 1, &atom)[0] {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The same from the middle and two corners of a box.
    pub fn violation_from(
        &self,
        formula: &Formula,
        (lower, upper): (&[f64], &[f64]),
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Run>, GraphError> {
        let middle: Vec<f64> =
            lower.iter().zip(upper).map(|(low, high)| (low / 2.0 + high / 2.0).clamp(*low, *high)).collect();
        for start in [&middle, lower, upper] {
            if let Some(run) = self.violation(formula, start)? {
                return Ok(Some(run));
            }
            if stop() {
                break;
            }
        }
        Ok(None)
    }

    /// A run in doubles, as long as it stays in its ranges.
    fn run(&self, start: &[f64]) -> Result<Run, GraphError> {
        let (system, roles) = (self.system, &self.system.roles);
        let mut run = Run::default();
        let mut workspace = Workspace::default();
        let mut state = start.to_vec();
        let mut most = MOST_STEPS;
        while state.iter().all(|value| value.is_finite()) {
            if run.states.len() > most {
                let slow = most == MOST_STEPS && has_slowed_down(&run.states) && settles(&run.states).is_none();
                if !slow {
                    break;
                }
                most = STEPS_OF_SLOW_RUNS;
            }
            let slices: Vec<&[f64]> = split(&system.states, &state).collect();
            self.step.run(&mut workspace, &slices, 1)?;
            let output = |port: usize| self.step.output(&workspace, &slices, port);
            let truth = |port: usize| output(port).first().is_some_and(|&value| value != 0.0);
            let label = |role: &ActionRole| match role {
                ActionRole::Argmax { choice, .. } => output(choice.port).iter().position(|&value| value != 0.0),
                ActionRole::Softmax { .. } => None,
            };
            let next: Vec<f64> = roles.next.iter().flat_map(|next| output(next.port).iter().copied()).collect();
            run.policies.push(roles.policies.iter().flat_map(|own| output(own.port).iter().copied()).collect());
            run.actions.push(roles.actions.iter().map(|role| label(role).unwrap_or(0)).collect());
            run.atoms.push(roles.atoms.iter().map(|atom| truth(atom.truth.port)).collect());
            run.inputs.push(Vec::new());
            run.chances.push(Vec::new());
            run.states.push(std::mem::replace(&mut state, next));
        }
        Ok(run)
    }

    /// Encloses the run from a state up to a position; false if it may not be a run.
    fn enclose(&self, start: &[f64], last: usize, tube: &mut Tube) -> Result<bool, GraphError> {
        let points = || start.iter().map(|&value| Interval::point(value)).collect::<Vec<_>>();
        while tube.states.len() <= last {
            let state = tube.steps.last().map_or_else(points, |step| step.range.clone());
            let (known, allowed) = self.known(&state, tube.states.is_empty())?;
            let Some(step) = self.slopes.over(&middle(&state), &state).filter(|_| allowed) else {
                return Ok(false);
            };
            tube.states.push(state);
            tube.steps.push(step);
            tube.atoms.push(known);
        }
        Ok(true)
    }

    /// What is certain of the atoms over a box, and whether all of it may be part of a run that goes on.
    fn known(&self, state: &[Interval], first: bool) -> Result<(Known, bool), GraphError> {
        let slices: Vec<&[Interval]> = split(&self.system.states, state).collect();
        let found = enclose(&self.truths, &slices)?;
        let mut certain: Known = found.iter().map(|own| own.first().and_then(|value| value.certainty())).collect();
        let roles = &self.system.roles;
        let initial = roles.init.is_none_or(|_| certain.pop() == Some(Some(true)));
        // What is left after the atoms: where operations are defined, and what is assumed.
        let allowed = certain.split_off(roles.atoms.len()).into_iter().all(|own| own == Some(true));
        Ok((certain, allowed && (initial || !first) && in_ranges(&self.system.states, state)))
    }

    /// Whether no state of a box is terminal.
    fn moves(&self, state: &[Interval]) -> Result<bool, GraphError> {
        let Some(terminal) = &self.terminal else { return Ok(true) };
        let slices: Vec<&[Interval]> = split(&self.system.states, state).collect();
        let found = enclose(terminal, &slices)?;
        Ok(found[0].first().and_then(|value| value.certainty()) == Some(false))
    }

    /// What is certain of the atoms at every position after the last one of a tube, whatever comes.
    fn settled(&self, tube: &Tube, run: &[Vec<f64>]) -> Result<Option<Known>, GraphError> {
        let (Some(state), Some(step), Some(rest)) = (tube.states.last(), tube.steps.last(), run.last()) else {
            return Ok(None);
        };
        // A box that should contain all that follows, with room.
        let own = middle(state);
        let away = own.iter().zip(rest).map(|(own, rest)| (own - rest).abs()).fold(0.0, f64::max);
        let region: Vec<Interval> = state
            .iter()
            .zip(&own)
            .zip(rest)
            .map(|((range, own), &rest)| range.hull(Interval::point(rest)).widen((own - rest).abs() + away / 16.0))
            .collect();
        let Some(near) = self.slopes.over(&middle(&region), &region) else { return Ok(None) };
        let increment = increment(&own, state, step);
        let Some(cone) = Cone::around(&near.slopes, &increment) else { return Ok(None) };
        let mut tail: Vec<Interval> = state.iter().zip(&cone.displacement).map(|(&own, &way)| own + way).collect();
        if !tail.iter().zip(&region).all(|(tail, region)| region.encloses(*tail)) {
            return Ok(None);
        }
        let speeds = if self.moves(&tail)? { speeds::found(self.system, &near.slopes)? } else { Vec::new() };
        for Speed { of, speed, sign } in speeds {
            let direction = cone.direction[of];
            let half = match (direction.lo > 0.0, direction.hi < 0.0) {
                (true, _) => sign,
                (_, true) => -sign,
                _ => continue,
            };
            let half =
                if half > 0.0 { Interval::new(0.0, f64::INFINITY) } else { Interval::new(f64::NEG_INFINITY, 0.0) };
            // Both contain all later speeds.
            tail[speed] = tail[speed].intersection(half).ok_or_else(|| {
                let details = format!("{:?} and {half:?} for state element {speed}", tail[speed]);
                Fault::raise("two enclosures of a run that converges do not meet", details)
            })?;
        }
        let (known, allowed) = self.known(&tail, false)?;
        Ok(allowed.then_some(known))
    }
}

/// x(k+1) − x(k) over a box of states: its middle's, and how that changes within the box.
fn increment(middle: &[f64], state: &[Interval], step: &JacobianEnclosure) -> Vec<Interval> {
    let rows = step.middle.iter().zip(&step.slopes).enumerate();
    rows.map(|(row, (&next, slopes))| {
        let fixed = next - Interval::point(middle[row]);
        slopes.iter().enumerate().fold(fixed, |sum, (input, &slope)| {
            let own = if input == row { Interval::ONE } else { Interval::ZERO };
            sum + (slope - own) * (state[input] - Interval::point(middle[input]))
        })
    })
    .collect()
}

/// Whether a run moves far less in the end than at its beginning.
fn has_slowed_down(states: &[Vec<f64>]) -> bool {
    const FEW: usize = 16;
    let moved = |pair: &[Vec<f64>]| pair[0].iter().zip(&pair[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let most = |part: &[Vec<f64>]| part.windows(2).map(moved).fold(0.0, f64::max);
    let few = FEW.min(states.len());
    most(&states[states.len() - few..]) < SLOWED_DOWN * most(&states[..few])
}

/// Positions at which a run that settles is nearer and nearer to where it ends.
fn settles(states: &[Vec<f64>]) -> Option<Vec<usize>> {
    let rest = states.last().filter(|_| states.len() > MOST_STEPS)?;
    let distance = |state: &[f64]| state.iter().zip(rest).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let first = distance(&states[0]);
    let late = distance(&states[states.len() - 2]).max(distance(&states[states.len() / 2]));
    if first == 0.0 || late > SETTLED * first {
        return None;
    }
    let mut found: Vec<usize> = Vec::new();
    for share in NEARNESS {
        found.extend(states.iter().position(|state| distance(state) < share * first));
    }
    found.dedup();
    Some(found)
}

/// The first positions of a run, of which the last one stands for all that follow.
fn shortened(mut run: Run, positions: usize) -> Run {
    debug_assert!(0 < positions && positions <= run.states.len(), "{positions} of {} positions", run.states.len());
    for table in [&mut run.states, &mut run.inputs, &mut run.policies] {
        table.truncate(positions);
    }
    run.chances.truncate(positions);
    run.actions.truncate(positions);
    run.atoms.truncate(positions);
    run.loop_to = Some(positions - 1);
    run.converges = true;
    run
}

fn middle(ranges: &[Interval]) -> Vec<f64> {
    ranges.iter().map(|range| (range.lo / 2.0 + range.hi / 2.0).clamp(range.lo, range.hi)).collect()
}

fn in_ranges(variables: &[Variable], values: &[Interval]) -> bool {
    let ranges = variables.iter().flat_map(|variable| variable.lower.iter().zip(&variable.upper));
    values.iter().zip(ranges).all(|(value, (&low, &high))| Interval::new(low, high).encloses(*value))
}
