//! Who is asked: engines of `check`, and the other front ends; each a row of the campaign's table.

use std::path::Path;

use crate::campaign::Tally;
use crate::engines::{self, Asked};
use crate::systems::Case;
use crate::truth::Truth;
use crate::{audit, chances, compare, exit_codes, extract, format, gate, mine, region, shield, simulation, verify};

/// One that is compared with the interpreter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Row {
    /// An engine of `check`.
    Check(Asked),
    /// Simulated runs.
    Simulate,
    /// Bounds on probabilities.
    Imdp,
    /// The formatter.
    Format,
    /// Certificates and their audit.
    Audit,
    /// Maps over parameters.
    Region,
    /// Checkpoints of a network.
    Gate,
    /// The policy that is extracted from a network.
    Extract,
    /// Networks and specifications.
    Verify,
    /// Mined specifications.
    Mine,
    /// Shields.
    Shield,
    /// The binary: documents and exit codes.
    ExitCodes,
}

/// The rows beside the engines of `check`.
const OTHERS: [Row; 11] = [
    Row::Simulate,
    Row::Imdp,
    Row::Format,
    Row::Audit,
    Row::Region,
    Row::Gate,
    Row::Extract,
    Row::Verify,
    Row::Mine,
    Row::Shield,
    Row::ExitCodes,
];

/// A system and all that is needed to compare a row on it.
pub struct Study<'a> {
    /// The system's number.
    pub number: usize,
    /// Names the properties.
    pub seed: u64,
    /// How many properties a system has.
    pub properties: usize,
    /// The system.
    pub case: &'a Case,
    /// What is true of each of its properties, where that is known.
    pub truths: &'a [Option<Truth>],
    /// A folder for files.
    pub folder: &'a Path,
    /// The binary, if there is one.
    pub binary: Option<&'a Path>,
}

impl Row {
    /// All rows.
    pub fn all() -> Vec<Row> {
        engines::ALL.into_iter().map(Row::Check).chain(OTHERS).collect()
    }

    /// How it is called in reports.
    pub fn name(self) -> &'static str {
        match self {
            Row::Check(asked) => asked.name,
            Row::Simulate => simulation::NAME,
            Row::Imdp => chances::NAME,
            Row::Format => format::NAME,
            Row::Audit => audit::NAME,
            Row::Region => region::NAME,
            Row::Gate => gate::NAME,
            Row::Extract => extract::NAME,
            Row::Verify => verify::NAME,
            Row::Mine => mine::NAME,
            Row::Shield => shield::NAME,
            Row::ExitCodes => exit_codes::NAME,
        }
    }

    /// The row of a name.
    pub fn named(name: &str) -> Option<Row> {
        Row::all().into_iter().find(|row| row.name() == name)
    }

    /// Whether it is asked about the campaign's own system, not about one of its kind.
    pub fn takes_the_case(self) -> bool {
        matches!(self, Row::Check(_) | Row::Simulate | Row::Format | Row::Audit | Row::ExitCodes)
    }

    /// About how many triples it makes of a property.
    pub fn triples(self) -> usize {
        match self {
            Row::Simulate => simulation::RUNS as usize,
            Row::Gate => gate::CHECKPOINTS * 2,
            Row::Region => region::RESOLUTION,
            Row::Audit => 2,
            _ => 1,
        }
    }

    /// Compares what it says with the truth.
    pub fn compare(self, study: &Study<'_>, tally: &mut Tally) -> Result<(), String> {
        match self {
            Row::Check(asked) => compare::compare(asked, study, tally),
            Row::Simulate => simulation::compare(study, tally),
            Row::Imdp => chances::compare(study, tally),
            Row::Format => format::compare(study, tally),
            Row::Audit => audit::compare(study, tally),
            Row::Region => region::compare(study, tally),
            Row::Gate => gate::compare(study, tally),
            Row::Extract => extract::compare(study, tally),
            Row::Verify => verify::compare(study, tally),
            Row::Mine => mine::compare(study, tally),
            Row::Shield => shield::compare(study, tally),
            Row::ExitCodes => exit_codes::compare(study, tally),
        }
    }
}
