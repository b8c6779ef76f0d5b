//! Whether rounding may have decided what a run does.
//!
//! A long run of a loop that spreads its errors is no longer confirmed by intervals, though it violates its property by far; a short one that stands on the border of a
//! condition is not confirmed either, and over the reals it may do something else. The two are told apart by how intervals around the run
//! fail: in the first case their width grows step by step until they say nothing, in the second a condition is open while they are narrow, or one step makes them wide at
//! once, because they meet both sides of a jump.
//!
//! This is a heuristic about runs of doubles, which docs/semantics.md allows as violations if they are marked as such. Those on a border are
//! kept back as candidates, so that others can decide.

use certus_check::replay::{Drive, split};
use certus_graph::eval::enclose;
use certus_graph::{GraphError, Interval};
use certus_lang::system::{Formula, System, Truth};
use certus_model::nnf;

/// Relative width at which intervals are wide.
const WIDE: f64 = 1e-3;

/// One step makes intervals wider by no more than this factor, unless there is a jump.
const STEEPEST: f64 = 1e7;

/// Whether a run that intervals do not confirm is on the border of a condition.
pub(crate) fn is_on_a_border(system: &System, formula: &Formula, drive: &Drive) -> Result<bool, GraphError> {
    let roles = &system.roles;
    let asked = nnf(formula, false).atoms();
    let points = |values: &[f64]| values.iter().map(|&value| Interval::point(value)).collect::<Vec<Interval>>();
    let mut state = points(&drive.state);
    let mut width = f64::EPSILON;
    for position in 0..drive.inputs.len() {
        let mut arguments: Vec<Vec<Interval>> = split(&system.states, &state).map(<[Interval]>::to_vec).collect();
        arguments.extend(split(&system.inputs, &drive.inputs[position]).map(points));
        arguments.extend(drive.one_hots(system, position).iter().map(|one_hot| points(one_hot)));
        let slices: Vec<&[Interval]> = arguments.iter().map(Vec::as_slice).collect();
        let outputs = enclose(&system.step, &slices)?;
        let open = |own: Truth| outputs[own.truth.port].first().is_none_or(|value| value.certainty().is_none());
        let init = roles.init.filter(|_| position == 0);
        let conditions = [init, roles.assume, roles.choice_defined, roles.defined, roles.terminal];
        if conditions.into_iter().flatten().any(open) || asked.iter().any(|id| open(roles.atoms[id.0])) {
            return Ok(true);
        }
        let next: Vec<Interval> = roles.next.iter().flat_map(|next| outputs[next.port].iter().copied()).collect();
        let widest = next.iter().map(|own| own.width() / own.lo.abs().max(own.hi.abs()).max(1.0)).fold(0.0, f64::max);
        if !widest.is_finite() || widest > STEEPEST * width {
            return Ok(true);
        }
        if widest > WIDE {
            return Ok(false);
        }
        width = widest.max(f64::EPSILON);
        state = next;
    }
    Ok(true)
}
