//! Pictures of results, as SVG text.
//!
//! * [`map`]: a box of one or two parameters, partitioned;
//! * [`matrix`]: rows and columns of verdicts;
//! * [`units`]: units of a state space over time, and box plots.
//!
//! Takes plain numbers and texts; depends on nothing and knows no engine, no system and no file. The same data always gives
//! the same text. Kinds of cells differ in lightness and in pattern, so a picture can be printed without colour.

#![forbid(unsafe_code)]

pub mod map;
pub mod matrix;
mod style;
mod svg;
pub mod units;
