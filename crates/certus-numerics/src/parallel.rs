//! Parallel maps over scoped threads.
//!
//! Threads take the next item as they become free (self-scheduling), and results are returned in the order of the items. So a result never
//! depends on the number of threads or on their timing, which every engine's determinism rests on.
//!
//! Why not rayon: a global pool outlives the call, which a library inside a Python process that forks must avoid; and none of its maps ends
//! early at an index that is the same for any number of threads, as [`map_until`] does. What is left to write are the few lines below.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Applies a function to every item on at most so many threads; results are in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], threads: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if threads < 2 || items.len() < 2 {
        return items.iter().map(work).collect();
    }
    map_owned(items.iter().collect(), threads, work)
}

/// The same for items that the function consumes, such as disjoint mutable slices of one buffer.
pub fn map_owned<I: Send, R: Send>(items: Vec<I>, threads: usize, work: impl Fn(I) -> R + Sync) -> Vec<R> {
    map_until(items, threads, work, |_| false)
}

/// Applies a function to the items up to the first whose result is `enough`, which is the last result returned. Which one that is does not
/// depend on the threads: all before it are finished, and results behind it are dropped.
pub fn map_until<I: Send, R: Send>(
    items: Vec<I>,
    threads: usize,
    work: impl Fn(I) -> R + Sync,
    enough: impl Fn(&R) -> bool + Sync,
) -> Vec<R> {
    let count = items.len();
    let mut results = Vec::with_capacity(count);
    if threads < 2 || count < 2 {
        for item in items {
            results.push(work(item));
            if results.last().is_some_and(&enough) {
                break;
            }
        }
        return results;
    }
    let slots: Vec<Mutex<(Option<I>, Option<R>)>> =
        items.into_iter().map(|item| Mutex::new((Some(item), None))).collect();
    let next = AtomicUsize::new(0);
    let last = AtomicUsize::new(count);
    let worker = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            // The last index only decreases, and never below one that is enough: items before that one are never skipped.
            if index > last.load(Ordering::Relaxed) {
                return;
            }
            let Some(slot) = slots.get(index) else { return };
            let item = slot.lock().unwrap_or_else(PoisonError::into_inner).0.take();
            if let Some(item) = item {
                let result = work(item);
                if enough(&result) {
                    last.fetch_min(index, Ordering::Relaxed);
                }
                slot.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(result);
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads.min(count)).map(|_| scope.spawn(worker)).collect();
        worker();
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    let finished = slots.into_iter().map_while(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner).1);
    for result in finished {
        results.push(result);
        if results.last().is_some_and(&enough) {
            break;
        }
    }
    debug_assert!(results.len() == count || results.last().is_some_and(&enough), "a result for every item");
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_their_order_on_any_number_of_threads() {
        let items: Vec<u64> = (0..1000).collect();
        let squares: Vec<u64> = items.iter().map(|x| x * x).collect();
        for threads in [0, 1, 2, 7] {
            assert_eq!(map(&items, threads, |x| x * x), squares);
        }
        assert!(map(&[] as &[u64], 4, |x| *x).is_empty());
    }

    #[test]
    fn an_early_end_is_the_same_on_any_number_of_threads() {
        for threads in [1, 2, 5] {
            let found = map_until((0..500u64).collect(), threads, |x| x, |&x| x % 90 == 89);
            assert_eq!(found, (0..90).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn slices_of_one_buffer_are_filled() {
        let mut buffer = vec![0; 10];
        map_owned(buffer.chunks_mut(3).enumerate().collect(), 3, |(index, chunk)| chunk.fill(index));
        assert_eq!(buffer, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]);
    }
}
