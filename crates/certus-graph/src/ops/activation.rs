//! Activation functions: all that engines need to know of an elementwise function of one argument, in one place.
//!
//! An activation is a [`Unary`] operator that also says what it is like: its derivative, where it is convex and where
//! concave, where it has breakpoints. Import, storage, lowering, the gradient of the attack, linear relaxations, zonotopes,
//! affine forms and Jacobian enclosures all work from these facts, so a new activation is one file with two
//! implementations and one row of the table in `ops/mod.rs`. (The audit knows activations by code of its own, on purpose.)
//!
//! *What soundness rests on*: [`Unary::interval`], [`Smooth::enclosures`], [`ActivationFunction::derivative_range`],
//! [`ActivationFunction::curvature`], [`ActivationFunction::taylor`] and [`ActivationFunction::family`] must be right;
//! everything else only suggests slopes.

use crate::ops::{Activation, Unary};
use crate::{Interval, Real};

/// From which side a derivative is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// From below.
    Left,
    /// From above.
    Right,
}

/// Where a function is convex and where concave over a range; inflection points are enclosed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Curvature {
    /// Convex throughout.
    Convex,
    /// Concave throughout.
    Concave,
    /// Convex up to a point, concave from there.
    ConvexConcave(Interval),
    /// Concave up to a point, convex from there.
    ConcaveConvex(Interval),
    /// Concave between two points, convex outside.
    ConvexConcaveConvex(Interval, Interval),
    /// Convex between two points, concave outside.
    ConcaveConvexConcave(Interval, Interval),
}

impl Curvature {
    /// The curvature of −f.
    pub fn negated(self) -> Curvature {
        match self {
            Curvature::Convex => Curvature::Concave,
            Curvature::Concave => Curvature::Convex,
            Curvature::ConvexConcave(inflection) => Curvature::ConcaveConvex(inflection),
            Curvature::ConcaveConvex(inflection) => Curvature::ConvexConcave(inflection),
            Curvature::ConvexConcaveConvex(first, second) => Curvature::ConcaveConvexConcave(first, second),
            Curvature::ConcaveConvexConcave(first, second) => Curvature::ConvexConcaveConvex(first, second),
        }
    }

    /// That of an S-shaped function: convex below zero, concave above.
    pub fn sigmoidal(x: Interval) -> Curvature {
        if x.lo >= 0.0 {
            Curvature::Concave
        } else if x.hi <= 0.0 {
            Curvature::Convex
        } else {
            Curvature::ConvexConcave(Interval::ZERO)
        }
    }
}

/// A function that is twice differentiable between its inflection points.
pub trait Smooth {
    /// The value, the derivative and the second derivative, to nearest.
    fn floats(&self, x: f64) -> [f64; 3];

    /// Enclosures of the value and of the one-sided derivative.
    fn enclosures(&self, x: f64, side: Side) -> (Interval, Interval);

    /// Whether the derivative jumps where the curvature changes its sign.
    fn has_breakpoint(&self) -> bool {
        false
    }

    /// How far from an inflection point the function has all but settled.
    fn reach(&self) -> f64 {
        f64::INFINITY
    }
}

/// How an activation is relaxed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Family {
    /// x above zero, `negative_slope`·x below.
    Breakpoint {
        /// The slope below zero.
        negative_slope: f64,
    },
    /// x limited to a range.
    Clip {
        /// The least value.
        lower: f64,
        /// The greatest value.
        upper: f64,
    },
    /// x rounded down.
    Floor,
    /// By its curvature.
    Smooth,
}

/// What an activation provides beside [`Unary`].
pub trait ActivationFunction: Unary + Sized {
    /// The names of its parameters, as files write them.
    const PARAMETERS: &'static [&'static str] = &[];

    /// Values of the parameters for which suites try it.
    const EXAMPLE: &'static [f64] = &[];

    /// The range of arguments for which suites try it; on all of it the function is defined.
    const EXAMPLE_RANGE: (f64, f64) = (-4.0, 4.0);

    /// Defaults of the parameters, where ONNX has an operator on floats of this name whose attributes they are.
    const ONNX_DEFAULTS: Option<&'static [f64]> = None;

    /// The activation with these parameters, as many as it has names for.
    fn new(parameters: &[f64]) -> Self;

    /// The values of its parameters.
    fn parameters(&self) -> Vec<f64> {
        Vec::new()
    }

    /// A derivative: any subgradient at breakpoints, zero where the function jumps.
    fn derivative(&self, x: f64) -> f64;

    /// The derivative where the value is known too; for gradients, so it need not be accurate.
    fn slope<T: Real>(&self, x: T, _y: T) -> T {
        T::from_f64(self.derivative(x.to_f64()))
    }

    /// Replaces arguments by values, for gradients; faster where there is a kernel.
    fn apply<T: Real>(&self, xs: &mut [T]) {
        xs.iter_mut().for_each(|x| *x = T::from_f64(self.real(x.to_f64())));
    }

    /// Every difference quotient over a range; nothing where they are unbounded or not known.
    fn derivative_range(&self, x: Interval) -> Option<Interval>;

    /// How it is relaxed.
    fn family(&self) -> Family {
        Family::Smooth
    }

    /// The function as a smooth one; needed for [`Family::Smooth`].
    fn smooth(&self) -> Option<&dyn Smooth> {
        None
    }

    /// Where a smooth function is convex and where concave; nothing where that is not known, or where constants must do.
    fn curvature(&self, _x: Interval) -> Option<Curvature> {
        None
    }

    /// Whether a smooth function is exactly affine over a range.
    fn is_linear(&self, _x: Interval) -> bool {
        false
    }

    /// Whether a smooth function is exactly the identity over a range.
    fn is_identity(&self, _x: Interval) -> bool {
        false
    }

    /// Whether difference quotients are at most one in size.
    fn is_nonexpansive(&self) -> bool {
        false
    }

    /// For expansions about a point m: an upper bound of |f''| where arguments are at most `farthest` in size, an
    /// enclosure of f(m), and f'(m) to within 1e-14.
    fn taylor(&self, _m: f64, _farthest: f64) -> Option<(f64, Interval, f64)> {
        None
    }
}

/// The difference quotients of a function with one breakpoint at zero.
pub(super) fn breakpoint_slopes(negative_slope: f64, x: Interval) -> Interval {
    if x.hi <= 0.0 {
        Interval::point(negative_slope)
    } else if x.lo >= 0.0 {
        Interval::ONE
    } else {
        Interval::new(negative_slope.min(1.0), negative_slope.max(1.0))
    }
}

/// By the sign of x.
pub(super) fn by_sign(x: f64, below: f64, at: f64, above: f64) -> f64 {
    if x < 0.0 {
        below
    } else if x > 0.0 {
        above
    } else {
        at
    }
}

/// How a new activation reads in files: its parameters, ONNX's defaults of them if ONNX has it, and how it is made.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// The names of its parameters.
    pub parameters: &'static [&'static str],
    /// Defaults of the parameters, where ONNX has it.
    pub onnx_defaults: Option<&'static [f64]>,
    /// Makes it from its parameters.
    pub make: fn(&[f64]) -> Activation,
}

macro_rules! activations {
    ($($name:ident,)*) => {
        /// Any activation function.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Activation {
            $(#[doc = concat!("[`", stringify!($name), "`].")] $name($name),)*
        }

        $(impl From<$name> for Activation {
            fn from(function: $name) -> Activation {
                Activation::$name(function)
            }
        })*

        impl From<Activation> for Op {
            fn from(activation: Activation) -> Op {
                match activation { $(Activation::$name(function) => Op::$name(function),)* }
            }
        }

        impl Op {
            /// The operator as an activation function, if it is one.
            pub fn activation(&self) -> Option<Activation> {
                match self {
                    $(Op::$name(function) => Some(Activation::$name(*function)),)*
                    _ => None,
                }
            }
        }

        impl Activation {
            /// One of each, with the range of arguments for which suites try it.
            pub fn examples() -> Vec<(Activation, f64, f64)> {
                vec![$({
                    let (lo, hi) = <$name>::EXAMPLE_RANGE;
                    (<$name>::new(<$name>::EXAMPLE).into(), lo, hi)
                },)*]
            }

            /// The signature of the activation with this name.
            pub fn signature(name: &str) -> Option<crate::ops::activation::Signature> {
                match name {
                    $(stringify!($name) => Some(crate::ops::activation::Signature {
                        parameters: <$name>::PARAMETERS,
                        onnx_defaults: <$name>::ONNX_DEFAULTS,
                        make: |parameters| <$name>::new(parameters).into(),
                    }),)*
                    _ => None,
                }
            }

            /// The names and values of its parameters.
            pub fn parameters(&self) -> Vec<(&'static str, f64)> {
                match self {
                    $(Activation::$name(f) => <$name>::PARAMETERS.iter().copied().zip(f.parameters()).collect(),)*
                }
            }

            /// The value in floats.
            #[inline]
            pub fn value(&self, x: f64) -> f64 {
                match self { $(Activation::$name(f) => f.real(x),)* }
            }

            /// Every value over a range.
            #[inline]
            pub fn enclose(&self, x: Interval) -> Interval {
                match self { $(Activation::$name(f) => f.interval(x),)* }
            }

            /// See [`ActivationFunction::derivative`].
            pub fn derivative(&self, x: f64) -> f64 {
                match self { $(Activation::$name(f) => f.derivative(x),)* }
            }

            /// Adds the derivative at each point times `factors` to `targets`; `xs` and `ys` are arguments and values.
            pub fn add_slopes<T: Real>(&self, xs: &[T], ys: &[T], factors: &[T], targets: &mut [T]) {
                match self {
                    $(Activation::$name(f) => {
                        for ((target, &factor), (&x, &y)) in targets.iter_mut().zip(factors).zip(xs.iter().zip(ys)) {
                            *target = *target + factor * f.slope(x, y);
                        }
                    })*
                }
            }

            /// See [`ActivationFunction::apply`].
            pub fn apply<T: Real>(&self, xs: &mut [T]) {
                match self { $(Activation::$name(f) => f.apply(xs),)* }
            }

            /// See [`ActivationFunction::derivative_range`].
            pub fn derivative_range(&self, x: Interval) -> Option<Interval> {
                match self { $(Activation::$name(f) => f.derivative_range(x),)* }
            }

            /// See [`ActivationFunction::family`].
            #[inline]
            pub fn family(&self) -> Family {
                match self { $(Activation::$name(f) => f.family(),)* }
            }

            /// See [`ActivationFunction::smooth`].
            pub fn smooth(&self) -> Option<&dyn Smooth> {
                match self { $(Activation::$name(f) => f.smooth(),)* }
            }

            /// See [`ActivationFunction::curvature`].
            #[inline]
            pub fn curvature(&self, x: Interval) -> Option<Curvature> {
                match self { $(Activation::$name(f) => f.curvature(x),)* }
            }

            /// See [`ActivationFunction::is_linear`].
            #[inline]
            pub fn is_linear(&self, x: Interval) -> bool {
                match self { $(Activation::$name(f) => f.is_linear(x),)* }
            }

            /// See [`ActivationFunction::is_identity`].
            #[inline]
            pub fn is_identity(&self, x: Interval) -> bool {
                match self { $(Activation::$name(f) => f.is_identity(x),)* }
            }

            /// See [`ActivationFunction::is_nonexpansive`].
            pub fn is_nonexpansive(&self) -> bool {
                match self { $(Activation::$name(f) => f.is_nonexpansive(),)* }
            }

            /// See [`ActivationFunction::taylor`].
            #[inline]
            pub fn taylor(&self, m: f64, farthest: f64) -> Option<(f64, Interval, f64)> {
                match self { $(Activation::$name(f) => f.taylor(m, farthest),)* }
            }
        }
    };
}
pub(super) use activations;
