//! Specifications in the forms that others read: a sentence, VNN-LIB, a `.certus` file, JSON, a picture.

mod certus;
mod json;
mod picture;
mod sentence;
mod vnnlib;

pub use certus::certus;
pub use json::{from_json, specifications, specifications_document};
pub use picture::picture;
pub use sentence::sentence;
pub use vnnlib::vnnlib;
