//! Import of ONNX files: every operator and a set of exported policies against onnxruntime, broken and hostile files,
//! and the files that fuzzing found.

mod build;
mod cases;
mod exports;
mod hostile;
mod operators;
mod regressions;
