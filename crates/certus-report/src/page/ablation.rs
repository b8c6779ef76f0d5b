//! What a search for settings tried: support and confidence on held-out rows as one setting changes and the others stay.

use certus_documents::mine::{self, Mine};

use super::html::{Page, data, escaped, table, thinned};
use super::read::{Malformed, Read};
use crate::scale::{Axis, Plot, short};
use crate::svg::{Anchor, Drawing, Picture};

/// Settings that a search changes, as readers call them.
const SETTINGS: [&str; 4] = ["history", "parts per column", "representation", "outputs allowed"];

struct Trial {
    settings: [Option<f64>; 4],
    specifications: usize,
    coverage: f64,
    score: f64,
    /// Support and confidence, per reference.
    held_out: Vec<(f64, Option<f64>)>,
}

/// Trials that are listed.
const MOST_TRIALS: usize = 40;

fn read(trial: &mine::Trial) -> Trial {
    let quality = |own: &mine::Quality| (own.support.0, own.confidence.map(Into::into));
    Trial {
        settings: [
            trial.history.map(|own| own as f64),
            Some(trial.parts as f64),
            Some(trial.representation),
            Some(trial.most_outputs as f64),
        ],
        specifications: trial.specifications,
        coverage: trial.coverage.into(),
        score: trial.score.into(),
        held_out: trial.held_out.iter().map(quality).collect(),
    }
}

/// A table of the trials, and curves where a setting took several values. `names` are those of the references.
pub(super) fn section(page: &mut Page, name: &str, document: &Mine, names: &[String]) -> Read<String> {
    let mut trials: Vec<Trial> = document.trials.iter().map(read).collect();
    if trials.is_empty() {
        return Ok(String::new());
    }
    if let Some(index) = trials.iter().position(|own| own.held_out.len() != names.len()) {
        let error = Malformed::new("as many figures as there are references are needed");
        return Err(error.within(&format!(".trials[{index}].held_out")));
    }
    let own = &document.configured;
    let configured = [
        own.history.map(|own| own as f64),
        Some(own.parts as f64),
        Some(own.representation),
        Some(own.most_outputs as f64),
    ];
    for trial in &mut trials {
        trial.settings[0] = trial.settings[0].or(configured[0]);
    }
    let mut html = listed(&trials, names);
    // Where nothing was tried around the settings that were configured, the best trial is the middle.
    let curves =
        [configured, trials[0].settings].iter().map(|middle| curves(&trials, middle)).find(|own| !own.is_empty());
    if let Some(curves) = curves {
        let picture = picture_of(&trials, &curves, names);
        let caption = "One setting changes, the others stay: <b>support</b> (blue) and <b>confidence</b> (red) on held-out \
            rows. Below each value: how many specifications it gives.";
        let figure =
            page.figure(&format!("{name} settings"), &picture, &format!("{name}: settings that were tried"), caption);
        html += &format!("<div class=\"figures\">{figure}</div>\n");
    }
    Ok(html)
}

fn listed(trials: &[Trial], names: &[String]) -> String {
    let mut head: Vec<String> = SETTINGS.map(str::to_owned).to_vec();
    head.extend(["specifications", "coverage"].map(str::to_owned));
    head.extend(names.iter().map(|name| format!("{}: support / confidence", escaped(name))));
    head.push("score".to_owned());
    let row =
        |trial: &Trial| {
            let mut cells: Vec<String> =
                trial.settings.iter().map(|setting| setting.map_or("–".to_owned(), data)).collect();
            cells.extend([data(trial.specifications as f64), data(trial.coverage)]);
            cells.extend(trial.held_out.iter().map(|(support, confidence)| {
                format!("{} / {}", data(*support), confidence.map_or("–".to_owned(), data))
            }));
            cells.push(data(trial.score));
            cells
        };
    let rows: Vec<Vec<String>> = trials.iter().take(MOST_TRIALS).map(row).collect();
    let mut html = String::new();
    if trials.len() > MOST_TRIALS {
        html += &thinned(&format!("The best {MOST_TRIALS} of {} trials.", trials.len()));
    }
    html + &table("Settings that were tried, judged by held-out rows", &head, &rows)
}

/// For each setting that takes several values while the others are in the middle: its place, and the trials by value.
fn curves(trials: &[Trial], middle: &[Option<f64>; 4]) -> Vec<(usize, Vec<usize>)> {
    let of = |place: usize| {
        let others = |own: &Trial| (0..4).all(|other| other == place || own.settings[other] == middle[other]);
        let mut found: Vec<usize> =
            (0..trials.len()).filter(|&own| trials[own].settings[place].is_some() && others(&trials[own])).collect();
        found.sort_by(|&a, &b| {
            let value = |own: usize| trials[own].settings[place].unwrap_or(f64::NAN);
            value(a).total_cmp(&value(b))
        });
        found.dedup_by_key(|own| trials[*own].settings[place].map(f64::to_bits));
        (place, found)
    };
    (0..4).map(of).filter(|(_, found)| found.len() > 1).collect()
}

/// References down, settings across.
fn picture_of(trials: &[Trial], curves: &[(usize, Vec<usize>)], names: &[String]) -> Picture {
    let (left, top, height, gap) = (44.0, 24.0, 110.0, 78.0);
    let width = 170.0;
    let mut drawing =
        Drawing::new(left + (width + 24.0) * curves.len() as f64, top + (height + gap) * names.len() as f64);
    for (row, name) in names.iter().enumerate() {
        let y = top + (height + gap) * row as f64;
        for (column, (place, found)) in curves.iter().enumerate() {
            let x = left + (width + 24.0) * column as f64;
            // Values stand side by side, whatever their distance.
            let across = Axis { name: String::new(), lower: -0.5, upper: found.len() as f64 - 0.5 };
            let up = Axis { name: String::new(), lower: 0.0, upper: 1.0 };
            let plot = Plot { rectangle: [x, y, width, height], across, up };
            drawing.rectangle(plot.rectangle, "frame", "");
            for tick in [0.0, 0.5, 1.0] {
                drawing.line([x - 4.0, plot.y(tick), x, plot.y(tick)], "tick");
                if column == 0 {
                    drawing.text(x - 7.0, plot.y(tick) + 4.0, Anchor::End, &short(tick));
                }
            }
            if column == 0 {
                drawing.text(x, y - 8.0, Anchor::Start, name);
            }
            let figure = |own: usize| trials[own].held_out[row];
            let support = found.iter().enumerate().map(|(at, &own)| (at, Some(figure(own).0)));
            let confidence = found.iter().enumerate().map(|(at, &own)| (at, figure(own).1));
            for (points, line, dot, what) in [
                (support.collect::<Vec<_>>(), "series", "mark", "support"),
                (confidence.collect(), "second", "bad", "confidence"),
            ] {
                let at = |(at, value): &(usize, Option<f64>)| Some((plot.at(*at as f64, (*value)?), (*value)?));
                let points: Vec<((f64, f64), f64)> = points.iter().filter_map(at).collect();
                drawing.polyline(&points.iter().map(|own| own.0).collect::<Vec<_>>(), line);
                for (point, value) in &points {
                    drawing.dot(*point, 3.0, dot, &format!("{what} {}", short(*value)));
                }
            }
            for (at, &own) in found.iter().enumerate() {
                let value = trials[own].settings[*place].map_or(String::new(), short);
                drawing.text(plot.x(at as f64), y + height + 15.0, Anchor::Middle, &value);
                let count = trials[own].specifications.to_string();
                drawing.classed_text(plot.x(at as f64), y + height + 29.0, Anchor::Middle, "over", &count);
            }
            drawing.text(x + width / 2.0, y + height + 45.0, Anchor::Middle, SETTINGS[*place]);
        }
    }
    drawing.finish(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(parts: f64, outputs: f64) -> Trial {
        let settings = [None, Some(parts), Some(0.01), Some(outputs)];
        Trial { settings, specifications: 1, coverage: 1.0, score: 0.5, held_out: vec![(0.5, None)] }
    }

    #[test]
    fn a_curve_changes_one_setting_alone() {
        let trials = [trial(50.0, 3.0), trial(100.0, 5.0), trial(50.0, 5.0), trial(20.0, 5.0)];
        let middle = [None, Some(50.0), Some(0.01), Some(5.0)];
        assert_eq!(curves(&trials, &middle), [(1, vec![3, 2, 1]), (3, vec![0, 2])]);
        assert!(curves(&trials, &[None; 4]).is_empty());
    }
}
