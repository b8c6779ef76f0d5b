//! Properties × checkpoints as a picture.

use certus_report::matrix::{Kind, Matrix, draw};

use super::{Cell, Gated};

/// Draws what came out: properties down, checkpoints across in their order.
pub fn picture(gated: &Gated) -> String {
    let stems: Vec<String> = gated
        .rows
        .iter()
        .map(|row| row.network.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default())
        .collect();
    let cell = |cell: &Cell| match cell {
        Cell::Holds => (Kind::Holds, "holds".to_owned()),
        Cell::HoldsUpTo(steps) => (Kind::Holds, format!("k = {steps}")),
        Cell::Refuted { steps, loop_to: None } | Cell::Violated { step: steps, .. } => {
            (Kind::Violated, format!("step {steps}"))
        }
        Cell::Refuted { loop_to: Some(_), .. } => (Kind::Violated, "for ever".to_owned()),
        Cell::Open => (Kind::Open, "open".to_owned()),
        Cell::Unknown { .. } => (Kind::Open, "unknown".to_owned()),
    };
    let rows: Vec<(String, Vec<(Kind, String)>)> = gated
        .properties
        .iter()
        .enumerate()
        .map(|(place, name)| (name.clone(), gated.rows.iter().map(|row| cell(&row.cells[place])).collect()))
        .collect();
    let legend = [
        (Kind::Holds, "holds; k = n: up to n steps"),
        (Kind::Violated, "violated at a step, or by a run that repeats itself for ever"),
        (Kind::Open, "not known"),
    ];
    let used = |kind: Kind| rows.iter().flat_map(|(_, cells)| cells).any(|(own, _)| *own == kind);
    let legend = legend.into_iter().filter(|(kind, _)| used(*kind)).map(|(kind, text)| (kind, text.to_owned()));
    draw(&Matrix {
        title: format!("{}: what each checkpoint has learnt", gated.system),
        columns: shortened(&stems),
        legend: legend.collect(),
        rows,
    })
}

/// Names without what they all begin with, cut after its last separator.
fn shortened(names: &[String]) -> Vec<String> {
    let Some(first) = names.first() else { return Vec::new() };
    let same =
        |name: &String| first.chars().zip(name.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let common: usize = names.iter().map(same).min().unwrap_or(0);
    let cut = first[..common].rfind(['_', '-', '.']).map_or(0, |at| at + 1);
    names.iter().map(|name| if name.len() > cut { name[cut..].to_owned() } else { name.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_names_share_is_left_out() {
        let short = |names: &[&str]| shortened(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(short(&["aurora_0000k", "aurora_0166k"]), ["0000k", "0166k"]);
        assert_eq!(short(&["a_1k", "a"]), ["a_1k", "a"]);
        assert_eq!(short(&["x", "y"]), ["x", "y"]);
    }
}
