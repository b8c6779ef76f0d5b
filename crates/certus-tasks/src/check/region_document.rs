//! Maps of parameters for other tools: as a JSON document and as a picture.

use certus_check::region::{Cell, Map, Standing, Witness};
use certus_lang::system::System;
use certus_report::map as report;
use serde_json::{Value, json};

use super::document::{describe, trace, why};
use super::region::RegionResult;
use crate::output::json_number;
use crate::provenance::{About, Provenance};
use certus_model::Scope;

/// What a cell says, in one word or a few.
pub fn standing_word(standing: &Standing) -> &'static str {
    match standing {
        Standing::Holds(_) => "holds",
        Standing::Violated(_) => "violated",
        Standing::ViolatedAt(_) => "violated at a value",
        Standing::Open(_) => "open",
    }
}

/// The shares of a map, in the order in which they are told.
pub fn shares(map: &Map) -> [(&'static str, f64); 4] {
    let share = |word: &'static str| (word, map.share(|standing| standing_word(standing) == word));
    [share("holds"), share("violated"), share("violated at a value"), share("open")]
}

/// The results as one document.
pub fn region_document(system: &System, results: &[RegionResult], provenance: &Provenance) -> Value {
    let result = |result: &RegionResult| {
        let name = system.properties[result.property].name.as_str();
        let mut shown = match &result.map {
            Err(message) => json!({"property": name, "reason": message, "seconds": json_number(result.seconds)}),
            Ok(map) => mapped(system, name, result.steps, map, result.seconds),
        };
        if let Some(shown) = shown.as_object_mut() {
            describe(&system.properties[result.property], shown);
            shown.insert("relative_to".to_owned(), provenance.relative_to(About::Reals).into());
        }
        shown
    };
    let regions: Vec<Value> = results.iter().map(result).collect();
    json!({"system": system.name, "regions": regions, "provenance": provenance.to_json()})
}

fn mapped(system: &System, name: &str, steps: usize, map: &Map, seconds: f64) -> Value {
    let numbers = |values: Vec<f64>| values.into_iter().map(json_number).collect::<Vec<Value>>();
    let axes = map
        .axes
        .iter()
        .map(|axis| json!({"name": axis.name, "lower": json_number(axis.lower), "upper": json_number(axis.upper)}));
    let cell = |cell: &Cell| {
        let (lower, upper) = map.ends(&cell.extent).into_iter().unzip();
        let (scope, witness, reason): (Value, Value, Value) = match cell.standing {
            Standing::Holds(Scope::Unbounded) => ("unbounded".into(), Value::Null, Value::Null),
            Standing::Holds(Scope::Horizon(step)) => (json!({"horizon": step}), Value::Null, Value::Null),
            Standing::Holds(Scope::Bounded(steps)) => (json!({"bounded": steps}), Value::Null, Value::Null),
            Standing::Violated(witness) | Standing::ViolatedAt(witness) => (Value::Null, witness.into(), Value::Null),
            Standing::Open(reason) => (Value::Null, Value::Null, why(reason).into()),
        };
        json!({
            "lower": numbers(lower), "upper": numbers(upper), "verdict": standing_word(&cell.standing),
            "scope": scope, "witness": witness, "reason": reason,
        })
    };
    let witness = |witness: &Witness| {
        json!({
            "values": numbers(witness.values.clone()),
            "trace": trace(system, &witness.run),
            "loop": witness.run.loop_to,
        })
    };
    let shares: serde_json::Map<String, Value> =
        shares(map).into_iter().map(|(word, share)| (word.to_owned(), json_number(share))).collect();
    json!({
        "property": name,
        "engine": "bmc",
        "steps": steps,
        "parameters": axes.collect::<Vec<_>>(),
        "resolution": map.resolution,
        "shares": shares,
        "cells": map.cells.iter().map(cell).collect::<Vec<_>>(),
        "witnesses": map.witnesses.iter().map(witness).collect::<Vec<_>>(),
        "notes": map.notes,
        "seconds": json_number(seconds),
    })
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
        false => format!("holds for every value, up to {steps} steps"),
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
