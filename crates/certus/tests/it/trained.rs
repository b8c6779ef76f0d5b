//! The trained networks of the zoo are those that their records name, and earn again what the records say.
//!
//! A record is `zoo/NAME/training.json`, written by `python -m zoo.train`. Its `check` is a small evaluation: the seed, a few
//! runs, their mean return and how far another machine's arithmetic may be from it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use certus_graph::Graph;
use certus_graph::eval::{Evaluator, Workspace};
use certus_graph::import::load_network;
use certus_sim::{Options, Simulator};
use certus_tasks::{Loading, load_system};
use certus_traces::aurora::{Aurora, Ranges};
use certus_traces::deeprm::{DeepRm, Settings as ClusterSettings};
use certus_traces::pensieve::{Pensieve, Settings as PlayerSettings, Start, Video};
use certus_traces::traces::{Broadband, Cellular, Trace};
use certus_traces::{ActionSpace, Batch, Environment, VectorEnvironment};
use serde_json::Value;

struct Record {
    folder: PathBuf,
    system: String,
    policy: String,
    told: Value,
}

fn records() -> Vec<Record> {
    let mut records = Vec::new();
    for entry in std::fs::read_dir(crate::support::root().join("zoo")).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(text) = std::fs::read_to_string(folder.join("training.json")) else { continue };
        let system = folder.file_name().unwrap().to_string_lossy().into_owned();
        let told: Value = serde_json::from_str(&text).unwrap();
        for (policy, told) in told["policies"].as_object().unwrap() {
            let (folder, system) = (folder.clone(), system.clone());
            records.push(Record { folder, system, policy: policy.clone(), told: told.clone() });
        }
    }
    records.sort_by(|a, b| a.policy.cmp(&b.policy));
    assert!(records.len() >= 28, "only {} trained policies", records.len());
    records
}

/// The file and its digest, of a policy or of one of its checkpoints.
fn file(folder: &Path, told: &Value) -> (PathBuf, String) {
    (folder.join(told["file"].as_str().unwrap()), told["sha256"].as_str().unwrap().to_owned())
}

#[test]
fn every_recorded_network_is_there_and_loads() {
    let mut recorded = Vec::new();
    for record in records() {
        let checkpoints = record.told["checkpoints"].as_array().cloned().unwrap_or_default();
        for told in std::iter::once(&record.told).chain(&checkpoints) {
            let (path, digest) = file(&record.folder, told);
            let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!(certus_audit::digest(&bytes), digest, "{}", path.display());
            assert!(bytes.len() < 3 << 20, "{} has {} bytes", path.display(), bytes.len());
            load_network(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            recorded.push(path);
        }
        assert!(
            record.told["return"]["mean"].as_f64() > record.told["random"]["mean"].as_f64(),
            "{} is no better than chance",
            record.policy
        );
    }
    // A checkpoint that no record names would be noise.
    for record in records() {
        let Ok(found) = std::fs::read_dir(record.folder.join("checkpoints")) else { continue };
        for path in found.map(|entry| entry.unwrap().path()) {
            assert!(recorded.contains(&path), "{} stands in no record", path.display());
        }
    }
}

#[test]
fn every_policy_earns_what_its_record_says() {
    let mut faults = Vec::new();
    for record in records() {
        let check = &record.told["check"];
        let mean = if record.told.get("world").is_some() { in_world(&record) } else { in_system(&record) };
        let (told, tolerance) = (check["mean"].as_f64().unwrap(), check["tolerance"].as_f64().unwrap());
        if (mean - told).abs() > tolerance {
            faults.push(format!("{}: {mean}, but {told} ± {tolerance} is recorded", record.policy));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn in_system(record: &Record) -> f64 {
    let check = &record.told["check"];
    let loading = Loading {
        path: record.folder.join(format!("{}.certus", record.system)),
        networks: vec![(format!("{}.onnx", record.system), file(&record.folder, &record.told).0)],
        ..Loading::default()
    };
    let Ok(system) = load_system(&loading) else { panic!("{} does not load", record.policy) };
    let options = Options {
        runs: check["runs"].as_u64().unwrap(),
        steps: check["steps"].as_u64().unwrap() as usize,
        seed: check["seed"].as_u64().unwrap(),
        ..Options::default()
    };
    let summary = Simulator::new(&system).unwrap().run(&options, &mut |_| {}, &mut |_| {}).unwrap();
    summary.reward.unwrap().mean
}

fn in_world(record: &Record) -> f64 {
    let (check, world) = (&record.told["check"], &record.told["world"]);
    let count = check["episodes"].as_u64().unwrap() as usize;
    let copies: Vec<Box<dyn Environment>> = match record.system.as_str() {
        "aurora" => {
            let world = Aurora::new(Ranges::default()).unwrap();
            (0..count).map(|_| Box::new(world.clone()) as Box<dyn Environment>).collect()
        }
        "pensieve" => {
            let (video, traces) = (Arc::new(Video::reference()), traces(&world["traces"]));
            let one = |first| {
                let settings =
                    PlayerSettings { start: Start::InTurn { first, stride: count }, ..PlayerSettings::test() };
                Box::new(Pensieve::new(settings, video.clone(), traces.clone()).unwrap()) as Box<dyn Environment>
            };
            (0..count).map(one).collect()
        }
        "deeprm" => {
            let arrivals = world["arrivals"].as_u64().unwrap() as u32;
            let world = DeepRm::new(ClusterSettings { arrivals, ..ClusterSettings::default() }).unwrap();
            (0..count).map(|_| Box::new(world.clone()) as Box<dyn Environment>).collect()
        }
        other => panic!("there is no world {other}"),
    };
    let returns = first_episodes(copies, &load_network(&file(&record.folder, &record.told).0).unwrap(), check);
    returns.iter().sum::<f64>() / count as f64
}

/// The traces that a record names: kind, how many, first seed.
fn traces(told: &Value) -> Arc<[Trace]> {
    let mut traces = Vec::new();
    for part in told.as_array().unwrap() {
        let (kind, count, first) = (part[0].as_str().unwrap(), part[1].as_u64().unwrap(), part[2].as_u64().unwrap());
        for seed in first..first + count {
            let name = format!("{kind} {seed}");
            traces.push(match kind {
                "cellular" => Cellular::default().generate(&name, seed).unwrap(),
                "broadband" => Broadband::default().generate(&name, seed).unwrap(),
                other => panic!("there are no traces {other}"),
            });
        }
    }
    traces.into()
}

/// What the first episode of each copy earns, acting by the network: its greatest result, or the result itself.
fn first_episodes(copies: Vec<Box<dyn Environment>>, network: &Graph, check: &Value) -> Vec<f64> {
    let mut worlds = VectorEnvironment::new(copies, 0).unwrap();
    let (count, length) = (worlds.len(), worlds.observation_length());
    let evaluator = Evaluator::<f32>::new(network);
    let mut workspace = Workspace::default();
    let mut observations = vec![0f32; count * length];
    let (mut rewards, mut terminated, mut truncated) = (vec![0.0; count], vec![false; count], vec![false; count]);
    let (mut returns, mut going) = (vec![0.0; count], vec![true; count]);
    worlds.reset(check["seed"].as_u64().unwrap(), &mut observations).unwrap();
    while going.contains(&true) {
        // The evaluator wants one row per element.
        let table: Vec<f32> = (0..length)
            .flat_map(|i| (0..count).map(move |copy| copy * length + i))
            .map(|at| observations[at])
            .collect();
        evaluator.run(&mut workspace, &[&table], count).unwrap();
        let results = evaluator.output(&workspace, &[&table], 0);
        let actions: Vec<f64> = (0..count)
            .map(|copy| match worlds.action_space() {
                ActionSpace::Box { .. } => f64::from(results[copy]),
                ActionSpace::Discrete(labels) => {
                    let score = |label: usize| results[label * count + copy];
                    (1..labels).fold(0, |best, label| if score(label) > score(best) { label } else { best }) as f64
                }
            })
            .collect();
        let mut batch = Batch {
            observations: &mut observations,
            last_observations: &mut [],
            rewards: &mut rewards,
            terminated: &mut terminated,
            truncated: &mut truncated,
        };
        worlds.step(&actions, &mut batch).unwrap();
        for copy in 0..count {
            if going[copy] {
                returns[copy] += rewards[copy];
                going[copy] = !(terminated[copy] || truncated[copy]);
            }
        }
    }
    returns
}
