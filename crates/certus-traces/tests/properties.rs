//! Properties that hold for all inputs: conservation, ranges, reading what was written, independence of the batch.

use std::sync::Arc;

use certus_numerics::Random;
use certus_traces::aurora::{Aurora, Bandwidth, Ranges, Scenario, Simulator};
use certus_traces::deeprm::{DeepRm, Ending, Settings as ClusterSettings, UNITS, View, packer, shortest_job_first};
use certus_traces::pensieve::reference::{RobustMpc, buffer_based};
use certus_traces::pensieve::{Pensieve, Player, QUALITIES, Qoe, Settings, Start, Video};
use certus_traces::traces::{
    Broadband, Capacity, Cellular, Trace, read_columns, read_csv, read_mahimahi, read_packed, write_columns, write_csv,
    write_packed,
};
use certus_traces::{Batch, Environment, VectorEnvironment};
use proptest::prelude::*;

/// Any valid trace: gaps and rates of many magnitudes, outages among them.
fn traces() -> impl Strategy<Value = Trace> {
    let gap = prop_oneof![0.11..3.0f64, 1e-6..1e-3f64];
    let rate = prop_oneof![3 => 0.05..20.0f64, 1 => Just(0.0), 1 => 1e-6..1.0f64];
    let name = "[a-zA-Z0-9._@#-]([ a-zA-Z0-9._@#-]{0,12}[a-zA-Z0-9._@#-])?";
    (name, prop::collection::vec((gap, rate), 1..40), 0.5..10.0f64).prop_map(|(name, points, last)| {
        let mut time = 0.0;
        let mut all = vec![(0.0, points[0].1)];
        for (gap, rate) in points {
            time += gap;
            all.push((time, rate));
        }
        all.push((time + 0.5, last));
        Trace::new(&name, all).unwrap()
    })
}

/// Steps one environment through actions that the numbers choose, resetting when an episode ends; all it ever showed.
fn life<W: Environment>(environment: &mut W, seed: u64, copy: u64, choices: &[u32]) -> Vec<f64> {
    let mut episode = 0;
    environment.reset(VectorEnvironment::<W>::episode_seed(seed, copy, episode));
    let mut seen = environment.observation().to_vec();
    for &choice in choices {
        let outcome = environment.step(&[f64::from(choice)]).unwrap();
        seen.extend([outcome.reward, f64::from(u8::from(outcome.terminated)), f64::from(u8::from(outcome.truncated))]);
        if outcome.over() {
            seen.extend(environment.observation());
            episode += 1;
            environment.reset(VectorEnvironment::<W>::episode_seed(seed, copy, episode));
        }
        seen.extend(environment.observation());
    }
    seen
}

/// The same lives, stepped as a batch.
fn lives<W: Environment>(copies: Vec<W>, first: u64, seed: u64, choices: &[u32]) -> Vec<Vec<f64>> {
    let mut environments = VectorEnvironment::new(copies, first).unwrap();
    let (count, length) = (environments.len(), environments.observation_length());
    let (mut observations, mut last) = (vec![0f64; count * length], vec![0f64; count * length]);
    let (mut rewards, mut terminated, mut truncated) = (vec![0.0; count], vec![false; count], vec![false; count]);
    environments.reset(seed, &mut observations).unwrap();
    let mut lives: Vec<Vec<f64>> = observations.chunks_exact(length).map(<[f64]>::to_vec).collect();
    for &choice in choices {
        let actions = vec![f64::from(choice); count];
        let mut batch = Batch {
            observations: &mut observations,
            last_observations: &mut last,
            rewards: &mut rewards,
            terminated: &mut terminated,
            truncated: &mut truncated,
        };
        environments.step(&actions, &mut batch).unwrap();
        for (copy, life) in lives.iter_mut().enumerate() {
            let (ended, cut) = (terminated[copy], truncated[copy]);
            life.extend([rewards[copy], f64::from(u8::from(ended)), f64::from(u8::from(cut))]);
            if ended || cut {
                life.extend(&last[copy * length..][..length]);
            }
            life.extend(&observations[copy * length..][..length]);
        }
    }
    lives
}

/// That a batch gives what its copies give alone, and a seed repeats itself.
fn batch_is_singles<W: Environment + Clone>(environment: &W, seed: u64, choices: &[u32]) {
    let together = lives(vec![environment.clone(); 3], 5, seed, choices);
    for (copy, life_in_batch) in together.iter().enumerate() {
        let copy = copy as u64 + 5;
        assert_eq!(&life(&mut environment.clone(), seed, copy, choices), life_in_batch);
        assert_eq!(&lives(vec![environment.clone()], copy, seed, choices)[0], life_in_batch);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_written_is_read_again(traces in prop::collection::vec(traces(), 1..4)) {
        prop_assert_eq!(&read_packed("packed", &write_packed(&traces)).unwrap(), &traces);
        for trace in &traces {
            prop_assert_eq!(&read_columns(trace.name(), &write_columns(trace)).unwrap(), trace);
            prop_assert_eq!(&read_csv(trace.name(), &write_csv(trace)).unwrap(), trace);
        }
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "([0-9@#., \t\n-]|[a-z]|e|\\PC){0,200}", bin in 0u64..50) {
        let _ = read_columns("a", &text);
        let _ = read_packed("a", &text);
        let _ = read_csv("a", &text);
        let _ = read_csv("a", &format!("time_s,mbps\n{text}"));
        let _ = read_mahimahi("a", &text, bin);
    }

    #[test]
    fn mahimahi_keeps_every_byte(gaps in prop::collection::vec(0u64..40, 1..300), bin in 1u64..500) {
        let mut time = 120;
        let mut text = String::from("0\n");
        for gap in &gaps {
            time += gap;
            text.push_str(&format!("{time}\n"));
        }
        let trace = read_mahimahi("m", &text, bin).unwrap();
        let bits = (gaps.len() + 1) as f64 * 12_000.0;
        prop_assert!((trace.volume() * 1e6 / bits - 1.0).abs() < 1e-9);
        prop_assert_eq!(trace.duration(), time as f64 / 1e3);
    }

    #[test]
    fn capacity_grows_and_its_inverse_undoes_it(
        trace in traces(),
        times in prop::collection::vec(0.0..300.0f64, 1..20),
    ) {
        let capacity = Capacity::new(&trace, 12_000.0);
        let mut times = times;
        times.sort_by(f64::total_cmp);
        for pair in times.windows(2) {
            prop_assert!(capacity.delivered_by(pair[0]) <= capacity.delivered_by(pair[1]) + 1e-6);
        }
        for &time in &times {
            let delivered = capacity.delivered_by(time);
            // Not the time itself: nothing is delivered in an outage, so either end of it is right.
            let back = capacity.time_of(delivered);
            prop_assert!((capacity.delivered_by(back) - delivered).abs() < 1e-6 * (1.0 + delivered));
        }
    }

    #[test]
    fn generators_make_traces_for_every_seed(seed: u64) {
        let cellular = Cellular::default().generate("c", seed).unwrap();
        let broadband = Broadband::default().generate("b", seed).unwrap();
        prop_assert_eq!(cellular, Cellular::default().generate("c", seed).unwrap());
        prop_assert_eq!(broadband, Broadband::default().generate("b", seed).unwrap());
    }

    #[test]
    fn packets_are_conserved_and_time_passes(
        bandwidth in 20.0..500.0f64,
        delay in 0.005..0.4f64,
        queue in 1u32..300,
        loss in 0.0..0.3f64,
        start_rate in 10.0..900.0f64,
        trace in prop::option::of(traces()),
        actions in prop::collection::vec(-40.0..40.0f64, 1..30),
        seed: u64,
    ) {
        let bandwidth = match &trace {
            // Slow traces make long intervals; the test need not take ages.
            Some(trace) if trace.mean_rate() > 0.24 => Bandwidth::of_trace(trace),
            _ => Bandwidth::Constant(bandwidth),
        };
        let constant = matches!(bandwidth, Bandwidth::Constant(_));
        let mean = bandwidth.mean();
        let scenario = Scenario { bandwidth, delay, queue, loss, start_rate };
        let mut simulator = Simulator::new(scenario, Random::new(seed, 0)).unwrap();
        let mut flying = simulator.network().in_flight() as u64;
        let mut time = simulator.network().time();
        for action in actions {
            let seen = simulator.step(action).unwrap();
            // What was sent is acknowledged, lost, or still on its way.
            let known = seen.acked + seen.lost + simulator.network().in_flight() as u64;
            prop_assert_eq!(flying + seen.sent, known);
            prop_assert_eq!(seen.acked as usize, seen.round_trips.len());
            flying = simulator.network().in_flight() as u64;
            prop_assert_eq!(seen.start, time);
            prop_assert!(seen.end >= seen.start);
            time = seen.end;
            let least = 2.0 * delay - 1e-9;
            let most = if constant { 2.0 * delay + f64::from(queue) / mean + 1e-9 } else { f64::INFINITY };
            prop_assert!(seen.round_trips.iter().all(|&rtt| least <= rtt && rtt <= most));
            prop_assert!((40.0..=1000.0).contains(&simulator.network().rate()));
            prop_assert!(simulator.history().values().iter().all(|x| x.is_finite()));
        }
    }

    #[test]
    fn the_buffer_stays_within_its_limits(
        traces in prop::collection::vec(traces(), 1..3),
        qualities in prop::collection::vec(0..QUALITIES, 100),
        noise: bool,
        seed: u64,
    ) {
        let mut player = Player::new(Arc::new(Video::reference()), traces.into()).unwrap();
        player.begin(0, 1, noise.then(|| Random::new(seed, 0)));
        let mut buffer = 0.0;
        for quality in qualities {
            let seen = player.download(quality).unwrap();
            prop_assert!((0.0..=60.0).contains(&seen.buffer_s));
            prop_assert!(seen.download_ms >= 72.0 && seen.download_ms.is_finite());
            prop_assert!(seen.rebuffer_s >= 0.0 && seen.rebuffer_s <= seen.download_ms / 1000.0);
            // What was in the buffer, minus what played, plus one chunk, minus what slept.
            let played = seen.download_ms / 1000.0 - seen.rebuffer_s;
            prop_assert!((buffer - played + 4.0 - seen.sleep_ms / 1000.0 - seen.buffer_s).abs() < 1e-6);
            let playback = player.playback();
            prop_assert!((0.0..=playback.trace().duration() + 1e-9).contains(&playback.time()));
            buffer = if seen.ends_video() { 0.0 } else { seen.buffer_s };
            prop_assert!(Qoe::Log.reward(quality, 0, seen.rebuffer_s) <= Qoe::Log.reward(quality, quality, 0.0));
            prop_assert!(buffer_based(seen.buffer_s) < QUALITIES);
        }
    }

    #[test]
    fn canvases_agree_with_the_books(actions in prop::collection::vec(0u32..8, 150), seed: u64) {
        let settings = ClusterSettings { arrivals: 120, ending: Ending::AllDone, ..ClusterSettings::default() };
        let mut environment = DeepRm::new(settings).unwrap();
        environment.reset(seed);
        let mut time = 0;
        for action in actions {
            let action = match action {
                6 => shortest_job_first(environment.cluster()),
                7 => packer(environment.cluster()),
                action => action as usize,
            };
            let before = environment.cluster().machine().running().len();
            let outcome = environment.step(&[action as f64]).unwrap();
            let cluster = environment.cluster();
            prop_assert!(outcome.reward <= 0.0);
            let placed = cluster.time() == time;
            prop_assert!(!placed || (outcome.reward == 0.0 && cluster.machine().running().len() == before + 1));
            time = cluster.time();
            for (resource, canvas) in cluster.machine().canvas().iter().enumerate() {
                for (row, cells) in canvas.iter().enumerate() {
                    let held = cells.iter().filter(|&&colour| colour != 0).count();
                    prop_assert_eq!(held + cluster.machine().free()[row][resource], UNITS);
                }
            }
            prop_assert!(cluster.backlog().len() <= 60);
            prop_assert!(environment.observation().iter().all(|x| (0.0..=1.0).contains(x)));
            if outcome.over() {
                break;
            }
        }
    }

    #[test]
    fn looking_ahead_decides_one_of_six(trace in traces(), clear: bool) {
        let video = Arc::new(Video::reference());
        let mut player = Player::new(video.clone(), [trace].into()).unwrap();
        let mut mpc = RobustMpc::default();
        let mut quality = 1;
        for _ in 0..6 {
            let seen = player.download(quality).unwrap();
            quality = mpc.decide(&video, &seen);
            prop_assert!(quality < QUALITIES);
            if clear {
                mpc.clear();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn batches_of_aurora(
        trace in prop::option::of(any::<u64>()),
        seed: u64,
        choices in prop::collection::vec(0u32..9, 20),
    ) {
        let ranges = Ranges { steps: 7, ..Ranges::default() };
        let trace = trace.map(|seed| Broadband::default().generate("b", seed).unwrap());
        let traces: Vec<Trace> = trace.into_iter().collect();
        batch_is_singles(&Aurora::with_traces(ranges, &traces).unwrap(), seed, &choices);
    }

    #[test]
    fn batches_of_pensieve(
        traces in prop::collection::vec(traces(), 1..4),
        seed: u64,
        noise: bool,
        random: bool,
        choices in prop::collection::vec(0u32..6, 110),
    ) {
        let start = if random { Start::Random } else { Start::InTurn { first: 1, stride: 2 } };
        let settings = Settings { start, noise, qoe: Qoe::Hd };
        let environment = Pensieve::new(settings, Arc::new(Video::reference()), traces.into()).unwrap();
        batch_is_singles(&environment, seed, &choices);
    }

    #[test]
    fn batches_of_deeprm(seed: u64, choices in prop::collection::vec(0u32..6, 60), all: bool) {
        let (ending, view) = if all { (Ending::AllDone, View::Compact) } else { (Ending::NoMoreArrivals, View::Image) };
        let environment = DeepRm::new(ClusterSettings { ending, view, decisions: 40, ..ClusterSettings::default() }).unwrap();
        batch_is_singles(&environment, seed, &choices);
    }
}
