//! Random systems and their probabilities: small ones with dice, by number, and the judgement of an interval.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use certus_lang::LowerOptions;
use certus_lang::syntax::ast::{CompareOp, PathProbability, Quantifier};
use certus_reference::{Model, Real, Specification, Worst, probability, rational};
use certus_tasks::check::{Check, Found, GridOptions, check};
use certus_tasks::{BudgetOptions, Loading};

use crate::campaign::Tally;
use crate::compare::{Class, Judged};
use crate::random::numbers;
use crate::rows::Study;
use crate::systems::{Case, lattice_of};

/// How the engine is called in reports.
pub const NAME: &str = "imdp";

/// A probability that is its bound exactly is never decided, and the engine's work has no other limit than time. A bound
/// that was found is sound whenever it is stopped, so this changes how much is known and never whether it is right.
const PATIENCE: Duration = Duration::from_millis(500);

const MOVES: [(&str, &str); 11] = [
    ("match c { a: min(x + 1, 3), b: max(x - 1, 0), z: 9 }", "chance"),
    ("match c { a: min(x + 1, 3), b: 0, z: 9 }", "chance"),
    ("match c { a: x + 1, b: 0, z: 1 }", "range exit"),
    ("match c { a: if u > 0.5 then 3 else 0, b: x, z: 1 }", "input"),
    ("if c == a then min(x + 1, 3) else (if u >= 0.5 then 0 else x)", "input"),
    ("if c == a then 1 else floor(2 / x)", "undefined"),
    ("match act { l: min(x + 1, 3), r: match c { a: 0, b: x, z: 2 } }", "argmax tie"),
    ("match d { l: min(x + 1, 3), r: match c { a: 0, b: x, z: 2 } }", "softmax"),
    ("match c { a: min(x + n, 3), b: max(x - 1, 0), z: 9 }", "integer input"),
    ("if c == a then (if n == 1 then 3 else x) else 0", "integer input"),
    ("match c { a: x + 0.5, b: 0, z: 1 }", "range exit, halves"),
];

const ASSUMPTIONS: [(&str, &str); 5] = [
    ("", ""),
    ("u > 0.5", "assume input"),
    ("u == 0 | u == 1", "assume input"),
    ("x < 3", "deadlock"),
    ("u < 0.5", "assume input"),
];

const TERMINALS: [(&str, &str); 3] = [("", ""), ("x >= 3", "terminal"), ("x <= 0", "terminal")];

const PATHS: [&str; 10] = [
    "F<=1 x >= 2.5",
    "F<=2 x > 2.5",
    "F<=3 x == 0",
    "G<=2 x < 2.5",
    "G<=3 x >= 0.5",
    "x < 1.5 U<=3 x > 2.5",
    "x < 2.5 W<=2 x == 0",
    "F x >= 2.5",
    "G x < 2.5",
    "x < 1.5 U x > 2.5",
];

const BOUNDS: [&str; 8] = ["P<=0.5", "P<=0.25", "P<0.5", "P>=0.5", "P>0.25", "P<=0.0625", "Pmax=?", "Pmin=?"];

/// The number of combinations of declarations.
pub fn combinations() -> usize {
    MOVES.len() * ASSUMPTIONS.len() * TERMINALS.len()
}

/// The random system of a number, with so many properties.
pub fn case(seed: u64, number: usize, properties: usize) -> Case {
    let mut rest = number % combinations();
    let mut features: Vec<&'static str> = vec!["probability"];
    let mut pick = |list: &[(&'static str, &'static str)]| {
        let (text, feature) = list[rest % list.len()];
        rest /= list.len();
        features.extend(Some(feature).filter(|feature| !feature.is_empty()));
        text
    };
    let (moves, assume, terminal) = (pick(&MOVES), pick(&ASSUMPTIONS), pick(&TERMINALS));
    let mut random = numbers(seed, number as u64);
    let range = *random.choose(&["[0, 3]", "[0, 3]", "{0..3}"]);
    features.extend(Some("integer state").filter(|_| range.starts_with('{')));
    let mut text = format!("system s\nstate x in {range}\nchance c of {{ a: 0.25, b: 0.75, z: 0 }}\n");
    // An input comes after the draws unless its declaration says otherwise: half of them know nothing of `c`.
    if format!("{moves} {assume}").contains("u ") {
        let order = *random.choose(&["", " before c"]);
        features.extend(Some("input before a draw").filter(|_| !order.is_empty()));
        text += &format!("input u in [0, 1]{order}\n");
    }
    if moves.contains("n,") || moves.contains("n ==") {
        text += "input n in {0..2}\n";
    }
    if moves.contains("act") {
        text += "action act = argmax([x, 2 - x]) of { l, r }\n";
    }
    if moves.contains("match d") {
        text += "action d ~ softmax([x - x, 0]) of { l, r }\n";
    }
    text += &format!("next x = {moves}\n");
    for (word, condition) in [("assume", assume), ("terminal", terminal)] {
        if !condition.is_empty() {
            text += &format!("{word} {condition}\n");
        }
    }
    text += *random.choose(&[
        "init x == 1\n",
        "init x == 2\n",
        "init x == 0\n",
        "init x in {0, 2}\n",
        "init x in {1..2}\n",
    ]);
    let mut names = Vec::new();
    for place in 0..properties {
        names.push(format!("p{place}"));
        text += &format!("property p{place} = {} [ {} ]\n", random.choose(&BOUNDS), random.choose(&PATHS));
    }
    let lattice = lattice_of(&text);
    Case { text, properties: names, settings: Vec::new(), networks: Vec::new(), lattice, features }
}

/// Compares the probabilities of a random system.
pub fn compare(study: &Study<'_>, tally: &mut Tally) -> Result<(), String> {
    let case = case(study.seed, study.number, study.properties);
    for (property, said) in case.properties.iter().zip(ask(&case, study.folder)?) {
        match (truth(&case, property), said) {
            (Ok(truth), Ok(outcome)) => {
                tally.note((study.number, &case, property, NAME), judge(&outcome, &truth), || format!("{truth:?}"));
            }
            (Err(reason), _) => tally.leave(reason),
            (_, Err(message)) => tally.refuse(NAME, message),
        }
    }
    Ok(())
}

/// What the engine says of every property of a case.
pub fn ask(case: &Case, folder: &Path) -> Result<Vec<Result<certus_prob::Outcome, String>>, String> {
    let path = folder.join("random.certus");
    std::fs::write(&path, &case.text).map_err(|error| error.to_string())?;
    let task = Check {
        system: Loading { path, options: LowerOptions::default(), ..Loading::default() },
        properties: case.properties.clone(),
        engine: "imdp".parse()?,
        grid: GridOptions::default(),
        steps: None,
        assume_no_model_errors: false,
        certificate: None,
        effort: BudgetOptions {
            threads: 1,
            deadline: Instant::now().checked_add(PATIENCE),
            ..BudgetOptions::default()
        },
    };
    let checked = check(&task, &Arc::new(AtomicBool::new(false)), |_| {}).map_err(|failure| failure.to_string())?;
    let said = checked.results.into_iter().map(|result| match result.outcome? {
        Found::Probability(outcome, _) => Ok(*outcome),
        Found::Runs(_) => Err("no probability".to_owned()),
    });
    Ok(said.collect())
}

/// The true probability in the worst case, and whether the bound holds, if one is asked about and the interpreter can tell.
pub fn truth(case: &Case, property: &str) -> Result<(Real, Option<bool>), String> {
    let model = Model::read(&case.text, &case.settings)?;
    let declared = model.property(property).ok_or("no such property")?;
    let PathProbability { quantifier, bound, path } = declared.body.probability().ok_or("no probability")?;
    let specification = Specification::new(&model, path)?;
    let op = bound.as_ref().map(|(op, _)| *op);
    let smallest = *quantifier == Quantifier::Min || matches!(op, Some(CompareOp::Greater | CompareOp::GreaterEqual));
    let worst = if smallest { Worst::Smallest } else { Worst::Largest };
    let value = probability(&model, &specification, &case.lattice, worst)?;
    let Some((op, limit)) = bound else { return Ok((value, None)) };
    let certus_lang::syntax::ast::ExprKind::Number(limit, _) = &limit.kind else { return Err("no number".to_owned()) };
    let limit = Real::Exact(rational(*limit).ok_or("no number")?);
    let holds = value.compared(&limit).map(|order| match op {
        CompareOp::Less => order.is_lt(),
        CompareOp::LessEqual => order.is_le(),
        CompareOp::Greater => order.is_gt(),
        _ => order.is_ge(),
    });
    Ok((value, holds))
}

/// How far ends of an interval of doubles may be off by rounding.
const ROUNDING: f64 = 1e-9;

/// Judges an interval.
pub fn judge(outcome: &certus_prob::Outcome, truth: &(Real, Option<bool>)) -> Judged {
    let (value, holds) = truth;
    let (low, high) = (value.low().to_f64().value(), value.high().to_f64().value());
    let said =
        format!("[{}, {}], holds {:?}; the truth lies in [{low}, {high}]", outcome.lower, outcome.upper, outcome.holds);
    if outcome.lower > high + ROUNDING || outcome.upper < low - ROUNDING {
        return Judged::Wrong(Class::ProbabilityWrong, said);
    }
    match (outcome.holds, holds) {
        (Some(said_holds), Some(holds)) if said_holds != *holds => Judged::Wrong(Class::ProbabilityWrong, said),
        (Some(true), _) => Judged::Right("holds"),
        (Some(false), _) => Judged::Right("violated"),
        (None, _) if !outcome.asks => Judged::Right("measured"),
        (None, _) => Judged::Unknown,
    }
}
