//! Work, counted in operations and not in seconds, so that machine load and threads do not shape a shield.
//!
//! Whatever takes long reports its work, in multiplications or what takes about as long (a nanosecond). The sum is kept per thread, since
//! one item is worked on by one thread: its work is the difference between before and after.

use std::cell::Cell;

thread_local! {
    static SPENT: Cell<u64> = const { Cell::new(0) };
}

/// Notes some work of this thread.
pub fn spend(work: u64) {
    SPENT.with(|spent| spent.set(spent.get().saturating_add(work)));
}

/// What this thread has done so far.
pub fn spent() -> u64 {
    SPENT.with(Cell::get)
}

/// What an interior-point method took: so many iterations on so many rows and columns, where each row meets few columns.
pub fn linear_program(iterations: u32, rows: usize, columns: usize) -> u64 {
    const PER_ENTRY: u64 = 8;
    u64::from(iterations) * (rows * (columns + 4)) as u64 * PER_ENTRY
}

/// The same where rows are entries of matrices, which all meet in one factorisation.
pub fn semidefinite_program(iterations: u32, rows: usize) -> u64 {
    u64::from(iterations) * (rows * rows) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_counts_its_own_work() {
        let before = spent();
        spend(3);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                spend(5);
                spent()
            });
            assert_eq!(other.join().unwrap(), 5);
        });
        assert_eq!(spent() - before, 3);
    }
}
