//! The policy that is extracted from a network: a property of the system in which it is one action per cell.
//!
//! The interpreter gets a file with the network's place taken by these actions, cell by cell; a cell contains its lower end.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use certus_grid::Policy;
use certus_grid::extract::{ExtractOptions, ExtractedAction, Extraction};
use certus_grid::grid::Grid;
use certus_grid::transition_relation::TransitionRelation;
use certus_lang::LowerOptions;
use certus_tasks::check::{Check, GridOptions, check};
use certus_tasks::{BudgetOptions, Loading, deadline_after, load_system};

use crate::campaign::Tally;
use crate::compare::judge;
use crate::rows::Study;
use crate::systems::{Case, Family, case_of};
use crate::truth::Truth;

/// How the extracted policy is called in reports.
pub const NAME: &str = "extract";

/// The width of cells.
const WIDTH: f64 = 1.0;

/// The most refinements.
const REFINEMENTS: usize = 2;

/// Seconds after which a check gives up; usual ones take a thousandth.
const PATIENCE: f64 = 5.0;

/// Compares what the grid engine says of the extracted policy.
pub fn compare(study: &Study<'_>, tally: &mut Tally) -> Result<(), String> {
    let case = case_of(Family::Networks, study.seed, study.number, study.properties);
    // A window, or labels, make cells of more than x, each with an action of its own.
    if case.text.contains("state w") || case.text.contains("state m") {
        return Ok(());
    }
    let path = case.write(study.folder, "extract.certus")?;
    let options = LowerOptions { overrides: case.settings.clone(), ..LowerOptions::default() };
    let loading = Loading { path, options, ..Loading::default() };
    let extraction = ExtractOptions { seed: study.seed, ..ExtractOptions::default() };
    let cells = cells(&loading, extraction)?;
    let other = Case { text: with_cells(&case, &cells), networks: Vec::new(), ..case.clone() };
    for property in &case.properties {
        let truth = match Truth::of(&other, property) {
            Ok(truth) => truth,
            Err(reason) => {
                tally.leave(reason);
                continue;
            }
        };
        let deadline = deadline_after(Some(PATIENCE), "").map_err(|failure| failure.to_string())?;
        let task = Check {
            system: loading.clone(),
            properties: vec![property.clone()],
            engine: "grid".parse()?,
            grid: GridOptions {
                widths: vec![(None, WIDTH)],
                policy: Policy::Extracted(extraction),
                refinements: Some(REFINEMENTS),
                ..GridOptions::default()
            },
            steps: None,
            assume_no_model_errors: false,
            certificate: None,
            effort: BudgetOptions { threads: 1, seed: study.seed, deadline, ..BudgetOptions::default() },
        };
        let checked = check(&task, &Arc::new(AtomicBool::new(false)), |_| {}).map_err(|own| own.to_string())?;
        let found = checked.results.into_iter().next().ok_or("nothing was said")?.outcome;
        match found.as_ref().map(|found| found.runs()) {
            Ok(Some(outcome)) => {
                let judged = judge(None, outcome, &truth);
                tally.note((study.number, &other, property, NAME), judged, || truth.in_words());
            }
            Ok(None) => tally.refuse(NAME, "no verdict about runs".to_owned()),
            Err(message) => tally.refuse(NAME, message.clone()),
        }
    }
    Ok(())
}

/// Each cell of the range: where it begins, and what is done in it.
fn cells(loading: &Loading, options: ExtractOptions) -> Result<Vec<(f64, ExtractedAction)>, String> {
    let system = load_system(loading).map_err(|failure| failure.to_string())?;
    let grid = Grid::new(&system, &[WIDTH])?;
    let relation = TransitionRelation::with(&system, &[], true)?;
    let extraction = Extraction::new(&system, &relation, options).map_err(|error| error.to_string())?;
    let (lower, upper) = (system.states[0].lower[0], system.states[0].upper[0]);
    let mut cells = Vec::new();
    let mut x = lower;
    while x <= upper {
        let cell = grid.requested_cell(&[x]);
        let begin = grid.axes[0].cut(cell.places[0]);
        let given = extraction.actions(&grid, &[cell]).map_err(|error| error.to_string())?;
        cells.extend(given.into_iter().map(|given| (begin, given)));
        x += WIDTH;
    }
    Ok(cells)
}

/// The file with actions in the network's place.
fn with_cells(case: &Case, cells: &[(f64, ExtractedAction)]) -> String {
    let by_cell = |value: &dyn Fn(&ExtractedAction) -> String| {
        let mut text = String::new();
        for pair in cells.windows(2) {
            let _ = write!(text, "if x < {:?} then {} else ", pair[1].0, value(&pair[0].1));
        }
        text + &cells.last().map_or_else(String::new, |(_, given)| value(given))
    };
    let output = by_cell(&|given| given.outputs.first().map_or_else(String::new, |value| format!("{value:?}")));
    // Every action by the largest score has a label in each cell, in the order of their declarations.
    let mut actions = 0;
    let line = |line: &str| match line.split_once(" = argmax(") {
        _ if line.starts_with("policy y ") => format!("policy y = {output}\n"),
        Some((declared, _)) => {
            let place = actions;
            actions += 1;
            let scores =
                |given: &ExtractedAction| if given.labels.get(place) == Some(&0) { "[1, 0]" } else { "[0, 1]" };
            format!("{declared} = argmax({}) of {{ l, r }}\n", by_cell(&|given| scores(given).to_owned()))
        }
        None => format!("{line}\n"),
    };
    case.text.lines().map(line).collect()
}
