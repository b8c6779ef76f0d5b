//! Maps over a parameter: what is said of a cell is true for every value in it, on a lattice that meets all borders.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use certus_check::region::{Map, Standing};
use certus_lang::LowerOptions;
use certus_tasks::check::{Regions, regions};
use certus_tasks::{BudgetOptions, Loading, deadline_after};

use crate::campaign::Tally;
use crate::compare::{Class, Judged, holds};
use crate::rows::Study;
use crate::systems::{Case, Family, case_of};
use crate::truth::Truth;

/// How maps are called in reports.
pub const NAME: &str = "region";

/// Steps of the grid over the parameter.
pub const RESOLUTION: usize = 4;

/// Values of the parameter per one.
const VALUES: usize = 4;

/// The ends of the parameter's range.
const RANGE: (f64, f64) = (0.0, 2.0);

/// Seconds after which cells are left open; usual maps take a hundredth.
const PATIENCE: f64 = 5.0;

/// What is asked: `-k`.
const STEPS: usize = 2;

/// Compares maps of every property of a system with a parameter.
pub fn compare(study: &Study<'_>, tally: &mut Tally) -> Result<(), String> {
    let mut case = case_of(Family::Parameters, study.seed, study.number, study.properties);
    case.settings.clear();
    let deadline = deadline_after(Some(PATIENCE), "").map_err(|failure| failure.to_string())?;
    let task = Regions {
        system: Loading {
            path: case.write(study.folder, "region.certus")?,
            options: LowerOptions::default(),
            ..Loading::default()
        },
        properties: case.properties.clone(),
        steps: Some(STEPS),
        parameters: vec![("k".to_owned(), None)],
        resolution: RESOLUTION,
        effort: BudgetOptions { threads: 1, deadline, ..BudgetOptions::default() },
    };
    let mapped = regions(&task, &Arc::new(AtomicBool::new(false)), |_, _| {}).map_err(|failure| failure.to_string())?;
    let last = ((RANGE.1 - RANGE.0) * VALUES as f64) as usize;
    for (property, result) in case.properties.iter().zip(mapped.results) {
        let map = match result.map {
            Ok(map) => map,
            Err(message) => {
                tally.refuse(NAME, message);
                continue;
            }
        };
        let mut truths = Vec::new();
        for place in 0..=last {
            let value = RANGE.0 + place as f64 / VALUES as f64;
            match at(&case, property, value) {
                Ok(truth) => truths.push((value, truth)),
                Err(reason) => tally.leave(reason),
            }
        }
        for (extent, standing) in map.cells.iter().map(|cell| (map.ends(&cell.extent)[0], &cell.standing)) {
            let inside = truths.iter().filter(|(value, _)| extent.0 <= *value && *value <= extent.1);
            let judged = judge(&map, standing, &case, property, &inside.collect::<Vec<_>>());
            let words = || truths.iter().map(|(value, own)| format!("k = {value}: {}; ", own.in_words())).collect();
            tally.note((study.number, &case, property, NAME), judged, words);
        }
    }
    Ok(())
}

/// The truth with a value of the parameter.
fn at(case: &Case, property: &str, value: f64) -> Result<Truth, String> {
    Truth::of(&Case { settings: vec![("k".to_owned(), value)], ..case.clone() }, property)
}

fn judge(map: &Map, standing: &Standing, case: &Case, property: &str, inside: &[&(f64, Truth)]) -> Judged {
    match standing {
        Standing::Open(_) => Judged::Unknown,
        Standing::Holds(scope) => {
            let wrong = inside.iter().find_map(|(value, truth)| match holds(Some(STEPS), *scope, truth) {
                Judged::Wrong(class, said) => Some(Judged::Wrong(class, format!("{said} at k = {value}"))),
                _ => None,
            });
            wrong.unwrap_or(Judged::Right("holds"))
        }
        Standing::Violated(_) => match inside.iter().find(|(_, truth)| !truth.decision.violated()) {
            Some((value, _)) => Judged::Wrong(Class::ViolatedWrongly, format!("throughout, and at k = {value}")),
            None => Judged::Right("violated"),
        },
        Standing::ViolatedAt(witness) => {
            let value = map.witnesses[*witness].values[0];
            match at(case, property, value) {
                Ok(truth) if truth.decision.violated() => Judged::Right("violated at a value"),
                Ok(_) => Judged::Wrong(Class::ViolatedWrongly, format!("at k = {value}")),
                Err(_) => Judged::Unknown,
            }
        }
    }
}
