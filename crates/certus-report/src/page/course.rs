//! Pictures of runs: strips over time, and paths through two variables.

use super::trace::{Column, MOST_STRIPS, STATE, Trace};
use crate::scale::{Axis, Plot, short};
use crate::state_sets::{Along, Sets};
use crate::svg::{Anchor, Drawing, Picture};

/// Steps that a plot shows one by one.
const MOST_POINTS: usize = 600;

/// The steps to draw of a column: all, or per group of steps the smallest and the largest.
fn drawn(values: &[f64]) -> Vec<usize> {
    if values.len() <= MOST_POINTS {
        return (0..values.len()).collect();
    }
    let group = values.len().div_ceil(MOST_POINTS / 2);
    let mut steps = Vec::new();
    for start in (0..values.len()).step_by(group) {
        let range = start..(start + group).min(values.len());
        let least = range.clone().min_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap_or(start);
        let most = range.max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap_or(start);
        steps.extend([least.min(most), least.max(most)]);
    }
    steps.push(values.len() - 1);
    steps.dedup();
    steps
}

const WIDTH: f64 = 480.0;
const LEFT: f64 = 66.0;
const STRIP: f64 = 62.0;
const PITCH: f64 = 84.0;
const ROW: f64 = 30.0;

/// Strips over time, and what was left out of them.
pub(super) fn over_time(trace: &Trace) -> (Picture, Vec<String>) {
    let mut remarks = Vec::new();
    let varying: Vec<&Column> = trace.columns.iter().filter(|column| Trace::varies(column)).collect();
    let chosen: Vec<&Column> = match varying.len() {
        0 => trace.columns.iter().take(MOST_STRIPS).collect(),
        _ => varying.iter().take(MOST_STRIPS).copied().collect(),
    };
    let constant = trace.columns.len() - if varying.is_empty() { chosen.len() } else { varying.len() };
    if constant > 0 {
        remarks.push(format!(
            "{constant} of {} variables keep their value and are not drawn; the table has them.",
            trace.columns.len()
        ));
    }
    if varying.len() > chosen.len() {
        remarks.push(format!(
            "The first {} of {} varying variables are drawn; the table has all.",
            chosen.len(),
            varying.len()
        ));
    }
    if trace.steps > MOST_POINTS {
        let group = trace.steps.div_ceil(MOST_POINTS / 2);
        remarks.push(format!("Curves over time are drawn from the smallest and the largest value of every {group} steps; values at the cursor are exact."));
    }
    let atoms = &trace.atoms[..trace.atoms.len().min(8)];
    if atoms.len() < trace.atoms.len() {
        remarks.push(format!("8 of {} conditions are drawn; the table has all.", trace.atoms.len()));
    }
    let (first, last) = trace.offending();
    let steps = Axis { name: "step".to_owned(), lower: -0.5, upper: last as f64 + 0.5 };
    let plot_width = WIDTH - LEFT - 12.0;
    let strips = PITCH * chosen.len() as f64;
    let depth = strips + ROW * atoms.len() as f64;
    let whole = Plot {
        rectangle: [LEFT, 8.0, plot_width, depth],
        across: steps.clone(),
        up: Axis { name: String::new(), lower: 0.0, upper: 1.0 },
    };
    let mut drawing = Drawing::new(WIDTH, depth + 52.0);
    let class = if trace.loop_to.is_some() { "loopband" } else { "badband" };
    let (from, to) = (whole.x(first as f64 - 0.5), whole.x(last as f64 + 0.5));
    // A single step of many is thinner than a pixel: it is widened to be seen.
    let wide = (to - from).max(3.0);
    let title = match trace.loop_to {
        Some(start) => format!("steps {start} to {last} repeat for ever"),
        None => format!("step {last}: here the run shows it"),
    };
    drawing.rectangle([to - wide, 8.0, wide, depth], class, &title);
    for (index, column) in chosen.iter().enumerate() {
        let top = 8.0 + PITCH * index as f64;
        let plot = Plot {
            rectangle: [LEFT, top + 16.0, plot_width, STRIP],
            across: steps.clone(),
            up: Axis::around("", column.values.iter().copied()),
        };
        drawing.text(LEFT, top + 12.0, Anchor::Start, &format!("{} ({})", column.name, column.group));
        drawing.rectangle(plot.rectangle, "frame", "");
        for tick in plot.up.ticks(3.0) {
            let y = plot.y(tick);
            drawing.line([LEFT - 4.0, y, LEFT, y], "tick");
            drawing.text(LEFT - 7.0, y + 4.0, Anchor::End, &crate::scale::number(tick));
        }
        let points: Vec<(f64, f64)> =
            drawn(&column.values).into_iter().map(|step| plot.at(step as f64, column.values[step])).collect();
        drawing.polyline(&points, "series");
        if trace.steps <= 60 {
            for (step, (x, y)) in points.iter().enumerate() {
                let bad = if step >= first { "bad" } else { "mark" };
                drawing.dot(
                    (*x, *y),
                    2.4,
                    bad,
                    &format!("step {step}: {} = {}", column.name, short(column.values[step])),
                );
            }
        }
    }
    for (index, (text, truths)) in atoms.iter().enumerate() {
        let top = 8.0 + strips + ROW * index as f64;
        for (from, to) in runs_of_true(truths) {
            let (x, end) = (whole.x(from as f64 - 0.5), whole.x(to as f64 + 0.5));
            drawing.rectangle(
                [x, top + 16.0, (end - x).max(1.0), 10.0],
                "bar2",
                &format!("{text}: true, steps {from} to {to}"),
            );
        }
        drawing.rectangle([LEFT, top + 16.0, plot_width, 10.0], "frame", &format!("{text}: filled where it is true"));
        let shown: String =
            if text.chars().count() > 60 { text.chars().take(59).chain(['…']).collect() } else { text.clone() };
        drawing.classed_text(LEFT, top + 12.0, Anchor::Start, "over", &shown);
    }
    for tick in steps.ticks(6.0).into_iter().filter(|tick| *tick >= 0.0 && tick.fract() == 0.0) {
        let x = whole.x(tick);
        drawing.line([x, 8.0 + depth, x, 13.0 + depth], "tick");
        drawing.text(x, 26.0 + depth, Anchor::Middle, &crate::scale::number(tick));
    }
    drawing.text(LEFT + plot_width / 2.0, 42.0 + depth, Anchor::Middle, "step");
    drawing.line([to, 8.0, to, 8.0 + depth], "cursor");
    (drawing.finish(Some(whole.geometry())), remarks)
}

fn runs_of_true(truths: &[bool]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (step, _) in truths.iter().enumerate().filter(|(_, truth)| **truth) {
        match runs.last_mut() {
            Some(last) if last.1 + 1 == step => last.1 = step,
            _ => runs.push((step, step)),
        }
    }
    runs
}

/// The two variables that a portrait begins with.
pub(super) fn pair(trace: &Trace) -> Option<(usize, usize)> {
    let of = |wanted: &dyn Fn(&Column) -> bool| -> Vec<usize> {
        (0..trace.columns.len()).filter(|&index| wanted(&trace.columns[index])).collect()
    };
    let states = of(&|column| column.group == STATE && Trace::varies(column));
    let all_states = of(&|column| column.group == STATE);
    let all = of(&|_| true);
    [states, all_states, all].iter().find(|found| found.len() >= 2).map(|found| (found[0], found[1]))
}

/// A path through two variables.
pub(super) fn portrait(trace: &Trace, x: usize, y: usize, sets: Sets<'_>) -> Picture {
    let (across, up) = (&trace.columns[x], &trace.columns[y]);
    // Sets begin where runs end: more of them is seen with more air.
    let air = if sets.is_empty() { 0.05 } else { 0.15 };
    let axis = |column: &Column| Axis::with_air(&column.name, air, column.values.iter().copied());
    let plot = Plot { rectangle: [LEFT, 10.0, WIDTH - LEFT - 12.0, 330.0], across: axis(across), up: axis(up) };
    let mut drawing = Drawing::new(WIDTH, 384.0);
    let (along, upwards) = (Along::Variable(&across.name), Along::Variable(&up.name));
    sets.draw(&mut drawing, &plot, along, upwards);
    sets.draw_initial(&mut drawing, &plot, along, upwards);
    plot.frame(&mut drawing);
    let mut steps = drawn(&across.values);
    steps.extend(drawn(&up.values));
    steps.sort_unstable();
    steps.dedup();
    let points: Vec<(f64, f64)> = steps.iter().map(|&step| plot.at(across.values[step], up.values[step])).collect();
    drawing.polyline(&points, "series");
    let (first, last) = trace.offending();
    let at = |step: usize| plot.at(across.values[step], up.values[step]);
    if trace.steps <= 60 {
        for step in 0..trace.steps {
            drawing.dot(at(step), 2.6, "mark", &label(trace, x, y, step));
        }
    }
    if let Some(start) = trace.loop_to {
        drawing.polyline(
            &steps.iter().filter(|&&step| step >= start).map(|&step| at(step)).chain([at(start)]).collect::<Vec<_>>(),
            "second",
        );
    }
    drawing.dot(at(0), 4.5, "first", &format!("begins here: {}", label(trace, x, y, 0)));
    for step in if trace.loop_to.is_some() && last - first > 60 { vec![first, last] } else { (first..=last).collect() }
    {
        drawing.dot(at(step), 4.0, "bad", &label(trace, x, y, step));
    }
    drawing.finish(Some(plot.geometry()))
}

fn label(trace: &Trace, x: usize, y: usize, step: usize) -> String {
    let of = |column: usize| format!("{} = {}", trace.columns[column].name, short(trace.columns[column].values[step]));
    format!("step {step}: {}, {}", of(x), of(y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_extremes() {
        let mut values: Vec<f64> = (0..5000).map(|step| f64::from(step % 7)).collect();
        values[1234] = 100.0;
        values[4321] = -100.0;
        let steps = drawn(&values);
        assert!(steps.len() <= MOST_POINTS + 1, "{}", steps.len());
        assert!(steps.contains(&1234) && steps.contains(&4321) && steps.contains(&4999));
        assert!(steps.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn true_steps_are_runs() {
        assert_eq!(runs_of_true(&[false, true, true, false, true]), [(1, 2), (4, 4)]);
    }
}
