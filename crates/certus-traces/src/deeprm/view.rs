//! What the policy sees of the cluster: an image, or a short list of numbers.
//!
//! | columns of the image | content |
//! | --- | --- |
//! | 0–9 | canvas of resource 0: 0, or the job's colour in fortieths |
//! | 10–59 | the five slots, ten columns each: demand on resource 0 in as many rows as the job is long |
//! | 60–69, 70–119 | the same for resource 1 |
//! | 120–122 | backlog: one cell per job, row by row |
//! | 123 | time since the last arrival, as a share of its maximum |

use super::{BACKLOG, Cluster, HORIZON, MOST_SINCE_ARRIVAL, RESOURCES, SLOTS, UNITS};

const BACKLOG_COLUMNS: usize = BACKLOG / HORIZON;
/// Columns of the image; it has [`HORIZON`] rows.
pub const IMAGE_COLUMNS: usize = RESOURCES * UNITS * (1 + SLOTS) + BACKLOG_COLUMNS + 1;
/// Numbers of the image.
pub const IMAGE_LENGTH: usize = HORIZON * IMAGE_COLUMNS;
/// Numbers of the compact view.
pub const COMPACT_LENGTH: usize = (RESOURCES + 1) * (HORIZON + SLOTS) + 1;

/// The image, row by row.
pub fn image(cluster: &Cluster) -> Vec<f64> {
    let mut image = vec![0.0; IMAGE_LENGTH];
    let backlog = RESOURCES * UNITS * (1 + SLOTS);
    for (row, cells) in image.chunks_exact_mut(IMAGE_COLUMNS).enumerate() {
        for resource in 0..RESOURCES {
            let first = resource * UNITS * (1 + SLOTS);
            let canvas = &cluster.machine().canvas()[resource][row];
            for (cell, &colour) in cells[first..].iter_mut().zip(canvas) {
                *cell = f64::from(colour) / 40.0;
            }
            for (slot, job) in cluster.slots().iter().enumerate() {
                if let Some(job) = job.filter(|job| row < job.length()) {
                    cells[first + UNITS * (1 + slot)..][..job.demand()[resource]].fill(1.0);
                }
            }
        }
        let waiting = cluster.backlog().len().saturating_sub(row * BACKLOG_COLUMNS).min(BACKLOG_COLUMNS);
        cells[backlog..][..waiting].fill(1.0);
        cells[IMAGE_COLUMNS - 1] = cluster.since_arrival() as f64 / MOST_SINCE_ARRIVAL as f64;
    }
    image
}

/// The compact view: per future step how many of the jobs that run now are left after it, then per resource the free
/// units of each step, then per slot the job's length and demands (zeros where there is none), then the backlog.
pub fn compact(cluster: &Cluster) -> Vec<f64> {
    let mut values = Vec::with_capacity(COMPACT_LENGTH);
    let machine = cluster.machine();
    values.extend((0..HORIZON).map(|row| machine.running().iter().filter(|(_, left)| *left > row).count() as f64));
    for resource in 0..RESOURCES {
        values.extend(machine.free().iter().map(|free| free[resource] as f64));
    }
    for slot in cluster.slots() {
        let (length, demand) = slot.map_or((0, [0; RESOURCES]), |job| (job.length(), job.demand()));
        values.push(length as f64);
        values.extend(demand.map(|units| units as f64));
    }
    values.push(cluster.backlog().len() as f64);
    values
}

#[cfg(test)]
mod tests {
    use super::super::Job;
    use super::*;
    use certus_numerics::Random;

    fn cluster() -> Cluster {
        let mut cluster = Cluster::new(&mut Random::new(1, 0));
        for (length, demand) in [(3, [2, 7]), (2, [8, 1])] {
            cluster.arrive(Job::new(length, demand).unwrap());
        }
        assert!(cluster.schedule(0));
        for _ in 0..8 {
            cluster.arrive(Job::new(1, [1, 1]).unwrap());
        }
        cluster.advance();
        cluster
    }

    #[test]
    fn the_image_has_its_columns() {
        let image = image(&cluster());
        assert_eq!((IMAGE_COLUMNS, image.len()), (124, 2480));
        let at = |row: usize, column: usize| image[124 * row + column];
        let colour = at(0, 0);
        assert!(colour > 0.0 && (colour * 40.0).fract() == 0.0);
        // Two of three steps of the job are left; it holds 2 units of resource 0 and 7 of resource 1.
        assert_eq!([at(0, 1), at(0, 2), at(1, 1), at(2, 0)], [colour, 0.0, colour, 0.0]);
        assert_eq!([at(0, 66), at(0, 67)], [colour, 0.0]);
        // Slot 1 waits with 8 units of resource 0 for 2 steps.
        assert_eq!([at(0, 20), at(1, 27), at(0, 28), at(2, 20), at(1, 80), at(1, 81)], [1., 1., 0., 0., 1., 0.]);
        // Slots 0, 2, 3, 4 were filled; 4 jobs are in the backlog.
        assert_eq!([at(0, 10), at(0, 30), at(0, 40), at(0, 50), at(1, 50)], [1.0, 1.0, 1.0, 1.0, 0.0]);
        assert_eq!([at(0, 120), at(0, 122), at(1, 120), at(1, 121)], [1.0, 1.0, 1.0, 0.0]);
        assert!((0..20).all(|row| at(row, 123) == 0.1));
    }

    #[test]
    fn the_compact_view_has_76_values() {
        let values = compact(&cluster());
        assert_eq!((COMPACT_LENGTH, values.len()), (76, 76));
        // One job runs for two more steps.
        assert_eq!(values[..4], [1.0, 1.0, 0.0, 0.0]);
        assert_eq!(values[20..24], [8.0, 8.0, 10.0, 10.0]);
        assert_eq!(values[40..43], [3.0, 3.0, 10.0]);
        assert_eq!(values[60..66], [1.0, 1.0, 1.0, 2.0, 8.0, 1.0]);
        assert_eq!(values[75], 4.0);
    }
}
