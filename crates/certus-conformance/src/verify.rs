//! Networks and specifications: `unsat` where no point answers, and `sat` with a point of the region as written.
//!
//! Weights are whole and hidden layers are single, so a network of one input is linear between multiples of a half. There the
//! question is decided exactly: a conjunction of linear conditions holds somewhere on a piece if it holds at an end, at a
//! root of a condition, or between two of these. With two inputs a lattice is tried, and a refutation of `unsat` may be missed.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use certus_numerics::Random;
use certus_reference::{Network, Rational, Real, rational, whole};
use certus_tasks::audit::{Audit, Judgement, audit};
use certus_tasks::verify::{Verified, Verify, verify};
use certus_tasks::{BudgetOptions, QuerySource};

use crate::campaign::Tally;
use crate::compare::{Class, Judged};
use crate::networks;
use crate::random::numbers;
use crate::rows::Study;
use crate::systems::{Case, lattice_of};

/// How queries about networks are called in reports.
pub const NAME: &str = "verify";

/// What rounding to single precision can change of numbers that are this small.
const ROUNDING: f64 = 1e-6;

/// `left >= right` or `left <= right` of outputs, and numbers in halves.
#[derive(Clone, Copy, Debug)]
struct Condition {
    output: usize,
    at_least: bool,
    /// An output, or a number of halves.
    other: Result<usize, i64>,
}

/// A question: a region, as written, and a disjunction of conjunctions.
struct LoadedQuery {
    network: Network,
    region: Vec<(&'static str, &'static str)>,
    formula: Vec<Vec<Condition>>,
}

/// Compares the answers to some questions about one network.
pub fn compare(study: &Study<'_>, tally: &mut Tally) -> Result<(), String> {
    let mut random = numbers(study.seed ^ 3, study.number as u64);
    let (inputs, outputs) = (1 + random.below(2), 1 + random.below(2));
    let text = networks::of_size(&mut random, inputs, outputs);
    let network = Network::read(&text)?;
    let file = study.folder.join("asked.nnet");
    fs::write(&file, &text).map_err(|error| error.to_string())?;
    for place in 0..study.properties {
        let own = question(&mut random, inputs, outputs, &network);
        let specification = study.folder.join("asked.vnnlib");
        fs::write(&specification, own.text(outputs)).map_err(|error| error.to_string())?;
        let certificate = study.folder.join("asked.certificate");
        let _ = fs::remove_file(&certificate);
        let task = Verify {
            asked: QuerySource { file: file.clone(), specification: Some(specification), networks: Vec::new() },
            certificate: Some(certificate.clone()),
            resume: None,
            save_query: None,
            effort: BudgetOptions { threads: 1, ..BudgetOptions::default() },
        };
        let stop = Arc::new(AtomicBool::new(false));
        let verified = verify(&task, &stop, |_| {}).map_err(|failure| failure.to_string())?;
        let mut judged = own.judge(&verified);
        if judged == Judged::Right("unsat") {
            let task = Audit { certificate, ..Audit::default() };
            let accepted = audit(&task, &stop, |_| {}).map_err(|failure| failure.to_string())?;
            if !matches!(accepted, (Some(Judgement::Accepted(_)), _)) {
                judged = Judged::Wrong(Class::RejectedWrongly, "its certificate".to_owned());
            }
        }
        let case = Case {
            text: own.text(outputs),
            properties: Vec::new(),
            settings: Vec::new(),
            networks: vec![("asked.nnet".to_owned(), text.clone())],
            lattice: lattice_of(""),
            features: Vec::new(),
        };
        tally.note((study.number, &case, &format!("q{place}"), NAME), judged, || format!("{:?}", own.answer()));
    }
    Ok(())
}

fn question(random: &mut Random, inputs: usize, outputs: usize, network: &Network) -> LoadedQuery {
    const REGIONS: [(&str, &str); 8] = [
        ("0", "1"),
        ("-1", "2"),
        ("0.5", "0.5"),
        ("0.1", "0.1"),
        ("-0.3", "0.7"),
        ("1", "1.5"),
        ("-2", "-1"),
        ("0.1", "0.10000000000000001"),
    ];
    let region = (0..inputs).map(|_| *random.choose(&REGIONS)).collect();
    // Conjunctions with so many conditions each.
    const SHAPES: [&[usize]; 5] = [&[1], &[1, 1], &[2], &[2, 1], &[3]];
    let shape = *random.choose(&SHAPES);
    let formula = shape.iter().map(|&count| (0..count).map(|_| condition(random, outputs)).collect());
    LoadedQuery { network: network.clone(), region, formula: formula.collect() }
}

fn condition(random: &mut Random, outputs: usize) -> Condition {
    Condition {
        output: random.below(outputs),
        at_least: random.one_in(2),
        other: match outputs > 1 && random.one_in(2) {
            true => Ok(random.below(outputs)),
            false => Err(random.below(13) as i64 - 6),
        },
    }
}

impl Condition {
    fn text(self) -> String {
        let op = if self.at_least { ">=" } else { "<=" };
        let other = match self.other {
            Ok(output) => format!("Y_{output}"),
            Err(halves) => format!("{:?}", halves as f64 / 2.0),
        };
        format!("({op} Y_{} {other})", self.output)
    }

    /// By how much it holds; it does where that is not negative.
    fn margin(self, outputs: &[Rational]) -> Rational {
        let other = match self.other {
            Ok(output) => outputs[output].clone(),
            Err(halves) => whole(halves) / whole(2),
        };
        if self.at_least { &outputs[self.output] - other } else { other - &outputs[self.output] }
    }
}

/// The number that a decimal says.
fn decimal(text: &str) -> Option<Rational> {
    let (digits, sign) = text.strip_prefix('-').map_or((text, 1), |digits| (digits, -1));
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    let mut value = whole(0);
    let mut scale = whole(1);
    for digit in before.chars().chain(after.chars()) {
        value = value * whole(10) + whole(i64::from(digit.to_digit(10)?));
    }
    for _ in after.chars() {
        scale *= whole(10);
    }
    Some(value / scale * whole(sign))
}

impl LoadedQuery {
    fn text(&self, outputs: usize) -> String {
        let mut text = String::new();
        for input in 0..self.region.len() {
            let _ = writeln!(text, "(declare-const X_{input} Real)");
        }
        for output in 0..outputs {
            let _ = writeln!(text, "(declare-const Y_{output} Real)");
        }
        for (input, (low, high)) in self.region.iter().enumerate() {
            let _ = writeln!(text, "(assert (>= X_{input} {low}))\n(assert (<= X_{input} {high}))");
        }
        let all = |own: &Vec<Condition>| -> String {
            format!("(and {})", own.iter().map(|own| own.text()).collect::<Vec<_>>().join(" "))
        };
        let _ = writeln!(text, "(assert (or {}))", self.formula.iter().map(all).collect::<Vec<_>>().join(" "));
        text
    }

    fn outputs(&self, point: &[Rational]) -> Option<Vec<Rational>> {
        let point: Vec<Real> = point.iter().cloned().map(Real::Exact).collect();
        self.network.apply(&point).ok()?.iter().map(|own| own.exact().cloned()).collect()
    }

    /// Whether a point answers the question, up to so much.
    fn is_answer(&self, point: &[Rational], tolerance: &Rational) -> bool {
        let Some(outputs) = self.outputs(point) else { return false };
        let holds = |own: &Condition| own.margin(&outputs) + tolerance >= Rational::ZERO;
        self.formula.iter().any(|all| all.iter().all(holds))
    }

    fn ends(&self) -> Vec<(Rational, Rational)> {
        let end = |text: &str| decimal(text).unwrap_or(Rational::ZERO);
        self.region.iter().map(|(low, high)| (end(low), end(high))).collect()
    }

    /// A point that answers the question, if one is found; with one input there is none otherwise.
    fn answer(&self) -> Option<Vec<Rational>> {
        let ends = self.ends();
        let along = |(low, high): &(Rational, Rational), parts: i64| -> Vec<Rational> {
            let inner = (-8 * parts..=8 * parts).map(|n| whole(n) / whole(parts)).filter(|x| low < x && x < high);
            std::iter::once(low.clone()).chain(inner).chain([high.clone()]).collect()
        };
        let points: Vec<Vec<Rational>> = match ends.as_slice() {
            [only] => self.candidates(&along(only, 2)).into_iter().map(|x| vec![x]).collect(),
            [first, second] => {
                let second = along(second, 4);
                along(first, 4)
                    .into_iter()
                    .flat_map(|x| second.iter().map(move |y| vec![x.clone(), y.clone()]))
                    .collect()
            }
            _ => Vec::new(),
        };
        points.into_iter().find(|point| self.is_answer(point, &Rational::ZERO))
    }

    /// Numbers among which one answers if any does: the ends of pieces, roots of conditions, and what lies between.
    fn candidates(&self, ends: &[Rational]) -> Vec<Rational> {
        let mut all = ends.to_vec();
        for pair in ends.windows(2) {
            let (Some(first), Some(last)) = (self.outputs(&pair[..1]), self.outputs(&pair[1..])) else { continue };
            for own in self.formula.iter().flatten() {
                let (a, b) = (own.margin(&first), own.margin(&last));
                if a.cmp(&Rational::ZERO) != b.cmp(&Rational::ZERO) && a != b {
                    all.push(&pair[0] + (&pair[1] - &pair[0]) * &a / (&a - &b));
                }
            }
        }
        all.sort();
        let between: Vec<Rational> = all.windows(2).map(|pair| (&pair[0] + &pair[1]) / whole(2)).collect();
        all.extend(between);
        all
    }

    fn judge(&self, verified: &Verified) -> Judged {
        match verified.verdict() {
            "unsat" => match self.answer() {
                Some(point) => Judged::Wrong(Class::AnswerWrong, format!("unsat, but there is {point:?}")),
                None => Judged::Right("unsat"),
            },
            "sat" => {
                let inputs = verified.witness().map(|(_, witness)| witness.inputs.clone()).unwrap_or_default();
                // A coordinate that is no double stands for the decimal that it is shown as.
                let point: Option<Vec<Rational>> = inputs.iter().map(|own| decimal(&own.to_string())).collect();
                let inside = |point: &Vec<Rational>| {
                    let order = |(x, (low, high)): (&Rational, &(Rational, Rational))| {
                        x.cmp(low) != Ordering::Less && x.cmp(high) != Ordering::Greater
                    };
                    point.len() == self.region.len() && point.iter().zip(&self.ends()).all(order)
                };
                match point {
                    Some(point) if inside(&point) && self.is_answer(&point, &Rational::ZERO) => Judged::Right("sat"),
                    // A point answers if it does in both precisions, where rounding may help it over a border.
                    Some(point)
                        if inside(&point) && rational(ROUNDING).is_some_and(|own| self.is_answer(&point, &own)) =>
                    {
                        Judged::Right("sat by rounding")
                    }
                    _ => Judged::Wrong(Class::AnswerWrong, format!("sat at {inputs:?}")),
                }
            }
            _ => Judged::Unknown,
        }
    }
}
