//! Shields: the program, and where its invariants lie.

use std::fmt::Write;

use certus_documents::AnyDocument;
use certus_documents::shield::{self as documents, Invariant, Polynomial};
use certus_documents::shield_run::SampledRun;

use super::Row;
use super::html::{Page, data, escaped, select, thinned};
use super::read::{Malformed, Read};
use super::shield_run;
use crate::scale::{Axis, Plot, short};
use crate::svg::{Drawing, Picture, place};

fn at(polynomial: &Polynomial, point: &[f64]) -> f64 {
    polynomial
        .iter()
        .map(|(c, exponents)| exponents.iter().zip(point).fold(*c, |sum, (&e, x)| sum * x.powi(e.into())))
        .sum()
}

fn shown(polynomial: &Polynomial, states: &[String]) -> String {
    let mut text = String::new();
    for (coefficient, exponents) in polynomial.iter().filter(|(coefficient, _)| *coefficient != 0.0) {
        let factors = exponents.iter().zip(states).filter(|(e, _)| **e > 0);
        let factors: Vec<String> =
            factors.map(|(e, name)| if *e == 1 { name.clone() } else { format!("{name}^{e}") }).collect();
        let sign = match (text.is_empty(), *coefficient < 0.0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        // A factor of one is not written, unless it stands alone.
        let own = (coefficient.abs() != 1.0 || factors.is_empty()).then(|| short(coefficient.abs()));
        let parts: Vec<String> = own.into_iter().chain(factors).collect();
        let _ = write!(text, "{sign}{}", parts.join(" * "));
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

struct Branch {
    program: Vec<Polynomial>,
    /// The invariant is where none of these is positive.
    invariant: Vec<Polynomial>,
}

struct Shield {
    states: Vec<String>,
    domain: Vec<(f64, f64)>,
    initial: Option<Vec<(f64, f64)>>,
    /// Each is a set of states: where all of its polynomials are not negative.
    unsafe_sets: Vec<Vec<Polynomial>>,
    branches: Vec<Branch>,
}

fn range([lower, upper]: &documents::Range) -> (f64, f64) {
    (lower.unwrap_or(f64::NEG_INFINITY), upper.unwrap_or(f64::INFINITY))
}

fn read(document: &documents::Shield) -> Read<Shield> {
    let n = document.states.len();
    let fits = |polynomial: &Polynomial| polynomial.iter().all(|(_, exponents)| exponents.len() == n);
    let face = |face: &documents::Halfspace| -> Polynomial {
        let unit = |i: usize| (0..n).map(|j| u8::from(i == j)).collect::<Vec<u8>>();
        let linear = face.normal.iter().enumerate().map(|(i, &c)| (c, unit(i)));
        linear.chain([(-face.bound, vec![0; n])]).collect()
    };
    let branch = |(index, branch): (usize, &documents::Branch)| {
        let invariant = match &branch.invariant {
            Invariant::Polynomial(barrier) => vec![barrier.polynomial.clone()],
            Invariant::Polyhedron(own) => own.polyhedron.iter().map(face).collect(),
        };
        if !branch.program.iter().chain(&invariant).all(fits) {
            let error = Malformed::new("a polynomial does not speak of as many states as there are");
            return Err(error.within(&format!(".branches[{index}]")));
        }
        Ok(Branch { program: branch.program.clone(), invariant })
    };
    let shield = Shield {
        domain: document.domain.iter().map(range).collect(),
        initial: document.initial.as_ref().map(|own| own.iter().map(|&[low, high]| (low, high)).collect()),
        unsafe_sets: document.unsafe_sets.clone().unwrap_or_default(),
        branches: document.branches.iter().enumerate().map(branch).collect::<Read<_>>()?,
        states: document.states.clone(),
    };
    let sized = shield.domain.len() == n && shield.initial.as_ref().is_none_or(|own| own.len() == n);
    if !sized || !shield.unsafe_sets.iter().flatten().all(fits) {
        return Err(Malformed::new("`domain`, `initial` and `unsafe` speak of other states than `states`"));
    }
    Ok(shield)
}

/// Pairs of states that are drawn.
const MOST_PAIRS: usize = 21;

/// The shield's own document; runs with it, if they are on the page, are drawn over its invariants.
pub(crate) fn section<'d>(
    page: &mut Page,
    document: &documents::Shield,
    mut others: impl Iterator<Item = &'d AnyDocument>,
) -> Read<(Row, String)> {
    let shield = read(document)?;
    let (system, property) = (&document.system.name, &document.property);
    let runs = others.find_map(|own| match own {
        AnyDocument::ShieldRun(run) if run.system == *system && run.property.as_ref() == Some(property) => {
            run.with_shield.as_ref()
        }
        _ => None,
    });
    let runs = match runs {
        Some(runs) => shield_run::samples(runs, shield.states.len())?,
        None => &[],
    };
    let words = document.words.as_deref().unwrap_or_default();
    let row = Row {
        words: document.formula.as_ref().map(|formula| super::described(words, formula)),
        verdict: "holds".to_owned(),
        scope: "for all time, with the shield".to_owned(),
        engine: "shield".to_owned(),
        relative: "the plant as polynomials, in exact arithmetic; any network".to_owned(),
        certificate: Some("in the shield itself".to_owned()),
        sections: true,
        ..Row::new(system, property)
    };
    let mut html = format!("<h4>The program</h4>\n<pre class=\"program\">{}</pre>\n", escaped(&program(&shield)));
    let n = shield.states.len();
    let pairs: Vec<(usize, usize)> = match n {
        1 => vec![(0, 0)],
        _ => (0..n).flat_map(|x| (x + 1..n).map(move |y| (x, y))).collect(),
    };
    let drawn = &pairs[..pairs.len().min(MOST_PAIRS)];
    if drawn.len() < pairs.len() {
        html += &thinned(&format!("The first {MOST_PAIRS} of {} pairs of states can be looked at.", pairs.len()));
    }
    let names: Vec<String> = drawn
        .iter()
        .map(|(x, y)| {
            if x == y { shield.states[*x].clone() } else { format!("{} and {}", shield.states[*x], shield.states[*y]) }
        })
        .collect();
    html += "<div class=\"figures\"><figure class=\"variants\">";
    if drawn.len() > 1 {
        html += &format!("<div class=\"controls\">{}</div>", select("states", "variant", &names, 0));
    }
    for (index, (&(x, y), name)) in drawn.iter().zip(&names).enumerate() {
        let picture = level_sets(&shield, runs, x, y);
        page.keep(&format!("{system} shield {name}"), &picture);
        let hidden = if index == 0 { "" } else { " hidden" };
        html += &format!(
            "<div class=\"variant\"{hidden}>{}</div>",
            picture.inline(&format!("{system}: invariant over {name}"))
        );
    }
    let others = if n > 2 { " The other states are in the middle of the initial set." } else { "" };
    let branches = shield.branches.len();
    let mut caption =
        format!("The invariant of {} branch{} (shaded", data(branches as f64), if branches == 1 { "" } else { "es" });
    if n > 1 && shield.branches.iter().any(|branch| branch.invariant.len() == 1) {
        caption += "; lines: where its polynomial is a quarter, half and three quarters of its least value";
    }
    caption += ")";
    if shield.initial.is_some() {
        caption += ", the initial set (green)";
    }
    if !shield.unsafe_sets.is_empty() {
        caption += ", unsafe states (hatched)";
    }
    if !runs.is_empty() {
        caption += ", runs with the shield (green lines, from their dots; blue dots: the program decides)";
    }
    html += &format!(
        "<figcaption>{caption}.{others}</figcaption></figure></div>
"
    );
    Ok((row, html))
}

fn program(shield: &Shield) -> String {
    let mut text = String::new();
    for (index, branch) in shield.branches.iter().enumerate() {
        let conditions: Vec<String> =
            branch.invariant.iter().map(|own| format!("{} <= 0", shown(own, &shield.states))).collect();
        let _ = writeln!(text, "{} {}:", if index == 0 { "if" } else { "else if" }, conditions.join("\n    & "));
        for (action, own) in branch.program.iter().enumerate() {
            let name = if branch.program.len() == 1 { "action".to_owned() } else { format!("action[{action}]") };
            let _ = writeln!(text, "    {name} = {}", shown(own, &shield.states));
        }
    }
    text + "else:\n    fallback\n"
}

/// Squares along each axis of a picture.
const SQUARES: usize = 72;

fn level_sets(shield: &Shield, runs: &[SampledRun], x: usize, y: usize) -> Picture {
    let flat = x == y;
    let middle: Vec<f64> = shield
        .domain
        .iter()
        .enumerate()
        .map(|(i, range)| {
            let (low, high) = shield.initial.as_ref().map_or(*range, |initial| initial[i]);
            let middle = 0.5 * (low + high);
            if middle.is_finite() { middle } else { 0.0 }
        })
        .collect();
    let axis = |i: usize| {
        let (low, high) = shield.domain[i];
        let initial = shield.initial.as_ref().map_or((low, high), |own| own[i]);
        let ends = [low, high, initial.0, initial.1];
        Axis::around(&shield.states[i], ends.into_iter())
    };
    let depth = if flat { 60.0 } else { 330.0 };
    let up = if flat { Axis { name: String::new(), lower: 0.0, upper: 0.0 } } else { axis(y) };
    let plot = Plot { rectangle: [66.0, 10.0, 402.0, depth], across: axis(x), up };
    let mut drawing = Drawing::new(480.0, depth + 54.0);
    let point = |a: f64, b: f64| {
        let mut point = middle.clone();
        point[x] = a;
        if !flat {
            point[y] = b;
        }
        point
    };
    for piece in &shield.unsafe_sets {
        let inside = |a: f64, b: f64| piece.iter().map(|own| -at(own, &point(a, b))).fold(f64::NEG_INFINITY, f64::max);
        let (fill, _) = contour(&plot, &inside, 0.0);
        drawing.path(&fill, "danger", "", "unsafe");
    }
    for (index, branch) in shield.branches.iter().enumerate() {
        let value =
            |a: f64, b: f64| branch.invariant.iter().map(|own| at(own, &point(a, b))).fold(f64::NEG_INFINITY, f64::max);
        let (fill, outline) = contour(&plot, &value, 0.0);
        drawing.path(&fill, "region", "", &format!("invariant of branch {index}"));
        drawing.path(&outline, "series", "", "");
        if let ([_], false) = (branch.invariant.as_slice(), flat) {
            let least = least(&plot, &value);
            for share in [0.25, 0.5, 0.75] {
                let (_, line) = contour(&plot, &value, least * share);
                drawing.path(&line, "level", "", &format!("polynomial = {}", short(least * share)));
            }
        }
    }
    if let Some(initial) = &shield.initial {
        let ((a, b), (c, d)) = (initial[x], if flat { (0.0, 0.0) } else { initial[y] });
        let (left, right) = (plot.x(a), plot.x(b));
        let (top, bottom) = if flat { (14.0, 6.0 + depth) } else { (plot.y(d), plot.y(c)) };
        drawing.rectangle([left, top, (right - left).max(1.0), (bottom - top).max(1.0)], "start", "initial states");
    }
    shield_run::draw(&mut drawing, &plot, runs, x, y, "low");
    plot.frame(&mut drawing);
    drawing.finish(None)
}

fn corner(plot: &Plot, i: usize, j: usize) -> (f64, f64) {
    let (a, b) = (&plot.across, &plot.up);
    let share = |count: usize| count as f64 / SQUARES as f64;
    (a.lower + (a.upper - a.lower) * share(i), b.lower + (b.upper - b.lower) * share(j))
}

fn least(plot: &Plot, value: &dyn Fn(f64, f64) -> f64) -> f64 {
    let corners = (0..=SQUARES).flat_map(|i| (0..=SQUARES).map(move |j| (i, j)));
    corners.map(|(i, j)| corner(plot, i, j)).map(|(a, b)| value(a, b)).fold(0.0, f64::min)
}

/// Where a function is at most a level, as a path to fill, and its border as a path to draw.
fn contour(plot: &Plot, value: &dyn Fn(f64, f64) -> f64, level: f64) -> (String, String) {
    let [left, top, width, height] = plot.rectangle;
    let rows = if plot.up.upper > plot.up.lower { SQUARES } else { 1 };
    let (dx, dy) = (width / SQUARES as f64, height / rows as f64);
    let values: Vec<Vec<f64>> = (0..=rows)
        .map(|j| (0..=SQUARES).map(|i| corner(plot, i, j)).map(|(a, b)| value(a, b) - level).collect())
        .collect();
    let (mut fill, mut outline) = (String::new(), String::new());
    for j in 0..rows {
        let bottom = top + height - j as f64 * dy;
        let mut start: Option<usize> = None;
        for i in 0..=SQUARES {
            let full = i < SQUARES
                && [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].iter().all(|&(a, b)| values[b][a] <= 0.0);
            match (full, start) {
                (true, None) => start = Some(i),
                (false, Some(from)) => {
                    let (x, length) = (left + from as f64 * dx, (i - from) as f64 * dx);
                    let _ = write!(
                        fill,
                        "M{} {}h{}v{}h-{}z",
                        place(x),
                        place(bottom - dy),
                        place(length),
                        place(dy),
                        place(length)
                    );
                    start = None;
                }
                _ => {}
            }
            if full || i == SQUARES {
                continue;
            }
            let square = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
            let spot = |a: usize, b: usize| (left + a as f64 * dx, top + height - b as f64 * dy);
            let (mut shape, mut crossings) = (Vec::new(), Vec::new());
            for corner in 0..4 {
                let ((a, b), (c, d)) = (square[corner], square[(corner + 1) % 4]);
                let (here, there) = (values[b][a], values[d][c]);
                if here <= 0.0 {
                    shape.push(spot(a, b));
                }
                if (here <= 0.0) != (there <= 0.0) {
                    let t = here / (here - there);
                    let ((x, y), (u, v)) = (spot(a, b), spot(c, d));
                    let crossing = (x + t * (u - x), y + t * (v - y));
                    shape.push(crossing);
                    crossings.push(crossing);
                }
            }
            for (index, (x, y)) in shape.iter().enumerate() {
                let _ = write!(fill, "{}{} {}", if index == 0 { "M" } else { "L" }, place(*x), place(*y));
            }
            if !shape.is_empty() {
                fill.push('z');
            }
            for pair in crossings.chunks_exact(2) {
                let [(x, y), (u, v)] = [pair[0], pair[1]];
                let _ = write!(outline, "M{} {}L{} {}", place(x), place(y), place(u), place(v));
            }
        }
    }
    (fill, outline)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle() -> documents::Shield {
        let barrier = documents::BarrierCertificate {
            polynomial: vec![(1.0, vec![2, 0]), (1.0, vec![0, 2]), (-1.0, vec![0, 0])],
            ..documents::BarrierCertificate::default()
        };
        documents::Shield {
            system: documents::ShieldedSystem { name: "s".to_owned(), ..Default::default() },
            property: "safe".to_owned(),
            states: vec!["x".to_owned(), "y".to_owned()],
            domain: vec![[Some(-2.0), Some(2.0)]; 2],
            initial: Some(vec![[-0.5, 0.5]; 2]),
            branches: vec![documents::Branch {
                program: vec![vec![(-1.5, vec![1, 0]), (0.5, vec![0, 1])]],
                invariant: Invariant::Polynomial(barrier),
            }],
            ..documents::Shield::default()
        }
    }

    #[test]
    fn the_border_of_a_circle_is_a_circle() {
        let shield = read(&circle()).unwrap();
        let plot = Plot {
            rectangle: [0.0, 0.0, 400.0, 400.0],
            across: Axis { name: String::new(), lower: -2.0, upper: 2.0 },
            up: Axis { name: String::new(), lower: -2.0, upper: 2.0 },
        };
        let value = |a: f64, b: f64| at(&shield.branches[0].invariant[0], &[a, b]);
        let (fill, outline) = contour(&plot, &value, 0.0);
        assert!(!fill.is_empty());
        let numbers: Vec<f64> =
            outline.split(['M', 'L', ' ']).filter(|own| !own.is_empty()).map(|own| own.parse().unwrap()).collect();
        assert!(numbers.len() > 100);
        for point in numbers.chunks_exact(2) {
            let (x, y) = ((point[0] - 200.0) / 100.0, (point[1] - 200.0) / 100.0);
            assert!((x.hypot(y) - 1.0).abs() < 0.01, "{x} {y}");
        }
    }

    #[test]
    fn runs_on_the_page_are_drawn_over_the_invariant() {
        let run = |property: &str| {
            let sample = SampledRun {
                run: 3,
                steps: vec![0, 9],
                states: [[0.25, 0.0], [0.0, 0.0]].iter().map(certus_documents::numbers).collect(),
                overridden: vec![false, true],
                unsafe_at: None,
            };
            let runs = certus_documents::shield_run::Runs { samples: vec![sample], ..Default::default() };
            AnyDocument::ShieldRun(Box::new(certus_documents::shield_run::ShieldRun {
                system: "s".to_owned(),
                property: Some(property.to_owned()),
                with_shield: Some(runs),
                ..Default::default()
            }))
        };
        let mut page = Page::default();
        let own = run("safe");
        let (_, html) = section(&mut page, &circle(), [&own].into_iter()).unwrap();
        assert!(html.contains("run 3, step 9: the program decides") && html.contains("runs with the shield"));
        let other = run("another");
        let (_, html) = section(&mut page, &circle(), [&other].into_iter()).unwrap();
        assert!(!html.contains("run 3"));
    }

    #[test]
    fn programs_are_written_and_wrong_sizes_refused() {
        let shield = read(&circle()).unwrap();
        assert_eq!(program(&shield), "if x^2 + y^2 - 1 <= 0:\n    action = -1.5 * x + 0.5 * y\nelse:\n    fallback\n");
        let mut wrong = circle();
        wrong.states.pop();
        assert!(read(&wrong).is_err());
    }
}
