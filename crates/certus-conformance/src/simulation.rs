//! Simulated runs beside the interpreter: what is called broken is broken, and what is called kept is kept.

use std::path::Path;

use certus_lang::{FileNetworks, LowerOptions, load_str};
use certus_reference::{Replayed, Shown};
use certus_sim::{End, Options, RunReport, Simulator, Verdict};

use crate::campaign::Tally;
use crate::compare::{Class, Judged};
use crate::rows::Study;
use crate::systems::Case;
use crate::truth::Truth;

/// How the simulator is called in reports.
pub const NAME: &str = "simulate";

/// Runs of each system.
pub const RUNS: u64 = 4;

/// Steps of each run.
const STEPS: usize = 5;

/// What the simulator says of every property of a case, run by run.
pub fn simulate(case: &Case, seed: u64, folder: &Path) -> Result<Vec<RunReport>, String> {
    case.write(folder, "system.certus")?;
    let options = LowerOptions { overrides: case.settings.clone(), ..LowerOptions::default() };
    let system = load_str(&case.text, &mut FileNetworks::new(folder), &options).map_err(|error| error.render(false))?;
    let simulator = Simulator::new(&system).map_err(|error| error.to_string())?;
    let options = Options { runs: RUNS, steps: STEPS, seed, threads: 1, record: true, ..Options::default() };
    let mut reports = Vec::new();
    let sink = &mut |report: &RunReport| reports.push(report.clone());
    simulator.run(&options, &mut |_| {}, sink).map_err(|error| error.to_string())?;
    Ok(reports)
}

/// Compares simulated runs.
pub fn compare(study: &Study<'_>, tally: &mut Tally) -> Result<(), String> {
    for report in simulate(study.case, study.seed, study.folder)? {
        for (place, truth) in study.truths.iter().enumerate() {
            let Some(truth) = truth else { continue };
            let asked = (study.number, study.case, study.case.properties[place].as_str(), NAME);
            tally.note(asked, judge(&report, place, truth), || truth.in_words());
        }
    }
    Ok(())
}

/// Judges what is said of one property.
pub fn judge(report: &RunReport, property: usize, truth: &Truth) -> Judged {
    let Some(trace) = &report.trace else { return Judged::Unknown };
    let back = (report.end == End::Terminal).then(|| trace.len().saturating_sub(1));
    let mut run = certus_model::Run {
        states: trace.iter().map(|step| step.state.clone()).collect(),
        inputs: trace.iter().map(|step| step.input.clone()).collect(),
        chances: trace.iter().map(|step| step.chances.clone()).collect(),
        actions: trace.iter().map(|step| step.actions.clone()).collect(),
        loop_to: back,
        // What was tried last is not allowed: the state speaks for itself.
        open_end: report.end == End::Blocked,
        ..certus_model::Run::default()
    };
    let verdict = report.properties[property].verdict;
    let mut replayed = truth.replayed(&run, !matches!(report.end, End::Completed | End::Terminal));
    // Nor is the last choice of a run of full length, where no allowed one was found.
    if let (Verdict::Open, End::Completed, Replayed::NoRun(_)) = (verdict, &report.end, &replayed) {
        run.open_end = true;
        replayed = truth.replayed(&run, false);
    }
    match (verdict, &replayed) {
        (_, Replayed::NotKnown(_)) => Judged::Unknown,
        (Verdict::Violated, Replayed::Violates) => Judged::Right("violated"),
        // A state such as 2/3 is no double, and the run is one up to rounding; a loop must be exact.
        (Verdict::Violated, Replayed::ViolatesInDoubles) if back.is_none() && truth.decision.violated() => {
            Judged::Right("violated")
        }
        (Verdict::Satisfied, Replayed::Innocent(Shown::Satisfied)) => Judged::Right("satisfied"),
        // A run that stays where it is for ever may satisfy what no finite run decides.
        (Verdict::Satisfied, Replayed::Innocent(Shown::Open)) if back.is_some() => Judged::Right("satisfied"),
        (Verdict::Open, Replayed::Innocent(_) | Replayed::Violates) => Judged::Unknown,
        (Verdict::Open, Replayed::Errs(_)) if !matches!(report.end, End::Completed | End::Terminal) => {
            Judged::Right("model error")
        }
        // Nothing is claimed of a property whose atom is undefined, nor of a run that finds no allowed choice.
        (Verdict::Open, Replayed::Errs(_)) => Judged::Unknown,
        (Verdict::Open, Replayed::NoRun(_)) if report.end == End::Blocked => Judged::Unknown,
        _ => {
            Judged::Wrong(Class::SimulatedWrongly, format!("{verdict:?}, {:?}, but {replayed:?}: {run:?}", report.end))
        }
    }
}
