//! Properties × checkpoints.

use certus_documents::gate::{CheckpointResult, Gate, GateVerdict};

use super::Row;
use super::html::{Page, data, escaped, table};
use super::provenance::Origin;
use crate::matrix::{Kind, Matrix, picture};

/// The matrix, and a row for each property with the last checkpoint.
pub(crate) fn section(page: &mut Page, gate: &Gate) -> (Vec<Row>, String) {
    let (system, checkpoints) = (&gate.system, &gate.checkpoints);
    let mut rows = Vec::new();
    let mut matrix = Matrix {
        title: format!("{system}: what each checkpoint has learnt"),
        columns: checkpoints.iter().map(|own| stem(&own.network)).collect(),
        rows: Vec::new(),
        legend: Vec::new(),
    };
    let Some(last) = checkpoints.last() else {
        return (rows, "<p>No checkpoint was looked at.</p>\n".to_owned());
    };
    // Rows are about the last checkpoint, in the place of the network that the file names.
    let origin = Origin::of(&gate.provenance);
    let origin = origin.with_network(Some(gate.network.clone()), last.network.clone(), last.sha256.clone());
    for (index, result) in last.results.iter().enumerate() {
        let reached = result.scope.flatten();
        let scope = reached.map_or(String::new(), |scope| format!("{}, ", super::scope(scope)));
        rows.push(Row {
            verdict: match result.verdict {
                GateVerdict::Open => GateVerdict::Unknown.to_string(),
                verdict => verdict.to_string(),
            },
            scope: format!("{scope}with {}, the last of {} checkpoints", stem(&last.network), checkpoints.len()),
            engine: gate.engine.clone(),
            relative: gate.relative_to.clone(),
            origin: Some(origin.clone()),
            reach: reached.map(super::reach).or(result.step),
            seconds: Some(gate.seconds.into()),
            sections: true,
            ..Row::new(system, &result.property)
        });
        let cells = checkpoints.iter().map(|own| own.results.get(index).map_or((Kind::Open, "–".to_owned()), cell));
        matrix.rows.push((result.property.clone(), cells.collect()));
    }
    let legend =
        [(Kind::Holds, "holds"), (Kind::Violated, "violated at a step, or for ever"), (Kind::Open, "not known")];
    let used = |kind: Kind| matrix.rows.iter().flat_map(|(_, cells)| cells).any(|(own, _)| *own == kind);
    matrix.legend =
        legend.into_iter().filter(|(kind, _)| used(*kind)).map(|(kind, text)| (kind, text.to_owned())).collect();
    let mut head = vec!["checkpoint".to_owned()];
    head.extend(matrix.rows.iter().map(|(name, _)| escaped(name)));
    head.push("accepted".to_owned());
    let lines: Vec<Vec<String>> = checkpoints
        .iter()
        .enumerate()
        .map(|(column, checkpoint)| {
            let words = matrix
                .rows
                .iter()
                .zip(&checkpoint.results)
                .map(|((_, cells), result)| escaped(&format!("{}: {}", result.verdict, cells[column].1)));
            std::iter::once(escaped(&checkpoint.network))
                .chain(words)
                .chain([if checkpoint.accepted { "yes" } else { "no" }.to_owned()])
                .collect()
        })
        .collect();
    let caption = format!("{} checkpoints in their order, properties down.", data(checkpoints.len() as f64));
    let label =
        format!("{system}: verdicts of {} properties with {} checkpoints", matrix.rows.len(), checkpoints.len());
    let mut html = format!(
        "<div class=\"figures wide\">{}</div>\n",
        page.figure(&format!("{system} gate"), &picture(&matrix), &label, &caption)
    );
    html += &table("Verdicts with each checkpoint", &head, &lines);
    (rows, html)
}

/// What is known of one property with one checkpoint.
fn cell(result: &CheckpointResult) -> (Kind, String) {
    let repeats = result.loop_to.flatten().is_some();
    match result.verdict {
        GateVerdict::Holds => (Kind::Holds, result.scope.flatten().map_or("holds".to_owned(), super::scope)),
        GateVerdict::Violated if repeats => (Kind::Violated, "for ever".to_owned()),
        GateVerdict::Violated => {
            (Kind::Violated, result.step.map_or("violated".to_owned(), |step| format!("step {step}")))
        }
        GateVerdict::Open | GateVerdict::Unknown => (Kind::Open, result.verdict.to_string()),
    }
}

fn stem(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
}
