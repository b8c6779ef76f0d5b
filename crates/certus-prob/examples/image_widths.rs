//! What cutting regions into pieces does for their images: `cargo run --release -p certus-prob --example image_widths`.
//!
//! Random boxes, as wide as a share of a part of the state space, and by how much of its width the image of a step becomes narrower with up to
//! eight pieces than with one linearisation: in the direction where that is most, on average over boxes, and for the best box. Times are of the expansion of a box.

use std::path::Path;
use std::time::Instant;

use certus_lang::system::Formula;
use certus_lang::{FileNetworks, LowerOptions, load_file, load_str};
use certus_numerics::Random;
use certus_prob::abstraction::{Abstraction, Expansion, PIECES, Task};
use certus_prob::template_polyhedron::{Polyhedron, Template};

const BOXES: usize = 200;

/// The zoo's plants make small steps, which are nearly linear; this one does not.
const CURVED: &str = "system curved
chance c of { left: 0.5, right: 0.5 }
state x in [-9, 9]
state y in [-9, 9]
define push = match c { left: -0.1, right: 0.1 }
next x = x + 0.2 * sin(2 * x) + 0.1 * y
next y = 0.5 * y + 0.3 * x * y + 0.1 * x^2 + push
init x in [0, 1] & y in [0, 1]
";

fn main() -> Result<(), String> {
    println!(
        "| system | width of boxes | narrower on average | at best | µs per box, one linearisation | up to {PIECES} pieces |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    let pendulum = (vec![-3.0, -6.0], vec![3.0, 6.0]);
    let car = (vec![-1.1, -0.06], vec![0.5, 0.06]);
    let driven = (vec![-1.5, -3.0], vec![1.5, 3.0]);
    let unicycle = (vec![-2.0, -2.0, -1.5, -1.0], vec![2.0, 2.0, 1.5, 1.0]);
    let systems = [
        ("pendulum_softmax", pendulum),
        ("mountain_car", car),
        ("single_pendulum", driven),
        ("unicycle", unicycle),
        ("curved", (vec![-2.0, -2.0], vec![2.0, 2.0])),
    ];
    for (name, (lower, upper)) in systems {
        let system = match name {
            "curved" => load_str(CURVED, &mut FileNetworks::new(Path::new(".")), &LowerOptions::default()),
            name => {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../zoo/{name}/{name}.certus"));
                load_file(path, &LowerOptions::default())
            }
        };
        let system = system.map_err(|error| error.to_string())?;
        let goal = Formula::Constant(false);
        let task = Task { stay: None, goal, steps: Some(1), weak: false, complement: false };
        let states = system.state_len();
        let of = |pieces: usize| {
            Abstraction::new(&system, &task, Template::boxes(states)).map(|own| own.with_pieces(pieces))
        };
        let (one, many) = (of(1)?, of(PIECES)?);
        for share in [2, 4, 8, 16, 32] {
            let mut random = Random::new(5, share);
            let regions: Vec<Polyhedron> = (0..BOXES)
                .map(|_| {
                    let width = |i: usize| (upper[i] - lower[i]) / share as f64;
                    let low: Vec<f64> = (0..states).map(|i| random.between(lower[i], upper[i] - width(i))).collect();
                    let high: Vec<f64> = (0..states).map(|i| low[i] + width(i)).collect();
                    Polyhedron::of_box(one.template(), &low, &high)
                })
                .collect();
            let timed = |own: &Abstraction| {
                let begun = Instant::now();
                (own.expand(&regions, None), begun.elapsed().as_secs_f64() * 1e6 / BOXES as f64)
            };
            let ((whole, slow), (cut, slower)) = (timed(&one), timed(&many));
            let gains: Vec<f64> = whole.iter().zip(&cut).map(|(whole, cut)| gain(whole, cut)).collect();
            let mean = gains.iter().sum::<f64>() / BOXES as f64;
            let best = gains.iter().copied().fold(0.0, f64::max);
            println!(
                "| {name} | 1/{share} | {:.1} % | {:.1} % | {slow:.0} | {slower:.0} |",
                100.0 * mean,
                100.0 * best
            );
        }
    }
    Ok(())
}

/// The largest share of a width that pieces took away.
fn gain(whole: &Expansion, cut: &Expansion) -> f64 {
    let (Expansion::Parts(whole), Expansion::Parts(cut)) = (whole, cut) else { return 0.0 };
    let moves = whole.iter().zip(cut).flat_map(|(whole, cut)| whole.moves.iter().zip(&cut.moves));
    let shares = moves.flat_map(|(whole, cut)| {
        let pairs = 0..whole.to.offsets().len() / 2;
        pairs.map(|pair| 1.0 - cut.to.width(pair) / whole.to.width(pair).max(f64::MIN_POSITIVE))
    });
    shares.fold(0.0, f64::max)
}
