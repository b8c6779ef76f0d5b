use super::*;
use crate::float::Kernels;

const MAPS: [Map; 5] = [Map::Relu, Map::Exp, Map::Tanh, Map::Sigmoid, Map::Softplus];

/// The function that a map approximates, in double precision.
fn reference(map: Map, x: f64) -> f64 {
    match map {
        Map::Relu => {
            if x < 0.0 {
                0.0
            } else {
                x
            }
        }
        Map::Exp => x.exp(),
        Map::Tanh => x.tanh(),
        Map::Sigmoid if x < 0.0 => x.exp() / (1.0 + x.exp()),
        Map::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        Map::Softplus => x.max(0.0) + (-x.abs()).exp().ln_1p(),
    }
}

/// Distance in units of the last place of a single-precision result.
fn error_in_ulps(value: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if nearest.is_nan() || nearest.is_infinite() || value.is_nan() || value.is_infinite() {
        let same = nearest.to_bits() == value.to_bits() || (nearest.is_nan() && value.is_nan());
        return if same { 0.0 } else { f64::INFINITY };
    }
    let exponent = nearest.abs().max(f32::MIN_POSITIVE).log2().floor() as i32;
    (f64::from(value) - exact).abs() / 2f64.powi(exponent - 23)
}

/// The largest error over the single-precision numbers with the given bit patterns, and where it occurs.
fn worst(level: Level, map: Map, patterns: impl Iterator<Item = u32>) -> (f64, f32) {
    let xs: Vec<f32> = patterns.map(f32::from_bits).collect();
    let mut ys = xs.clone();
    f32::map(level, map, &mut ys);
    let errors = xs.iter().zip(&ys).map(|(&x, &y)| (error_in_ulps(y, reference(map, x.into())), x));
    errors.fold((0.0, 0.0), |worst, this| if this.0 > worst.0 { this } else { worst })
}

#[test]
fn single_precision_is_within_three_ulps_over_the_whole_range() {
    for level in Level::available() {
        for map in MAPS {
            // A stride prime to every power of two meets all exponents and both signs.
            let (error, x) = worst(level, map, (0..=u32::MAX).step_by(4093));
            assert!(error <= 3.0, "{map:?} at {}: {error} ulp at {x:e}", level.name());
        }
    }
}

#[test]
fn double_precision_is_close_to_the_standard_library() {
    let edges =
        [0.0, 1e-300, 5e-324, 1e-20, 1e-8, 0.34657359, 0.5, 1.0, 19.0, 20.0, 37.0, 708.0, 709.78, 744.0, 745.13];
    let grid = (0..40_000).map(|i| f64::from(i) * 0.01875);
    let mut xs: Vec<f64> = edges.into_iter().chain(grid).flat_map(|x| [x, -x, x / 1000.0, -x / 1e6]).collect();
    xs.extend([f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN]);
    for level in Level::available() {
        for map in MAPS {
            let mut ys = xs.clone();
            f64::map(level, map, &mut ys);
            for (&x, &y) in xs.iter().zip(&ys) {
                let expected = reference(map, x);
                // The reference formulas themselves are good to about two units.
                let apart = y.to_bits().abs_diff(expected.to_bits());
                assert!(apart <= 5, "{map:?} at {}: {x:e} gave {y:e}, not {expected:e}", level.name());
            }
        }
    }
}

#[test]
fn double_precision_matches_high_precision_values() {
    // x, exp, tanh, sigmoid, softplus: computed with 60 digits and rounded once.
    #[allow(clippy::approx_constant, reason = "a table of values, one of which is e")]
    let table: &[[f64; 5]] = &include!("reference_values.in");
    for level in Level::available() {
        for (column, map) in [Map::Exp, Map::Tanh, Map::Sigmoid, Map::Softplus].into_iter().enumerate() {
            let mut ys: Vec<f64> = table.iter().map(|row| row[0]).collect();
            f64::map(level, map, &mut ys);
            for (row, &y) in table.iter().zip(&ys) {
                let apart = y.to_bits().abs_diff(row[column + 1].to_bits());
                assert!(apart <= 2, "{map:?}({:e}) at {}: {y:e}, {apart} ulp off", row[0], level.name());
            }
        }
    }
}

#[test]
fn special_values_are_exact() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let cases = [
        (Map::Relu, [(-1.0, 0.0), (2.5, 2.5), (-0.0, -0.0), (inf, inf), (-inf, 0.0), (nan, nan)]),
        (Map::Exp, [(0.0, 1.0), (-0.0, 1.0), (800.0, inf), (inf, inf), (-inf, 0.0), (nan, nan)]),
        (Map::Tanh, [(0.0, 0.0), (-0.0, -0.0), (-30.0, -1.0), (inf, 1.0), (-inf, -1.0), (nan, nan)]),
        (Map::Sigmoid, [(0.0, 0.5), (-0.0, 0.5), (60.0, 1.0), (inf, 1.0), (-inf, 0.0), (nan, nan)]),
        (Map::Softplus, [(-800.0, 0.0), (-900.0, 0.0), (800.0, 800.0), (inf, inf), (-inf, 0.0), (nan, nan)]),
    ];
    for level in Level::available() {
        for (map, cases) in cases {
            for (x, expected) in cases {
                let (mut double, mut single) = ([x], [x as f32]);
                f64::map(level, map, &mut double);
                f32::map(level, map, &mut single);
                if expected.is_nan() {
                    assert!(double[0].is_nan() && single[0].is_nan(), "{map:?}({x})");
                } else {
                    assert_eq!(double[0].to_bits(), expected.to_bits(), "{map:?}({x})");
                    assert_eq!(single[0].to_bits(), (expected as f32).to_bits(), "{map:?}({x}) in f32");
                }
            }
        }
    }
}

#[test]
fn images_do_not_depend_on_the_position_in_the_slice() {
    let xs: Vec<f32> = (0..=u32::MAX).step_by(2_500_009).map(f32::from_bits).filter(|x| !x.is_nan()).collect();
    let doubles: Vec<f64> = xs.iter().map(|&x| f64::from(x) * 1.1).collect();
    for level in Level::available() {
        for map in MAPS {
            for offset in 0..40.min(xs.len()) {
                let mut together = xs[offset..].to_vec();
                f32::map(level, map, &mut together);
                let mut doubles_together = doubles[offset..].to_vec();
                f64::map(level, map, &mut doubles_together);
                for i in 0..together.len() {
                    let (mut alone, mut double_alone) = ([xs[offset + i]], [doubles[offset + i]]);
                    f32::map(level, map, &mut alone);
                    f64::map(level, map, &mut double_alone);
                    assert_eq!(alone[0].to_bits(), together[i].to_bits(), "{map:?}, element {i} from {offset}");
                    assert_eq!(double_alone[0].to_bits(), doubles_together[i].to_bits(), "{map:?}, element {i}");
                }
            }
        }
    }
}

#[test]
fn fill_rows_repeats_each_value_over_the_batch() {
    let mut ys = [0.0; 6];
    fill_rows(&[1.0, 2.0], &mut ys, 3);
    assert_eq!(ys, [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
    fill_rows(&[1.0f32; 2], &mut [], 0);
}

#[test]
#[should_panic(expected = "output of 5 elements for 2 rows and a batch of 3")]
fn fill_rows_checks_lengths() {
    fill_rows(&[1.0, 2.0], &mut [0.0; 5], 3);
}
