//! The schedulers that DeepRM was compared with: shortest job first, and packing as in Tetris (R. Grandl, G. Ananthanarayanan, S. Kandula, S. Rao,
//! A. Akella, *Multi-Resource Packing for Cluster Schedulers*, SIGCOMM 2014). Both look only at jobs that could begin now, prefer the first of equal
//! ones, and wait ([`SLOTS`]) where there is none.

use super::{Cluster, Job, SLOTS};

/// The shortest job.
pub fn shortest_job_first(cluster: &Cluster) -> usize {
    best(cluster, |job| 1.0 / job.length() as f64)
}

/// The job whose demand is best aligned with what is free now: greatest inner product.
pub fn packer(cluster: &Cluster) -> usize {
    let free = cluster.machine().free()[0];
    best(cluster, |job| free.iter().zip(job.demand()).map(|(free, units)| (free * units) as f64).sum())
}

fn best(cluster: &Cluster, score: impl Fn(&Job) -> f64) -> usize {
    let mut best = (0.0, SLOTS);
    for (slot, job) in cluster.slots().iter().enumerate() {
        let Some(job) = job else { continue };
        if cluster.machine().fits(job, 0) && score(job) > best.0 {
            best = (score(job), slot);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use certus_numerics::Random;

    #[test]
    fn choices_by_hand() {
        let mut cluster = Cluster::new(&mut Random::new(1, 0));
        assert_eq!((shortest_job_first(&cluster), packer(&cluster)), (5, 5));
        for (length, demand) in [(3, [1, 1]), (2, [2, 8]), (2, [9, 2]), (10, [1, 6])] {
            cluster.arrive(Job::new(length, demand).unwrap());
        }
        // Of the two jobs of length 2 the first; the third has the greatest sum of units.
        assert_eq!((shortest_job_first(&cluster), packer(&cluster)), (1, 2));
        assert!(cluster.schedule(2));
        // One unit of the first resource is left, 8 of the second: 9 for the first job, 49 for the last.
        assert_eq!((shortest_job_first(&cluster), packer(&cluster)), (0, 3));
        assert!(cluster.schedule(3));
        assert_eq!((shortest_job_first(&cluster), packer(&cluster)), (5, 5));
    }
}
