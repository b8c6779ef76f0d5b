//! Shields and their runs as documents.

use std::path::Path;

use certus_documents::shield_run::{History, Runs, RunsVerdict, SampledRun, ShieldRun};
use certus_documents::shield_synthesis::{ShieldSynthesis, SynthesisVerdict, SynthesisedBranch};
use certus_documents::{Schema, numbers};
use certus_lang::LowerOptions;
use certus_model::short;
use certus_shield::evaluation::{Statistics, Trial};
use certus_shield::history::Sample;
use certus_shield::synthesis::Failed;

use super::{Made, Ready, Replay};
use crate::check::state_sets::{Extents, initial_states, state_sets};
use crate::provenance::About;
use crate::{BudgetOptions, Loading, Provenance};

/// A shield that was made, without its certificate.
pub fn made_document(made: &Made, bytes: usize, seconds: f64, path: Option<&Path>) -> ShieldSynthesis {
    let branch = |(own, origin): (&certus_audit::shield::Settled, &&str)| SynthesisedBranch {
        invariant: own.invariant.clone(),
        program: (*origin).to_owned(),
        claims: own.claims,
        tolerance: own.tolerance.into(),
    };
    ShieldSynthesis {
        schema: Schema::default(),
        system: Some(made.system.clone()),
        property: Some(made.property.clone()),
        verdict: SynthesisVerdict::Verified,
        branches: Some(made.accepted.branches.iter().zip(&made.origins).map(branch).collect()),
        parts: Some(made.accepted.boxes),
        steps_to_target: Some(made.accepted.convergence.as_ref().map(|own| own.steps)),
        bytes: Some(bytes),
        improvement_cut_short: Some(made.cut_short),
        file: Some(path.map(|path| path.display().to_string())),
        text: Some(made.program.clone()),
        seconds: seconds.into(),
        relative_to: made.provenance.claim.as_ref().map(|claim| claim.relative_to.clone()),
        provenance: Some(made.provenance.document()),
        ..ShieldSynthesis::default()
    }
}

/// Why there is no shield, and how many programs were tried.
pub fn reason(failed: &Failed, given_monomials: bool) -> (String, usize) {
    match failed {
        Failed::NotFound { branches, tried, uncovered } => {
            let point: Vec<String> = uncovered.iter().map(|x| short(*x)).collect();
            let kind = if given_monomials { "no program over the given monomials" } else { "no program" };
            let from = point.join(", ");
            (format!("{kind} was proved safe from ({from}); {branches} branches were proved"), *tried)
        }
        Failed::Stopped { branches, tried } => (format!("stopped with {branches} branches proved"), *tried),
        Failed::Unsupported(reason) => (reason.clone(), 0),
    }
}

/// That there is no shield.
pub fn failed_document(reason: String, programs: usize, seconds: f64) -> ShieldSynthesis {
    let (reason, programs, seconds) = (Some(reason), Some(programs), seconds.into());
    ShieldSynthesis { reason, programs, seconds, ..ShieldSynthesis::default() }
}

/// The mean of the steps until runs settle.
pub fn settling(outcome: &Statistics) -> f64 {
    outcome.settling as f64 / (outcome.runs - outcome.unsafe_runs).max(1) as f64
}

/// Where the runs of a shield come from.
pub fn replayed_from(ready: &Ready, trial: &Trial, effort: &BudgetOptions, loading: Loading) -> Provenance {
    let options = LowerOptions { overrides: ready.settings.clone(), ..LowerOptions::default() };
    let loading = Loading { options, ..loading };
    Provenance::of_system("simulation", &loading, &ready.system, &ready.sources)
        .with_effort(effort)
        .limit("runs", Some(trial.runs.into()))
        .limit("steps", Some(trial.steps.into()))
}

/// What a document about runs of a shield says before they are made.
pub fn about(ready: &Ready, provenance: &Provenance) -> ShieldRun {
    let property = ready.system.property(&ready.property);
    let extents = Extents::of_ranges(&ready.system);
    let state_sets = property.map(|own| state_sets(&ready.system, own, &extents)).unwrap_or_default();
    ShieldRun {
        system: ready.system.name.clone(),
        property: Some(ready.property.clone()),
        states: Some(ready.runtime.states.clone()),
        initial: Some(initial_states(&ready.system)),
        state_sets,
        relative_to: Some(provenance.relative_to(About::Sampled)),
        provenance: Some(provenance.document()),
        ..ShieldRun::default()
    }
}

/// That runs of a shield were stopped.
pub fn stopped_document(about: ShieldRun) -> ShieldRun {
    ShieldRun { system: about.system, reason: Some("stopped".to_owned()), ..ShieldRun::default() }
}

fn sampled(sample: &Sample) -> SampledRun {
    SampledRun {
        run: sample.run,
        steps: sample.steps.clone(),
        states: sample.states.iter().map(numbers).collect(),
        overridden: sample.overridden.clone(),
        unsafe_at: sample.unsafe_at,
    }
}

/// What the runs showed, added to what they are about.
pub fn replay_document(about: ShieldRun, trial: &Trial, replay: &Replay) -> ShieldRun {
    let runs = |own: &Statistics, seconds: f64| Runs {
        unsafe_runs: own.unsafe_runs,
        steps: own.steps,
        interventions: own.interventions,
        alarms: own.alarms,
        steps_to_settle: settling(own).into(),
        seconds: seconds.into(),
        history: History {
            width: own.history.width,
            steps: own.history.steps.clone(),
            interventions: own.history.interventions.clone(),
        },
        samples: own.history.samples.iter().map(sampled).collect(),
    };
    ShieldRun {
        runs: Some(trial.runs),
        steps: Some(trial.steps),
        seed: Some(trial.seed),
        verdict: if replay.shielded.unsafe_runs == 0 { RunsVerdict::Safe } else { RunsVerdict::Unsafe },
        network_alone: Some(runs(&replay.bare, replay.bare_seconds)),
        with_shield: Some(runs(&replay.shielded, replay.shielded_seconds)),
        network_nanoseconds: Some(replay.network_time.into()),
        monitor_nanoseconds: Some(replay.monitor_time.into()),
        ..about
    }
}
