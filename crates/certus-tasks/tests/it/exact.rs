//! Engines on systems in continuous time whose solutions are known in closed form.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use certus_lang::LowerOptions;
use certus_model::{Outcome, Verdict};
use certus_tasks::check::{Check, Found, GridOptions, check};
use certus_tasks::{BudgetOptions, Loading};

/// x' = −x with x(0) in [0.9, 1]: x(t) = x(0)·e^(−t), and e^(−0.5) = 0.6065…
const DECAY: &str = "system decay
state x in [-2, 2]
step 0.25 exact
der x = -x
init x in [0.9, 1]
property above = G<=0.5s throughout(x > 0.54)
property below = G<=0.5s throughout(x > 0.62)
property positive = G<=0.5s throughout(x > 0.55)
property late = F<=1.5s x < 0.3
property early = F<=0.75s x < 0.3
";

/// One second of x' = 4·(1 − 2t) in each step: up by one at half time and back.
const HOP: &str = "system hop
state x in [-4, 4]
state v in [-8, 8]
step 1 exact
der x = 4 - v
der v = 8
after v = 0
init x == 0 & v == 0
property low = G throughout(x <= 1.05)
property lower = G throughout(x < 0.99)
property home = G x == 0
property first = G[0s, 0.25s] throughout(x < 0.8)
";

struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> File {
        let path = std::env::temp_dir().join(format!("certus-exact-{name}-{}.certus", std::process::id()));
        std::fs::write(&path, text).unwrap();
        File(path)
    }

    fn task(&self, engine: &str, property: &str) -> Check {
        Check {
            system: Loading { path: self.0.clone(), options: LowerOptions::default(), ..Loading::default() },
            properties: vec![property.to_owned()],
            engine: engine.parse().unwrap(),
            // Cells creep where a step maps them onto themselves: a grid alone would refine for ever.
            grid: GridOptions { refinements: (engine == "grid").then_some(4), ..GridOptions::default() },
            steps: None,
            assume_no_model_errors: false,
            certificate: None,
            effort: BudgetOptions { threads: 1, ..BudgetOptions::default() },
        }
    }

    fn ask(&self, engine: &str, property: &str) -> Result<Outcome, String> {
        let stop = Arc::new(AtomicBool::new(false));
        let checked = check(&self.task(engine, property), &stop, |_| {}).map_err(|failure| failure.to_string())?;
        let found = checked.results.into_iter().next().unwrap();
        found.outcome.map(|found| found.runs().unwrap().clone())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome.verdict {
        Verdict::Holds(_) => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::ModelError(_) => "model error",
        _ => "unknown",
    }
}

#[test]
fn engines_decide_a_linear_equation() {
    let file = File::new("decay", DECAY);
    for (property, expected) in
        [("above", "holds"), ("below", "violated"), ("positive", "violated"), ("late", "holds"), ("early", "violated")]
    {
        assert_eq!(word(&file.ask("auto", property).unwrap()), expected, "{property}");
        for engine in ["bmc", "grid", "induction"] {
            // An engine may refuse a property, with a reason.
            let found = file.ask(engine, property).map_or("unknown", |own| word(&own));
            assert!(found == expected || found == "unknown", "{engine} says that {property} is {found}");
        }
    }
}

#[test]
fn polynomial_flows_are_finite_systems() {
    let file = File::new("hop", HOP);
    for (property, expected) in [("low", "holds"), ("lower", "violated"), ("home", "holds"), ("first", "holds")] {
        for engine in ["explicit", "auto", "grid", "bmc"] {
            let found = word(&file.ask(engine, property).unwrap());
            let decided = found == expected || found == "unknown" && engine != "auto";
            assert!(decided, "{engine} says that {property} is {found}");
        }
    }
}

#[test]
fn a_range_that_only_the_end_of_a_step_leaves_is_a_model_error() {
    let text = "system t\nstate x in [0, 1]\nstep 0.5 exact\nder x = 1\ninit x == 0.75\nproperty p = F x > 5\n";
    let file = File::new("range", text);
    assert_eq!(word(&file.ask("auto", "p").unwrap()), "model error");
}

#[test]
fn an_escape_is_never_said_to_hold() {
    // x' = x² from 1 is 1 / (1 − t): it has no value at 1, and y knows nothing of that.
    let text = "system t\nstate x\nstate y in [0, 1]\nstep 2 exact\nder x = x^2\nnext y = y\ninit x == 1 & y == 0\nproperty p = G y < 1\nproperty q = G<=1 y < 1\n";
    let file = File::new("escape", text);
    for (engine, property) in [("auto", "q"), ("bmc", "q"), ("reach", "p"), ("induction", "p")] {
        let outcome = file.ask(engine, property);
        assert!(outcome.map_or(true, |own| word(&own) != "holds"), "{engine}");
    }
}

#[test]
fn only_reachability_proofs_leave_a_certificate() {
    let file = File::new("certificate", DECAY);
    let task = Check { certificate: Some(file.0.with_extension("proof")), ..file.task("bmc", "above") };
    let Err(failure) = check(&task, &Arc::new(AtomicBool::new(false)), |_| {}) else {
        panic!("bmc left a certificate")
    };
    assert!(failure.to_string().contains("only those by reachable sets leave a certificate"), "{failure}");
}

#[test]
fn probabilities_of_exact_flows_are_bounded() {
    let text = "system t\nstate x in [0, 4]\nchance c of { up: 0.5, stay: 0.5 }\nstep 0.5 exact\n\
                der x = match c { up: 2, stay: 0 }\nafter x = min(x, 3)\ninit x == 0\n\
                property most = P<=0.3 [ F<=2 x > 1.5 ]\nproperty less = P<=0.2 [ F<=2 x > 1.5 ]\n";
    let file = File::new("chance", text);
    let stop = Arc::new(AtomicBool::new(false));
    for (property, met) in [("most", Some(true)), ("less", Some(false))] {
        let checked = check(&file.task("imdp", property), &stop, |_| {}).unwrap();
        let Ok(Found::Probability(found, _)) = &checked.results[0].outcome else {
            panic!("{property} has no interval")
        };
        assert!(found.lower <= 0.25 && 0.25 <= found.upper, "[{}, {}]", found.lower, found.upper);
        assert!(found.holds.is_none() || found.holds == met, "{:?}", found.holds);
    }
}
