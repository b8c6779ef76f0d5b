//! Maps of parameters for other tools: as a document and as a picture.

use certus_check::region::{Cell, Map, Standing, Witness};
use certus_documents as documents;
use certus_documents::region::{CellVerdict, MapCell, ParameterMap};
use certus_documents::{NamedRange, members, numbers};
use certus_lang::system::System;
use certus_report::map as report;

use super::document::{scope, trace, why};
use super::region::RegionResult;
use crate::provenance::{About, Provenance};
use certus_model::Scope;

/// What a cell says.
fn cell_verdict(standing: &Standing) -> CellVerdict {
    match standing {
        Standing::Holds(_) => CellVerdict::Holds,
        Standing::Violated(_) => CellVerdict::Violated,
        Standing::ViolatedAt(_) => CellVerdict::ViolatedAtAValue,
        Standing::Open(_) => CellVerdict::Open,
    }
}

/// What a cell says, in one word or a few.
pub fn standing_word(standing: &Standing) -> &'static str {
    cell_verdict(standing).word()
}

/// The shares of a map, in the order in which they are told.
pub fn shares(map: &Map) -> [(&'static str, f64); 4] {
    let share = |word: &'static str| (word, map.share(|standing| standing_word(standing) == word));
    [share("holds"), share("violated"), share("violated at a value"), share("open")]
}

/// The results as one document.
pub fn region_document(
    system: &System,
    results: &[RegionResult],
    provenance: &Provenance,
) -> documents::region::Region {
    let result = |result: &RegionResult| {
        let property = &system.properties[result.property];
        let described = ParameterMap {
            property: property.name.clone(),
            seconds: result.seconds.into(),
            words: property.doc.trim().to_owned(),
            formula: property.source.clone(),
            relative_to: provenance.relative_to(About::Reals),
            ..ParameterMap::default()
        };
        match &result.map {
            Err(message) => ParameterMap { reason: Some(message.clone()), ..described },
            Ok(map) => mapped(described, system, result.steps, map),
        }
    };
    documents::region::Region {
        schema: documents::Schema::default(),
        system: system.name.clone(),
        regions: results.iter().map(result).collect(),
        provenance: provenance.document(),
    }
}

fn mapped(described: ParameterMap, system: &System, steps: usize, map: &Map) -> ParameterMap {
    let axes = map.axes.iter().map(|axis| NamedRange {
        name: axis.name.clone(),
        lower: axis.lower.into(),
        upper: axis.upper.into(),
    });
    let cell = |cell: &Cell| {
        let (lower, upper): (Vec<f64>, Vec<f64>) = map.ends(&cell.extent).into_iter().unzip();
        let shown = MapCell {
            lower: numbers(&lower),
            upper: numbers(&upper),
            verdict: cell_verdict(&cell.standing),
            ..MapCell::default()
        };
        match &cell.standing {
            Standing::Holds(reach) => MapCell { scope: Some(scope(reach)), ..shown },
            Standing::Violated(witness) | Standing::ViolatedAt(witness) => MapCell { witness: Some(*witness), ..shown },
            Standing::Open(reason) => MapCell { reason: Some(why(*reason).to_owned()), ..shown },
        }
    };
    let witness = |witness: &Witness| documents::region::Witness {
        values: numbers(&witness.values),
        trace: trace(system, &witness.run),
        loop_to: witness.run.loop_to,
    };
    ParameterMap {
        engine: Some("bmc".to_owned()),
        steps: Some(steps),
        parameters: Some(axes.collect()),
        resolution: Some(map.resolution),
        shares: Some(members(shares(map))),
        cells: Some(map.cells.iter().map(cell).collect()),
        witnesses: Some(map.witnesses.iter().map(witness).collect()),
        notes: Some(map.notes.clone()),
        ..described
    }
}

/// A map as a picture; nothing if it has more than two parameters.
pub fn region_picture(system: &System, property: usize, steps: usize, map: &Map) -> Option<String> {
    let kind = |standing: &Standing| match standing {
        Standing::Holds(_) => report::Kind::Holds,
        Standing::Violated(_) => report::Kind::Violated,
        Standing::ViolatedAt(_) => report::Kind::PartlyViolated,
        Standing::Open(_) => report::Kind::Open,
    };
    let unbounded = |cell: &Cell| matches!(cell.standing, Standing::Holds(Scope::Unbounded | Scope::Horizon(_)));
    let holds = match map.cells.iter().any(unbounded) {
        true => "holds for every value".to_owned(),
        false => format!("holds for every value, up to {}", certus_model::steps(steps)),
    };
    let legend = [
        (report::Kind::Holds, holds),
        (report::Kind::Violated, "violated at every value".to_owned()),
        (report::Kind::PartlyViolated, "violated at a value; of the others nothing is known".to_owned()),
        (report::Kind::Open, "open".to_owned()),
    ];
    let cells: Vec<report::Cell> = map
        .cells
        .iter()
        .map(|cell| report::Cell { ends: map.ends(&cell.extent), kind: kind(&cell.standing) })
        .collect();
    let value = |name: &str| system.params.iter().find(|parameter| parameter.name == name).map(|own| own.value);
    let inside = |axis: &certus_check::region::Axis| {
        value(&axis.name).filter(|value| axis.lower <= *value && *value <= axis.upper)
    };
    let picture = report::Map {
        title: format!("{}: {}", system.name, system.properties[property].name),
        axes: map
            .axes
            .iter()
            .map(|axis| report::Axis { name: axis.name.clone(), lower: axis.lower, upper: axis.upper })
            .collect(),
        mark: map.axes.iter().map(inside).collect(),
        legend: legend.into_iter().filter(|(kind, _)| cells.iter().any(|cell| cell.kind == *kind)).collect(),
        cells,
    };
    report::draw(&picture)
}
