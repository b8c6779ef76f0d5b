//! A shield with its certificate, as it stands in a file. All numbers are doubles, and mean exactly that.

use serde_json::Value;

use super::model::Range;
use super::polynomial::{Monomial, rational};

/// A sum of squares: the basis b and the lower triangle of the Gram matrix G of bᵀ G b.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SumOfSquares {
    /// The monomials.
    pub basis: Vec<Monomial>,
    /// The rows of the lower triangle.
    pub gram: Vec<Vec<f64>>,
}

/// A sum of squares times a constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Multiplier {
    /// Which constraint of those that the claim allows.
    pub constraint: usize,
    /// The factor.
    pub squares: SumOfSquares,
}

/// A polynomial as a sum of squares plus multiples of constraints. The free sum of squares is completed by the
/// checker: what is missing in the identity is put into its Gram matrix, which must stay positive semidefinite.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct PutinarCertificate {
    /// The sum of squares without a constraint.
    pub free: SumOfSquares,
    /// The others.
    pub multipliers: Vec<Multiplier>,
}

/// An invariant {E ≤ 0} with its proof.
#[derive(Clone, Debug, PartialEq)]
pub struct BarrierCertificate {
    /// E: coefficients with the exponents of the states.
    pub barrier: Vec<(f64, Monomial)>,
    /// λ of E(next) ≤ λ E − margin.
    pub contraction: f64,
    /// How far below zero E is after a step from inside.
    pub margin: f64,
    /// λ E − E(next) − margin, over the domain and the choices.
    pub step: PutinarCertificate,
    /// E less a small positive number, over each unsafe piece in turn, then over each side of the limits of actions.
    pub pieces: Vec<(f64, PutinarCertificate)>,
}

/// A half-space normal · x ≤ bound, with the multipliers that prove that a step does not leave it.
#[derive(Clone, Debug, PartialEq)]
pub struct Halfspace {
    /// The normal.
    pub normal: Vec<f64>,
    /// The bound.
    pub bound: f64,
    /// Which half-spaces, how often, bound it after a step.
    pub multipliers: Vec<(usize, f64)>,
}

/// Why a polyhedron does not meet a piece: it is on the other side of one of the piece's constraints.
#[derive(Clone, Debug, PartialEq)]
pub struct PieceProof {
    /// Which constraint of the piece.
    pub constraint: usize,
    /// Which half-spaces, how often, bound it.
    pub multipliers: Vec<(usize, f64)>,
}

/// An invariant that is a polyhedron, with its proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Polyhedron {
    /// The half-spaces.
    pub halfspaces: Vec<Halfspace>,
    /// One for each unsafe piece, then for each side of the limits of actions.
    pub pieces: Vec<PieceProof>,
}

/// An invariant with its proof.
#[derive(Clone, Debug, PartialEq)]
pub enum Invariant {
    /// Where a polynomial is not positive.
    Polynomial(BarrierCertificate),
    /// A polyhedron.
    Polyhedron(Polyhedron),
}

/// One branch of a shield's program.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// One polynomial per action: coefficients with the exponents of the states.
    pub program: Vec<Vec<(f64, Monomial)>>,
    /// Where it may be used, and why.
    pub invariant: Invariant,
}

/// How the initial box is covered.
#[derive(Clone, Debug, PartialEq)]
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
    /// A box inside of a branch's invariant, with a proof where bounds are not enough.
    Inside {
        /// The branch.
        branch: usize,
        /// −E as a sum of squares over the box.
        identity: Option<PutinarCertificate>,
    },
}

/// A shield.
#[derive(Clone, Debug, PartialEq)]
pub struct Shield {
    /// The system's file, as it was named.
    pub path: String,
    /// Its digest.
    pub digest: String,
    /// The property.
    pub property: String,
    /// Parameters that were set.
    pub settings: Vec<(String, f64)>,
    /// The box that the invariants lie in.
    pub domain: Vec<Range>,
    /// The branches.
    pub branches: Vec<Branch>,
    /// How the initial states are covered.
    pub cover: Cover,
    /// How far inside a policy gets control back after an intervention: 0 at the boundary, 1 where the program rests. Safety
    /// does not depend on it.
    pub release: f64,
    /// The proofs that the programs lead to a given set, if that was asked for.
    pub convergence: Option<Convergence>,
}

/// The claim that every branch's program leads from everywhere in its invariant into a box, and stays there.
#[derive(Clone, Debug, PartialEq)]
pub struct Convergence {
    /// The box: one range per state.
    pub target: Vec<Range>,
    /// One proof for each branch.
    pub proofs: Vec<DecreaseProof>,
}

/// A function V that decreases: V(next) ≤ λ V + (1 − λ) floor, so that V comes as near to the floor as one likes, and V is
/// above the level outside of the target.
#[derive(Clone, Debug, PartialEq)]
pub struct DecreaseProof {
    /// V: coefficients with the exponents of the states.
    pub function: Vec<(f64, Monomial)>,
    /// λ.
    pub contraction: f64,
    /// What V shrinks to at most.
    pub floor: f64,
    /// Where V is at most this, the target is reached.
    pub level: f64,
    /// λ V + (1 − λ) floor − V(next), over the domain, the choices and the invariant.
    pub step: PutinarCertificate,
    /// V less the level and a small positive number, over the outside of each side of the target in turn.
    pub sides: Vec<(f64, PutinarCertificate)>,
}

/// The first words of a shield's file.
pub const FORMAT: &str = "certus-shield 1";

/// Deepest nesting of a cover.
const MAX_DEPTH: usize = 512;

type Read<T> = Result<T, String>;

/// Reads a shield.
pub fn read_shield(document: &Value) -> Read<Shield> {
    if document.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(format!("this is not a shield: `format` is not \"{FORMAT}\""));
    }
    let system = field(document, "system")?;
    let mut settings = Vec::new();
    if let Some(Value::Object(map)) = document.get("settings") {
        for (name, value) in map {
            settings.push((name.clone(), number(value, name)?));
        }
    }
    let domain = list(field(document, "domain")?, "domain")?.iter().map(range).collect::<Read<Vec<Range>>>()?;
    let branches = list(field(document, "branches")?, "branches")?.iter().map(branch).collect::<Read<Vec<Branch>>>()?;
    Ok(Shield {
        path: text(field(system, "path")?, "path")?,
        digest: text(field(system, "sha256")?, "sha256")?,
        property: text(field(document, "property")?, "property")?,
        settings,
        domain,
        branches,
        cover: cover(field(document, "cover")?, 0)?,
        release: match document.get("release") {
            None => 0.0,
            Some(value) => number(value, "release")?,
        },
        convergence: document.get("convergence").filter(|v| !v.is_null()).map(convergence).transpose()?,
    })
}

fn convergence(value: &Value) -> Read<Convergence> {
    let proof = |value: &Value| {
        Ok(DecreaseProof {
            function: terms(field(value, "function")?)?,
            contraction: number(field(value, "contraction")?, "contraction")?,
            floor: number(field(value, "floor")?, "floor")?,
            level: number(field(value, "level")?, "level")?,
            step: identity(field(value, "step")?)?,
            sides: above(field(value, "sides")?, "sides")?,
        })
    };
    Ok(Convergence {
        target: list(field(value, "target")?, "target")?.iter().map(range).collect::<Read<Vec<Range>>>()?,
        proofs: list(field(value, "proofs")?, "proofs")?.iter().map(proof).collect::<Read<Vec<_>>>()?,
    })
}

/// Identities, each with the positive number that it shows something to be above.
fn above(value: &Value, name: &str) -> Read<Vec<(f64, PutinarCertificate)>> {
    let own = |value: &Value| Ok((number(field(value, "above")?, "above")?, identity(value)?));
    list(value, name)?.iter().map(own).collect()
}

fn field<'v>(value: &'v Value, name: &str) -> Read<&'v Value> {
    value.get(name).ok_or_else(|| format!("`{name}` is missing"))
}

fn text(value: &Value, name: &str) -> Read<String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("`{name}` is not a text"))
}

fn list<'v>(value: &'v Value, name: &str) -> Read<&'v [Value]> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| format!("`{name}` is not a list"))
}

fn number(value: &Value, name: &str) -> Read<f64> {
    value.as_f64().filter(|x| x.is_finite()).ok_or_else(|| format!("`{name}` is not a number"))
}

fn index(value: &Value, name: &str) -> Read<usize> {
    let index = value.as_u64().and_then(|index| usize::try_from(index).ok());
    index.ok_or_else(|| format!("`{name}` is not a whole number"))
}

fn numbers(value: &Value, name: &str) -> Read<Vec<f64>> {
    list(value, name)?.iter().map(|x| number(x, name)).collect()
}

fn range(value: &Value) -> Read<Range> {
    let end = |value: &Value| match value {
        Value::Null => Ok(None),
        value => number(value, "domain").map(rational),
    };
    match list(value, "domain")? {
        [lower, upper] => Ok(Range { lower: end(lower)?, upper: end(upper)? }),
        _ => Err("`domain` is not a list of pairs".to_owned()),
    }
}

fn monomial(value: &Value) -> Read<Monomial> {
    let exponent =
        |x: &Value| x.as_u64().and_then(|x| u8::try_from(x).ok()).ok_or_else(|| "a strange exponent".to_owned());
    list(value, "exponents")?.iter().map(exponent).collect()
}

/// Terms: pairs of a coefficient and exponents.
fn terms(value: &Value) -> Read<Vec<(f64, Monomial)>> {
    let term = |term: &Value| match list(term, "terms")? {
        [coefficient, exponents] => Ok((number(coefficient, "coefficient")?, monomial(exponents)?)),
        _ => Err("a term is not a pair".to_owned()),
    };
    list(value, "terms")?.iter().map(term).collect()
}

fn branch(value: &Value) -> Read<Branch> {
    let program = list(field(value, "program")?, "program")?.iter().map(terms).collect::<Read<Vec<_>>>()?;
    let invariant = field(value, "invariant")?;
    let invariant = match (invariant.get("polynomial"), invariant.get("polyhedron")) {
        (Some(barrier), None) => Invariant::Polynomial(BarrierCertificate {
            barrier: terms(barrier)?,
            contraction: number(field(invariant, "contraction")?, "contraction")?,
            margin: number(field(invariant, "margin")?, "margin")?,
            step: identity(field(invariant, "step")?)?,
            pieces: above(field(invariant, "pieces")?, "pieces")?,
        }),
        (None, Some(halfspaces)) => Invariant::Polyhedron(Polyhedron {
            halfspaces: list(halfspaces, "polyhedron")?.iter().map(halfspace).collect::<Read<Vec<_>>>()?,
            pieces: list(field(invariant, "pieces")?, "pieces")?.iter().map(piece_proof).collect::<Read<Vec<_>>>()?,
        }),
        _ => return Err("an invariant is either a polynomial or a polyhedron".to_owned()),
    };
    Ok(Branch { program, invariant })
}

fn halfspace(value: &Value) -> Read<Halfspace> {
    Ok(Halfspace {
        normal: numbers(field(value, "normal")?, "normal")?,
        bound: number(field(value, "bound")?, "bound")?,
        multipliers: weights(field(value, "multipliers")?)?,
    })
}

fn piece_proof(value: &Value) -> Read<PieceProof> {
    Ok(PieceProof {
        constraint: index(field(value, "constraint")?, "constraint")?,
        multipliers: weights(field(value, "multipliers")?)?,
    })
}

fn weights(value: &Value) -> Read<Vec<(usize, f64)>> {
    let pair = |pair: &Value| match list(pair, "multipliers")? {
        [place, weight] => Ok((index(place, "multipliers")?, number(weight, "multipliers")?)),
        _ => Err("a multiplier is not a pair".to_owned()),
    };
    list(value, "multipliers")?.iter().map(pair).collect()
}

fn squares(value: &Value) -> Read<SumOfSquares> {
    let basis = list(field(value, "basis")?, "basis")?.iter().map(monomial).collect::<Read<Vec<_>>>()?;
    let gram = list(field(value, "gram")?, "gram")?.iter().map(|row| numbers(row, "gram")).collect::<Read<Vec<_>>>()?;
    if gram.len() != basis.len() || gram.iter().enumerate().any(|(i, row)| row.len() != i + 1) {
        return Err("a Gram matrix is not the lower triangle that its basis asks for".to_owned());
    }
    Ok(SumOfSquares { basis, gram })
}

fn identity(value: &Value) -> Read<PutinarCertificate> {
    let multiplier = |value: &Value| {
        Ok(Multiplier { constraint: index(field(value, "constraint")?, "constraint")?, squares: squares(value)? })
    };
    let multipliers = list(field(value, "multipliers")?, "multipliers")?;
    Ok(PutinarCertificate {
        free: squares(field(value, "free")?)?,
        multipliers: multipliers.iter().map(multiplier).collect::<Read<Vec<_>>>()?,
    })
}

fn cover(value: &Value, depth: usize) -> Read<Cover> {
    if depth > MAX_DEPTH {
        return Err("`cover` is nested too deeply".to_owned());
    }
    if let Some(branch) = value.get("branch") {
        let identity = value.get("identity").filter(|v| !v.is_null()).map(identity).transpose()?;
        return Ok(Cover::Inside { branch: index(branch, "branch")?, identity });
    }
    Ok(Cover::Split {
        state: index(field(value, "state")?, "state")?,
        at: number(field(value, "at")?, "at")?,
        below: Box::new(cover(field(value, "below")?, depth + 1)?),
        above: Box::new(cover(field(value, "above")?, depth + 1)?),
    })
}
