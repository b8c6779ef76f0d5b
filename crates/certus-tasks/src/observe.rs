//! Runs a reference algorithm, or a network in its place, over traces and writes what it saw and what it decided.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use certus_graph::eval::{Evaluator, Workspace};
use certus_graph::import::load_network;
use certus_graph::{Graph, GraphError};
use certus_mine::table::{CsvWriter, ParquetWriter, RowWriter, is_parquet};
use certus_numerics::Random;
use certus_traces::aurora::reference::{Bbr, Cubic, observe_policy};
use certus_traces::aurora::{Bandwidth, Scenario, reference};
use certus_traces::pensieve::observe::{BufferBased, Controller};
use certus_traces::pensieve::reference::RobustMpc;
use certus_traces::pensieve::{Download, QUALITIES, State, Video, observe};
use certus_traces::traces::{Format, Trace, read_file};
use certus_traces::{EnvironmentError, SettingError};

use crate::failure::Failure;
use crate::output::Output;

/// The simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// A video player over recorded networks.
    Pensieve,
    /// A sender over a link with a queue.
    Aurora,
}

/// Who decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decider {
    /// The buffer-based rule.
    BufferBased,
    /// Robust model-predictive control.
    RobustMpc,
    /// CUBIC.
    Cubic,
    /// BBR.
    Bbr,
    /// A network.
    Network(PathBuf),
}

impl Decider {
    /// A reference by its name, or a network by its file.
    pub fn named(world: World, name: &str) -> Result<Decider, Failure> {
        match (world, name) {
            (World::Pensieve, "buffer-based") => Ok(Decider::BufferBased),
            (World::Pensieve, "mpc") => Ok(Decider::RobustMpc),
            (World::Aurora, "cubic") => Ok(Decider::Cubic),
            (World::Aurora, "bbr") => Ok(Decider::Bbr),
            (_, path) if path.ends_with(".onnx") || path.ends_with(".nnet") => Ok(Decider::Network(path.into())),
            (World::Pensieve, other) => {
                Err(Failure::message(format!("{other}: expected `buffer-based`, `mpc`, or a network (.onnx, .nnet)")))
            }
            (World::Aurora, other) => {
                Err(Failure::message(format!("{other}: expected `cubic`, `bbr`, or a network (.onnx, .nnet)")))
            }
        }
    }
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Observe {
    /// Where.
    pub world: World,
    /// Who.
    pub decider: Decider,
    /// Files of traces (Pensieve), or of conditions (Aurora).
    pub files: Vec<PathBuf>,
    /// Length of a monitor interval of a reference, s.
    pub interval: f64,
    /// How long each link is observed, s; traces begin again where they end.
    pub seconds: f64,
    /// Names the random losses.
    pub seed: u64,
}

/// Writes a table of observations, Parquet where the file's name ends in `.parquet`; returns how many rows it has.
pub fn run(task: &Observe, output: &mut Output) -> Result<u64, Failure> {
    match task.world {
        World::Pensieve => pensieve(task, output),
        World::Aurora => aurora(task, output),
    }
}

/// A table in the format that the file's name tells: Parquet, or else comma-separated text.
fn table<'a>(output: &'a mut Output, header: &[String]) -> Result<Box<dyn RowWriter + 'a>, Failure> {
    Ok(match output {
        Output::Standard(standard) => Box::new(CsvWriter::new(standard, header)?),
        Output::File(file) => match is_parquet(file.path()) {
            true => Box::new(ParquetWriter::new(file, header)?),
            false => Box::new(CsvWriter::new(file, header)?),
        },
        Output::Stream(stream) => match is_parquet(stream.path()) {
            true => Box::new(ParquetWriter::new(stream, header)?),
            false => Box::new(CsvWriter::new(stream, header)?),
        },
    })
}

impl From<SettingError> for Failure {
    fn from(error: SettingError) -> Failure {
        Failure::message(error.to_string())
    }
}

impl From<EnvironmentError> for Failure {
    fn from(error: EnvironmentError) -> Failure {
        Failure::message(error.to_string())
    }
}

/// A network that is asked for its outputs.
struct Policy {
    evaluator: Evaluator<f32>,
    workspace: Workspace<f32>,
}

impl Policy {
    fn load(path: &Path, inputs: usize, outputs: usize) -> Result<Policy, Failure> {
        let graph = load_network(path).map_err(|error| Failure::message(error.to_string()))?;
        let count =
            |ports: &[certus_graph::Port]| -> usize { ports.iter().map(|port| graph.elements(port.node)).sum() };
        let found = (count(graph.inputs()), count(graph.outputs()));
        if found != (inputs, outputs) || graph.inputs().len() != 1 {
            return Err(Failure::message(format!(
                "{}: the network has {} inputs and {} outputs, here it needs {inputs} and {outputs}",
                path.display(),
                found.0,
                found.1
            )));
        }
        Ok(Policy::of(&graph))
    }

    fn of(graph: &Graph) -> Policy {
        Policy { evaluator: Evaluator::new(graph), workspace: Workspace::default() }
    }

    fn outputs(&mut self, seen: &[f64]) -> Result<Vec<f64>, GraphError> {
        let input: Vec<f32> = seen.iter().map(|&x| x as f32).collect();
        self.evaluator.run(&mut self.workspace, &[&input], 1)?;
        Ok(self.evaluator.output(&self.workspace, &[&input], 0).iter().map(|&y| f64::from(y)).collect())
    }
}

impl Controller for Policy {
    fn decide(&mut self, _: &Video, _: &Download, state: &State) -> Result<usize, EnvironmentError> {
        let scores = self.outputs(state.values()).map_err(|error| EnvironmentError::Action(error.to_string()))?;
        // The first of equal ones.
        Ok((1..scores.len()).fold(0, |best, i| if scores[i] > scores[best] { i } else { best }))
    }
}

fn pensieve(task: &Observe, output: &mut Output) -> Result<u64, Failure> {
    let mut controller: Box<dyn Controller> = match &task.decider {
        Decider::BufferBased => Box::new(BufferBased),
        Decider::RobustMpc => Box::new(RobustMpc::default()),
        Decider::Network(path) => Box::new(Policy::load(path, 48, QUALITIES)?),
        Decider::Cubic | Decider::Bbr => return Err(Failure::message("this reference is one of congestion control")),
    };
    let mut traces = Vec::new();
    for file in &task.files {
        traces.extend(read_traces(file)?);
    }
    // What a controller carries from trace to trace should not depend on the order of arguments.
    traces.sort_by(|a, b| a.name().cmp(b.name()));
    let mut header = observe::observed_names();
    header.push("br".to_owned());
    let mut writer = table(output, &header)?;
    let mut rows = 0;
    observe::observe::<Failure>(
        &Arc::new(Video::reference()),
        &traces.into(),
        controller.as_mut(),
        &mut |row, bitrate| {
            rows += 1;
            Ok(writer.row(row, &bitrate.to_string())?)
        },
    )?;
    writer.finish()?;
    Ok(rows)
}

/// Traces of a file in any format but mahimahi's, told by its content.
fn read_traces(path: &Path) -> Result<Vec<Trace>, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::reading(path, &error))?;
    let is_csv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    let format = match text.trim_start().starts_with('@') {
        true => Format::Packed,
        false if is_csv => Format::Csv,
        false => Format::Columns,
    };
    read_file(path, format).map_err(|error| Failure::message(error.to_string()))
}

fn aurora(task: &Observe, output: &mut Output) -> Result<u64, Failure> {
    let mut policy = match &task.decider {
        Decider::Network(path) => Some(Policy::load(path, 30, 1)?),
        Decider::Cubic | Decider::Bbr => None,
        _ => return Err(Failure::message("this reference is one of video streaming")),
    };
    if !(task.interval.is_finite() && task.interval >= 1e-3) {
        return Err(Failure::message("⟨interval⟩: expected a number of seconds, at least 0.001"));
    }
    if !(task.seconds > 0.0 && task.seconds <= 1e6) {
        return Err(Failure::message("⟨seconds⟩: expected a number of seconds, at most 1000000"));
    }
    let mut header = reference::observed_names();
    header.push("change_of_sending_rate".to_owned());
    let mut writer = table(output, &header)?;
    let mut rows = 0;
    let mut show = |row: &reference::Window, change: f64| -> Result<(), Failure> {
        rows += 1;
        let sign = if change > 0.0 {
            "+"
        } else if change < 0.0 {
            "-"
        } else {
            "0"
        };
        Ok(writer.row(row, sign)?)
    };
    let mut number = 0;
    for file in &task.files {
        for scenario in conditions(file)? {
            let random = Random::new(task.seed, number);
            number += 1;
            let intervals = (task.seconds / task.interval) as usize;
            match (&task.decider, &mut policy) {
                (_, Some(policy)) => {
                    let act = &mut |seen: &[f64]| -> Result<f64, Failure> {
                        let values = policy.outputs(seen).map_err(|error| Failure::message(error.to_string()))?;
                        Ok(values[0])
                    };
                    observe_policy(&scenario, act, random, task.seconds, &mut show)?;
                }
                (Decider::Bbr, None) => {
                    reference::observe(&scenario, Bbr::default(), random, task.interval, intervals, &mut show)?;
                }
                (_, None) => {
                    reference::observe(&scenario, Cubic::default(), random, task.interval, intervals, &mut show)?;
                }
            }
        }
    }
    writer.finish()?;
    Ok(rows)
}

/// Reads links: a table with the columns `trace` (a file relative to this one, or a constant rate in Mbit/s), `delay_ms`,
/// `loss`, `queue`.
fn conditions(path: &Path) -> Result<Vec<Scenario>, Failure> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut found = Vec::new();
    let mut row = 0;
    certus_mine::table::scan(path, &["trace", "delay_ms", "loss", "queue"], &mut |cells| {
        row += 1;
        let trace = match cells[0] {
            certus_mine::table::Cell::Text(text) => text.to_owned(),
            certus_mine::table::Cell::Number(rate) => rate.to_string(),
            certus_mine::table::Cell::Missing => String::new(),
        };
        found.push((row, trace, cells[1].number(), cells[2].number(), cells[3].number()));
        Ok(())
    })
    .map_err(|error| Failure::message(error.to_string()))?;
    found
        .into_iter()
        .map(|(row, trace, delay, loss, queue)| {
            let place = format!("{}: condition {row}", path.display());
            let (Some(delay), Some(loss), Some(queue)) = (delay, loss, queue) else {
                return Err(Failure::message(format!("{place}: delay_ms, loss and queue must be numbers")));
            };
            let trace = match trace.parse::<f64>() {
                Ok(rate) => Trace::constant("constant", rate)
                    .map_err(|error| Failure::message(format!("{place}: {}", error.message)))?,
                Err(_) => read_bandwidth(&folder.join(&trace))?,
            };
            let bandwidth = Bandwidth::of_trace(&trace);
            let start_rate = (0.5 * bandwidth.mean()).max(1.0);
            let queue = queue.clamp(0.0, 1e9) as u32;
            let scenario = Scenario { bandwidth, delay: delay / 1000.0, queue, loss, start_rate };
            scenario.check().map_err(|error| Failure::message(format!("{place}: {error}")))?;
            Ok(scenario)
        })
        .collect()
}

/// Seconds per line of a file with one bandwidth per line.
const SECONDS_PER_LINE: f64 = 0.5;

/// A trace, or a file with one bandwidth (Mbit/s) per half second and line.
fn read_bandwidth(path: &Path) -> Result<Trace, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::reading(path, &error))?;
    let rates: Option<Vec<f64>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    let one_per_line = text.lines().all(|line| line.split_whitespace().count() <= 1);
    let wrong = |message: String| Failure::message(format!("{}: {message}", path.display()));
    match rates {
        Some(rates) if one_per_line && !rates.is_empty() => {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let points = rates.iter().enumerate().map(|(line, &rate)| (SECONDS_PER_LINE * (line + 1) as f64, rate));
            Trace::new(&name, std::iter::once((0.0, rates[0])).chain(points)).map_err(|error| wrong(error.message))
        }
        _ => match read_traces(path)?.pop() {
            Some(trace) => Ok(trace),
            None => Err(wrong("there is no trace".to_owned())),
        },
    }
}
