//! Statistics over many runs; the confidence interval of a proportion is Wilson's ("Probable Inference, the Law of Succession, and Statistical Inference", Journal of the American
//! Statistical Association 22, 1927).

use crate::report::{End, RunReport, Verdict};

/// The verdicts of many runs on a property.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertySummary {
    /// How many runs satisfy it, whatever follows.
    pub satisfied: u64,
    /// How many runs violate it, whatever follows.
    pub violated: u64,
    /// How many runs are too short to tell.
    pub open: u64,
    /// The smallest margin over all runs.
    pub worst_margin: f64,
    /// The run with the smallest margin.
    pub worst_run: Option<u64>,
    /// The position at which that run broke the property, if it did.
    pub worst_broken_at: Option<usize>,
}

/// Statistics over many runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// How many runs were made.
    pub runs: u64,
    /// How many steps were made in all.
    pub steps: u64,
    /// How many made all their steps.
    pub completed: u64,
    /// How many reached a terminal state.
    pub terminal: u64,
    /// How many left a declared range.
    pub left_range: u64,
    /// How many could not go on under the system's `assume`.
    pub blocked: u64,
    /// How many met something that is not a number.
    pub not_a_number: u64,
    /// The first run that ended for a fault of the model (left a range, blocked, not a number), with its report.
    pub first_fault: Option<RunReport>,
    /// Mean and extremes of the sum of rewards.
    pub reward: Option<RewardSummary>,
    /// One entry per property.
    pub properties: Vec<PropertySummary>,
    /// Whether the simulation was stopped before all runs were made.
    pub interrupted: bool,
}

/// The sums of rewards over runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RewardSummary {
    /// The mean.
    pub mean: f64,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub greatest: f64,
}

impl Summary {
    /// The summary of no runs.
    pub fn new(properties: usize) -> Self {
        let property = PropertySummary {
            satisfied: 0,
            violated: 0,
            open: 0,
            worst_margin: f64::INFINITY,
            worst_run: None,
            worst_broken_at: None,
        };
        Summary {
            runs: 0,
            steps: 0,
            completed: 0,
            terminal: 0,
            left_range: 0,
            blocked: 0,
            not_a_number: 0,
            first_fault: None,
            reward: None,
            properties: vec![property; properties],
            interrupted: false,
        }
    }

    /// Adds a run. Runs are added in their order, so that sums are the same whatever the threads.
    pub fn add(&mut self, report: &RunReport) {
        self.runs += 1;
        self.steps += report.steps as u64;
        let fault = match report.end {
            End::Completed => {
                self.completed += 1;
                false
            }
            End::Terminal => {
                self.terminal += 1;
                false
            }
            End::LeftRange { .. } => {
                self.left_range += 1;
                true
            }
            End::Blocked => {
                self.blocked += 1;
                true
            }
            End::NotANumber { .. } => {
                self.not_a_number += 1;
                true
            }
        };
        if fault && self.first_fault.is_none() {
            self.first_fault = Some(RunReport { trace: None, ..report.clone() });
        }
        if let Some(total) = report.total_reward {
            let count = self.runs as f64;
            let reward = self.reward.get_or_insert(RewardSummary { mean: 0.0, least: total, greatest: total });
            reward.mean += (total - reward.mean) / count;
            reward.least = reward.least.min(total);
            reward.greatest = reward.greatest.max(total);
        }
        for (summary, property) in self.properties.iter_mut().zip(&report.properties) {
            match property.verdict {
                Verdict::Satisfied => summary.satisfied += 1,
                Verdict::Violated => summary.violated += 1,
                Verdict::Open => summary.open += 1,
            }
            if property.margin < summary.worst_margin {
                summary.worst_margin = property.margin;
                summary.worst_run = Some(report.run);
                summary.worst_broken_at = property.broken_at;
            }
        }
    }

    /// Whether some run left the model: a range, an `assume` without a way on, or a value that is not a number.
    pub fn has_model_error(&self) -> bool {
        self.first_fault.is_some()
    }
}

/// Wilson's interval for a probability of which `hits` out of `trials` were seen, at 95 % confidence.
pub fn wilson_interval(hits: u64, trials: u64) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    const Z: f64 = 1.959_963_984_540_054;
    let (n, p) = (trials as f64, hits as f64 / trials as f64);
    let centre = p + Z * Z / (2.0 * n);
    let spread = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    let lower = if hits == 0 { 0.0 } else { (centre - spread) / scale };
    let upper = if hits == trials { 1.0 } else { (centre + spread) / scale };
    (lower, upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wilson_interval_matches_published_values() {
        let (low, high) = wilson_interval(0, 10);
        assert!(low == 0.0 && (high - 0.2775).abs() < 1e-4, "{low} {high}");
        let (low, high) = wilson_interval(81, 263);
        assert!((low - 0.2553).abs() < 1e-4 && (high - 0.3662).abs() < 1e-4, "{low} {high}");
    }
}
