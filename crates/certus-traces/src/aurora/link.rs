//! A link: a delay, a random loss, and a queue that empties at the link's bandwidth.
//!
//! With a constant bandwidth the queue is a delay that shrinks as time passes (the reference's arithmetic). With a
//! trace it is a number of packets that shrinks by what the trace delivers; both mean the same where the trace is
//! constant. In both, a packet that finds the queue empty passes at once, in an outage too: only those after it wait.

use std::sync::Arc;

use certus_numerics::Random;

use super::PACKET_BYTES;
use crate::traces::{Capacity, Trace};

/// How fast a link delivers.
#[derive(Clone, Debug)]
pub enum Bandwidth {
    /// So many packets per second, always.
    Constant(f64),
    /// What a trace says, from some second of it on; it repeats itself.
    Trace {
        /// The trace's capacity in packets.
        capacity: Arc<Capacity>,
        /// The second of the trace at which the simulation begins.
        offset: f64,
    },
}

impl Bandwidth {
    /// The bandwidth that a trace gives, from its beginning on.
    pub fn of_trace(trace: &Trace) -> Bandwidth {
        Bandwidth::Trace { capacity: Arc::new(Capacity::new(trace, 8.0 * PACKET_BYTES)), offset: 0.0 }
    }

    /// Mean packets per second.
    pub fn mean(&self) -> f64 {
        match self {
            Bandwidth::Constant(bandwidth) => *bandwidth,
            Bandwidth::Trace { capacity, .. } => capacity.mean_rate(),
        }
    }
}

/// A link with its queue.
#[derive(Clone, Debug)]
pub(super) struct Link {
    bandwidth: Bandwidth,
    /// One-way delay, s.
    delay: f64,
    /// Packets that fit into the queue.
    queue: f64,
    /// Chance that a packet is lost whatever the queue.
    loss: f64,
    /// What stood in the queue at the time below: seconds of delay (constant) or packets (trace).
    waiting: f64,
    updated: f64,
}

impl Link {
    pub(super) fn new(bandwidth: Bandwidth, delay: f64, queue: f64, loss: f64) -> Link {
        Link { bandwidth, delay, queue, loss, waiting: 0.0, updated: 0.0 }
    }

    /// What stands in the queue now, in the unit of the bandwidth's kind.
    fn waiting_at(&self, time: f64) -> f64 {
        let left = match &self.bandwidth {
            Bandwidth::Constant(_) => time - self.updated,
            Bandwidth::Trace { capacity, offset } => {
                capacity.delivered_by(offset + time) - capacity.delivered_by(offset + self.updated)
            }
        };
        (self.waiting - left).max(0.0)
    }

    /// How long a packet that enters now will take, s.
    pub(super) fn latency(&self, time: f64) -> f64 {
        let waiting = self.waiting_at(time);
        let queueing = match &self.bandwidth {
            Bandwidth::Constant(_) => waiting,
            // What rounding leaves of an emptied queue must not wait for the end of an outage.
            Bandwidth::Trace { .. } if waiting < 1e-9 => 0.0,
            Bandwidth::Trace { capacity, offset } => {
                let now = offset + time;
                (capacity.time_of(capacity.delivered_by(now) + waiting) - now).max(0.0)
            }
        };
        self.delay + queueing
    }

    /// A packet enters, or is dropped: false.
    pub(super) fn enter(&mut self, time: f64, random: &mut Random) -> bool {
        if random.unit() < self.loss {
            return false;
        }
        self.waiting = self.waiting_at(time);
        self.updated = time;
        let (packet, most) = match self.bandwidth {
            Bandwidth::Constant(bandwidth) => (1.0 / bandwidth, self.queue / bandwidth),
            Bandwidth::Trace { .. } => (1.0, self.queue),
        };
        if packet + self.waiting > most {
            return false;
        }
        self.waiting += packet;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_fills_and_empties() {
        let mut random = Random::new(0, 0);
        let trace = Trace::constant("c", 0.048).unwrap();
        // 4 packets per second, 2 places.
        for bandwidth in [Bandwidth::Constant(4.0), Bandwidth::of_trace(&trace)] {
            assert_eq!(bandwidth.mean(), 4.0);
            let mut link = Link::new(bandwidth, 0.5, 2.0, 0.0);
            assert_eq!(link.latency(0.0), 0.5);
            assert!(link.enter(0.0, &mut random));
            assert_eq!(link.latency(0.0), 0.75);
            assert!(link.enter(0.0, &mut random));
            assert!(!link.enter(0.0, &mut random));
            assert_eq!(link.latency(0.25), 0.75);
            assert!(link.enter(0.25, &mut random));
            assert_eq!(link.latency(9.0), 0.5);
        }
    }

    #[test]
    fn an_outage_delays_what_waits() {
        // Half a second at 4 packets per second, 1 s of nothing, half a second at 4.
        let trace = Trace::new("t", [(0.0, 0.0), (0.5, 0.048), (1.5, 0.0), (2.0, 0.048)]).unwrap();
        let mut link = Link::new(Bandwidth::of_trace(&trace), 0.1, 100.0, 0.0);
        let mut random = Random::new(0, 0);
        for _ in 0..3 {
            assert!(link.enter(0.0, &mut random));
        }
        // Two packets leave before the outage, the third a quarter of a second after it.
        assert!((link.latency(0.0) - (0.1 + 1.75)).abs() < 1e-12);
        assert!((link.latency(1.0) - (0.1 + 0.75)).abs() < 1e-12);
    }

    #[test]
    fn losses_are_drawn() {
        let mut link = Link::new(Bandwidth::Constant(1e6), 0.0, 1e9, 0.25);
        let mut random = Random::new(1, 0);
        let lost = (0..10_000).filter(|&i| !link.enter(f64::from(i), &mut random)).count();
        assert!((2300..2700).contains(&lost), "{lost}");
    }
}
