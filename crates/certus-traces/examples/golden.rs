//! Compares the simulators with recorded runs of the published ones, digit by digit.
//!
//!     cargo run -p certus-traces --release --example golden -- DATA
//!
//! DATA is a folder with `aurora/pcc_sim_golden.csv`, `abr-traces/` (`abr_golden.csv`, `abr_qoe.csv`,
//! `pensieve_test_traces.txt`, `pensieve_train_traces.txt`) and `pensieve/` (networks, `chunk_sizes.csv`). None of it
//! is part of the repository. Prints for each file how many values were compared and the largest difference; exits with
//! 1 if any value differs from what is printed in its file, at the digits printed there.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use certus_graph::eval::{Evaluator, Workspace};
use certus_graph::import::load_network;
use certus_numerics::Random;
use certus_traces::aurora::{Bandwidth, Scenario, Simulator};
use certus_traces::pensieve::reference::{RobustMpc, buffer_based};
use certus_traces::pensieve::{Download, FIRST_QUALITY, Player, Qoe, State, Video};
use certus_traces::traces::{Format, Trace, read_file};

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Counts comparisons.
#[derive(Default)]
struct Tally {
    /// Whether fractions are rounded to the digits printed; if not, they are the shortest that give the same double.
    rounded: bool,
    values: usize,
    wrong: usize,
    largest: f64,
}

impl Tally {
    /// Compares a value with a printed one: they must agree at its digits.
    fn compare(&mut self, place: &str, value: f64, printed: &str) -> Fallible<()> {
        let expected: f64 = printed.parse().map_err(|_| format!("{place}: {printed:?} is no number"))?;
        let agrees = match printed.split_once('.') {
            Some((_, decimals)) if self.rounded => format!("{value:.*}", decimals.len()) == printed,
            _ => value == expected,
        };
        self.values += 1;
        self.largest = self.largest.max((value - expected).abs());
        if !agrees {
            self.wrong += 1;
            if self.wrong <= 10 {
                println!("  {place}: {value}, but {printed} was recorded");
            }
        }
        Ok(())
    }

    fn report(&self, file: &str) -> bool {
        let Tally { values, wrong, largest, .. } = self;
        println!("{file}: {values} values compared, {wrong} differ, largest difference {largest:e}");
        *wrong == 0 && *values > 0
    }
}

/// The rows of a table, each as cells; the header is left out.
fn rows(path: &Path) -> Fallible<Vec<Vec<String>>> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect())
}

fn cell(row: &[String], column: usize) -> Fallible<&str> {
    Ok(row.get(column).ok_or_else(|| format!("row {row:?} has no column {column}"))?)
}

fn aurora(data: &Path) -> Fallible<bool> {
    let mut tally = Tally::default();
    let mut running: Option<(String, Simulator)> = None;
    for row in rows(&data.join("aurora/pcc_sim_golden.csv"))? {
        let name = cell(&row, 0)?;
        if running.as_ref().is_none_or(|(open, _)| open != name) {
            let (bandwidth, delay, queue, start_rate) = match name {
                "A" => (200.0, 0.05, 20, 100.0),
                "B" => (300.0, 0.1, 5, 330.0),
                "C" => (120.0, 0.2, 200, 180.0),
                _ => return Err(format!("scenario {name} is not known").into()),
            };
            let bandwidth = Bandwidth::Constant(bandwidth);
            let scenario = Scenario { bandwidth, delay, queue, loss: 0.0, start_rate };
            running = Some((name.to_owned(), Simulator::new(scenario, Random::new(0, 0))?));
        }
        let Some((_, simulator)) = &mut running else { continue };
        let duration = simulator.next_duration();
        let seen = simulator.step(cell(&row, 2)?.parse()?)?;
        let [gradient, latency_ratio, send_ratio] = simulator.history().newest();
        let values = [
            simulator.network().rate(),
            duration,
            seen.sent as f64,
            seen.acked as f64,
            seen.lost as f64,
            seen.average_latency(),
            gradient,
            latency_ratio,
            send_ratio,
            seen.reward(),
        ];
        for (index, value) in values.into_iter().enumerate() {
            let place = format!("scenario {name}, step {}, column {}", cell(&row, 1)?, index + 3);
            tally.compare(&place, value, cell(&row, index + 3)?)?;
        }
    }
    Ok(tally.report("aurora/pcc_sim_golden.csv"))
}

/// Whoever decides qualities.
enum Policy {
    BufferBased,
    RobustMpc(RobustMpc),
    Network(Box<Evaluator<f32>>, Workspace<f32>),
}

impl Policy {
    fn new(name: &str, data: &Path) -> Fallible<Policy> {
        let file = match name {
            "bb" => return Ok(Policy::BufferBased),
            "robust_mpc" => return Ok(Policy::RobustMpc(RobustMpc::default())),
            "pensieve_original" => "pensieve_original_actor.onnx",
            "nn4sys_small" => "pensieve_small_simple.onnx",
            "nn4sys_mid" => "pensieve_mid_simple.onnx",
            "nn4sys_big" => "pensieve_big_simple.onnx",
            "big_ep2400" => "pensieve_big_ep2400_simple.onnx",
            _ => return Err(format!("policy {name} is not known").into()),
        };
        let graph = load_network(&data.join("pensieve").join(file))?;
        Ok(Policy::Network(Box::new(Evaluator::new(&graph)), Workspace::default()))
    }

    fn begin(&mut self) {
        if let Policy::RobustMpc(mpc) = self {
            mpc.clear();
        }
    }

    fn decide(&mut self, video: &Video, download: &Download, state: &State) -> Fallible<usize> {
        match self {
            Policy::BufferBased => Ok(buffer_based(download.buffer_s)),
            Policy::RobustMpc(mpc) => Ok(mpc.decide(video, download)),
            Policy::Network(evaluator, workspace) => {
                let input: Vec<f32> = state.values().iter().map(|&x| x as f32).collect();
                evaluator.run(workspace, &[&input], 1)?;
                let logits = evaluator.output(workspace, &[&input], 0);
                // The first of equal ones.
                Ok((1..logits.len()).fold(0, |best, i| if logits[i] > logits[best] { i } else { best }))
            }
        }
    }
}

/// What happened to one chunk, what it was worth, and what was decided after it.
struct Record {
    download: Download,
    reward: f64,
    next: usize,
}

/// Plays one video over a trace in the test simulator.
fn play(player: &mut Player, trace: usize, policy: &mut Policy) -> Fallible<Vec<Record>> {
    player.begin(trace, 1, None);
    policy.begin();
    let mut state = State::default();
    let (mut quality, mut previous) = (FIRST_QUALITY, FIRST_QUALITY);
    let mut records = Vec::new();
    loop {
        let download = player.download(quality)?;
        state.push(&download);
        let reward = Qoe::Linear.reward(quality, previous, download.rebuffer_s);
        let next = policy.decide(player.video(), &download, &state)?;
        records.push(Record { download, reward, next });
        if download.ends_video() {
            return Ok(records);
        }
        (previous, quality) = (quality, next);
    }
}

fn traces(data: &Path, file: &str) -> Fallible<Arc<[Trace]>> {
    let mut traces = read_file(&data.join("abr-traces").join(file), Format::Packed)?;
    traces.sort_by(|a, b| a.name().cmp(b.name()));
    Ok(traces.into())
}

fn chunks(data: &Path, player: &mut Player) -> Fallible<bool> {
    let mut tally = Tally::default();
    let rows = rows(&data.join("abr-traces/abr_golden.csv"))?;
    for group in rows.chunk_by(|a, b| a.first() == b.first() && a.get(1) == b.get(1)) {
        let (name, trace) = (cell(&group[0], 0)?, cell(&group[0], 1)?);
        let index = player.playback().traces().iter().position(|known| known.name() == trace);
        let index = index.ok_or_else(|| format!("trace {trace} is not among the test traces"))?;
        let records = play(player, index, &mut Policy::new(name, data)?)?;
        for (row, Record { download, reward, next }) in group.iter().zip(&records) {
            let values = [
                download.chunk as f64,
                download.quality as f64,
                download.size,
                download.download_ms,
                download.sleep_ms,
                download.buffer_s,
                download.rebuffer_s,
                *reward,
                *next as f64,
            ];
            for (index, value) in values.into_iter().enumerate() {
                let place = format!("{name} on {trace}, chunk {}, column {}", download.chunk, index + 2);
                tally.compare(&place, value, cell(row, index + 2)?)?;
            }
        }
        if group.len() != records.len() {
            return Err(format!("{name} on {trace}: {} rows, but {} chunks", group.len(), records.len()).into());
        }
    }
    Ok(tally.report("abr-traces/abr_golden.csv"))
}

fn summaries(data: &Path, player: &mut Player) -> Fallible<bool> {
    let mut tally = Tally { rounded: true, ..Tally::default() };
    for row in rows(&data.join("abr-traces/abr_qoe.csv"))? {
        let name = cell(&row, 0)?;
        let mut policy = Policy::new(name, data)?;
        let mut totals = Vec::new();
        let mut decisions = [0.0; 6];
        for trace in 0..player.playback().traces().len() {
            let records = play(player, trace, &mut policy)?;
            totals.push(records[1..].iter().map(|record| record.reward).sum::<f64>());
            records.iter().for_each(|record| decisions[record.next] += 1.0);
        }
        let mean = totals.iter().sum::<f64>() / totals.len() as f64;
        totals.sort_by(f64::total_cmp);
        let middle = totals.len() / 2;
        let median = if totals.len() % 2 == 1 { totals[middle] } else { (totals[middle - 1] + totals[middle]) / 2.0 };
        for (index, value) in [mean, median].into_iter().chain(decisions).enumerate() {
            tally.compare(&format!("{name}, column {}", index + 1), value, cell(&row, index + 1)?)?;
        }
    }
    Ok(tally.report("abr-traces/abr_qoe.csv"))
}

/// Observations of the two rules on the training traces as SpecTRA took them: as many chunks as a trace has points, the
/// trace going on where a video ends, the first eight rows dropped. Figures: rows; least and greatest buffer and
/// download time, in units of 10 s.
fn observations(data: &Path, video: &Arc<Video>) -> Fallible<bool> {
    let mut tally = Tally { rounded: true, ..Tally::default() };
    let traces = traces(data, "pensieve_train_traces.txt")?;
    let mut player = Player::new(video.clone(), traces.clone())?;
    let recorded = [
        ("bb", ["77981", "0.4", "2.306", "0.0226", "4.904"]),
        ("robust_mpc", ["77981", "0.4", "3.766", "0.0276", "5.695"]),
    ];
    for (name, figures) in recorded {
        let mut policy = Policy::new(name, data)?;
        let (mut rows, mut buffers, mut times) = (0.0, (f64::MAX, 0f64), (f64::MAX, 0f64));
        let widen = |range: &mut (f64, f64), x: f64| *range = (range.0.min(x), range.1.max(x));
        for (index, trace) in traces.iter().enumerate() {
            player.begin(index, 1, None);
            if let Policy::RobustMpc(mpc) = &mut policy {
                mpc.clear_throughputs();
            }
            let (mut quality, mut last_times) = (FIRST_QUALITY, [0.0; 3]);
            for chunk in 0..trace.len() {
                let download = player.download(quality)?;
                let decision = policy.decide(video, &download, &State::default())?;
                quality = if download.ends_video() { FIRST_QUALITY } else { decision };
                last_times.rotate_left(1);
                last_times[2] = download.download_ms / 1e4;
                if chunk >= 8 {
                    rows += 1.0;
                    widen(&mut buffers, download.buffer_s / 10.0);
                    last_times.iter().for_each(|&time| widen(&mut times, time));
                }
            }
        }
        for (value, printed) in [rows, buffers.0, buffers.1, times.0, times.1].into_iter().zip(figures) {
            tally.compare(&format!("observations of {name}"), value, printed)?;
        }
    }
    Ok(tally.report("observations of the rules"))
}

fn sizes(data: &Path, video: &Video) -> Fallible<bool> {
    let mut tally = Tally::default();
    for (chunk, row) in rows(&data.join("pensieve/chunk_sizes.csv"))?.iter().enumerate() {
        for (quality, size) in video.sizes(chunk).into_iter().enumerate() {
            tally.compare(&format!("chunk {chunk}, quality {quality}"), size, cell(row, quality + 1)?)?;
        }
    }
    Ok(tally.report("pensieve/chunk_sizes.csv"))
}

fn run() -> Fallible<bool> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data] = &arguments[..] else { return Err("usage: golden DATA".into()) };
    let data = Path::new(data);
    let video = Arc::new(Video::reference());
    let mut player = Player::new(video.clone(), traces(data, "pensieve_test_traces.txt")?)?;
    let results = [
        aurora(data)?,
        sizes(data, &video)?,
        chunks(data, &mut player)?,
        summaries(data, &mut player)?,
        observations(data, &video)?,
    ];
    Ok(results.iter().all(|&equal| equal))
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("golden: {error}");
            ExitCode::FAILURE
        }
    }
}
