//! Checks certificates: proofs that a formula over a graph holds nowhere in a region.
//!
//! A certificate is a branch-and-bound tree, each leaf with the multipliers that show that nothing in it satisfies
//! the formula. Checking needs no search and no trust in what found the proof: every bound is computed
//! here, in plain interval arithmetic with outward rounding, from the graph as it was read.
//!
//! [`shield`] checks programs with invariants, in exact rational arithmetic.
//!
//! Depends on `certus-graph` and on the reading of systems in `certus-lang`. It shares no code with the solver, and never will: a fault there must not hide itself
//! here.

#![forbid(unsafe_code)]

mod backward;
mod bounds;
mod error;
mod formula;
mod gathered;
mod network;
mod parse;
mod relaxation;
pub mod shield;
mod tree;

use std::io::BufRead;

use sha2::{Digest, Sha256};

pub use error::{Reason, Rejection};
pub use formula::{Atom, Formula, Problem, Variable};
pub use parse::{Certificate, File, Header, read_header};

use network::Network;
pub use network::certified_form;
use parse::Record;
use tree::Walk;

/// What an accepted certificate consisted of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of cases.
    pub cases: u64,
    /// The number of records in their trees.
    pub records: u64,
    /// The number of leaves.
    pub leaves: u64,
    /// How often ranges were refined.
    pub refinements: u64,
    /// The largest number of subproblems that were waiting at a time.
    pub deepest: u64,
}

/// Checks the proof in a certificate whose header was read by [`read_header`]: one tree for each problem, in order.
/// `progress` is called with the number of leaves after each of them.
///
/// Whether the files that the header names are the ones that the problems were made from is for the caller to check, by
/// [`digest`].
pub fn check<R: BufRead>(
    problems: &[Problem<'_>],
    mut certificate: Certificate<R>,
    progress: &mut dyn FnMut(u64),
) -> Result<Summary, Rejection> {
    let mut summary = Summary::default();
    let mut prepared: Option<(&certus_graph::Graph, Network)> = None;
    for (case, problem) in problems.iter().enumerate() {
        match certificate.record()? {
            Record::Case(number) if number == case => {}
            _ => return Err(certificate.fault(Reason::WrongCase { expected: Some(case) })),
        }
        // Cases mostly share their graph, and lowering it is not free.
        let network = match prepared.take() {
            Some((graph, network)) if std::ptr::eq(graph, problem.graph) => network,
            _ => Network::new(problem.graph).map_err(|error| Reason::Graph(error).at(0))?,
        };
        Walk::new(&network, problem).map_err(|reason| reason.at(0))?.run(&mut certificate, &mut summary, progress)?;
        prepared = Some((problem.graph, network));
        summary.cases += 1;
    }
    match certificate.record()? {
        Record::End => certificate.finish()?,
        _ => return Err(certificate.fault(Reason::WrongCase { expected: None })),
    }
    Ok(summary)
}

/// The SHA-256 digest of a file's bytes, in hexadecimal, as certificates name files.
pub fn digest(bytes: &[u8]) -> String {
    in_hexadecimal(&Sha256::digest(bytes))
}

/// The same of a file that is too large to be held: table by table, block by block.
pub fn digest_of(mut file: impl std::io::Read) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    let mut block = vec![0; 1 << 16];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(in_hexadecimal(&hash.finalize())),
            count => hash.update(&block[..count]),
        }
    }
}

fn in_hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn digests_are_those_of_the_standard() {
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(super::digest(b"abc"), known);
        assert_eq!(super::digest_of(&b"abc"[..]).unwrap(), known);
    }
}
