//! Outcomes as pages and pictures.
//!
//! * [`page`]: one HTML file from the documents of any command;
//! * [`heat`]: polygons in the colours of their values;
//! * [`map`]: a box of one or two parameters, partitioned;
//! * [`matrix`]: rows and columns of verdicts;
//! * [`cells`]: cells of a state space over time, and box plots;
//! * [`flowpipe`]: what runs reach, over time or over two variables;
//! * [`state_sets`]: initial, unsafe and goal states, in all pictures of a state space.
//!
//! Takes documents, plain numbers and texts; knows no engine, no system and no file. The same data always gives the
//! same text. Kinds of cells differ in lightness and in pattern, so a picture can be printed without colour.

#![forbid(unsafe_code)]

pub mod cells;
pub mod flowpipe;
mod glyphs;
pub mod heat;
pub mod map;
pub mod matrix;
pub mod page;
mod raster;
mod scale;
pub mod state_sets;
mod style;
mod svg;

pub use svg::{Geometry, Picture};
