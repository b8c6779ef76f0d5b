//! The part of a search that meets an equality ([`crate::equality`]): which run it begins from, which choices it narrows, and what counts as found.

use certus_engine::{Budget, Watch, spent};
use certus_numerics::Random;
use certus_sim::{InputSource, Plan, Plans};

use super::{Found, Search, Trouble, robustness};
use crate::coding::Coding;
use crate::equality;
use crate::judge::Grade;

impl Search<'_> {
    /// Looks for a run on which two numbers are equal, next to the best run of so many steps.
    pub(super) fn meet(
        &mut self,
        coding: &Coding,
        steps: usize,
        share: u64,
        budget: &Budget<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Option<Found>, Trouble> {
        let Some((first, point)) = self.best.get(&steps).cloned() else { return Ok(None) };
        let mut least = first;
        let mut plan = coding.step_by_step(&point, steps);
        let Some(steps) = self.nearest_by(&plan, steps, first, budget)? else { return Ok(None) };
        let mut random = Random::new(budget.seed.wrapping_add(2), self.next_run);
        let mut choices = coding.choices(steps);
        let rounds = share / self.cost.of_runs(equality::VALUES as u64, steps).max(1);
        let most = (rounds / equality::NARROWINGS as u64).min(equality::MOST_CHOICES as u64);
        for _ in 0..most {
            if choices.is_empty() {
                break;
            }
            let (choice, whole) = choices.swap_remove((random.unit() * choices.len() as f64) as usize % choices.len());
            let mut range = whole;
            for _ in 0..equality::NARROWINGS {
                let values = equality::spread(range);
                let with = |value: &f64| {
                    let mut own = plan.clone();
                    if let Some(at) = choice.of(&mut own) {
                        *at = *value;
                    }
                    own
                };
                let plans: Vec<Plan> = values.iter().map(with).collect();
                let Some(chunk) = self.simulated(steps, plans, vec![None; values.len()], budget)? else {
                    return Ok(None);
                };
                let found = self.looked_at(&chunk, budget, watch)?;
                if found.is_some() || spent(budget).is_some() {
                    return Ok(found);
                }
                let misses = chunk.reports.iter().map(|report| robustness(report).abs()).enumerate();
                let Some((best, miss)) = misses.min_by(|a, b| a.1.total_cmp(&b.1)) else { break };
                if miss <= least {
                    least = miss;
                    if let Some(at) = choice.of(&mut plan) {
                        *at = values[best];
                    }
                }
                range = equality::around(&values, best);
                if equality::is_narrow(range) {
                    break;
                }
            }
            if least <= equality::NEARLY * first
                && let Some(found) = self.neighbour(steps, &plan, (choice, whole), &mut random, budget)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// How many steps of a plan are enough to come as near to a violation as it does.
    fn nearest_by(
        &mut self,
        plan: &Plan,
        steps: usize,
        least: f64,
        budget: &Budget<'_>,
    ) -> Result<Option<usize>, Trouble> {
        let fewer = std::iter::successors(Some(0), |own| Some(2 * own + 1)).take_while(|&own| own < steps);
        for own in fewer {
            let Some(chunk) = self.simulated(own, vec![plan.clone()], vec![None], budget)? else { return Ok(None) };
            if chunk.reports.iter().any(|report| robustness(report) <= least) {
                return Ok(Some(own));
            }
        }
        Ok(Some(steps))
    }

    /// A violation by doubles next to those of a plan.
    fn neighbour(
        &mut self,
        steps: usize,
        plan: &Plan,
        (choice, range): (equality::Choice, (f64, f64)),
        random: &mut Random,
        budget: &Budget<'_>,
    ) -> Result<Option<Found>, Trouble> {
        let inputs = InputSource::Plans(Plans { first: self.next_run, plans: vec![plan.clone()] });
        let drive = self.judge.drive(&self.trace(steps, &inputs, self.next_run, budget)?);
        for distance in equality::DISTANCES {
            for _ in 0..equality::NEIGHBOURS {
                let mut own = drive.clone();
                let Some(at) = choice.within(&mut own) else { return Ok(None) };
                *at = equality::neighbour(*at, distance, range, random);
                let Some(run) = self.judge.finite(own, budget)? else { continue };
                match self.judge.grade(&run)? {
                    Grade::Doubtful => {
                        self.candidate.get_or_insert_with(|| Box::new(run));
                    }
                    // Any other choice would break it.
                    _ => return Ok(Some(Found::Violated(run))),
                }
                if spent(budget).is_some() {
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }
}
