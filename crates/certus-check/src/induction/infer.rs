//! Invariants over templates, weakened until they are inductive.
//!
//! In the manner of Houdini (Flanagan, Leino: "Houdini, an annotation assistant for ESC/Java", FME 2001) on template polyhedra (Sankaranarayanan,
//! Sipma, Manna: "Scalable analysis of linear systems using mathematical programming", VMCAI 2005). The bounds of a template's directions start at what
//! initial states and simulated runs reach. A step out of the candidate, found by sampling or by the solver, raises the bounds that it
//! breaks, and some more; when the solver finds none, the candidate is an invariant. A template whose bounds run away into the states that must not
//! be reached is given up. Where another engine has a box around what runs reach, the template of boxes begins with that, too.
//!
//! Departure from Houdini: a face that is broken is moved outwards, not dropped, so a template has infinitely many candidates and the number of
//! rounds is bounded. Sound whatever was guessed: the last candidate counts only after the solver has refuted every step out of it.

use certus_graph::Interval;
use certus_lang::system::System;
use certus_model::proof::{Face, Invariant, Method};
use certus_model::{CheckError, Nnf};
use certus_sim::{Options, SimulationError, Simulator};
use certus_solver::Answer;

use super::Asker;
use super::sample::{Sample, Sampler};
use super::templates::{faces_of, templates};
use crate::proof::{initial_outside, leaving, step, steps_from};
use crate::unroll::Unroller;

/// Simulated runs that bounds begin with, and their steps: more with more effort, of which they may take a part.
const RUNS: u64 = 64;
const STEPS: std::ops::RangeInclusive<u64> = 200..=4000;
const SHARE_OF_RUNS: u64 = 2;

/// Steps from which a linear step is fitted, at most.
const MOST_FITTED: usize = 12_800;

/// How often bounds are raised, and points that are tried each time: first few, then many.
const MOST_RAISES: usize = 80;
const TRIES: [usize; 2] = [2048, 4_096];

/// By what share of the spread of what was seen a bound is raised beyond what it must be; more each time that this bound is raised again.
const FIRST_SLACK: f64 = 0.02;
const SLACK_FACTOR: f64 = 1.5;
const MOST_SLACK: f64 = 64.0;

/// What was seen of a system.
pub struct Seen {
    /// Positions of simulated runs: the state, then the policies' outputs.
    pub positions: Vec<Vec<f64>>,
    /// Steps: the number of a position, and the state after it.
    pub steps: Vec<(usize, Vec<f64>)>,
    /// The middle of the last states of runs.
    pub last: Vec<f64>,
}

impl Seen {
    /// Simulates some runs, for about so many scalar operations; none where no initial state can be drawn, which is no reason not to look for proofs.
    pub fn of(system: &System, operations: u64, seed: u64) -> Result<Seen, CheckError> {
        let failed = |error: SimulationError| CheckError::Unsupported(error.to_string());
        let simulator = Simulator::new(system).map_err(failed)?;
        let cost = RUNS.saturating_mul((system.step.parameters() + system.step.len()) as u64).max(1);
        let steps = (operations / cost).clamp(*STEPS.start(), *STEPS.end()) as usize;
        let options = Options { runs: RUNS, steps, seed, record: true, threads: 1, ..Options::default() };
        let (mut positions, mut steps, mut ends) = (Vec::new(), Vec::new(), Vec::<Vec<f64>>::new());
        let done = simulator.run(&options, &mut |_| (), &mut |report| {
            let Some(trace) = &report.trace else { return };
            let first: usize = positions.len();
            let followers = trace.iter().skip(1).enumerate();
            steps.extend(followers.map(|(before, after)| (first + before, after.state.clone())));
            positions.extend(trace.iter().map(|step| [&step.state[..], &step.policies].concat()));
            ends.extend(trace.last().map(|step| step.state.clone()));
        });
        match done {
            Ok(_) | Err(SimulationError::NoInitialState { .. } | SimulationError::UnboundedInitialState { .. }) => {}
            Err(error) => return Err(failed(error)),
        }
        let middle = |place: usize| ends.iter().map(|state| state[place]).sum::<f64>() / ends.len().max(1) as f64;
        let last = (0..system.state_len()).map(middle).collect();
        let thinned = steps.len().div_ceil(MOST_FITTED).max(1);
        let steps = steps.into_iter().step_by(thinned).collect();
        Ok(Seen { positions, steps, last })
    }

    /// The range of a direction.
    pub fn range(&self, face: &Face) -> (f64, f64) {
        self.positions
            .iter()
            .map(|numbers| face.value(numbers))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    }
}

/// What an invariant is wanted for.
pub struct Wanted<'a> {
    /// What is bad, as far as single positions tell: its directions are worth a try.
    pub bad: &'a Nnf,
    /// What holds wherever a step begins that the invariant must keep.
    pub good: &'a Nnf,
    /// Whether an invariant with a bad position in it is in vain.
    pub is_to_avoid: bool,
    /// A box of states that runs reach.
    pub reached: Option<&'a [Interval]>,
}

/// What comes of an invariant: a proof, or nothing, and the next one is looked for.
pub type Stands<'a> = dyn FnMut(&Invariant, &mut Asker<'_, '_>) -> Result<Option<Method>, CheckError> + 'a;

/// Searches for an invariant that a proof stands on.
#[tracing::instrument(level = "debug", name = "invariant inference", skip_all)]
pub fn infer(
    unroller: &Unroller<'_>,
    wanted: &Wanted<'_>,
    stands: &mut Stands<'_>,
    asker: &mut Asker<'_, '_>,
) -> Result<Option<Method>, CheckError> {
    let seen = Seen::of(unroller.system(), asker.share_of_effort(SHARE_OF_RUNS), asker.seed())?;
    if seen.positions.is_empty() {
        return Ok(None);
    }
    let property = faces_of(unroller, wanted.bad)?;
    let simulated = templates(unroller, &seen, &property)?;
    let of_sets = wanted.reached.and_then(|reached| Some((simulated.first()?.clone(), Some(reached))));
    for (template, least) in of_sets.into_iter().chain(simulated.into_iter().map(|own| (own, None))) {
        if let Some(invariant) = raise(unroller, wanted, &seen, (template, least), asker)?
            && let Some(method) = stands(&invariant, asker)?
        {
            return Ok(Some(method));
        }
        if asker.over() {
            break;
        }
    }
    Ok(None)
}

/// Raises the bounds of a template until no step leaves it. They begin no lower than over what was seen, the initial states, and a box of other states.
fn raise(
    unroller: &Unroller<'_>,
    wanted: &Wanted<'_>,
    seen: &Seen,
    (directions, least): (Vec<Face>, Option<&[Interval]>),
    asker: &mut Asker<'_, '_>,
) -> Result<Option<Invariant>, CheckError> {
    let mut invariant = Invariant { faces: directions };
    let mut spreads = Vec::new();
    let (lower, upper) = &unroller.system().init_box;
    let initial: Vec<Interval> = lower.iter().zip(upper).map(|(&lo, &hi)| Interval { lo, hi }).collect();
    for face in &mut invariant.faces {
        let (low, high) = seen.range(face);
        let spread = high - low;
        let boxes = [Some(&initial[..]), least].into_iter().flatten();
        let most = boxes.filter_map(|own| largest_over(own, face)).fold(high, f64::max);
        face.bound = most + FIRST_SLACK * spread;
        spreads.push(spread.max(1e-9 * face.bound.abs()).max(1e-12));
    }
    invariant.faces.iter_mut().for_each(|face| face.bound = round(face.bound));
    let outputs = invariant.reads_outputs(unroller.system().state_len());
    let good = steps_from(unroller, wanted.good, outputs)?;
    let mut sampler = Sampler::new(&good, asker.seed());
    let mut slacks = vec![FIRST_SLACK; invariant.faces.len()];
    for raises in 0..MOST_RAISES {
        if asker.over() || invariant.faces.iter().any(|face| !face.bound.is_finite()) {
            return Ok(None);
        }
        let mut steps: Vec<Vec<f64>> = Vec::new();
        // A few points tell in which direction a candidate is too small; many must agree that it is not.
        for tries in TRIES {
            let found = sampler.within(&good, &invariant, tries)?.into_iter().filter_map(after);
            steps.extend(found.filter(|numbers| !invariant.contains(numbers)));
            asker.spend(sampler.operations());
            if !steps.is_empty() {
                break;
            }
        }
        let bounds: Vec<f64> = invariant.faces.iter().map(|face| face.bound).collect();
        tracing::debug!(raises, ?bounds, steps_out = steps.len(), "candidate");
        // It must keep away from the states that must not be reached. Since it only grows, that need not be asked each time.
        let is_asked = wanted.is_to_avoid && (steps.is_empty() || raises.is_power_of_two());
        if is_asked && !asker.refuted(&step(unroller, wanted.bad, &invariant, (0, 0), false)?)? {
            return Ok(None);
        }
        if steps.is_empty() {
            // Where the policy's outputs matter, initial states are not known to lie in it either.
            let start = if outputs { Some(initial_outside(unroller, &invariant)?) } else { None };
            let mut found = None;
            for query in [Some(leaving(unroller, wanted.good, &invariant)?), start].into_iter().flatten() {
                let answer = asker.ask(&query)?;
                tracing::debug!(
                    is_proved = matches!(answer, Answer::Unsat(_)),
                    is_refuted = matches!(answer, Answer::Sat(_)),
                    "no step leaves the candidate"
                );
                match answer {
                    Answer::Unsat(_) => continue,
                    Answer::Unknown(..) => return Ok(None),
                    Answer::Sat(witness) => {
                        let mut own = Sampler::new(&query, asker.seed());
                        found = own.at(&query, &witness.inputs)?.and_then(after);
                        if found.is_none() {
                            return Ok(None);
                        }
                        break;
                    }
                }
            }
            match found {
                None => return Ok(Some(invariant)),
                Some(numbers) => steps.push(numbers),
            }
        }
        for ((face, spread), slack) in invariant.faces.iter_mut().zip(&spreads).zip(&mut slacks) {
            let reached = steps.iter().map(|numbers| face.value(numbers)).fold(f64::NEG_INFINITY, f64::max);
            if reached > face.bound {
                face.bound = round(reached + *slack * spread);
                *slack = (SLACK_FACTOR * *slack).min(MOST_SLACK);
            }
        }
    }
    Ok(None)
}

/// A number with few digits, not below another: invariants are read by people.
fn round(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let last = value.abs().log10().floor() as i32 - 3;
    let digits = (value / 10f64.powi(last)).ceil();
    // The double nearest to the decimal, which is written as that decimal again.
    match format!("{digits}e{last}").parse() {
        Ok(rounded) if rounded >= value => rounded,
        _ => value,
    }
}

/// The numbers at the end of a sampled step: after its only position, or at its last one with what the policies do there.
fn after(mut sample: Sample) -> Option<Vec<f64>> {
    sample.successor.take().or_else(|| Some([sample.states.pop()?, sample.policies.pop()?].concat()))
}

/// The largest value of a direction over a box of states; nothing if policies have a part in it.
fn largest_over(bounds: &[Interval], face: &Face) -> Option<f64> {
    if face.coefficients.iter().skip(bounds.len()).any(|coefficient| *coefficient != 0.0) {
        return None;
    }
    let used = bounds.iter().zip(&face.coefficients).filter(|(_, coefficient)| **coefficient != 0.0);
    Some(used.map(|(own, coefficient)| coefficient * if *coefficient > 0.0 { own.hi } else { own.lo }).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_decimals_of_four_digits_and_not_below() {
        assert_eq!([round(0.010_305_1), round(-0.107_03), round(2.158_2)], [0.01031, -0.107, 2.159]);
        for value in [0.0, 1.0, 0.3, 1e-300, 12_345.678, -7.77777, f64::MAX, f64::INFINITY] {
            assert!(round(value) >= value, "{value}");
            assert!(round(value) <= value + 2e-3 * value.abs(), "{value}");
        }
        assert_eq!(round(0.010_305_1).to_string(), "0.01031");
    }
}
