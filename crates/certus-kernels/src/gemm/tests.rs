use super::*;
use proptest::prelude::*;

/// A small deterministic generator: values in `[-1, 1]` with full-length fractions.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn values<T: TestFloat>(&mut self, count: usize) -> Vec<T> {
        (0..count).map(|_| T::from_f64(self.next())).collect()
    }
}

/// What the tests need of a number beyond what the kernels do.
trait TestFloat: Float {
    const EPSILON: f64;
    fn from_f64(x: f64) -> Self;
    fn to_f64(self) -> f64;
    fn bits(self) -> u64;
}

impl TestFloat for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    fn from_f64(x: f64) -> f32 {
        x as f32
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

impl TestFloat for f64 {
    const EPSILON: f64 = f64::EPSILON;
    fn from_f64(x: f64) -> f64 {
        x
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

fn multiply<T: TestFloat>(matrix: &PackedMatrix<T>, x: &[T], y: &[T], batch: usize) -> Vec<T> {
    let mut y = y.to_vec();
    matrix.mul_acc(x, &mut y, batch, &mut Vec::new());
    y
}

/// Point `b` of a batch, as a batch of its own.
fn point<T: Copy>(values: &[T], batch: usize, b: usize) -> Vec<T> {
    values.iter().skip(b).step_by(batch).copied().collect()
}

fn bits<T: TestFloat>(values: &[T]) -> Vec<u64> {
    values.iter().map(|v| v.bits()).collect()
}

/// Checks one shape: near the exact product at batch 1, and the same bits in every other batch.
fn check_shape<T: TestFloat>(level: Level, rows: usize, cols: usize, batches: &[usize]) {
    let mut noise = Noise((rows * 1000 + cols) as u64);
    let weights: Vec<T> = noise.values(rows * cols);
    let matrix = PackedMatrix::pack_for(level, rows, cols, &weights);
    assert_eq!((matrix.rows(), matrix.cols()), (rows, cols));
    for &batch in batches {
        let (x, y) = (noise.values::<T>(cols * batch), noise.values::<T>(rows * batch));
        let product = multiply(&matrix, &x, &y, batch);
        for b in 0..batch {
            let (x, y) = (point(&x, batch, b), point(&y, batch, b));
            let alone = multiply(&matrix, &x, &y, 1);
            assert_eq!(
                bits(&point(&product, batch, b)),
                bits(&alone),
                "{level:?}, {rows} x {cols}, point {b} of {batch}"
            );
            for r in 0..rows {
                let terms = (0..cols).map(|c| weights[r * cols + c].to_f64() * x[c].to_f64());
                let exact = y[r].to_f64() + terms.clone().sum::<f64>();
                let size = y[r].to_f64().abs() + terms.map(f64::abs).sum::<f64>();
                let error = (alone[r].to_f64() - exact).abs();
                assert!(
                    error <= (cols + 1) as f64 * T::EPSILON * size,
                    "{level:?}, {rows} x {cols}, row {r}: off by {error:e}"
                );
            }
        }
    }
}

#[test]
fn all_small_shapes_are_right_and_do_not_depend_on_the_batch() {
    for level in Level::available() {
        for rows in 1..=40 {
            for cols in 1..=40 {
                // Every batch size up to 70 comes up for some shape with each remainder of the tiling.
                let first = 1 + (rows * 7 + cols * 3) % 35;
                check_shape::<f32>(level, rows, cols, &[first, first + 35]);
                check_shape::<f64>(level, rows, cols, &[first, first + 35]);
            }
        }
    }
}

#[test]
fn all_batches_up_to_seventy_agree_with_single_points() {
    let batches: Vec<usize> = (1..=70).collect();
    for level in Level::available() {
        // Every number of chains, with columns that do not divide evenly; with one chain, every remainder by four.
        for (rows, cols) in [
            (1, 45),
            (3, 33),
            (7, 67),
            (20, 35),
            (37, 19),
            (50, 64),
            (70, 9),
            (135, 5),
            (66, 10),
            (80, 7),
            (65, 8),
            (2, 1),
        ] {
            check_shape::<f32>(level, rows, cols, &batches);
            check_shape::<f64>(level, rows, cols, &batches);
        }
    }
}

#[test]
fn layers_of_real_size_are_right_and_do_not_depend_on_the_batch() {
    for level in Level::available() {
        for (rows, cols) in [(240, 200), (1, 300), (300, 31), (130, 128), (16, 200)] {
            check_shape::<f32>(level, rows, cols, &[3, 37]);
            check_shape::<f64>(level, rows, cols, &[3, 37]);
        }
    }
}

#[test]
fn levels_with_fused_arithmetic_agree_bit_by_bit() {
    let fused = Level::available().into_iter().skip(usize::from(!crate::vector::PORTABLE_FUSES));
    let mut results: Vec<Vec<u64>> = Vec::new();
    for level in fused {
        let mut all = Vec::new();
        for (rows, cols) in [(1, 45), (3, 33), (7, 67), (20, 35), (37, 19), (70, 9), (200, 64)] {
            let mut noise = Noise(9);
            let matrix = PackedMatrix::<f32>::pack_for(level, rows, cols, &noise.values(rows * cols));
            all.extend(bits(&multiply(&matrix, &noise.values(cols * 11), &noise.values(rows * 11), 11)));
        }
        results.push(all);
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn underflow_to_negative_zero_is_the_same_in_every_batch() {
    // Every product is negative and too small for a float, so every chain ends at `-0` where products are not rounded
    // before they are added. A column padded by zero would turn its chain, and with it the sum, into `+0`.
    for level in Level::available() {
        let fused = level.name() != "portable" || crate::vector::PORTABLE_FUSES;
        for (rows, cols) in [(1, 33), (6, 67), (20, 35), (40, 17), (80, 3)] {
            let weights = vec![-f32::MIN_POSITIVE; rows * cols];
            let matrix = PackedMatrix::pack_for(level, rows, cols, &weights);
            let expected = if fused { -0.0f32 } else { 0.0 };
            for batch in [1, 2, 4, 12, 33, 50] {
                let x = vec![f32::MIN_POSITIVE; cols * batch];
                let product = multiply(&matrix, &x, &vec![-0.0; rows * batch], batch);
                assert_eq!(
                    bits(&product),
                    vec![expected.bits(); rows * batch],
                    "{level:?}, {rows} x {cols}, batch {batch}"
                );
            }
        }
    }
}

#[test]
fn infinities_and_nan_reach_their_own_point_and_row_only() {
    for level in Level::available() {
        for (rows, cols) in [(1, 40), (3, 40), (9, 40), (30, 20), (90, 6)] {
            for batch in [1, 3, 13, 40] {
                for (special, reaches) in [
                    (f32::NAN, (|v| v.is_nan()) as fn(f32) -> bool),
                    (f32::INFINITY, |v| v == f32::INFINITY),
                    (f32::NEG_INFINITY, |v| v == f32::NEG_INFINITY),
                ] {
                    let matrix = PackedMatrix::pack_for(level, rows, cols, &vec![0.5; rows * cols]);
                    let hit = batch / 2;
                    let mut x = vec![1.0; cols * batch];
                    x[(cols - 1) * batch + hit] = special;
                    let y = multiply(&matrix, &x, &vec![0.0; rows * batch], batch);
                    for (at, &value) in y.iter().enumerate() {
                        if at % batch == hit {
                            assert!(reaches(value), "{level:?}: {special} gave {value}");
                        } else {
                            assert_eq!(value, 0.5 * cols as f32);
                        }
                    }

                    let mut weights = vec![0.5; rows * cols];
                    weights[(rows - 1) * cols] = special;
                    let matrix = PackedMatrix::pack_for(level, rows, cols, &weights);
                    let y = multiply(&matrix, &vec![1.0; cols * batch], &vec![0.0; rows * batch], batch);
                    for (at, &value) in y.iter().enumerate() {
                        if at / batch == rows - 1 {
                            assert!(reaches(value), "{level:?}: weight {special} gave {value}");
                        } else {
                            assert_eq!(value, 0.5 * cols as f32);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn empty_products_leave_the_output_alone() {
    let none = PackedMatrix::<f64>::pack(2, 0, &[]);
    let mut y = [1.0, -0.0];
    none.mul_acc(&[], &mut y, 1, &mut Vec::new());
    assert_eq!(bits(&y), bits(&[1.0, -0.0]));
    PackedMatrix::<f64>::pack(0, 3, &[]).mul_acc(&[1.0; 3], &mut [], 1, &mut Vec::new());
    PackedMatrix::<f64>::pack(1, 1, &[1.0]).mul_acc(&[], &mut [], 0, &mut Vec::new());
}

#[test]
#[should_panic(expected = "a 2 x 3 matrix cannot be packed from 5 elements")]
fn packing_checks_the_number_of_elements() {
    PackedMatrix::pack(2, 3, &[0.0f32; 5]);
}

#[test]
#[should_panic(expected = "input of 5 elements for 3 columns and a batch of 2")]
fn a_short_input_is_refused() {
    PackedMatrix::pack(2, 3, &[0.0f32; 6]).mul_acc(&[0.0; 5], &mut [0.0; 4], 2, &mut Vec::new());
}

#[test]
#[should_panic(expected = "output of 5 elements for 2 rows and a batch of 2")]
fn a_long_output_is_refused() {
    PackedMatrix::pack(2, 3, &[0.0f32; 6]).mul_acc(&[0.0; 6], &mut [0.0; 5], 2, &mut Vec::new());
}

/// `affine` and `affine_relu` against the steps they stand for, bit by bit.
fn check_fused_steps<T: TestFloat>(level: Level, rows: usize, cols: usize, batch: usize) {
    let mut noise = Noise((rows * cols + batch) as u64);
    let matrix = PackedMatrix::<T>::pack_for(level, rows, cols, &noise.values(rows * cols));
    let mut x: Vec<T> = noise.values(cols * batch);
    if batch > 2 && cols > 0 {
        x[1] = T::from_f64(f64::NAN);
    }
    let bias: Vec<T> = noise.values(rows);
    let mut steps = vec![T::ZERO; rows * batch];
    crate::fill_rows(&bias, &mut steps, batch);
    matrix.mul_acc(&x, &mut steps, batch, &mut Vec::new());
    let mut fused = vec![T::from_f64(7.0); rows * batch];
    matrix.affine(&bias, &x, &mut fused, batch, &mut Vec::new());
    assert_eq!(bits(&fused), bits(&steps), "{level:?}, {rows} x {cols}, batch {batch}");
    crate::relu(&mut steps);
    matrix.affine_relu(&bias, &x, &mut fused, batch, &mut Vec::new());
    assert_eq!(bits(&fused), bits(&steps), "{level:?}, {rows} x {cols}, batch {batch}, relu");
}

#[test]
fn fused_steps_are_the_steps() {
    for level in Level::available() {
        for (rows, cols) in [(1, 45), (3, 33), (7, 67), (20, 35), (37, 19), (70, 9), (135, 5), (3, 0)] {
            for batch in [1, 2, 3, 4, 7, 12, 16, 29, 32, 70] {
                check_fused_steps::<f32>(level, rows, cols, batch);
                check_fused_steps::<f64>(level, rows, cols, batch);
            }
        }
    }
}

#[test]
#[should_panic(expected = "bias of 3 elements for 2 rows")]
fn a_bias_of_the_wrong_length_is_refused() {
    PackedMatrix::pack(2, 1, &[0.0f32; 2]).affine(&[0.0; 3], &[0.0], &mut [0.0; 2], 1, &mut Vec::new());
}

proptest! {
    /// Powers of two scale exactly, whatever the path; so a scaled product is the product scaled.
    #[test]
    fn scaling_by_a_power_of_two_commutes(
        rows in 1usize..90, cols in 1usize..90, batch in 1usize..70, seed: u64, power in -8i32..8,
    ) {
        let mut noise = Noise(seed);
        let matrix = PackedMatrix::<f32>::pack(rows, cols, &noise.values(rows * cols));
        let x: Vec<f32> = noise.values(cols * batch);
        let factor = 2f32.powi(power);
        let scaled: Vec<f32> = x.iter().map(|v| v * factor).collect();
        let zero = vec![0.0; rows * batch];
        let expected: Vec<f32> = multiply(&matrix, &x, &zero, batch).iter().map(|v| v * factor).collect();
        prop_assert_eq!(multiply(&matrix, &scaled, &zero, batch), expected);
    }

    /// Scratch that was used before, for whatever, changes nothing.
    #[test]
    fn used_scratch_changes_nothing(rows in 1usize..70, cols in 1usize..70, batch in 1usize..70, dirt in 0usize..5000) {
        let mut noise = Noise(dirt as u64);
        let matrix = PackedMatrix::<f64>::pack(rows, cols, &noise.values(rows * cols));
        let x: Vec<f64> = noise.values(cols * batch);
        let mut y = vec![0.0; rows * batch];
        matrix.mul_acc(&x, &mut y, batch, &mut vec![f64::NAN; dirt]);
        prop_assert_eq!(bits(&y), bits(&multiply(&matrix, &x, &vec![0.0; rows * batch], batch)));
    }
}
