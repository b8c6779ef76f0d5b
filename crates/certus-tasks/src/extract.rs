//! Extracts a policy from a network on a grid, and compares the returns of both.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use certus_documents as documents;
use certus_documents::extract::{ActionValue, ExtractedCell, GridAxis, Quartiles, Returns};
use certus_documents::{Members, numbers};
use certus_engine::{Ended, Job};
use certus_grid::extract::ExtractOptions;
use certus_grid::grid::Grid;
use certus_grid::policy_evaluation::{Compared, Episodes, compare, five_numbers};
use certus_lang::system::{ActionRole, System};
use certus_report::cells::box_plots;

use crate::check::{grid_widths, names_of, policy_names};
use crate::failure::Failure;
use crate::{BudgetOptions, Loaded, Loading, Provenance, load};

/// A request for an extraction.
#[derive(Clone, Debug)]
pub struct Extract {
    /// The system.
    pub system: Loading,
    /// Widths of cells: of a state variable or an element of one, or of all that are not named.
    pub widths: Vec<(Option<String>, f64)>,
    /// Options of the extraction.
    pub options: ExtractOptions,
    /// The episodes in which both policies are compared.
    pub episodes: Episodes,
    /// How much work it is worth.
    pub effort: BudgetOptions,
}

/// An extracted policy with its returns.
pub struct Extracted {
    /// The system.
    pub system: System,
    /// The provenance.
    pub provenance: Provenance,
    /// The grid.
    pub grid: Grid,
    /// The returns of both policies, of fewer episodes than requested if the time ran out, and the cells that were visited.
    pub compared: Compared,
}

/// Extracts a policy; nothing if the time ran out, or `stop` was set, before the first episodes ended. `tick` is called now and then meanwhile.
pub fn extract(task: &Extract, stop: &Arc<AtomicBool>, tick: impl FnMut()) -> Result<Option<Extracted>, Failure> {
    let work = {
        let (task, stop) = (task.clone(), Arc::clone(stop));
        move || run(&task, &stop)
    };
    match Job::new(task.effort.deadline, stop).run(tick, work)? {
        Ended::Done(done) => done,
        Ended::Late | Ended::Cancelled => Ok(None),
    }
}

fn run(task: &Extract, stop: &AtomicBool) -> Result<Option<Extracted>, Failure> {
    let Loaded { system, sources } = load(&task.system)?;
    let mut widths = grid_widths(&system, &task.widths).map_err(Failure::message)?;
    if widths.is_empty() {
        widths = certus_grid::suggested_widths(&system);
    }
    let grid = Grid::new(&system, &widths).map_err(Failure::message)?;
    let deadline = task.effort.deadline;
    let over = || stop.load(Ordering::Relaxed) || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let compared = compare(&system, &grid, task.options, task.episodes, &over).map_err(Failure::message)?;
    let provenance = Provenance::of_system("grid", &task.system, &system, &sources)
        .with_effort(&task.effort)
        .limit("episodes", Some(task.episodes.count.into()))
        .limit("steps", Some(task.episodes.steps.into()));
    Ok((!compared.network.is_empty()).then_some(Extracted { system, provenance, grid, compared }))
}

/// The names of both policies with the five-number summaries of their returns.
pub fn plots(own: &Extracted) -> [(String, [f64; 5]); 2] {
    let count = own.compared.cells.len();
    [
        ("network".to_owned(), five_numbers(&own.compared.network)),
        (format!("extracted ({count} cells)"), five_numbers(&own.compared.extracted)),
    ]
}

/// Box plots of the returns.
pub fn picture(own: &Extracted) -> Option<String> {
    box_plots(
        &format!("{}: returns of {} episodes", own.system.name, own.compared.network.len()),
        "return",
        &plots(own),
    )
}

/// What the returns are about.
fn relative_to(provenance: &Provenance) -> String {
    format!("a policy extracted from the network{}, in sampled runs of doubles", provenance.discretised())
}

/// The extracted policy and its returns as a document.
pub fn document(own: &Extracted, options: &ExtractOptions) -> documents::extract::Extract {
    let system = &own.system;
    let axes = names_of(&system.states).into_iter().zip(&own.grid.axes);
    let policies = policy_names(system);
    let actions = system.actions.iter().zip(&system.roles.actions);
    let actions: Vec<_> = actions.filter(|(_, role)| matches!(role, ActionRole::Argmax { .. })).collect();
    let cells = own.compared.cells.iter().map(|(places, given)| {
        let corner: Vec<f64> = places.iter().zip(&own.grid.axes).map(|(&place, axis)| axis.cut(place)).collect();
        let outputs =
            policies.iter().cloned().zip(given.outputs.iter().map(|&value| ActionValue::Output(value.into())));
        let labels = actions.iter().zip(&given.labels);
        let labels = labels.map(|((own, _), &label)| (own.name.clone(), ActionValue::Label(own.labels[label].clone())));
        let action: Members<ActionValue> = outputs.chain(labels).collect();
        ExtractedCell { from: numbers(&corner), action, samples: given.asked }
    });
    let quartiles = |values: &[f64]| {
        let [least, first_quartile, median, third_quartile, most] = five_numbers(values).map(Into::into);
        Quartiles { least, first_quartile, median, third_quartile, most }
    };
    documents::extract::Extract {
        schema: documents::Schema::default(),
        system: system.name.clone(),
        samples: options.samples,
        significance: options.significance.into(),
        seed: options.seed,
        axes: axes
            .map(|(name, axis)| GridAxis { name, width: axis.width.into(), cut_at: axis.anchor.into() })
            .collect(),
        episodes: own.compared.network.len(),
        returns: Returns { network: quartiles(&own.compared.network), extracted: quartiles(&own.compared.extracted) },
        cells: cells.collect(),
        relative_to: relative_to(&own.provenance),
        provenance: own.provenance.document(),
    }
}
