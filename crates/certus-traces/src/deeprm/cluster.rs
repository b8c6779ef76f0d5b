//! The cluster: a machine, five visible jobs, a backlog.

use std::collections::VecDeque;

use certus_numerics::Random;

use super::{Job, Machine};

/// Visible jobs.
pub const SLOTS: usize = 5;
/// Jobs that wait unseen.
pub const BACKLOG: usize = 60;
/// The time since the last arrival is counted up to this.
pub const MOST_SINCE_ARRIVAL: usize = 10;

/// The cluster.
#[derive(Clone, Debug)]
pub struct Cluster {
    machine: Machine,
    slots: [Option<Job>; SLOTS],
    backlog: VecDeque<Job>,
    since_arrival: usize,
    time: u64,
    lost: u64,
}

impl Cluster {
    /// An empty cluster; the order of the colours is drawn.
    pub fn new(random: &mut Random) -> Cluster {
        let machine = Machine::new(random);
        Cluster { machine, slots: [None; SLOTS], backlog: VecDeque::new(), since_arrival: 0, time: 0, lost: 0 }
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The visible jobs.
    pub fn slots(&self) -> &[Option<Job>; SLOTS] {
        &self.slots
    }

    /// The jobs that wait unseen, oldest first.
    pub fn backlog(&self) -> impl ExactSizeIterator<Item = &Job> {
        self.backlog.iter()
    }

    /// Time steps since the last arrival, at most [`MOST_SINCE_ARRIVAL`].
    pub fn since_arrival(&self) -> usize {
        self.since_arrival
    }

    /// Time steps so far.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// Jobs that found the backlog full.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Whether no job runs or waits.
    pub fn is_empty(&self) -> bool {
        self.machine.running().is_empty() && self.slots.iter().all(Option::is_none) && self.backlog.is_empty()
    }

    /// Places the job of a slot and refills the slot from the backlog; false, and nothing happens, if there is no such
    /// slot, no job in it, or no room for it. Time does not pass.
    pub fn schedule(&mut self, slot: usize) -> bool {
        let Some(Some(job)) = self.slots.get(slot).copied() else { return false };
        if !self.machine.place(job) {
            return false;
        }
        self.slots[slot] = self.backlog.pop_front();
        true
    }

    /// One time step.
    pub fn advance(&mut self) {
        self.time += 1;
        self.machine.advance();
        self.since_arrival = (self.since_arrival + 1).min(MOST_SINCE_ARRIVAL);
    }

    /// A job arrives: in the first empty slot, else in the backlog, else it is lost.
    pub fn arrive(&mut self, job: Job) {
        self.since_arrival = 0;
        if let Some(slot) = self.slots.iter_mut().find(|slot| slot.is_none()) {
            *slot = Some(job);
        } else if self.backlog.len() < BACKLOG {
            self.backlog.push_back(job);
        } else {
            self.lost += 1;
        }
    }

    /// What a time step earns: minus 1/length for every job that runs or waits.
    pub fn reward(&self) -> f64 {
        let running = self.machine.running().iter().map(|(job, _)| job);
        let jobs = running.chain(self.slots.iter().flatten()).chain(&self.backlog);
        // Beginning at 0 and not at −0, so that an empty cluster earns 0.
        jobs.fold(0.0, |sum, job| sum - 1.0 / job.length() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(length: usize) -> Job {
        Job::new(length, [1, 1]).unwrap()
    }

    #[test]
    fn jobs_fill_slots_then_the_backlog_then_nothing() {
        let mut cluster = Cluster::new(&mut Random::new(1, 0));
        for length in 0..67 {
            cluster.arrive(job(1 + length % 4));
        }
        assert_eq!((cluster.backlog().len(), cluster.lost()), (60, 2));
        // The sixth job, of length 2, comes into slot 2 from the backlog's head.
        assert!(cluster.schedule(2));
        assert_eq!(cluster.slots()[2], Some(job(2)));
        assert_eq!((cluster.backlog().len(), cluster.time()), (59, 0));
        assert!(!cluster.schedule(5));
    }

    #[test]
    fn rewards_count_all_jobs() {
        let mut cluster = Cluster::new(&mut Random::new(1, 0));
        assert_eq!(cluster.reward(), 0.0);
        for length in [2, 4, 1, 1, 1, 5] {
            cluster.arrive(job(length));
        }
        assert!(cluster.schedule(0));
        // Running 2, visible 5, 4, 1, 1, 1.
        assert!((cluster.reward() + 0.5 + 0.2 + 0.25 + 3.0).abs() < 1e-12);
        for _ in 0..12 {
            cluster.advance();
        }
        assert_eq!((cluster.since_arrival(), cluster.time()), (10, 12));
        assert!((cluster.reward() + 0.2 + 0.25 + 3.0).abs() < 1e-12);
        assert!(!cluster.is_empty());
        cluster.arrive(job(1));
        assert_eq!(cluster.since_arrival(), 0);
    }
}
