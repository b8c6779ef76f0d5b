//! A shield with its certificate: the file that `certus shield` writes and `certus audit` checks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Members, Provenance, Schema};

/// A coefficient, and the exponents of the states.
pub type Term = (f64, Vec<u8>);

/// A polynomial.
pub type Polynomial = Vec<Term>;

/// Two ends; `null` where there is none.
pub type Range = [Option<f64>; 2];

/// A place in a list, and a factor.
pub type Weight = (usize, f64);

/// A shield. All numbers are doubles and mean exactly that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shield {
    /// The kind and version of this document.
    pub schema: Schema<Shield>,
    /// The format of the certificate, which the audit reads.
    pub format: String,
    /// The system.
    pub system: ShieldedSystem,
    /// The property.
    pub property: String,
    /// Parameters that were set.
    pub settings: Members<f64>,
    /// The names of the states.
    pub states: Vec<String>,
    /// The box that the invariants lie in.
    pub domain: Vec<Range>,
    /// The branches of the program.
    pub branches: Vec<Branch>,
    /// How the initial states are covered.
    pub cover: Cover,
    /// How far inside of the invariant the network gets control back: 0 at the boundary, 1 where the program rests.
    pub release: f64,
    /// The proof that the programs lead into a box, if that was asked for.
    pub convergence: Option<Convergence>,
    /// The property's documentation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// The property's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// The initial states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<Vec<[f64; 2]>>,
    /// Sets of unsafe states: where none of a set's polynomials is negative.
    #[serde(rename = "unsafe")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsafe_sets: Option<Vec<Vec<Polynomial>>>,
    /// Where the shield comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
}

/// The system that a shield is for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShieldedSystem {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: String,
    /// The SHA-256 digest of the file.
    pub sha256: String,
}

/// One branch of a shield's program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Branch {
    /// One polynomial per action.
    pub program: Vec<Polynomial>,
    /// Where the program may be used, and why.
    pub invariant: Invariant,
}

/// An invariant with its proof.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Invariant {
    /// Where a polynomial is not positive.
    Polynomial(BarrierCertificate),
    /// A polyhedron.
    Polyhedron(Polyhedron),
}

/// A barrier certificate: E ≤ 0 is invariant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BarrierCertificate {
    /// E.
    pub polynomial: Polynomial,
    /// λ of E(next) ≤ λ E − margin.
    pub contraction: f64,
    /// The margin.
    pub margin: f64,
    /// λ E − E(next) − margin as a sum of squares, over the domain and the environment's choices.
    pub step: PutinarCertificate,
    /// E above a positive number, over each unsafe piece in turn, then over each side of the limits of actions.
    pub pieces: Vec<PutinarCertificateAbove>,
}

/// A polyhedron that is invariant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Polyhedron {
    /// Its half-spaces.
    pub polyhedron: Vec<Halfspace>,
    /// One proof for each unsafe piece, then for each side of the limits of actions.
    pub pieces: Vec<PieceProof>,
}

/// A half-space normal · x ≤ bound.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Halfspace {
    /// The normal.
    pub normal: Vec<f64>,
    /// The bound.
    pub bound: f64,
    /// Which half-spaces, how often, bound it after a step (Farkas multipliers).
    pub multipliers: Vec<Weight>,
}

/// Why a polyhedron does not meet a piece.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PieceProof {
    /// The constraint of the piece that the polyhedron is on the other side of.
    pub constraint: usize,
    /// Which half-spaces, how often, bound it.
    pub multipliers: Vec<Weight>,
}

/// A sum of squares bᵀ G b.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SumOfSquares {
    /// The monomials b.
    pub basis: Vec<Vec<u8>>,
    /// The lower triangle of the Gram matrix G, row by row.
    pub gram: Vec<Vec<f64>>,
}

/// A sum of squares times a constraint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Multiplier {
    /// The monomials.
    pub basis: Vec<Vec<u8>>,
    /// The lower triangle of the Gram matrix, row by row.
    pub gram: Vec<Vec<f64>>,
    /// Which constraint of those that the claim allows.
    pub constraint: usize,
}

/// A polynomial as a sum of squares plus multiples of constraints (a Putinar certificate).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PutinarCertificate {
    /// The sum of squares without a constraint.
    pub free: SumOfSquares,
    /// The others.
    pub multipliers: Vec<Multiplier>,
}

/// An identity that shows a polynomial to be above a positive number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PutinarCertificateAbove {
    /// The sum of squares without a constraint.
    pub free: SumOfSquares,
    /// The others.
    pub multipliers: Vec<Multiplier>,
    /// The number.
    pub above: f64,
}

/// How the initial box is covered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum Cover {
    /// Two halves.
    Split {
        /// The state whose range is cut.
        state: usize,
        /// Where.
        at: f64,
        /// The lower half.
        below: Box<Cover>,
        /// The upper half.
        above: Box<Cover>,
    },
    /// A box inside of a branch's invariant.
    Inside {
        /// The branch.
        branch: usize,
        /// A proof where interval bounds are not enough.
        identity: Option<PutinarCertificate>,
    },
}

impl Default for Cover {
    fn default() -> Cover {
        Cover::Inside { branch: 0, identity: None }
    }
}

/// The claim that every branch's program leads into a box and stays there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Convergence {
    /// The box.
    pub target: Vec<Range>,
    /// One proof for each branch.
    pub proofs: Vec<DecreaseProof>,
}

/// A function V that decreases: V(next) ≤ λ V + (1 − λ) floor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecreaseProof {
    /// V.
    pub function: Polynomial,
    /// λ.
    pub contraction: f64,
    /// What V shrinks to at most.
    pub floor: f64,
    /// Where V is at most this, the target is reached.
    pub level: f64,
    /// λ V + (1 − λ) floor − V(next) as a sum of squares.
    pub step: PutinarCertificate,
    /// V above the level outside of each side of the target in turn.
    pub sides: Vec<PutinarCertificateAbove>,
}
