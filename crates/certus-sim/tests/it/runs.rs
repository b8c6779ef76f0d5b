//! Runs of small systems: against hand-written loops, and against what each kind of ending must look like.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use certus_graph::ops::Affine;
use certus_graph::{Graph, NodeId};
use certus_lang::system::Formula;
use certus_lang::{LowerOptions, Networks, System, load_str};
use certus_sim::semantics::Tail;
use certus_sim::{
    ActionMode, End, InputSource, Options, Plan, Plans, RunReport, Script, SimulationError, Simulator, Summary, Verdict,
};

/// Linear networks by name: `"1,-2"` is x ↦ x₀ − 2x₁, rows separated by `;`.
struct Linear;

impl Networks for Linear {
    fn load(&mut self, path: &str) -> Result<Arc<Graph>, String> {
        let rows: Vec<Vec<f64>> = path
            .split(';')
            .map(|row| row.split(',').map(|w| w.trim().parse::<f64>().map_err(|e| e.to_string())).collect())
            .collect::<Result<_, String>>()?;
        let (count, columns) = (rows.len(), rows[0].len());
        let mut graph = Graph::new();
        let x: NodeId = graph.input("x", &[1, columns]);
        let layer = Affine::dense(rows.concat(), count, columns, vec![0.0; count]).map_err(|e| e.to_string())?;
        let y = graph.apply(layer, &[x]).map_err(|e| e.to_string())?;
        graph.output("y", y);
        Ok(Arc::new(graph))
    }
}

fn system(text: &str) -> System {
    load_str(text, &mut Linear, &LowerOptions::default()).unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

fn run(system: &System, options: &Options<'_>) -> (Vec<RunReport>, Summary) {
    let mut reports = Vec::new();
    let simulator = Simulator::new(system).unwrap();
    let summary = simulator.run(options, &mut |_| {}, &mut |report| reports.push(report.clone())).unwrap();
    (reports, summary)
}

const PENDULUM: &str = "
system pendulum
state eta in [-2, 2]
state omega in [-9, 9]
policy a = clamp(net(\"-12.05,-5.87\", eta, omega), -15, 15)
step 0.01 euler
der eta = omega
der omega = 9.8 * sin(eta) + a
init eta in [-0.35, 0.35] & omega in [-0.35, 0.35]
reward -(eta^2 + 0.1 * omega^2)
property upright = G (abs(eta) < 0.36)
property settles = F (abs(eta) < 0.01 & abs(omega) < 0.05)
";

#[test]
fn a_run_is_what_a_plain_loop_computes() {
    let system = system(PENDULUM);
    let options = Options { runs: 20, steps: 300, record: true, ..Options::default() };
    let (reports, _) = run(&system, &options);
    for report in &reports {
        let trace = report.trace.as_ref().unwrap();
        assert_eq!(trace.len(), 301);
        let (mut eta, mut omega) = (trace[0].state[0], trace[0].state[1]);
        assert!(eta.abs() <= 0.35 && omega.abs() <= 0.35);
        let (mut total, mut least) = (0.0, f64::INFINITY);
        for (index, step) in trace.iter().enumerate() {
            assert!((step.state[0] - eta).abs() < 1e-9 && (step.state[1] - omega).abs() < 1e-9, "step {index}");
            let a = (-12.05 * eta - 5.87 * omega).clamp(-15.0, 15.0);
            assert!((step.policies[0] - a).abs() < 1e-7);
            least = f64::min(least, 0.36 - eta.abs());
            if index < 300 {
                total += -(eta * eta + 0.1 * omega * omega);
            }
            (eta, omega) = (eta + 0.01 * omega, omega + 0.01 * (9.8 * eta.sin() + a));
        }
        assert!((report.total_reward.unwrap() - total).abs() < 1e-7);
        assert!((report.properties[0].margin - least).abs() < 1e-9);
        assert_eq!(report.end, End::Completed);
    }
}

#[test]
fn results_do_not_depend_on_threads_or_on_which_runs_are_made_together() {
    let system = system(PENDULUM);
    let all = |threads| {
        let options = Options { runs: 600, steps: 40, seed: 9, threads, record: true, ..Options::default() };
        run(&system, &options)
    };
    let (one, summary) = all(1);
    let (three, summary_of_three) = all(3);
    assert_eq!(one, three);
    assert_eq!(summary, summary_of_three);
    let options = Options { first_run: 577, runs: 1, steps: 40, seed: 9, record: true, ..Options::default() };
    assert_eq!(run(&system, &options).0[0], one[577]);
}

#[test]
fn other_seeds_give_other_runs() {
    let system = system(PENDULUM);
    let first = |seed| run(&system, &Options { runs: 1, seed, record: true, ..Options::default() }).0.remove(0);
    assert_ne!(first(1).trace.unwrap()[0].state, first(2).trace.unwrap()[0].state);
}

#[test]
fn a_violation_names_its_step() {
    let system = system(
        "
system counter
state n in [0, 100]
policy y = net(\"1\", n)
next n = n + 1
init n == 0
property small = G (n < 7)
property soon = F<=3 (n >= 3)
property late = F[5, 6] (y > 6)
",
    );
    let (reports, summary) = run(&system, &Options { runs: 1, steps: 20, ..Options::default() });
    let seen = &reports[0].properties;
    assert_eq!((seen[0].verdict, seen[0].broken_at), (Verdict::Violated, Some(7)));
    assert_eq!(seen[0].margin, -13.0);
    assert_eq!((seen[1].verdict, seen[1].broken_at), (Verdict::Satisfied, None));
    assert_eq!((seen[2].verdict, seen[2].broken_at), (Verdict::Violated, Some(6)));
    assert_eq!(summary.properties[0].violated, 1);
}

#[test]
fn leaving_a_declared_range_is_a_fault_of_the_model() {
    let system = system(
        "
system grows
state x[2] in [0, 4]
policy y = net(\"1,1\", x)
next x = [x[0], x[1] + 1]
init all(x == 0)
property p = G (y <= 4)
",
    );
    let (reports, summary) = run(&system, &Options { runs: 2, steps: 20, ..Options::default() });
    let left = End::LeftRange { variable: "x[1]".to_owned(), value: 5.0, range: (0.0, 4.0) };
    assert_eq!((&reports[0].end, reports[0].steps), (&left, 5));
    assert_eq!(reports[0].properties[0].verdict, Verdict::Open);
    assert!(summary.has_model_error());
    assert_eq!(summary.left_range, 2);
}

#[test]
fn a_value_that_is_not_a_number_ends_the_run() {
    let system = system(
        "
system root
state x in [-5, 5]
policy y = net(\"1\", x)
next x = sqrt(y)
init x == -1
property p = G (x <= 4)
",
    );
    let (reports, _) = run(&system, &Options { runs: 1, steps: 5, ..Options::default() });
    assert_eq!(reports[0].end, End::NotANumber { variable: "x".to_owned() });
}

#[test]
fn a_terminal_state_repeats_for_ever() {
    let system = system(
        "
system stops
state n in [0, 100]
policy y = net(\"1\", n)
next n = n + 1
init n == 0
terminal n >= 3
property safe = G (n <= 3)
property reaches = F (n > 3)
",
    );
    let (reports, summary) = run(&system, &Options { runs: 1, steps: 20, ..Options::default() });
    assert_eq!((&reports[0].end, reports[0].steps), (&End::Terminal, 3));
    assert_eq!(reports[0].properties[0].verdict, Verdict::Satisfied);
    assert_eq!(reports[0].properties[1].verdict, Verdict::Violated);
    assert_eq!((summary.terminal, summary.has_model_error()), (1, false));
}

const DRIFT: &str = "
system drift
state x in [-100, 100]
policy y = net(\"0\", x)
input d in [-1, 1]
next x = x + y + d
init x == 0
property bounded = G (abs(x) < 9.5)
";

#[test]
fn a_terminal_state_in_which_nothing_is_allowed_is_no_run() {
    let text = "system s\nstate x in [0, 3]\ninput u in [0, 1]\nnext x = x\nassume u > x\nterminal x >= 2\ninit x == 2\n\
        property reaches = F x >= 3\nproperty chooses = x <= 1 & F u > 0.5";
    let (reports, summary) = run(&system(text), &Options { runs: 3, steps: 4, ..Options::default() });
    assert_eq!((summary.blocked, summary.terminal), (3, 0));
    let open = |report: &RunReport| report.properties.iter().all(|property| property.verdict == Verdict::Open);
    assert!(reports.iter().all(open), "{reports:?}");
}

#[test]
fn inputs_stay_in_their_range_and_reach_the_state() {
    let system = system(DRIFT);
    let (reports, _) = run(&system, &Options { runs: 50, steps: 30, record: true, ..Options::default() });
    for trace in reports.iter().map(|report| report.trace.as_ref().unwrap()) {
        for pair in trace.windows(2) {
            assert!(pair[0].input[0].abs() <= 1.0);
            assert_eq!(pair[1].state[0], pair[0].state[0] + pair[0].input[0]);
        }
    }
}

#[test]
fn an_adversary_breaks_what_chance_does_not() {
    let system = system(DRIFT);
    let uniform = Options { runs: 50, steps: 12, ..Options::default() };
    let adversary = Options { inputs: InputSource::Adversary { property: 0, candidates: 8 }, ..uniform.clone() };
    assert_eq!(run(&system, &uniform).1.properties[0].violated, 0);
    assert_eq!(run(&system, &adversary).1.properties[0].violated, 50);
}

#[test]
fn a_table_of_inputs_is_played_as_it_is() {
    let system = system(DRIFT);
    let script = Script::parse("step, d, note\n0, 0.5, a\n1, -1, b\n2,0.25,c\n", &system).unwrap();
    let options =
        Options { runs: 1, steps: 2, record: true, inputs: InputSource::Script(script), ..Options::default() };
    let (reports, _) = run(&system, &options);
    let states: Vec<f64> = reports[0].trace.as_ref().unwrap().iter().map(|step| step.state[0]).collect();
    assert_eq!(states, [0.0, 0.5, -0.5]);
}

#[test]
fn plans_are_followed_and_what_they_leave_open_is_drawn() {
    let system = system(
        "
system planned
state x in [-9, 9]
input d in [-1, 1]
chance c of { up: 0.5, down: 0.5 }
next x = x + d + (match c { up: 4, down: -4 })
init x >= 0 & x <= 1 & x != 0.5
property p = G x < 2
",
    );
    let plan = |start: f64| Plan {
        start: vec![start],
        inputs: vec![vec![0.25], vec![-1.0]],
        draws: vec![vec![0.0], vec![0.75]],
        period: 1,
    };
    let planned = |first: u64, plans: Vec<Plan>| {
        let inputs = InputSource::Plans(Plans { first, plans });
        let options = Options {
            first_run: first,
            runs: 1,
            steps: 3,
            record: true,
            tail: Tail::Repeats,
            inputs,
            ..Options::default()
        };
        run(&system, &options).0.remove(0)
    };
    let states = |report: &RunReport| report.trace.as_ref().unwrap().iter().map(|s| s.state[0]).collect::<Vec<f64>>();
    // The last row serves all later steps.
    let report = planned(7, vec![plan(0.75)]);
    assert_eq!(states(&report), [0.75, 5.0, 0.0, -5.0]);
    assert_eq!((report.properties[0].broken_at, report.properties[0].margin), (Some(1), -3.0));
    // A state that is not initial is replaced by a drawn one.
    let first = states(&planned(0, vec![plan(0.5)]))[0];
    assert!(first != 0.5 && (0.0..=1.0).contains(&first));
    // Without plans, all is drawn.
    assert_eq!(planned(3, Vec::new()), planned(3, vec![Plan::default()]));
    let wrong = InputSource::Plans(Plans { first: 0, plans: vec![Plan { start: vec![0.0; 2], ..Plan::default() }] });
    let options = Options { inputs: wrong, ..Options::default() };
    let error = Simulator::new(&system).unwrap().run(&options, &mut |_| {}, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("another number"), "{error}");
}

#[test]
fn one_formula_can_be_watched_alone() {
    let system = system(DRIFT);
    let formula = system.properties[0].over_runs().unwrap();
    let simulator = Simulator::watching(&system, &Formula::Not(Box::new(formula.clone()))).unwrap();
    let mut reports = Vec::new();
    let options = Options { runs: 3, steps: 4, ..Options::default() };
    simulator.run(&options, &mut |_| {}, &mut |report| reports.push(report.clone())).unwrap();
    let (all, _) = run(&system, &options);
    for (report, of_all) in reports.iter().zip(&all) {
        assert_eq!(report.properties.len(), 1);
        assert_eq!(
            report.properties[0].verdict == Verdict::Satisfied,
            of_all.properties[0].verdict == Verdict::Violated
        );
    }
}

#[test]
fn a_table_that_does_not_fit_is_refused_with_its_place() {
    let system = system(DRIFT);
    let message = |text: &str| Script::parse(text, &system).unwrap_err().to_string();
    assert!(message("step\n0\n").contains("no column 'd'"));
    assert!(message("d\nx\n").contains("line 2: 'x'"));
    assert!(message("d\n7\n").contains("line 2: d = 7 is outside of [-1, 1]"));
    assert!(message("d\nNaN\n").contains("outside"));
    let script = Script::parse("d\n0\n", &system).unwrap();
    let options = Options { runs: 1, steps: 5, inputs: InputSource::Script(script), ..Options::default() };
    let error = Simulator::new(&system).unwrap().run(&options, &mut |_| {}, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("has 1 rows for run 0, step 1"), "{error}");
}

#[test]
fn assumptions_restrict_the_environment() {
    let system = system(
        "
system fenced
state x in [-1, 1]
policy y = net(\"0\", x)
input d in [-0.5, 0.5]
next x = x + y + d
assume next(x) in [-1, 1]
property inside = G (abs(x) <= 1)
",
    );
    let (_, summary) = run(&system, &Options { runs: 100, steps: 200, ..Options::default() });
    assert_eq!((summary.completed, summary.blocked, summary.left_range), (100, 0, 0));
}

#[test]
fn a_system_without_a_transition_is_blocked_not_silent() {
    let system = system(
        "
system stuck
state x in [0, 10]
policy y = net(\"0\", x)
input d in [0, 1]
next x = x + y + d
init x == 0
assume next(x) <= 2
assume d >= 0.5
property p = G (x <= 2)
",
    );
    let (reports, summary) = run(&system, &Options { runs: 10, steps: 50, ..Options::default() });
    assert_eq!(summary.blocked, 10);
    assert!(reports.iter().all(|report| report.steps <= 4));
}

const COIN: &str = "
system coin
state heads in [0, 1000]
action side ~ softmax(net(\"0;1.0986122886681098\", 1)) of { tails, heads_up }
next heads = match side { tails: heads, heads_up: heads + 1 }
init heads == 0
property some = P=? [ F<=1 heads >= 1 ]
";

#[test]
fn random_actions_follow_their_probabilities() {
    // The logits are 0 and ln 3, so three of four flips are heads.
    let system = system(COIN);
    let (reports, summary) = run(&system, &Options { runs: 40, steps: 500, record: true, ..Options::default() });
    let heads: usize =
        reports.iter().flat_map(|report| report.trace.as_ref().unwrap()).map(|step| step.actions[0]).sum();
    let share = heads as f64 / (40.0 * 501.0);
    assert!((share - 0.75).abs() < 0.015, "{share}");
    assert_eq!(summary.properties[0].open, 0);
    let likely = Options { runs: 1, steps: 50, actions: ActionMode::MostLikely, record: true, ..Options::default() };
    let (reports, _) = run(&system, &likely);
    assert_eq!(reports[0].trace.as_ref().unwrap()[50].state[0], 50.0);
}

#[test]
fn chance_follows_its_probabilities() {
    let system = system(
        "
system slippery
state falls in [0, 10000]
policy y = net(\"0\", falls)
chance ground of { dry: 0.9, wet: 0.1 }
next falls = match ground { dry: falls, wet: falls + 1 } + y
init falls == 0
property p = G (falls >= 0)
",
    );
    let (reports, _) = run(&system, &Options { runs: 40, steps: 500, record: true, ..Options::default() });
    let falls: f64 = reports.iter().map(|report| report.trace.as_ref().unwrap()[500].state[0]).sum();
    assert!((falls / 20_000.0 - 0.1).abs() < 0.01, "{falls}");
}

#[test]
fn initial_states_satisfy_their_condition() {
    let system = system(
        "
system disc
state x in [-1, 1]
state y in [-1, 1]
policy a = net(\"0,0\", x, y)
next x = x + a
next y = y
init x^2 + y^2 <= 0.5
property inside = G (x^2 + y^2 <= 0.5)
",
    );
    let (_, summary) = run(&system, &Options { runs: 500, steps: 1, ..Options::default() });
    assert_eq!(summary.properties[0].violated, 0);
}

#[test]
fn impossible_or_unbounded_initial_states_are_errors() {
    let failing = |text: &str| {
        let system = system(text);
        Simulator::new(&system).unwrap().run(&Options::default(), &mut |_| {}, &mut |_| {}).unwrap_err()
    };
    let head = "system s\nstate x in [-1, 1]\npolicy a = net(\"1\", x)\nnext x = x * a\n";
    let none = failing(&format!("{head}init x^2 > 2\n"));
    assert_eq!(none, SimulationError::NoInitialState { tried: 1000 });
    let unbounded = failing("system s\nstate x\npolicy a = net(\"1\", x)\nnext x = x * a\n");
    assert_eq!(unbounded, SimulationError::UnboundedInitialState { variable: "x".to_owned() });
}

#[test]
fn a_stopped_simulation_keeps_what_it_has() {
    let system = system(PENDULUM);
    let stop = AtomicBool::new(true);
    let (reports, summary) = run(&system, &Options { runs: 10, stop: Some(&stop), ..Options::default() });
    assert!(summary.interrupted && reports.is_empty());
}

#[test]
fn no_runs_and_no_steps_are_fine() {
    let system = system(PENDULUM);
    assert_eq!(run(&system, &Options { runs: 0, ..Options::default() }).1.runs, 0);
    let (reports, _) = run(&system, &Options { runs: 3, steps: 0, record: true, ..Options::default() });
    assert!(reports.iter().all(|report| report.steps == 0 && report.trace.as_ref().unwrap().len() == 1));
}

#[test]
fn absurd_sizes_are_refused_before_anything_is_allocated() {
    let system = system(DRIFT);
    let refused = |options: Options<'_>| {
        Simulator::new(&system).unwrap().run(&options, &mut |_| {}, &mut |_| {}).unwrap_err().to_string()
    };
    assert!(refused(Options { steps: usize::MAX, ..Options::default() }).contains("ask for fewer steps"));
    let candidates = |candidates| InputSource::Adversary { property: 0, candidates };
    assert!(refused(Options { inputs: candidates(usize::MAX), ..Options::default() }).contains("1 to 65536"));
    assert!(refused(Options { inputs: candidates(0), ..Options::default() }).contains("1 to 65536"));
    assert!(refused(Options { first_run: u64::MAX, ..Options::default() }).contains("2^64"));
}
