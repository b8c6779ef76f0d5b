//! Minimal interference: make a proved shield overrule the network less.
//!
//! That a shield should interfere only where it must is a requirement of M. Alshiekh, R. Bloem, R. Ehlers, B. Könighofer, S. Niekum and
//! U. Topcu, 'Safe reinforcement learning via shielding', AAAI 2018. Here it is a local search: in simulated runs with interventions, the draft is
//! compared with other programs for the same states, with more branches where the network wants to go, and with a later hand-back of
//! control. Whatever is taken is proved like the rest.

use certus_audit::shield::{Branch, Cover, Invariant, Shield};
use certus_numerics::{Random, parallel};
use certus_shield_rt::{Decision, Fallback, Monitor};

use crate::branch_synthesis::{FEW_HALFSPACES, Origin, Proved, Stage};
use crate::coverage::{Coverage, Set, cover};
use crate::network::Scratch;
use crate::plant::Region;
use crate::polyhedron::farthest_side;
use crate::polynomial::degree;
use crate::rollout::Simulator;
use crate::runtime::Runtime;
use crate::synthesis::{Draft, Form, MOST_SPLIT, Work};
use crate::work_count::{spend, spent};

/// Runs that are looked at first and their steps, then how many of those with interventions candidates are compared in, and
/// for how many steps: many short runs, and a few long ones where these show nothing.
const SCOUTS: [(u64, usize, usize, usize); 2] = [(200, 250, 8, 3000), (12, 4000, 6, 4000)];

/// Most branches that are added, and most half-spaces of a candidate.
const MOST_ADDED: u64 = 4;
const MOST_HALFSPACES: usize = 300;

/// Resting places that are tried for each state that the network wanted to go to, and candidates in all.
const RESTS: usize = 6;
const CANDIDATES: usize = 40;

/// How far from what is unsafe a resting place is, as a part of the box's distance.
const CLEARANCE: f64 = 0.1;

/// A branch more has to save this part of the interventions, another program or a later release this one.
const WORTH_A_BRANCH: f64 = 0.25;
const WORTH_A_CHANGE: f64 = 0.1;

/// So few interventions in each troubled run are not improved upon.
const FEW: u64 = 3;

/// Items that are worked on before it is asked what is left to be spent.
const ROUND: usize = 16;

/// What a step under a monitor takes, in the unit of effort.
const MONITORED_STEP: u64 = 500;

/// How far inside control is given back.
const RELEASES: [f64; 3] = [0.1, 0.3, 0.6];

/// How branches like this one are proved.
fn stage_of(proved: &Proved) -> Stage {
    match &proved.branch.invariant {
        // About as many half-spaces as it has: many more take long, and make the monitor slow.
        Invariant::Polyhedron(own) => {
            Stage::Polyhedron((2 * own.halfspaces.len()).clamp(FEW_HALFSPACES, MOST_HALFSPACES))
        }
        Invariant::Polynomial(own) => {
            let degree = own.barrier.iter().map(|(_, m)| degree(m)).max().unwrap_or(2);
            Stage::Polynomial(degree)
        }
    }
}

/// What runs with a shield showed.
#[derive(Clone, Default)]
struct Shown {
    interventions: u64,
    /// The same for each run.
    each: Vec<u64>,
    /// Where the network would have gone.
    missed: Vec<Vec<f64>>,
}

impl Work<'_> {
    /// Makes a draft interfere less. Says how far inside control is given back, and which part of the steps of troubled runs is
    /// still not left to the network.
    pub fn improve(&mut self, draft: &mut Draft) -> (f64, f64) {
        (self.progress)("simulating the shield".to_owned());
        let Some((troubled, steps, mut shown)) = self.scouted(draft) else { return (0.0, 0.0) };
        let enough = |shown: &Shown| shown.interventions <= FEW * troubled.len() as u64;
        if enough(&shown) {
            return (0.0, 0.0);
        }
        if self.plant.states() <= MOST_SPLIT {
            // Programs that rest elsewhere do not lead to a target.
            if self.target.is_none() && self.options.form != Form::Polynomial {
                self.try_union(draft, &mut shown, &troubled, steps);
            }
            if !enough(&shown) {
                self.try_other_programs(draft, &mut shown, &troubled, steps);
            }
            if self.target.is_none() && !enough(&shown) {
                self.try_more_branches(draft, &mut shown, &troubled, steps);
            }
        }
        let mut best = (0.0, shown.interventions);
        // A few more runs, whatever was spent so far.
        for release in RELEASES {
            if self.interrupted() {
                break;
            }
            let Some(own) = self.watched(draft, release, &troubled, steps) else { break };
            if (own.interventions as f64) < (1.0 - WORTH_A_CHANGE) * best.1 as f64 {
                best = (release, own.interventions);
            }
        }
        (best.0, best.1 as f64 / (troubled.len() * steps) as f64)
    }

    /// Initial states of runs with interventions, the steps that are worth looking at, and what they show; none if there are
    /// no interventions.
    fn scouted(&self, draft: &Draft) -> Option<(Vec<Vec<f64>>, usize, Shown)> {
        for (runs, steps, compared, compared_steps) in SCOUTS {
            let starts: Vec<Vec<f64>> = (0..runs)
                .map(|run| {
                    let mut random = Random::new(self.options.seed, (3 << 40) + run);
                    self.plant.init.iter().map(|&(a, b)| random.between(a, b)).collect()
                })
                .collect();
            let shown = self.watched(draft, 0.0, &starts, steps)?;
            let troubled = starts.into_iter().zip(&shown.each).filter(|(_, count)| **count > 0);
            let troubled: Vec<Vec<f64>> = troubled.map(|(start, _)| start).take(compared).collect();
            if !troubled.is_empty() {
                let shown = self.watched(draft, 0.0, &troubled, compared_steps)?;
                return Some((troubled, compared_steps, shown));
            }
        }
        None
    }

    /// One branch may be another one.
    fn try_other_programs(&mut self, draft: &mut Draft, shown: &mut Shown, troubled: &[Vec<f64>], steps: usize) {
        if draft.branches.len() != 1 {
            return;
        }
        let init = self.plant.init.clone();
        let programs = self.surviving(self.programs(&init, true), &init);
        (self.progress)(format!("{} interventions; trying other programs", shown.interventions));
        let stages = self.branch_stages(&draft.branches[0]);
        let candidates: Vec<(Origin, Stage)> =
            programs.into_iter().flat_map(|own| stages.iter().map(move |&stage| (own.clone(), stage))).collect();
        let drafts = self.parallel(&candidates, |work, ((origin, policy), stage)| {
            let proved = work.verify(origin, policy, &init, *stage, &work.focus)?;
            let cover = work.alone(&proved)?;
            let draft = Draft { branches: vec![proved], cover };
            let shown = work.watched(&draft, 0.0, troubled, steps)?;
            Some((draft, shown))
        });
        self.tried += candidates.len();
        if let Some((better, own)) = drafts.into_iter().min_by_key(|(_, shown)| shown.interventions)
            && (own.interventions as f64) < (1.0 - WORTH_A_CHANGE) * shown.interventions as f64
        {
            (*draft, *shown) = (better, own);
        }
    }

    /// Several branches may be better than one, however it was found.
    fn try_union(&mut self, draft: &mut Draft, shown: &mut Shown, troubled: &[Vec<f64>], steps: usize) {
        let Some((mut best, others)) = self.union() else { return };
        let Some(mut own) = self.watched(&best, 0.0, troubled, steps) else { return };
        // Twice: what is best for one branch depends on the others.
        for (place, others) in others.iter().enumerate().chain(others.iter().enumerate()) {
            if own.interventions == 0 || self.stopped() {
                break;
            }
            (self.progress)(format!("{} interventions; trying other equilibria", own.interventions));
            let base = &best;
            let found = self.parallel(others, |work, other| {
                let mut branches = base.branches.clone();
                branches[place] = other.clone();
                let cover = if place == 0 { work.alone(other)? } else { base.cover.clone() };
                let draft = Draft { branches, cover };
                let shown = work.watched(&draft, 0.0, troubled, steps)?;
                Some((draft, shown))
            });
            if let Some((better, shown)) = found.into_iter().min_by_key(|(_, shown)| shown.interventions)
                && shown.interventions < own.interventions
            {
                (best, own) = (better, shown);
            }
        }
        if (own.interventions as f64) < (1.0 - WORTH_A_BRANCH) * shown.interventions as f64 {
            (*draft, *shown) = (best, own);
        }
    }

    /// How a branch alone covers the initial states.
    pub fn alone(&self, proved: &Proved) -> Option<Cover> {
        if proved.start.is_some() {
            return Some(Cover::Inside { branch: 0, identity: proved.start.clone() });
        }
        match cover(&[Set::of(&proved.branch, self.plant.states())], &self.plant.init, 4000) {
            Coverage::Complete(cover) => Some(cover),
            Coverage::Counterexample(_) | Coverage::Unknown => None,
        }
    }

    /// Branches around states that the network wanted to go to.
    fn try_more_branches(&mut self, draft: &mut Draft, shown: &mut Shown, troubled: &[Vec<f64>], steps: usize) {
        for round in 0..MOST_ADDED {
            let count = shown.missed.len();
            if count == 0 || self.stopped() {
                return;
            }
            (self.progress)(format!("{} interventions; adding branch {}", shown.interventions, draft.branches.len()));
            let mut candidates: Vec<(Region, Origin)> = Vec::new();
            let mut random = Random::new(self.options.seed, (5 << 40) + round);
            for place in [count / 10, count / 2, count - 1 - count / 10] {
                let point = &shown.missed[place];
                let region: Region = point.iter().map(|&x| (x, x)).collect();
                // Programs that rest there, or where the network goes.
                let mut rests = vec![point.clone()];
                rests.extend(self.rests(&region, RESTS, &mut random));
                let programs = self.surviving(self.regulators(&rests), &region);
                candidates.extend(programs.into_iter().map(|program| (region.clone(), program)));
            }
            let stride = candidates.len().div_ceil(CANDIDATES).max(1);
            let stages = self.branch_stages(&draft.branches[0]);
            let candidates: Vec<(Region, Origin, Stage)> = candidates
                .into_iter()
                .step_by(stride)
                .flat_map(|(region, origin)| stages.iter().map(move |&stage| (region.clone(), origin.clone(), stage)))
                .collect();
            self.tried += candidates.len();
            let base = &*draft;
            // The set is to be large where the network goes, and where it was not let.
            let stride = (2 * count).div_ceil(self.focus.len().max(1)).max(1);
            let mut focus = self.focus.clone();
            focus.extend(shown.missed.iter().step_by(stride).cloned());
            let found = self.parallel(&candidates, |work, (region, (origin, policy), stage)| {
                let proved = work.verify(origin, policy, region, *stage, &focus)?;
                let mut branches = base.branches.clone();
                branches.push(proved);
                let draft = Draft { branches, cover: base.cover.clone() };
                let shown = work.watched(&draft, 0.0, troubled, steps)?;
                Some((draft, shown))
            });
            let best = found.into_iter().min_by_key(|(_, shown)| shown.interventions);
            match best {
                Some((better, own))
                    if (own.interventions as f64) < (1.0 - WORTH_A_BRANCH) * shown.interventions as f64 =>
                {
                    (*draft, *shown) = (better, own);
                }
                _ => return,
            }
        }
    }

    /// Where programs for a box may rest: states that the network goes to, moved off what is unsafe to the side that the box is
    /// on, so that the way there is free.
    pub fn rests(&self, region: &[(f64, f64)], count: usize, random: &mut Random) -> Vec<Vec<f64>> {
        let mut all = Vec::new();
        for _ in 0..if self.focus.is_empty() { 0 } else { count } {
            let place = (random.unit() * self.focus.len() as f64) as usize;
            let state = &self.focus[place.min(self.focus.len() - 1)];
            let mut moved = state.clone();
            for piece in &self.plant.pieces {
                let Some((_, side)) = farthest_side(piece, region) else { continue };
                let slopes = side.slopes();
                let square: f64 = slopes.iter().map(|s| s * s).sum();
                // As far on the free side as a part of the box's own distance.
                let middle: Vec<f64> = region.iter().map(|(a, b)| 0.5 * (a + b)).collect();
                let excess = side.value(&moved) - CLEARANCE * side.value(&middle).min(0.0);
                if excess > 0.0 && square > 0.0 {
                    moved.iter_mut().zip(&slopes).for_each(|(x, s)| *x -= s * excess / square);
                }
            }
            all.push(moved.clone());
            if moved != *state {
                all.push(state.clone());
            }
        }
        all
    }

    /// How further branches are proved: like the one that is there, and over modes, which reaches far with few half-spaces.
    fn branch_stages(&self, like: &Proved) -> Vec<Stage> {
        let modes = (self.options.form != Form::Polynomial && self.linear.is_some()).then_some(Stage::Modes);
        modes.into_iter().chain([stage_of(like)]).collect()
    }

    /// What comes of the items, in their order, by several threads; nothing more once it is time to stop. What may be spent is looked at
    /// between rounds of a fixed number of items, so what is left out does not depend on the threads.
    pub fn parallel<I: Sync, T: Send>(&mut self, items: &[I], work: impl Fn(&Self, &I) -> Option<T> + Sync) -> Vec<T> {
        let mut found = Vec::new();
        for round in items.chunks(ROUND) {
            if self.stopped() {
                break;
            }
            let (own, spent) = self.round(round, &work);
            found.extend(own);
            self.left = self.left.saturating_sub(spent);
        }
        found
    }

    /// The same for a few items, all of which are done unless the deadline ends it; and the work that was done.
    fn round<I: Sync, T: Send>(&self, items: &[I], work: &(impl Fn(&Self, &I) -> Option<T> + Sync)) -> (Vec<T>, u64) {
        let results: Vec<(Option<T>, u64)> = parallel::map(items, self.options.threads, |item| {
            if self.stopped() {
                return (None, 0);
            }
            let before = spent();
            let result = work(self, item);
            (result, spent() - before)
        });
        let spent = results.iter().map(|(_, spent)| spent).sum();
        (results.into_iter().filter_map(|(result, _)| result).collect(), spent)
    }

    /// Runs of the model under the network with a draft beside it.
    fn watched(&self, draft: &Draft, release: f64, starts: &[Vec<f64>], steps: usize) -> Option<Shown> {
        let branches: Vec<Branch> = draft.branches.iter().map(|proved| proved.branch.clone()).collect();
        let shield = Shield { release, ..self.shield(branches, draft.cover.clone()) };
        let runtime = Runtime::new(&shield, &self.plant.model)?;
        let simulator = Simulator::new(&self.plant);
        let (states, actions, batch) = (self.plant.states(), self.plant.actions(), starts.len());
        let mut current = starts.to_vec();
        let mut monitors = vec![Monitor::new(); batch];
        let mut random = Random::new(self.options.seed, 4 << 40);
        let mut shown = Shown { each: vec![0; batch], ..Shown::default() };
        let mut scratch = Scratch::default();
        runtime.with_tables(|tables| {
            let mut predicted = vec![0.0; states];
            for _ in 0..steps {
                let flat: Vec<f64> = (0..states).flat_map(|i| current.iter().map(move |state| state[i])).collect();
                let answers = self.network.act(&flat, batch, &mut scratch).ok()?;
                for (b, state) in current.iter_mut().enumerate() {
                    let proposed: Vec<f64> = (0..actions).map(|i| answers[i * batch + b]).collect();
                    let mut own = proposed.clone();
                    let decision = monitors[b].decide(tables, state, &mut own, &mut predicted, Fallback::LastBranch);
                    if !matches!(decision, Decision::Passed(_)) {
                        shown.each[b] += 1;
                        shown.missed.push(self.plant.step(state, &proposed, &self.plant.middle()));
                    }
                    let mut point: Vec<f64> = state.iter().chain(&own).copied().collect();
                    point.extend(self.plant.choices.iter().map(|&(a, b)| random.between(a, b)));
                    *state = simulator.step(&point);
                }
            }
            Some(())
        })?;
        // The monitor looks at every half-space or term; most of the rest is the network's, which counts itself.
        spend((steps * batch) as u64 * MONITORED_STEP);
        shown.interventions = shown.each.iter().sum();
        Some(shown)
    }
}
