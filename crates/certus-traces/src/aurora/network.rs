//! The event loop: packets on their way, in the order of time.
//!
//! A packet reads the latency of the first link before it joins that link's queue; dropped or not, it travels on, and
//! its acknowledgement or the report of its loss crosses the second link, whose queue it never joins. Events at the
//! same time are taken in the reference's order: reports before sending, those nearer to the receiver first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use certus_numerics::Random;

use super::Interval;
use super::link::{Bandwidth, Link};

/// Something that will happen.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Event {
    time: f64,
    kind: Kind,
}

/// The order of the variants is the order at the same time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// The packet reaches the receiver, which answers.
    Received { latency: f64, dropped: bool },
    /// The answer reaches the sender.
    Reported { latency: f64, dropped: bool },
    /// The next packet is due.
    Send,
}

impl Kind {
    fn rank(&self) -> (u8, f64, bool) {
        match *self {
            Kind::Received { latency, dropped } => (0, latency, dropped),
            Kind::Reported { latency, dropped } => (1, latency, dropped),
            Kind::Send => (2, 0.0, false),
        }
    }
}

impl Eq for Event {}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (self.kind.rank(), other.kind.rank());
        let by_kind = a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2));
        self.time.total_cmp(&other.time).then(by_kind)
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A sender and two links.
#[derive(Clone, Debug)]
pub struct Network {
    data: Link,
    answers: Link,
    /// Packets per second.
    rate: f64,
    time: f64,
    events: BinaryHeap<Reverse<Event>>,
    random: Random,
}

impl Network {
    /// A network at time 0 whose first packet is due after one gap. The caller has checked the numbers.
    pub(super) fn new(bandwidth: Bandwidth, delay: f64, queue: f64, loss: f64, rate: f64, random: Random) -> Self {
        let data = Link::new(bandwidth, delay, queue, loss);
        let events = BinaryHeap::from([Reverse(Event { time: 1.0 / rate, kind: Kind::Send })]);
        Network { answers: data.clone(), data, rate, time: 0.0, events, random }
    }

    /// The time of the last event, s.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Packets per second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    pub(super) fn set_rate(&mut self, rate: f64) {
        self.rate = rate;
    }

    /// Packets that were sent and not reported on yet.
    pub fn in_flight(&self) -> usize {
        // All events but the sending of the next packet.
        self.events.len().saturating_sub(1)
    }

    /// Runs until the first event at or after the nominal end, and says what the sender saw.
    pub(super) fn run(&mut self, duration: f64) -> Interval {
        let mut seen = Interval { start: self.time, ..Interval::default() };
        let end = self.time + duration;
        while self.time < end {
            // There is always a packet due.
            let Some(Reverse(Event { time, kind })) = self.events.pop() else { break };
            self.time = time;
            match kind {
                Kind::Send => {
                    seen.sent += 1;
                    self.events.push(Reverse(Event { time: time + 1.0 / self.rate, kind: Kind::Send }));
                    let latency = self.data.latency(time);
                    let dropped = !self.data.enter(time, &mut self.random);
                    let kind = Kind::Received { latency, dropped };
                    self.events.push(Reverse(Event { time: time + latency, kind }));
                }
                Kind::Received { latency, dropped } => {
                    let back = self.answers.latency(time);
                    let kind = Kind::Reported { latency: latency + back, dropped };
                    self.events.push(Reverse(Event { time: time + back, kind }));
                }
                Kind::Reported { dropped: true, .. } => seen.lost += 1,
                Kind::Reported { latency, dropped: false } => {
                    seen.acked += 1;
                    seen.round_trips.push(latency);
                }
            }
        }
        seen.end = self.time;
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_goes_and_comes_back() {
        // One packet per second, 100 per second fit, 0.25 s each way.
        let mut network = Network::new(Bandwidth::Constant(100.0), 0.25, 10.0, 0.0, 1.0, Random::new(0, 0));
        let seen = network.run(1.0);
        assert_eq!((seen.end, seen.sent, seen.acked), (1.0, 1, 0));
        // Received at 1.25, reported at 1.5, which is past the nominal end of 1.4: the interval runs over.
        let seen = network.run(0.4);
        assert_eq!((seen.start, seen.end, seen.sent, seen.acked, seen.lost), (1.0, 1.5, 0, 1, 0));
        assert_eq!(seen.round_trips, [0.5]);
        assert_eq!(network.in_flight(), 0);
    }

    #[test]
    fn a_full_queue_reports_losses_after_the_same_time() {
        // 4 packets per second into 1 per second with one place.
        let mut network = Network::new(Bandwidth::Constant(1.0), 0.5, 1.0, 0.0, 4.0, Random::new(0, 0));
        let seen = network.run(3.0);
        // Sent at 0.25, 0.5, …, 3: the first fits, the next fits at 1.25.
        assert_eq!(seen.sent, 12);
        // The one sent at 0.5 read a queue of 0.75 s, is lost, and is reported at 0.5 + 0.5 + 0.75 + 0.5; so are the
        // next two, which waited less by as much as they were later.
        assert_eq!((seen.acked, seen.lost), (2, 3));
        assert_eq!(seen.round_trips, [1.0, 1.0]);
    }
}
