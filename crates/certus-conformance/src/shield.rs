//! Shields of small linear systems: under its monitor, no run of the interpreter's is unsafe, on a lattice of initial states
//! and disturbances, whatever the network proposes.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use certus_numerics::Random;
use certus_reference::{Model, Network, Rational, Real, Specification, Then, positions, rational, whole};
use certus_shield_rt::{Fallback, Guard, Monitor};
use certus_tasks::output::write_document;
use certus_tasks::shield::{Shielded, Shielding, ready, shield};
use certus_tasks::{BudgetOptions, Loading, deadline_after};

use crate::campaign::Tally;
use crate::compare::{Class, Judged};
use crate::networks;
use crate::random::numbers;
use crate::rows::Study;
use crate::systems::{Case, lattice_of};

/// How shields are called in reports.
pub const NAME: &str = "shield";

/// A shield takes longer than a check, so one system in so many gets one.
const ONE_IN: usize = 8;

/// Seconds that a synthesis may take.
const PATIENCE: f64 = 20.0;

/// Steps of each run.
const STEPS: usize = 24;

/// Runs from each initial state, each with other disturbances: always the one end, always the other, and random ones.
const RUNS: usize = 4;

/// How `x` and `v` move on; `a` is the action and `w` the disturbance.
const MOVES: [(&str, &str); 5] = [
    ("x + 0.25 * v", "v + 0.5 * a + w"),
    ("1.125 * x + 0.5 * a + w", "0.5 * v"),
    ("0.75 * x + 0.25 * v + w", "v + a"),
    ("x + 0.5 * a + w", "0.5 * v + 0.25 * x"),
    ("x + 0.125 * v", "v + 0.25 * x + 0.5 * a + w"),
];

/// What the disturbance may be.
const DISTURBANCES: [&str; 3] = ["0", "0.0625", "0.125"];

/// Compares a shield with runs of the interpreter's.
pub fn compare(study: &Study<'_>, tally: &mut Tally) -> Result<(), String> {
    if !study.number.is_multiple_of(ONE_IN) {
        return Ok(());
    }
    let mut random = numbers(study.seed ^ 5, (study.number / ONE_IN) as u64);
    let ((x, v), most) = (*random.choose(&MOVES), *random.choose(&DISTURBANCES));
    let plant = format!(
        "state x in [-8, 8]\nstate v in [-8, 8]\ninput w in [-{most}, {most}]\nnext x = {x}\nnext v = {v}\n\
         init x in [-0.25, 0.25] & v in [-0.25, 0.25]\nproperty safe = G (x >= -2 & x <= 2)\n"
    );
    let network = networks::of_size(&mut random, 2, 1);
    let case = Case {
        text: format!("system s\n{plant}policy a = clamp(net(\"p.nnet\", x, v), -1, 1)\n"),
        properties: vec!["safe".to_owned()],
        settings: Vec::new(),
        networks: vec![("p.nnet".to_owned(), network)],
        lattice: lattice_of(""),
        features: vec!["shield"],
    };
    // The monitor decides what the action is, and to the interpreter that is another choice.
    let open = format!("system s\n{plant}input a in [-1, 1]\n");
    let path = case.write(study.folder, "shielded.certus")?;
    let deadline = deadline_after(Some(PATIENCE), "").map_err(|failure| failure.to_string())?;
    let task = Shielding {
        loading: Loading { path: path.clone(), ..Loading::default() },
        property: Some("safe".to_owned()),
        effort: BudgetOptions { threads: 1, deadline, ..BudgetOptions::default() },
        ..Shielding::default()
    };
    let made = shield(&task, &Arc::new(AtomicBool::new(false)), |_| {}).map_err(|failure| failure.to_string())?;
    let asked = (study.number, &case, "safe", NAME);
    let document = match made {
        Shielded::Made(made) => made.document,
        Shielded::Failed(_) => {
            tally.note(asked, Judged::Unknown, String::new);
            return Ok(());
        }
    };
    let file = study.folder.join("shield.json");
    write_document(&file, &document).map_err(|failure| failure.to_string())?;
    let ready = ready(&file, Some(&path), &[]).map_err(|failure| failure.to_string())?;
    let model = Model::read(&open, &[])?;
    let network = Network::read(&case.networks[0].1)?;
    let unsafe_run = ready.runtime.with_tables(|tables| {
        let most = most.parse::<f64>().unwrap_or_default();
        first_unsafe(tables, &model, &network, most, &mut random)
    })?;
    let judged = match unsafe_run {
        None => Judged::Right("safe"),
        Some(run) => Judged::Wrong(Class::ShieldUnsafe, run),
    };
    tally.note(asked, judged, || "verified".to_owned());
    Ok(())
}

/// The first run that is unsafe, in words.
fn first_unsafe(
    guard: &impl Guard,
    model: &Model,
    network: &Network,
    most: f64,
    random: &mut Random,
) -> Result<Option<String>, String> {
    let property = model.property("safe").ok_or("no property")?;
    let formula = property.body.over_runs().ok_or("no formula")?;
    let specification = Specification::new(model, formula)?;
    for start in 0..9 {
        for run in 0..RUNS {
            let quarter = |n: i64| whole(n - 1) / whole(4);
            let mut state = vec![quarter(start % 3), quarter(start / 3)];
            let (mut monitor, mut next) = (Monitor::new(), [0.0; 2]);
            let mut told = Vec::new();
            for _ in 0..STEPS {
                // The monitor sees the nearest doubles.
                let seen: Vec<f64> = state.iter().map(|number| number.to_f64().value()).collect();
                let proposed = network.apply(&state.iter().cloned().map(Real::Exact).collect::<Vec<_>>())?;
                let mut actions = [proposed[0].to_double().clamp(-1.0, 1.0)];
                monitor.decide(guard, &seen, &mut actions, &mut next, Fallback::LastBranch);
                let disturbance = match run {
                    0 => most,
                    1 => -most,
                    _ => most * (random.below(5) as f64 / 2.0 - 1.0),
                };
                told.push((seen, actions[0], disturbance));
                let inputs: Option<Vec<Rational>> = [disturbance, actions[0]].into_iter().map(rational).collect();
                let position = positions(model, &specification, &state, &[inputs.ok_or("no number")?])?.pop();
                let position = position.ok_or("no position")?;
                if position.letter.contains(&Some(false)) || monitor.alarm() {
                    return Ok(Some(format!("{told:?}, alarm {}", monitor.alarm())));
                }
                match position.then {
                    Then::State(successor) => state = successor,
                    other => return Ok(Some(format!("{told:?}, then {other:?}"))),
                }
            }
        }
    }
    Ok(None)
}
