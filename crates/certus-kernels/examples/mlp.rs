//! Times multilayer perceptrons (4 inputs, ReLU between layers) as plain chains of kernels, in single precision.
//!
//! `cargo run --release -p certus-kernels --example mlp` prints microseconds per call, as the best of many rounds.

use certus_kernels::{Level, PackedMatrix, tanh};
use std::hint::black_box;
use std::time::Instant;

struct Layer {
    weights: PackedMatrix<f32>,
    bias: Vec<f32>,
}

fn network(sizes: &[usize]) -> Vec<Layer> {
    let mut state = 1u32;
    let mut noise = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let layers = sizes.windows(2).map(|size| {
        let weights: Vec<f32> = (0..size[0] * size[1]).map(|_| noise() / (size[0] as f32).sqrt()).collect();
        let bias = (0..size[1]).map(|_| noise() * 0.1).collect();
        Layer { weights: PackedMatrix::pack(size[1], size[0], &weights), bias }
    });
    layers.collect()
}

fn evaluate(layers: &[Layer], x: &[f32], batch: usize, buffers: &mut [Vec<f32>], scratch: &mut Vec<f32>) {
    for (l, layer) in layers.iter().enumerate() {
        let (before, after) = buffers.split_at_mut(l);
        let input = before.last().map_or(x, Vec::as_slice);
        let output = &mut after[0];
        if l + 1 < layers.len() {
            layer.weights.affine_relu(&layer.bias, input, output, batch, scratch);
        } else {
            layer.weights.affine(&layer.bias, input, output, batch, scratch);
        }
    }
}

/// The fastest of several rounds, in microseconds per call.
fn time(mut call: impl FnMut()) -> f64 {
    let mut calls = 1;
    let mut best = f64::INFINITY;
    let mut rounds = 0;
    while rounds < 500 {
        let start = Instant::now();
        for _ in 0..calls {
            call();
        }
        let seconds = start.elapsed().as_secs_f64();
        if seconds < 0.0005 {
            calls *= 2;
            continue;
        }
        best = best.min(seconds / calls as f64);
        rounds += 1;
    }
    best * 1e6
}

fn main() {
    println!("level {}", Level::best().name());
    for sizes in [&[4, 240, 200, 1][..], &[4, 64, 64, 1], &[4, 32, 16, 1], &[4, 500, 400, 300, 1]] {
        let layers = network(sizes);
        let mut scratch = Vec::new();
        for batch in [1, 2, 4, 8, 16, 64, 256] {
            let x: Vec<f32> = (0..sizes[0] * batch).map(|i| (i as f32 * 0.37).sin()).collect();
            let mut buffers: Vec<Vec<f32>> = sizes[1..].iter().map(|n| vec![0.0; n * batch]).collect();
            let micros = time(|| evaluate(&layers, black_box(&x), batch, black_box(&mut buffers), &mut scratch));
            let products: usize = sizes.windows(2).map(|s| s[0] * s[1]).sum();
            println!(
                "{sizes:?} batch {batch}: {micros:.3} us, {:.1} GFLOP/s",
                2.0 * (products * batch) as f64 / micros / 1e3
            );
        }
    }
    let mut values: Vec<f32> = (0..4096).map(|i| (i as f32 * 0.37).sin() * 4.0).collect();
    let source = values.clone();
    let micros = time(|| {
        values.copy_from_slice(black_box(&source));
        tanh(black_box(&mut values));
    });
    println!("tanh of 4096: {micros:.3} us");
}
