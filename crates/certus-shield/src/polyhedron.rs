//! Polyhedral invariants: maximal output admissible sets of linear closed loops.
//!
//! E. G. Gilbert and K. T. Tan, 'Linear systems with state and control constraints: the theory and application of maximal output admissible
//! sets', IEEE TAC 36 (1991).
//!
//! *Idea.* Begin with the half-spaces that the unsafe pieces, the domain and the limits of the actions leave. A half-space
//! g · x ≤ h has to hold after a step too: (Aᵀ g) · x ≤ h − g · c − max g · B d. Unless what is there already implies
//! that, it is added, and its successor is looked at in turn. Successors are made a little stricter
//! each time, so that the proof survives rounding; where the first step allows no strictness it is left out there.
//!
//! *Departures.* Where a loop is slow, many half-spaces of successive steps differ by little, and only the first and the last matter. So a
//! large set begins with successors some steps ahead, less what is redundant among them; most of what lies between is then
//! implied. Or it begins with the partial sums of the half-spaces over the loop's modes, where these are real (`modes.rs`): then nothing has to be
//! added at all, and the set is a little smaller.
//!
//! *Soundness.* Multipliers prove each successor (Farkas' lemma): one times the half-space that was added for it, or the dual solution of the
//! linear program that found it redundant. The audit checks them exactly.

use std::time::Instant;

use certus_audit::shield::{Branch, Halfspace, Invariant, PieceProof, Polyhedron};
use certus_numerics::conic::{Cone, ConicProgram, Matrix as Sparse, Settings, Status};

use crate::linear_algebra::{Matrix, plus, solve};
use crate::modes::{modes, partial_sums};
use crate::plant::{Plant, Policy};
use crate::polynomial::Poly;
use crate::work_count::{linear_program, spend};

/// How the set is made.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// By which part of its bound a successor is stricter.
    pub strictness: f64,
    /// How many steps ahead this begins.
    pub strict_from: usize,
    /// Most half-spaces.
    pub most: usize,
    /// What it begins with.
    pub begin: Begin,
}

/// What a set begins with, beside what is unsafe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// Nothing.
    Plain,
    /// Half-spaces that look many steps ahead.
    Ahead,
    /// Half-spaces over the loop's modes: a somewhat smaller set of few half-spaces.
    Modes,
}

/// How many steps ahead half-spaces look from the beginning, at most.
const AHEAD: usize = 4096;

/// Most half-spaces that are added to those over modes.
const ADDED_TO_MODES: usize = 8;

struct Row {
    normal: Vec<f64>,
    bound: f64,
    /// How many steps ahead it looks.
    level: usize,
    /// What proves its successor.
    proof: Vec<(usize, f64)>,
}

/// The maximal admissible set of a program, if the loop is linear and the set has few enough half-spaces. Of unsafe pieces
/// with several sides, it is on the one that is best for the given box.
#[tracing::instrument(level = "debug", name = "polyhedron", skip_all)]
pub fn search(
    plant: &Plant,
    policy: &Policy,
    region: &[(f64, f64)],
    options: Options,
    deadline: Option<Instant>,
) -> Option<Branch> {
    let states = plant.states();
    let closed = plant.closed(policy);
    if closed.iter().any(|f| f.degree() > 1) {
        return None;
    }
    let successor = Successor {
        slopes: closed.iter().map(Poly::slopes).collect(),
        constants: closed.iter().map(|f| f.coefficient(&vec![0; f.variables()])).collect(),
        choices: &plant.choices,
        options,
    };
    let late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let (mut rows, piece_rows) = first_rows(plant, policy, region)?;
    debug_assert!(rows.iter().all(|row| row.normal.len() == states));
    let mut most = options.most;
    if options.begin == Begin::Modes {
        over_modes(&mut rows, &successor)?;
        // Little has to be added, or modes do not help.
        most = most.min(rows.len() + ADDED_TO_MODES);
    }
    if options.begin == Begin::Ahead {
        let first = rows.len();
        rows.extend(successor.ahead(&rows));
        // What the others imply is left out, the farthest ahead first.
        let mut place = rows.len();
        while place > first {
            place -= 1;
            if late() {
                return None;
            }
            let row = rows.remove(place);
            match implied(&rows, &row.normal, row.bound) {
                Implied::By(_) => {}
                Implied::Not => rows.insert(place, row),
                Implied::Empty => return None,
            }
        }
    }
    let mut place = 0;
    while place < rows.len() {
        if late() {
            return None;
        }
        let (next, limit, strict) = successor.of(&rows[place]);
        let level = rows[place].level;
        let by_modes: f64 = rows[place].proof.iter().map(|&(other, weight)| weight * rows[other].bound).sum();
        if !rows[place].proof.is_empty() && by_modes <= limit + 0.5 * strict {
            place += 1;
            continue;
        }
        let proof = match implied(&rows, &next, limit + 0.5 * strict) {
            Implied::By(multipliers) => multipliers,
            Implied::Not => {
                // The same half-space again, up to rounding, would go on for ever.
                if rows.len() >= most {
                    return None;
                }
                rows.push(Row { normal: next, bound: limit, level: level + 1, proof: Vec::new() });
                vec![(rows.len() - 1, 1.0)]
            }
            Implied::Empty => return None,
        };
        rows[place].proof = proof;
        place += 1;
    }
    let pieces = piece_rows
        .into_iter()
        .map(|(constraint, row, weight)| PieceProof { constraint, multipliers: vec![(row, weight)] });
    let halfspaces =
        rows.into_iter().map(|row| Halfspace { normal: row.normal, bound: row.bound, multipliers: row.proof });
    let invariant = Invariant::Polyhedron(Polyhedron { halfspaces: halfspaces.collect(), pieces: pieces.collect() });
    let program = policy.iter().map(|p| p.terms().map(|(m, c)| (c, m.clone())).collect()).collect();
    Some(Branch { program, invariant })
}

/// What a half-space asks of the state before.
struct Successor<'s> {
    slopes: Vec<Vec<f64>>,
    constants: Vec<f64>,
    choices: &'s [(f64, f64)],
    options: Options,
}

impl Successor<'_> {
    /// Normal, bound, and by how much that is stricter than it has to be.
    fn of(&self, row: &Row) -> (Vec<f64>, f64, f64) {
        let states = row.normal.len();
        let mut next = vec![0.0; states];
        let mut limit = row.bound;
        for (weight, (slopes, constant)) in row.normal.iter().zip(self.slopes.iter().zip(&self.constants)) {
            limit -= weight * constant;
            next.iter_mut().zip(slopes).for_each(|(next, x)| *next += weight * x);
        }
        for (choice, &(lower, upper)) in self.choices.iter().enumerate() {
            let slope: f64 = row.normal.iter().zip(&self.slopes).map(|(w, slopes)| w * slopes[states + choice]).sum();
            limit -= if slope < 0.0 { slope * lower } else { slope * upper };
        }
        let strict = match row.level + 1 >= self.options.strict_from {
            true => self.options.strictness * row.bound.abs(),
            false => 0.0,
        };
        (next, limit - strict, strict)
    }

    /// Half-spaces 1, 2, 3, 4, 6, 8, 12, … steps ahead, as long as they are not implied by bounds of the coordinates.
    fn ahead(&self, first: &[Row]) -> Vec<Row> {
        let mut all = Vec::new();
        for row in first {
            let mut current = Row { normal: row.normal.clone(), bound: row.bound, level: 0, proof: Vec::new() };
            let mut wanted = 1;
            while current.level < AHEAD {
                let (normal, bound, _) = self.of(&current);
                current = Row { normal, bound, level: current.level + 1, proof: Vec::new() };
                if current.level == wanted {
                    if by_coordinates(first, &current.normal, current.bound).is_some() {
                        break;
                    }
                    wanted =
                        if wanted.is_power_of_two() && wanted > 1 { wanted * 3 / 2 } else { (wanted * 4).div_ceil(3) };
                    all.push(Row {
                        normal: current.normal.clone(),
                        bound: current.bound,
                        level: current.level,
                        proof: Vec::new(),
                    });
                }
            }
        }
        all
    }
}

/// Adds the partial sums of half-spaces over the loop's modes, with what proves their successors if the environment does not move
/// them; none if modes are not real, or the loop does not rest inside.
fn over_modes(rows: &mut Vec<Row>, successor: &Successor<'_>) -> Option<()> {
    let states = successor.slopes.len();
    let loop_of: Matrix = successor.slopes.iter().map(|row| row[..states].to_vec()).collect();
    let modes = modes(&loop_of)?;
    // The loop rests where (1 − A) x = c.
    let identity: Matrix = (0..states).map(|i| (0..states).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let constants: Matrix = successor.constants.iter().map(|&c| vec![c]).collect();
    let rest = solve(&plus(&identity, &loop_of, -1.0), &constants)?;
    let at_rest = |normal: &[f64]| normal.iter().zip(&rest).map(|(g, x)| g * x[0]).sum::<f64>();
    for place in 0..rows.len() {
        let room = rows[place].bound - at_rest(&rows[place].normal);
        if room <= 0.0 || room.is_nan() {
            return None;
        }
        let sums = partial_sums(&modes, &rows[place].normal)?;
        let count = sums.len();
        let first = rows.len();
        let values: Vec<f64> = sums.iter().map(|(value, _)| *value).collect();
        // The last sum is the half-space itself.
        let row_of = |sum: usize| if sum + 1 == count { place } else { first + sum };
        for (sum, (value, normal)) in sums.into_iter().enumerate() {
            let slower = (0..sum).map(|other| (row_of(other), values[other] - values[other + 1]));
            let proof: Vec<(usize, f64)> = slower.chain([(row_of(sum), value)]).collect();
            match sum + 1 == count {
                true => rows[place].proof = proof,
                false => {
                    let bound = room + at_rest(&normal);
                    rows.push(Row { normal, bound, level: 0, proof });
                }
            }
        }
    }
    Some(())
}

/// For each unsafe piece: the constraint that keeps the set apart from it, the half-space, and how often it counts.
type PieceRows = Vec<(usize, usize, f64)>;

/// The linear constraint of an unsafe piece that a box is farthest from satisfying.
pub fn farthest_side<'p>(piece: &'p [Poly], region: &[(f64, f64)]) -> Option<(usize, &'p Poly)> {
    // The largest value over the box, relative to the slopes: the more negative the better.
    let depth = |p: &Poly| {
        let slopes = p.slopes();
        let constant = p.coefficient(&vec![0; region.len()]);
        let top: f64 = slopes.iter().zip(region).map(|(s, &(a, b))| if *s < 0.0 { s * a } else { s * b }).sum();
        (top + constant) / slopes.iter().map(|s| s.abs()).sum::<f64>().max(1e-300)
    };
    let linear = piece.iter().enumerate().filter(|(_, p)| p.degree() <= 1);
    linear.min_by(|(_, p), (_, q)| depth(p).total_cmp(&depth(q)))
}

/// What the unsafe pieces and the limits of the actions leave. A piece of several constraints is cut off by the one that
/// the box is farthest from.
fn first_rows(plant: &Plant, policy: &Policy, region: &[(f64, f64)]) -> Option<(Vec<Row>, PieceRows)> {
    let states = plant.states();
    let mut pieces: Vec<(Vec<Poly>, Vec<bool>)> = plant
        .pieces
        .iter()
        .zip(&plant.model.unsafe_pieces)
        .map(|(piece, exact)| (piece.clone(), exact.constraints.iter().map(|c| c.strict).collect()))
        .collect();
    for (action, &(lower, upper)) in policy.iter().zip(&plant.limits) {
        let constant = |value| Poly::constant(states, value);
        if lower.is_finite() {
            pieces.push((vec![constant(lower).plus(action, -1.0)], vec![true]));
        }
        if upper.is_finite() {
            pieces.push((vec![action.plus(&constant(upper), -1.0)], vec![true]));
        }
    }
    let mut rows: Vec<Row> = Vec::new();
    let mut proofs = PieceRows::new();
    for (piece, strict) in &pieces {
        let (place, chosen) = farthest_side(piece, region)?;
        let slopes = chosen.slopes();
        let size = slopes.iter().fold(0.0f64, |m, s| m.max(s.abs()));
        if size == 0.0 {
            return None;
        }
        // Coordinates are bounded by half-spaces of slope one, so that they are recognised.
        let normal: Vec<f64> = slopes.iter().map(|s| s / size).collect();
        let mut bound = -chosen.coefficient(&vec![0; states]) / size;
        let exact = size == 1.0 && slopes.iter().filter(|s| **s != 0.0).count() == 1;
        if !strict[place] || !exact {
            // Unsafe on the boundary too, or rounded: stay off it.
            bound -= 1e-9 * bound.abs().max(1e-9);
        }
        let known = rows.iter().position(|row| row.normal == normal);
        let row = match known {
            Some(row) => {
                rows[row].bound = rows[row].bound.min(bound);
                row
            }
            None => {
                rows.push(Row { normal, bound, level: 0, proof: Vec::new() });
                rows.len() - 1
            }
        };
        proofs.push((place, row, size));
    }
    Some((rows, proofs))
}

enum Implied {
    /// By these multiples of half-spaces.
    By(Vec<(usize, f64)>),
    Not,
    /// Nothing satisfies the half-spaces.
    Empty,
}

/// A cheap proof of normal · x ≤ limit: each coordinate by half-spaces of its own.
fn by_coordinates(rows: &[Row], normal: &[f64], limit: f64) -> Option<Vec<(usize, f64)>> {
    let mut multipliers = Vec::new();
    let mut highest = 0.0;
    for (state, &slope) in normal.iter().enumerate().filter(|(_, slope)| **slope != 0.0) {
        let own = rows.iter().enumerate().filter(|(_, row)| {
            row.normal[state] * slope > 0.0 && row.normal.iter().enumerate().all(|(i, &x)| (i == state) == (x != 0.0))
        });
        let (place, row) = own
            .min_by(|(_, a), (_, b)| (a.bound / a.normal[state].abs()).total_cmp(&(b.bound / b.normal[state].abs())))?;
        let weight = slope / row.normal[state];
        highest += weight * row.bound;
        multipliers.push((place, weight));
    }
    (highest <= limit).then_some(multipliers)
}

/// Whether normal · x ≤ limit follows from the half-spaces.
fn implied(rows: &[Row], normal: &[f64], limit: f64) -> Implied {
    let states = normal.len();
    let size = normal.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if size < 1e-14 {
        return if limit >= 0.0 { Implied::By(Vec::new()) } else { Implied::Empty };
    }
    if let Some(multipliers) = by_coordinates(rows, normal, limit) {
        return Implied::By(multipliers);
    }
    // Maximise normal · x: minimise its negative.
    let entries = |row: &Row| -> Vec<(usize, f64)> {
        row.normal.iter().copied().enumerate().filter(|&(_, value)| value != 0.0).collect()
    };
    let entries: Vec<Vec<(usize, f64)>> = rows.iter().map(entries).collect();
    let program = ConicProgram {
        objective: normal.iter().map(|x| -x / size).collect(),
        matrix: Sparse::from_rows(states, entries.iter().map(Vec::as_slice)),
        limits: rows.iter().map(|row| row.bound).collect(),
        cones: vec![Cone::Nonnegative(rows.len())],
    };
    let Some(solution) = program.solve(Settings { tolerance: 1e-10, ..Settings::default() }) else {
        return Implied::Not;
    };
    spend(linear_program(solution.iterations, rows.len(), states));
    match solution.status {
        Status::Solved => {}
        Status::Infeasible => return Implied::Empty,
        Status::Unbounded | Status::Stopped => return Implied::Not,
    }
    let largest = solution.multipliers.iter().fold(0.0f64, |m, z| m.max(*z));
    let multipliers: Vec<(usize, f64)> = solution
        .multipliers
        .iter()
        .enumerate()
        .filter(|&(_, &z)| z > 1e-9 * largest)
        .map(|(place, &z)| (place, z * size))
        .collect();
    let bound: f64 = multipliers.iter().map(|&(place, weight)| weight * rows[place].bound).sum();
    if bound <= limit { Implied::By(multipliers) } else { Implied::Not }
}
