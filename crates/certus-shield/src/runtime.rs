//! A shield ready to run: its polynomials in Horner form, with bounds of what prediction and rounding may be off.
//!
//! The monitor is that of the Simplex architecture (L. Sha, 'Using simplicity to control complexity', IEEE Software 18, 2001): the network's
//! action passes if the state predicted after it is in an invariant, otherwise the proved program acts.

use certus_audit::shield::{Halfspace, Invariant, Model, Monomial, Shield, rounded};
use certus_shield_rt::{Branch, Op, Surface, Tables};

use crate::horner::Horner;
use crate::inner_box::{FEW, Side, inner_box};
use crate::plant::Plant;
use crate::polynomial::{Fast, Poly};

/// A surface of an invariant.
#[derive(Clone, Debug)]
pub struct Wall {
    /// The polynomial.
    pub form: Horner,
    /// A predicted state counts as inside only this far below zero.
    pub reserve: f64,
    /// A policy gets control back only where a predicted state is this far below zero.
    pub release: f64,
    /// A state counts as inside up to this far above zero.
    pub rounding: f64,
}

/// A shield ready to run.
#[derive(Clone, Debug)]
pub struct Runtime {
    /// The names of the states.
    pub states: Vec<String>,
    /// The limits of the actions.
    pub limits: Vec<(f64, f64)>,
    /// The box that every invariant lies in.
    pub domain: Vec<(f64, f64)>,
    /// The next state over states, actions and choices.
    pub next: Vec<Horner>,
    /// The choices at every corner.
    pub corners: Vec<Vec<f64>>,
    /// The branches.
    pub branches: Vec<Guarded>,
}

/// A branch ready to run.
#[derive(Clone, Debug)]
pub struct Guarded {
    /// The surfaces of its invariant.
    pub walls: Vec<Wall>,
    /// A box on which every wall is far enough below zero for a prediction, where there are many walls.
    pub inner_box: Option<Vec<(f64, f64)>>,
    /// One polynomial per action.
    pub program: Vec<Horner>,
}

/// The inner box of a polyhedron whose walls have these reserves.
fn inner_box_of(
    halfspaces: &[Halfspace],
    walls: &[Wall],
    centre: &[f64],
    domain: &[(f64, f64)],
) -> Option<Vec<(f64, f64)>> {
    if halfspaces.len() <= FEW {
        return None;
    }
    // Twice what rounding may be off: a test that is left out would have been passed.
    let room = |wall: &Wall| wall.reserve + 2.0 * wall.rounding;
    let sides = halfspaces.iter().zip(walls).map(|(h, wall)| Side { normal: &h.normal, bound: h.bound - room(wall) });
    let sides: Vec<Side<'_>> = sides.collect();
    inner_box(&sides, centre, domain)
}

/// Steps after which a program is taken to have come to rest.
const SETTLING: usize = 4000;

/// Most choices whose corners are predicted.
const MOST_CHOICES: usize = 6;

fn terms(poly: &Poly) -> Vec<(f64, Monomial)> {
    poly.terms().map(|(m, c)| (c, m.clone())).collect()
}

/// The sum of the magnitudes of the terms over a box.
fn magnitude(poly: &Poly, reach: &[f64]) -> f64 {
    let along = |m: &Monomial| m.iter().zip(reach).map(|(&e, r)| r.powi(i32::from(e))).product::<f64>();
    poly.terms().map(|(m, c)| c.abs() * along(m)).sum()
}

/// How far a value in floating point is from the exact one, relative to [`magnitude`]: generous for these sizes.
fn unit(poly: &Poly) -> f64 {
    (4 * poly.terms().count() + 4 * poly.degree() + 16) as f64 * f64::EPSILON
}

/// Where a branch's program leads to, followed from the middle of the initial states.
fn resting(plant: &Plant, branch: &certus_audit::shield::Branch) -> Vec<f64> {
    let fast = |terms: &[(f64, Monomial)]| {
        let mut poly = Poly::zero(plant.states());
        terms.iter().for_each(|(c, m)| poly.add(m.clone(), *c));
        Fast::new(&poly)
    };
    let program: Vec<Fast> = branch.program.iter().map(|terms| fast(terms)).collect();
    let next: Vec<Fast> = plant.next.iter().map(Fast::new).collect();
    let mut state: Vec<f64> = plant.init.iter().map(|(a, b)| 0.5 * (a + b)).collect();
    for _ in 0..SETTLING {
        let mut point = state.clone();
        point.extend(program.iter().zip(&plant.limits).map(|(p, &(a, b))| p.value(&state).max(a).min(b)));
        point.extend(plant.middle());
        let moved: Vec<f64> = next.iter().map(|next| next.value(&point)).collect();
        if moved == state {
            break;
        }
        state = moved;
    }
    state
}

impl Runtime {
    /// Prepares a shield for its model; none if the environment has too many choices, or the domain is unbounded.
    pub fn new(shield: &Shield, model: &Model) -> Option<Runtime> {
        let plant = Plant::new(model.clone());
        let (states, choices) = (plant.states(), plant.choices.len());
        if choices > MOST_CHOICES || plant.domain.iter().any(|(a, b)| !a.is_finite() || !b.is_finite()) {
            return None;
        }
        let corners: Vec<Vec<f64>> = (0..1usize << choices)
            .map(|bits| {
                let end = |(i, &(a, b)): (usize, &(f64, f64))| if bits >> i & 1 == 0 { a } else { b };
                plant.choices.iter().enumerate().map(end).collect()
            })
            .collect();
        let farthest = |&(a, b): &(f64, f64)| a.abs().max(b.abs());
        let reach: Vec<f64> = plant.domain.iter().map(farthest).collect();
        let limit = |range: &(f64, f64)| if farthest(range).is_finite() { farthest(range) } else { 1e6 };
        let all_reach: Vec<f64> = reach
            .iter()
            .copied()
            .chain(plant.limits.iter().map(limit))
            .chain(plant.choices.iter().map(farthest))
            .collect();
        let prediction: Vec<f64> = plant.next.iter().map(|f| unit(f) * magnitude(f, &all_reach)).collect();
        // How much a choice moves each state, from one end of its range to the other.
        let moved: Vec<Vec<f64>> = (0..choices)
            .map(|k| {
                let place = states + plant.actions() + k;
                let width = plant.choices[k].1 - plant.choices[k].0;
                plant.next.iter().map(|f| width * magnitude(&f.derivative(place), &all_reach)).collect()
            })
            .collect();
        // How much the middle of a choice may move each state beyond what its ends do.
        let bent: Vec<Vec<f64>> = (0..choices)
            .map(|k| {
                let place = states + plant.actions() + k;
                let width = plant.choices[k].1 - plant.choices[k].0;
                let bend = |f: &Poly| magnitude(&f.derivative(place).derivative(place), &all_reach);
                plant.next.iter().map(|f| width * width * bend(f) / 8.0).collect()
            })
            .collect();
        // Between its corners a prediction may leave the domain by that much.
        let reach: Vec<f64> =
            reach.iter().enumerate().map(|(i, r)| r + bent.iter().map(|bent| bent[i]).sum::<f64>()).collect();
        let wall = |poly: Poly, centre: &[f64]| {
            let rounding = 2.0 * unit(&poly) * magnitude(&poly, &reach) + f64::MIN_POSITIVE;
            let slopes: Vec<Poly> = (0..states).map(|i| poly.derivative(i)).collect();
            let off: f64 = slopes.iter().zip(&prediction).map(|(s, p)| p * magnitude(s, &reach)).sum();
            // Between corners a polynomial rises above them by at most an eighth of its curvature per choice.
            let mut bulge = 0.0;
            for (moved, bent) in moved.iter().zip(&bent) {
                bulge += slopes.iter().zip(bent).map(|(s, bent)| bent * magnitude(s, &reach)).sum::<f64>();
                for (i, slope) in slopes.iter().enumerate().filter(|&(i, _)| moved[i] > 0.0) {
                    for j in (0..states).filter(|&j| moved[j] > 0.0) {
                        bulge += moved[i] * moved[j] * magnitude(&slope.derivative(j), &reach) / 8.0;
                    }
                }
            }
            let reserve = (rounding + 2.0 * off + bulge) * 1.001;
            let depth = -poly.value(centre);
            let release = if depth.is_finite() { (shield.release * depth).max(reserve) } else { reserve };
            Wall { form: Horner::new(&terms(&poly)), reserve, release, rounding }
        };
        let domain: Vec<(f64, f64)> = model
            .domain
            .iter()
            .map(|r| {
                let end = |value: &Option<_>, otherwise| value.as_ref().map_or(otherwise, rounded);
                (end(&r.lower, f64::NEG_INFINITY), end(&r.upper, f64::INFINITY))
            })
            .collect();
        let branches = shield
            .branches
            .iter()
            .map(|branch| {
                let centre = resting(&plant, branch);
                let walls: Vec<Wall> = match &branch.invariant {
                    Invariant::Polynomial(proof) => {
                        let mut barrier = Poly::zero(states);
                        proof.barrier.iter().for_each(|(c, m)| barrier.add(m.clone(), *c));
                        vec![wall(barrier, &centre)]
                    }
                    Invariant::Polyhedron(polyhedron) => polyhedron
                        .halfspaces
                        .iter()
                        .map(|h| {
                            let mut row = Poly::constant(states, -h.bound);
                            for (i, &x) in h.normal.iter().enumerate() {
                                row = row.plus(&Poly::variable(states, i), x);
                            }
                            wall(row, &centre)
                        })
                        .collect(),
                };
                let inner_box = match &branch.invariant {
                    Invariant::Polynomial(_) => None,
                    Invariant::Polyhedron(own) => inner_box_of(&own.halfspaces, &walls, &centre, &domain),
                };
                Guarded { walls, inner_box, program: branch.program.iter().map(|terms| Horner::new(terms)).collect() }
            })
            .collect();
        Some(Runtime {
            states: model.states.clone(),
            limits: plant.limits.clone(),
            domain,
            next: plant.next.iter().map(|f| Horner::new(&terms(f))).collect(),
            corners,
            branches,
        })
    }

    /// Runs something with the shield as tables.
    pub fn with_tables<T>(&self, run: impl FnOnce(&Tables<'_>) -> T) -> T {
        let next: Vec<Vec<Op>> = self.next.iter().map(Horner::ops).collect();
        let next: Vec<&[Op]> = next.iter().map(Vec::as_slice).collect();
        let corners: Vec<&[f64]> = self.corners.iter().map(Vec::as_slice).collect();
        let programs: Vec<Vec<Vec<Op>>> =
            self.branches.iter().map(|own| own.program.iter().map(Horner::ops).collect()).collect();
        let programs: Vec<Vec<&[Op]>> =
            programs.iter().map(|program| program.iter().map(Vec::as_slice).collect()).collect();
        let walls: Vec<Vec<Vec<Op>>> =
            self.branches.iter().map(|own| own.walls.iter().map(|wall| wall.form.ops()).collect()).collect();
        let surfaces: Vec<Vec<Surface<'_>>> = self
            .branches
            .iter()
            .zip(&walls)
            .map(|(own, ops)| {
                own.walls
                    .iter()
                    .zip(ops)
                    .map(|(wall, ops)| Surface {
                        ops,
                        reserve: wall.reserve,
                        release: wall.release,
                        rounding: wall.rounding,
                    })
                    .collect()
            })
            .collect();
        let branches: Vec<Branch<'_>> = surfaces
            .iter()
            .zip(&programs)
            .zip(&self.branches)
            .map(|((surfaces, program), own)| Branch {
                surfaces,
                inner_box: own.inner_box.as_deref().unwrap_or(&[]),
                program,
            })
            .collect();
        run(&Tables { limits: &self.limits, domain: &self.domain, next: &next, corners: &corners, branches: &branches })
    }
}

#[cfg(test)]
mod tests {
    use certus_audit::shield::{Branch, Cover, Halfspace, Invariant, Polyhedron, Range, Shield, rational, read_model};
    use certus_lang::{FileNetworks, LowerOptions, Open, load_str};
    use certus_shield_rt::{Decision, Fallback, Monitor};

    use super::*;

    /// A disturbance that enters as a square is worst between its corners: what passes there must still be inside.
    #[test]
    fn inputs_are_worst_anywhere_in_their_range() {
        let text = "system bend
state x in [-4, 4]
input d in [-1, 1]
policy a = clamp(net(\"n.onnx\", x), -2, 2)
next x = x / 2 + a + 0.5 * (1 - d * d)
init abs(x) <= 0.1
property safe = G abs(x) <= 3
";
        let options =
            LowerOptions { open: Open::All, outputs: vec![("n.onnx".to_owned(), 1)], ..LowerOptions::default() };
        let system = load_str(text, &mut FileNetworks::new("."), &options).unwrap();
        let domain = vec![Range { lower: rational(-3.0), upper: rational(3.0) }];
        let model = read_model(&system, &system.properties[0], &domain).unwrap();
        let side = |normal: f64| Halfspace { normal: vec![normal], bound: 1.0, multipliers: Vec::new() };
        let polyhedron = Polyhedron { halfspaces: vec![side(1.0), side(-1.0)], pieces: Vec::new() };
        let shield = Shield {
            path: String::new(),
            digest: String::new(),
            property: "safe".to_owned(),
            settings: Vec::new(),
            domain,
            branches: vec![Branch { program: vec![Vec::new()], invariant: Invariant::Polyhedron(polyhedron) }],
            cover: Cover::Inside { branch: 0, identity: None },
            release: 0.0,
            convergence: None,
        };
        let runtime = Runtime::new(&shield, &model).unwrap();
        let decide = |action: f64| {
            runtime.with_tables(|tables| {
                Monitor::new().decide(tables, &[0.0], &mut [action], &mut [0.0], Fallback::LastBranch)
            })
        };
        // At the corners the next state is the action; with d = 0 it is half more.
        assert_eq!(decide(0.4), Decision::Passed(0));
        assert_eq!(decide(0.6), Decision::Overridden(0));
    }
}
