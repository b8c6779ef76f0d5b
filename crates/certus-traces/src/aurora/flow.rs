//! A sender that a congestion controller of the usual kind drives: a window of packets in flight, and perhaps a pace.
//!
//! The links, and what happens to a packet on them, are those of [`super::Network`]. What differs is who decides when a
//! packet is sent: a controller that hears of every acknowledgement and every loss as it arrives. Time is cut into
//! monitor intervals of a fixed length, as logs of such flows are.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use certus_numerics::Random;

use super::link::Link;
use super::{Interval, Scenario};
use crate::SettingError;

/// What an acknowledgement tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acknowledgement {
    /// When it arrived, s.
    pub time: f64,
    /// The round-trip time of its packet, s.
    pub round_trip: f64,
    /// Packets acknowledged so far, this one among them.
    pub delivered: u64,
    /// Packets that had been acknowledged when its packet was sent.
    pub delivered_before: u64,
    /// Packets per second delivered between the sending of its packet and now.
    pub delivery_rate: f64,
    /// Packets in flight now.
    pub in_flight: usize,
}

/// Decides how many packets may be in flight, and how fast they are sent.
pub trait CongestionControl {
    /// A packet was acknowledged.
    fn acknowledged(&mut self, acknowledgement: &Acknowledgement);

    /// A packet that was sent at some time was reported lost now.
    fn lost(&mut self, time: f64, sent: f64);

    /// How many packets may be in flight.
    fn window(&self) -> f64;

    /// Packets per second at most; none for as fast as the window allows.
    fn pace(&self) -> Option<f64> {
        None
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Packet {
    sent: f64,
    delivered: u64,
    delivered_time: f64,
    latency: f64,
    dropped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Received(Packet),
    Reported(Packet),
    /// The pace allows the next packet.
    Wake,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Event {
    time: f64,
    /// Events at the same time are taken in the order in which they were made.
    number: u64,
    kind: Kind,
}

impl Eq for Event {}

impl Ord for Event {
    fn cmp(&self, other: &Self) -> Ordering {
        self.time.total_cmp(&other.time).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Packets that may be in flight, whatever a controller says.
const MOST_IN_FLIGHT: f64 = 1e5;

/// A running flow.
pub struct Flow<C> {
    controller: C,
    data: Link,
    answers: Link,
    time: f64,
    events: BinaryHeap<Reverse<Event>>,
    numbers: u64,
    in_flight: usize,
    delivered: u64,
    delivered_time: f64,
    next_send: f64,
    waking: bool,
    random: Random,
}

impl<C: CongestionControl> Flow<C> {
    /// A flow at time 0 with nothing sent. `random` draws the losses; the scenario's start rate is not used.
    pub fn new(scenario: &Scenario, controller: C, random: Random) -> Result<Self, SettingError> {
        scenario.check()?;
        let data = Link::new(scenario.bandwidth.clone(), scenario.delay, f64::from(scenario.queue), scenario.loss);
        Ok(Flow {
            controller,
            answers: data.clone(),
            data,
            time: 0.0,
            events: BinaryHeap::new(),
            numbers: 0,
            in_flight: 0,
            delivered: 0,
            delivered_time: 0.0,
            next_send: 0.0,
            waking: false,
            random,
        })
    }

    /// The controller.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// Seconds since the beginning.
    pub fn time(&self) -> f64 {
        self.time
    }

    fn push(&mut self, time: f64, kind: Kind) {
        self.numbers += 1;
        self.events.push(Reverse(Event { time, number: self.numbers, kind }));
    }

    /// Sends what window and pace allow.
    fn send(&mut self, seen: &mut Interval) {
        let window = self.controller.window().clamp(1.0, MOST_IN_FLIGHT);
        while ((self.in_flight + 1) as f64) <= window {
            if let Some(pace) = self.controller.pace() {
                if self.time < self.next_send {
                    if !self.waking {
                        self.waking = true;
                        self.push(self.next_send, Kind::Wake);
                    }
                    return;
                }
                self.next_send = self.time + 1.0 / pace.max(1.0);
            }
            let latency = self.data.latency(self.time);
            let dropped = !self.data.enter(self.time, &mut self.random);
            if self.in_flight == 0 {
                // A delivery rate is not measured over a pause.
                self.delivered_time = self.time;
            }
            let (delivered, delivered_time) = (self.delivered, self.delivered_time);
            let packet = Packet { sent: self.time, delivered, delivered_time, latency, dropped };
            self.push(self.time + latency, Kind::Received(packet));
            self.in_flight += 1;
            seen.sent += 1;
        }
    }

    /// Runs one monitor interval of exactly this length, s.
    pub fn run(&mut self, duration: f64) -> Interval {
        let end = self.time + duration;
        let mut seen = Interval { start: self.time, end, ..Interval::default() };
        self.send(&mut seen);
        while self.events.peek().is_some_and(|Reverse(event)| event.time < end) {
            let Some(Reverse(Event { time, kind, .. })) = self.events.pop() else { break };
            self.time = time;
            match kind {
                Kind::Wake => self.waking = false,
                Kind::Received(packet) => {
                    let back = self.answers.latency(time);
                    self.push(time + back, Kind::Reported(Packet { latency: packet.latency + back, ..packet }));
                }
                Kind::Reported(packet) => self.report(packet, &mut seen),
            }
            self.send(&mut seen);
        }
        self.time = end;
        seen
    }

    fn report(&mut self, packet: Packet, seen: &mut Interval) {
        self.in_flight -= 1;
        if packet.dropped {
            seen.lost += 1;
            self.controller.lost(self.time, packet.sent);
            return;
        }
        seen.acked += 1;
        seen.round_trips.push(packet.latency);
        self.delivered += 1;
        self.delivered_time = self.time;
        let passed = (self.time - packet.delivered_time).max(1e-9);
        self.controller.acknowledged(&Acknowledgement {
            time: self.time,
            round_trip: packet.latency,
            delivered: self.delivered,
            delivered_before: packet.delivered,
            delivery_rate: (self.delivered - packet.delivered) as f64 / passed,
            in_flight: self.in_flight,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aurora::Bandwidth;

    /// So many packets in flight, always.
    struct Fixed(f64, Option<f64>);

    impl CongestionControl for Fixed {
        fn acknowledged(&mut self, _: &Acknowledgement) {}
        fn lost(&mut self, _: f64, _: f64) {}
        fn window(&self) -> f64 {
            self.0
        }
        fn pace(&self) -> Option<f64> {
            self.1
        }
    }

    fn flow(controller: Fixed) -> Flow<Fixed> {
        let scenario =
            Scenario { bandwidth: Bandwidth::Constant(100.0), delay: 0.1, queue: 50, loss: 0.0, start_rate: 1.0 };
        Flow::new(&scenario, controller, Random::new(0, 0)).unwrap()
    }

    #[test]
    fn a_window_gives_a_window_per_round_trip() {
        let mut flow = flow(Fixed(4.0, None));
        flow.run(1.0);
        let seen = flow.run(2.0);
        // Four packets per 0.2 s and what they wait for each other.
        assert!((36..=40).contains(&seen.sent) && seen.sent == seen.acked, "{} {}", seen.sent, seen.acked);
        assert_eq!((seen.lost, seen.start, seen.end), (0, 1.0, 3.0));
    }

    #[test]
    fn a_large_window_fills_the_link_and_its_queue() {
        let mut flow = flow(Fixed(40.0, None));
        flow.run(2.0);
        let seen = flow.run(2.0);
        assert!((198..=202).contains(&seen.acked), "{}", seen.acked);
        // 40 in flight at 100 per second: each waits 0.4 s in all.
        assert!((seen.average_latency() - 0.4).abs() < 0.02, "{}", seen.average_latency());
        let mut over = self::flow(Fixed(90.0, None));
        over.run(2.0);
        assert!(over.run(2.0).lost > 0);
    }

    #[test]
    fn a_pace_spreads_packets() {
        let mut flow = flow(Fixed(1000.0, Some(50.0)));
        flow.run(1.0);
        let seen = flow.run(2.0);
        assert!((99..=101).contains(&seen.sent), "{}", seen.sent);
        assert!((seen.average_latency() - 0.2).abs() < 1e-9);
    }
}
