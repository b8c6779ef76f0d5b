//! The machine: which units of which resource are held in each of the next 20 time steps, and by which job.
//!
//! The canvas is what the policy sees of it: jobs fill the leftmost free cells of each row in a colour of their own. A
//! job may start at row t only if t + length is less than the number of rows, so the last row is never used and a job
//! of 20 steps can never be placed. That is so in the original, and results depend on it.

use certus_numerics::Random;

use super::{Job, RESOURCES, UNITS};
use crate::draw::shuffle;

/// Time steps that are planned ahead: rows of the canvas.
pub const HORIZON: usize = 20;
/// Colours of jobs: 1 to 39, seen as fortieths.
pub const COLOURS: u8 = 39;

/// A canvas: per row and unit the colour of the job that holds it, or 0.
pub(super) type Canvas = [[u8; UNITS]; HORIZON];

/// The machine.
#[derive(Clone, Debug)]
pub struct Machine {
    free: [[usize; RESOURCES]; HORIZON],
    canvas: [Canvas; RESOURCES],
    /// The jobs that were placed and are not finished, with the number of steps until they are.
    running: Vec<(Job, usize)>,
    /// In the order in which they are given out.
    colours: Vec<u8>,
}

impl Machine {
    /// An empty machine; the order of the colours is drawn.
    pub fn new(random: &mut Random) -> Machine {
        let mut colours: Vec<u8> = (1..=COLOURS).collect();
        shuffle(random, &mut colours);
        let canvas = [[[0; UNITS]; HORIZON]; RESOURCES];
        Machine { free: [[UNITS; RESOURCES]; HORIZON], canvas, running: Vec::new(), colours }
    }

    /// Free units per row and resource.
    pub fn free(&self) -> &[[usize; RESOURCES]; HORIZON] {
        &self.free
    }

    /// The canvas of each resource: rows of cells, 0 or a colour.
    pub fn canvas(&self) -> &[[[u8; UNITS]; HORIZON]; RESOURCES] {
        &self.canvas
    }

    /// The jobs that were placed and are not finished, with the number of steps until they are.
    pub fn running(&self) -> &[(Job, usize)] {
        &self.running
    }

    /// Whether a job could begin in row `start` without anything else moving; false where it would end below the
    /// canvas.
    pub fn fits(&self, job: &Job, start: usize) -> bool {
        let demand = job.demand();
        let rows = self.free.get(start..start + job.length());
        rows.is_some_and(|rows| rows.iter().all(|free| free.iter().zip(demand).all(|(&free, units)| free >= units)))
    }

    /// Places a job as early as it fits; false if it does not.
    pub fn place(&mut self, job: Job) -> bool {
        let Some(start) = (0..HORIZON - job.length()).find(|&start| self.fits(&job, start)) else { return false };
        let rows = start..start + job.length();
        let colour = self.fresh_colour();
        for (resource, units) in job.demand().into_iter().enumerate() {
            for row in rows.clone() {
                self.free[row][resource] -= units;
                let cells = self.canvas[resource][row].iter_mut().filter(|cell| **cell == 0);
                cells.take(units).for_each(|cell| *cell = colour);
            }
        }
        self.running.push((job, rows.end));
        true
    }

    /// The first colour that is not on the canvas. With the reference's jobs there always is one (at most two fit into
    /// each of 19 rows); if more and smaller jobs use up all of them, the first is used again.
    fn fresh_colour(&self) -> u8 {
        let on_canvas = |colour: &u8| self.canvas.as_flattened().as_flattened().contains(colour);
        self.colours.iter().copied().find(|colour| !on_canvas(colour)).unwrap_or(self.colours[0])
    }

    /// One time step: rows move up, all finished jobs leave. (The original removes from the list that it walks, so of two
    /// neighbours that finish together the second is counted for one step more; here both leave.)
    pub fn advance(&mut self) {
        self.free.rotate_left(1);
        self.free[HORIZON - 1] = [UNITS; RESOURCES];
        for canvas in &mut self.canvas {
            canvas.rotate_left(1);
            canvas[HORIZON - 1] = [0; UNITS];
        }
        self.running.iter_mut().for_each(|(_, left)| *left -= 1);
        self.running.retain(|(_, left)| *left > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(length: usize, first: usize, second: usize) -> Job {
        Job::new(length, [first, second]).unwrap()
    }

    #[test]
    fn jobs_go_to_the_earliest_rows_and_leftmost_cells() {
        let mut machine = Machine::new(&mut Random::new(1, 0));
        assert!(machine.place(job(2, 6, 1)));
        // Does not fit beside the first; begins when it ends.
        assert!(machine.place(job(3, 5, 2)));
        // Fits beside the first, in row 0.
        assert!(machine.place(job(1, 4, 9)));
        assert_eq!(machine.free()[..6], [[0, 0], [4, 9], [5, 8], [5, 8], [5, 8], [10, 10]]);
        let (a, b, c) = (machine.colours[0], machine.colours[1], machine.colours[2]);
        assert_eq!(machine.canvas()[0][0], [a, a, a, a, a, a, c, c, c, c]);
        assert_eq!(machine.canvas()[1][0], [a, c, c, c, c, c, c, c, c, c]);
        assert_eq!(machine.canvas()[0][2], [b, b, b, b, b, 0, 0, 0, 0, 0]);
        machine.advance();
        assert_eq!(machine.running().iter().map(|(_, left)| *left).collect::<Vec<_>>(), [1, 4]);
        assert_eq!(machine.free()[0], [4, 9]);
        machine.advance();
        assert_eq!(machine.running().len(), 1);
        assert_eq!(machine.canvas()[0][0], [b, b, b, b, b, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn the_last_row_is_never_used() {
        let mut machine = Machine::new(&mut Random::new(1, 0));
        assert!(!machine.place(job(20, 1, 1)));
        assert!(machine.fits(&job(20, 1, 1), 0) && !machine.fits(&job(20, 1, 1), 1));
        assert!(machine.place(job(19, 10, 10)));
        assert!(!machine.place(job(1, 1, 1)));
        machine.advance();
        assert!(machine.place(job(1, 1, 1)));
    }

    #[test]
    fn running_out_of_colours_is_no_failure() {
        let mut machine = Machine::new(&mut Random::new(1, 0));
        assert!((0..190).all(|_| machine.place(job(1, 1, 1))));
        assert!(!machine.place(job(1, 1, 1)));
    }
}
