//! The integration tests of this crate: one program, so that it is linked once and its tests share the cores.

mod check;
mod command_line;
mod conformance;
mod dependencies;
mod documentation;
mod documents;
mod falsify;
mod files;
mod gate;
mod grid;
mod mine;
mod new;
mod prob;
mod provenance;
mod recipes;
mod region;
mod report;
mod seams;
mod shield;
mod statistics;
mod support;
mod threads;
mod trained;
mod verify;
mod zoo;
