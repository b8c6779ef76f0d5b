//! How several properties share the time until a deadline.
//!
//! Each property gets an equal share of the time that is left when its turn comes: time that earlier ones did not need goes to later ones.
//! A property that ran out of time starts again while the time that is left gives it a clearly larger share than before. No clock is
//! read here but the one that is given, so all of this is tested without waiting.

use std::time::{Duration, Instant};

/// Says what time it is.
pub trait Clock {
    /// The time now.
    fn now(&self) -> Instant;
}

/// The clock of the machine.
pub struct Wall;

impl Clock for Wall {
    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// So much more time than before is worth another beginning.
const MORE_THAN_BEFORE: f64 = 1.5;

/// When the first of so many has had its share of the time.
fn share_of(now: Instant, deadline: Instant, count: usize) -> Instant {
    now + deadline.saturating_duration_since(now) / u32::try_from(count.max(1)).unwrap_or(u32::MAX)
}

/// Attempts each of so many properties by the deadline of its share; an attempt says whether it ran out of time.
pub fn share_out<E>(
    count: usize,
    deadline: Option<Instant>,
    clock: &dyn Clock,
    attempt: &mut dyn FnMut(usize, Option<Instant>) -> Result<bool, E>,
) -> Result<(), E> {
    let Some(deadline) = deadline else {
        return (0..count).try_for_each(|property| attempt(property, None).map(|_| ()));
    };
    // What each property had so far, and who is to have a turn.
    let mut had = vec![Duration::ZERO; count];
    let mut waiting: Vec<usize> = (0..count).collect();
    let mut first = true;
    while !waiting.is_empty() {
        let mut late = Vec::new();
        for (place, &property) in waiting.iter().enumerate() {
            let now = clock.now();
            let own = share_of(now, deadline, waiting.len() - place);
            let time = own.saturating_duration_since(now);
            if !first && time <= had[property].mul_f64(MORE_THAN_BEFORE) {
                continue;
            }
            had[property] = time;
            if attempt(property, Some(own))? {
                late.push(property);
            }
        }
        first = false;
        waiting = late;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A clock that moves when it is told to.
    struct Fake(Cell<Instant>);

    impl Clock for Fake {
        fn now(&self) -> Instant {
            self.0.get()
        }
    }

    /// Which property had how much time in which order, if each needs so many seconds and reacts to its deadline so much later.
    fn turns(needed: &[f64], total: f64, slow: f64) -> Vec<(usize, f64, bool)> {
        let start = Instant::now();
        let clock = Fake(Cell::new(start));
        let mut turns = Vec::new();
        let done: Result<(), ()> =
            share_out(needed.len(), Some(start + Duration::from_secs_f64(total)), &clock, &mut |property, own| {
                let now = clock.now();
                let given = own.unwrap().saturating_duration_since(now).as_secs_f64();
                let late = needed[property] > given;
                let took = if late { given + slow } else { needed[property] };
                clock.0.set(now + Duration::from_secs_f64(took));
                turns.push((property, (given * 1e3).round() / 1e3, late));
                Ok(late)
            });
        done.unwrap();
        turns
    }

    #[test]
    fn the_time_that_is_left_is_shared() {
        // Two hard ones: half each. Nobody gets nearly all.
        assert_eq!(turns(&[99.0, 99.0], 12.0, 0.0), [(0, 6.0, true), (1, 6.0, true)]);
        // What the first leaves is for the others.
        assert_eq!(turns(&[0.0, 99.0, 99.0], 12.0, 0.0), [(0, 4.0, false), (1, 6.0, true), (2, 6.0, true)]);
        assert_eq!(turns(&[1.0, 2.0, 9.0], 12.0, 0.0), [(0, 4.0, false), (1, 5.5, false), (2, 9.0, false)]);
    }

    #[test]
    fn who_had_too_little_begins_anew_with_clearly_more() {
        // Of three one is hard: 4 s, then all that the others left.
        let all = turns(&[7.0, 0.5, 0.5], 12.0, 0.0);
        assert_eq!(all, [(0, 4.0, true), (1, 4.0, false), (2, 7.5, false), (0, 7.0, false)]);
        // 5 s after 6 s would be the same again.
        assert_eq!(turns(&[99.0, 1.0], 12.0, 0.0), [(0, 6.0, true), (1, 6.0, false)]);
        // Two are hard: the second turn is shared too, and the last one has what is left of it.
        let all = turns(&[99.0, 4.6, 0.1, 0.1, 0.1, 0.1], 12.0, 0.0);
        assert_eq!(all[6..], [(0, 3.8, true), (1, 3.8, true)]);
        let again = turns(&[2.5, 99.0, 0.0, 0.0, 0.0, 0.0], 12.0, 0.0);
        assert_eq!(again[6..], [(0, 4.0, false), (1, 5.5, true)]);
    }

    #[test]
    fn who_reacts_late_takes_from_all() {
        assert_eq!(turns(&[99.0, 1.0, 99.0], 12.0, 2.0), [(0, 4.0, true), (1, 3.0, false), (2, 5.0, true)]);
        // Late is late: the second still has a turn, which ends at once.
        assert_eq!(turns(&[99.0, 1.0], 12.0, 9.0), [(0, 6.0, true), (1, 0.0, true)]);
    }

    #[test]
    fn without_a_deadline_each_has_one_turn() {
        let mut turns = Vec::new();
        let wall: Result<(), ()> = share_out(2, None, &Wall, &mut |property, own| {
            turns.push((property, own));
            Ok(true)
        });
        assert_eq!((wall, turns), (Ok(()), vec![(0, None), (1, None)]));
    }
}
