//! Observations of congestion controllers: a window of features per monitor interval, and how the rate changed next.
//!
//! The way of SpecTRA's logs: time is cut into intervals of equal length; a row has the features of the newest ten
//! intervals (1 is the newest) and the sign of the change of packets sent from this interval to the next. Rows whose
//! window is not full, and the last interval, are left out.

use certus_numerics::Random;

use crate::aurora::flow::{CongestionControl, Flow};
use crate::aurora::{FEATURES, HISTORY, History, Interval, Scenario, Simulator};
use crate::{EnvironmentError, SettingError};

/// The features of a row: latency gradients, latency ratios and send ratios, the newest first in each.
pub type Window = [f64; FEATURES * HISTORY];

/// The names of the features.
pub fn observed_names() -> Vec<String> {
    let names = ["latency_gradient", "latency_ratio", "sending_ratio"];
    names.iter().flat_map(|name| (1..=HISTORY).map(move |age| format!("{name}_{age}"))).collect()
}

/// A history as a row has it.
fn window(history: &History) -> Window {
    let mut window = [0.0; FEATURES * HISTORY];
    for (place, value) in history.values().iter().enumerate() {
        let (interval, feature) = (place / FEATURES, place % FEATURES);
        window[feature * HISTORY + (HISTORY - 1 - interval)] = *value;
    }
    window
}

/// Runs a controller and shows each row: its window and the change of packets sent.
pub fn observe<E: From<SettingError>>(
    scenario: &Scenario,
    controller: impl CongestionControl,
    random: Random,
    interval: f64,
    intervals: usize,
    show: &mut dyn FnMut(&Window, f64) -> Result<(), E>,
) -> Result<(), E> {
    let mut flow = Flow::new(scenario, controller, random)?;
    let mut history = History::default();
    let mut before: Option<(Window, Interval)> = None;
    for number in 0..intervals {
        let seen = flow.run(interval);
        if let Some((window, last)) = before {
            show(&window, seen.sent as f64 - last.sent as f64)?;
        }
        history.push(&seen);
        before = (number + 1 > HISTORY).then(|| (window(&history), seen));
    }
    Ok(())
}

/// Runs a policy in Aurora's simulator and shows each row: its window and what the policy said.
pub fn observe_policy<E: From<SettingError> + From<EnvironmentError>>(
    scenario: &Scenario,
    policy: &mut dyn FnMut(&[f64]) -> Result<f64, E>,
    random: Random,
    seconds: f64,
    show: &mut dyn FnMut(&Window, f64) -> Result<(), E>,
) -> Result<(), E> {
    let mut simulator = Simulator::new(scenario.clone(), random)?;
    let mut number = 0;
    while simulator.network().time() < seconds {
        let action = policy(simulator.history().values())?;
        if number >= HISTORY {
            show(&window(simulator.history()), action)?;
        }
        simulator.step(action)?;
        number += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aurora::Bandwidth;
    use crate::aurora::reference::{Bbr, Cubic};

    fn scenario() -> Scenario {
        Scenario { bandwidth: Bandwidth::Constant(400.0), delay: 0.02, queue: 30, loss: 0.0, start_rate: 200.0 }
    }

    fn rows(controller: impl CongestionControl) -> Vec<(Window, f64)> {
        let mut rows = Vec::new();
        observe::<SettingError>(&scenario(), controller, Random::new(0, 0), 0.075, 300, &mut |window, change| {
            rows.push((*window, change));
            Ok(())
        })
        .unwrap();
        rows
    }

    #[test]
    fn windows_move_on_by_one() {
        for rows in [rows(Cubic::default()), rows(Bbr::default())] {
            assert_eq!(rows.len(), 300 - 10 - 1);
            for pair in rows.windows(2) {
                for feature in 0..3 {
                    let (old, new) = (&pair[0].0[feature * 10..][..10], &pair[1].0[feature * 10..][..10]);
                    assert_eq!(old[..9], new[1..]);
                }
            }
            assert!(rows.iter().any(|row| row.1 > 0.0) && rows.iter().any(|row| row.1 < 0.0));
        }
        assert_eq!(observed_names()[10], "latency_ratio_1");
    }

    #[test]
    fn a_policy_is_asked_once_per_row() {
        let mut rows = Vec::new();
        let show = &mut |window: &Window, action: f64| {
            rows.push((*window, action));
            Ok(())
        };
        let policy = &mut |seen: &[f64]| Ok::<f64, Fault>(if seen[28] > 1.5 { -1.0 } else { 1.0 });
        observe_policy::<Fault>(&scenario(), policy, Random::new(0, 0), 5.0, show).unwrap();
        assert!(rows.len() > 50);
        // The newest latency ratio decided.
        assert!(rows.iter().all(|(window, action)| (window[10] > 1.5) == (*action < 0.0)));
    }

    #[derive(Debug)]
    struct Fault;

    impl From<SettingError> for Fault {
        fn from(_: SettingError) -> Self {
            Fault
        }
    }

    impl From<EnvironmentError> for Fault {
        fn from(_: EnvironmentError) -> Self {
            Fault
        }
    }
}
