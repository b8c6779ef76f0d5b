//! Open systems as environments: the same runs as a simulation of the closed system, whatever the number of copies.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use certus_graph::Graph;
use certus_lang::{LowerOptions, Networks, Open, System, load_file, load_str};
use certus_sim::{
    Answers, End, Ended, EnvironmentOptions, Environments, InputSource, Options, RunReport, Shown, SimulationError,
    Simulator,
};

struct Nothing;

impl Networks for Nothing {
    fn load(&mut self, _: &str) -> Result<Arc<Graph>, String> {
        Err("no file".to_owned())
    }
}

fn zoo(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../zoo").join(name).join(format!("{name}.certus"))
}

fn opened(path: &Path) -> Arc<System> {
    let options = LowerOptions { open: Open::All, ..LowerOptions::default() };
    Arc::new(load_file(path, &options).unwrap_or_else(|d| panic!("{d}")))
}

/// A system whose network has `outputs` results.
fn system(text: &str, outputs: usize) -> Arc<System> {
    let outputs = vec![("n".to_owned(), outputs)];
    let options = LowerOptions { open: Open::All, outputs, ..LowerOptions::default() };
    Arc::new(load_str(text, &mut Nothing, &options).unwrap_or_else(|d| panic!("{d}")))
}

fn copies(system: &Arc<System>, options: EnvironmentOptions) -> Environments {
    Environments::new(Arc::clone(system), options).unwrap()
}

/// What a step showed.
#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    observations: Vec<f32>,
    rewards: Vec<f64>,
    terminated: Vec<bool>,
    truncated: Vec<bool>,
    ended: Vec<Ended>,
}

fn step(environments: &mut Environments, answers: Answers<'_>) -> Result<Seen, SimulationError> {
    let (count, width) = (environments.count(), environments.system().networks[0].arguments);
    let mut seen = Seen {
        observations: vec![0.0; count * width],
        rewards: vec![0.0; count],
        terminated: vec![false; count],
        truncated: vec![false; count],
        ended: Vec::new(),
    };
    let shown = Shown {
        observations: &mut seen.observations,
        rewards: &mut seen.rewards,
        terminated: &mut seen.terminated,
        truncated: &mut seen.truncated,
    };
    seen.ended = environments.step(answers, shown)?;
    Ok(seen)
}

fn reset(environments: &mut Environments, seed: u64) -> Vec<f32> {
    let mut observations = vec![0.0; environments.count() * environments.system().networks[0].arguments];
    environments.reset(Some(seed), &mut observations).unwrap();
    observations
}

#[test]
fn the_networks_own_answers_give_the_runs_of_the_closed_system() {
    // Policies here are the network's result within bounds, and clamping twice is clamping once: what the closed system
    // recorded is an answer that leads to the same step.
    for name in ["gym_pendulum", "cartpole_gym", "mountain_car", "lanekeeping", "docking", "ball"] {
        let path = zoo(name);
        let closed = load_file(&path, &LowerOptions::default()).unwrap_or_else(|d| panic!("{d}"));
        let mut reports: Vec<RunReport> = Vec::new();
        let options = Options { runs: 1, steps: 60, seed: 5, record: true, ..Options::default() };
        Simulator::new(&closed).unwrap().run(&options, &mut |_| {}, &mut |run| reports.push(run.clone())).unwrap();
        let trace = reports[0].trace.as_ref().unwrap();
        let system = opened(&path);
        let mut environments = copies(&system, EnvironmentOptions { count: 3, ..EnvironmentOptions::default() });
        reset(&mut environments, 5);
        let states = system.state_len();
        for (index, position) in trace.iter().enumerate().take(reports[0].steps) {
            let now = environments.states();
            assert_eq!(now[..states], position.state[..], "{name}, step {index}");
            if let Some(action) = system.networks[0].action {
                let label = position.actions[action] as i64;
                let seen = step(&mut environments, Answers::Labels(&[label; 3])).unwrap();
                assert_eq!(Some(seen.rewards[0]), position.reward, "{name}, step {index}");
                continue;
            }
            let results: Vec<f64> = (0..3).flat_map(|_| position.policies.clone()).collect();
            let seen = step(&mut environments, Answers::Double(&results)).unwrap();
            assert_eq!(Some(seen.rewards[0]), position.reward, "{name}, step {index}");
        }
    }
}

const WALK: &str = "system walk\nstate x in [-9, 9]\nstate t in [0, 1000]\ninput d in [-0.5, 0.5]\n\
    chance slip of { no: 0.75, yes: 0.25 }\npolicy u = clamp(net(\"n\", x, sin(t)), -1, 1)\n\
    next x = x + (match slip { no: u, yes: 0 }) + d\nnext t = t + 1\n\
    init x in [-1, 1] & t == 0 & x * x <= 0.5\nassume next(x) <= 8.9\nterminal x < -3\nreward -x^2 + next(x)\n\
    property right = G x > -3\n";

/// Some answers that depend on the copy and on the step only.
fn answers(count: usize, step: usize) -> Vec<f32> {
    (0..count).map(|copy| ((copy * 7 + step * 3) % 11) as f32 / 5.0 - 1.2).collect()
}

#[test]
fn copies_do_not_depend_on_their_number_or_on_threads() {
    let system = system(WALK, 1);
    for inputs in [InputSource::Uniform, InputSource::Adversary { property: 0, candidates: 4 }] {
        let made = |count: usize, threads: usize| {
            let options =
                EnvironmentOptions { count, threads, max_steps: Some(17), inputs: inputs.clone(), auto_reset: true };
            let mut environments = copies(&system, options);
            let mut all = vec![(reset(&mut environments, 3), Seen::default())];
            for number in 0..60 {
                let seen = step(&mut environments, Answers::Single(&answers(count, number))).unwrap();
                all.push((seen.observations.clone(), seen));
            }
            all
        };
        let many = made(500, 1);
        assert_eq!(many, made(500, 3));
        assert!(many.iter().any(|(_, seen)| seen.terminated.contains(&true)));
        for count in [1, 2, 7] {
            for ((_, few), (_, many)) in made(count, 1).iter().zip(&many).skip(1) {
                assert_eq!(few.observations, many.observations[..2 * count]);
                assert_eq!(few.rewards, many.rewards[..count]);
                assert_eq!(few.terminated, many.terminated[..count]);
                assert_eq!(few.truncated, many.truncated[..count]);
                let first: Vec<&Ended> = many.ended.iter().filter(|end| end.copy < count).collect();
                assert_eq!(few.ended.iter().collect::<Vec<_>>(), first);
            }
        }
    }
}

#[test]
fn episodes_end_as_runs_do() {
    let text = "system s\nstate x in [-5, 5]\nstate y in [-1, 1]\npolicy u = net(\"n\", x)\nnext x = x + u\n\
                next y = if x > 2 then sqrt(-x) else y\ninit x == 0 & y == 0\nassume next(x) != 1\n\
                terminal x == -1\nreward u\nproperty p = G x < 5\n";
    let system = system(text, 1);
    let end_after = |moves: &[f64]| {
        let options = EnvironmentOptions { count: 1, max_steps: Some(3), ..EnvironmentOptions::default() };
        let mut environments = copies(&system, options);
        reset(&mut environments, 0);
        let mut last = Seen::default();
        for &answer in moves {
            last = step(&mut environments, Answers::Double(&[answer])).unwrap();
        }
        let flags = (last.terminated[0], last.truncated[0]);
        (flags, last.rewards[0], last.ended.into_iter().next())
    };
    let (flags, reward, ended) = end_after(&[-1.0]);
    assert_eq!((flags, reward), ((true, false), -1.0));
    let ended = ended.unwrap();
    assert_eq!((ended.end, ended.steps, ended.total_reward, ended.observation), (End::Terminal, 1, -1.0, vec![-1.0]));
    let (flags, _, ended) = end_after(&[0.0, 0.5, 0.0]);
    assert_eq!((flags, ended.unwrap().end), ((false, true), End::Completed));
    let (flags, reward, ended) = end_after(&[1.0]);
    assert_eq!((flags, reward, ended.unwrap().end), ((false, true), 0.0, End::Blocked));
    let (flags, reward, ended) = end_after(&[7.0]);
    let ended = ended.unwrap();
    assert_eq!((flags, reward), ((false, true), 7.0));
    assert_eq!(ended.end, End::LeftRange { variable: "x".to_owned(), value: 7.0, range: (-5.0, 5.0) });
    assert_eq!(ended.observation, [0.0], "the step that leaves the model is not taken");
    let (_, _, ended) = end_after(&[3.0, 0.0]);
    assert_eq!(ended.unwrap().end, End::NotANumber { variable: "y".to_owned() });
    assert_eq!(end_after(&[0.5]).2, None);
}

#[test]
fn queued_states_come_first() {
    let system = system(WALK, 1);
    let mut environments = copies(&system, EnvironmentOptions { count: 3, ..EnvironmentOptions::default() });
    environments.push_start(vec![5.0, 1.0], false).unwrap();
    environments.push_start(vec![4.0, 0.0], true).unwrap();
    let observations = reset(&mut environments, 0);
    assert_eq!((observations[0], observations[2]), (4.0, 5.0));
    assert!(observations[4].abs() <= 1.0 && environments.queued() == 0);
    let wrong = environments.push_start(vec![4.0], false).unwrap_err().to_string();
    assert!(wrong.contains("has 2 numbers, not 1"), "{wrong}");
    let outside = environments.push_start(vec![10.0, 0.0], false).unwrap_err().to_string();
    assert!(outside.contains("x = 10, outside of [-9, 9]"), "{outside}");
}

#[test]
fn what_the_network_sees_is_chosen_before_it_looks() {
    let text = "system s\nstate x in [-50, 50]\ninput noise in [-1, 1]\npolicy u = net(\"n\", x + noise)\n\
                next x = noise\ninit x == 0\nassume noise < 0.9\nreward -x^2\nproperty p = G x < 5\n";
    let system = system(text, 1);
    let mut environments = copies(&system, EnvironmentOptions { count: 40, ..EnvironmentOptions::default() });
    assert!(environments.sees_inputs());
    let seen = reset(&mut environments, 1);
    let after = step(&mut environments, Answers::Double(&[0.0; 40])).unwrap();
    let states = environments.states();
    for copy in 0..40 {
        match seen[copy] < 0.9 {
            true => assert_eq!(states[copy] as f32, seen[copy]),
            false => assert!(after.truncated[copy]),
        }
    }
}

#[test]
fn what_cannot_be_trained_is_refused() {
    let refused =
        |system: &Arc<System>, options: EnvironmentOptions| match Environments::new(Arc::clone(system), options) {
            Ok(_) => panic!("not refused"),
            Err(error) => error.to_string(),
        };
    let one = || EnvironmentOptions { count: 1, ..EnvironmentOptions::default() };
    let toy = opened(&zoo("toy"));
    assert!(refused(&toy, one()).contains("toy has no reward to learn from"));
    let vcas = opened(&zoo("vcas"));
    assert!(refused(&vcas, one()).contains("one can be trained at a time"));
    let pendulum = opened(&zoo("gym_pendulum"));
    assert!(refused(&pendulum, EnvironmentOptions::default()).contains("at least one"));
    let adversary = InputSource::Adversary { property: 0, candidates: 4 };
    assert!(refused(&pendulum, EnvironmentOptions { inputs: adversary, ..one() }).contains("no `input`"));
    let Err(error) = Simulator::new(&pendulum) else { panic!("an open system cannot be simulated") };
    assert!(error.to_string().contains("is open"), "{error}");
    let mut environments = copies(&pendulum, one());
    reset(&mut environments, 0);
    let error = step(&mut environments, Answers::Double(&[1.0, 2.0])).unwrap_err().to_string();
    assert!(error.contains("take 1 actions, got 2"), "{error}");
    let cartpole = opened(&zoo("cartpole_gym"));
    let mut environments = copies(&cartpole, one());
    reset(&mut environments, 0);
    assert!(step(&mut environments, Answers::Labels(&[2])).unwrap_err().to_string().contains("no action 2"));
}
