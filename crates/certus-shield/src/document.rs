//! A shield as a JSON document.

use certus_audit::shield::{
    Branch, Convergence, Cover, DecreaseProof, Invariant, Monomial, PutinarCertificate, Range, Shield, SumOfSquares,
    rounded,
};
use serde_json::{Map, Value, json};

/// The document of a shield: what `certus_audit::shield::read_shield` reads.
pub fn document(shield: &Shield, system: &str, states: &[String]) -> Value {
    let settings: Map<String, Value> = shield.settings.iter().map(|(name, x)| (name.clone(), json!(x))).collect();
    json!({
        "format": "certus-shield 1",
        "system": { "name": system, "path": shield.path, "sha256": shield.digest },
        "property": shield.property,
        "settings": settings,
        "states": states,
        "domain": shield.domain.iter().map(range).collect::<Vec<_>>(),
        "branches": shield.branches.iter().map(branch).collect::<Vec<_>>(),
        "cover": cover(&shield.cover),
        "release": shield.release,
        "convergence": shield.convergence.as_ref().map(convergence),
    })
}

fn convergence(claimed: &Convergence) -> Value {
    let proof = |own: &DecreaseProof| {
        json!({
            "function": terms(&own.function),
            "contraction": own.contraction,
            "floor": own.floor,
            "level": own.level,
            "step": identity(&own.step),
            "sides": own.sides.iter().map(above).collect::<Vec<_>>(),
        })
    };
    json!({
        "target": claimed.target.iter().map(range).collect::<Vec<_>>(),
        "proofs": claimed.proofs.iter().map(proof).collect::<Vec<_>>(),
    })
}

fn above((above, own): &(f64, PutinarCertificate)) -> Value {
    let mut value = identity(own);
    value["above"] = json!(above);
    value
}

fn range(range: &Range) -> Value {
    json!([range.lower.as_ref().map(rounded), range.upper.as_ref().map(rounded)])
}

fn terms(terms: &[(f64, Monomial)]) -> Value {
    terms.iter().map(|(c, m)| json!([c, m])).collect()
}

fn branch(branch: &Branch) -> Value {
    let program: Vec<Value> = branch.program.iter().map(|own| terms(own)).collect();
    let invariant = match &branch.invariant {
        Invariant::Polynomial(proof) => json!({
            "polynomial": terms(&proof.barrier),
            "contraction": proof.contraction,
            "margin": proof.margin,
            "step": identity(&proof.step),
            "pieces": proof.pieces.iter().map(above).collect::<Vec<_>>(),
        }),
        Invariant::Polyhedron(polyhedron) => json!({
            "polyhedron": polyhedron.halfspaces.iter().map(|h| json!({
                "normal": h.normal, "bound": h.bound, "multipliers": weights(&h.multipliers),
            })).collect::<Vec<_>>(),
            "pieces": polyhedron.pieces.iter().map(|piece| json!({
                "constraint": piece.constraint, "multipliers": weights(&piece.multipliers),
            })).collect::<Vec<_>>(),
        }),
    };
    json!({ "program": program, "invariant": invariant })
}

fn weights(weights: &[(usize, f64)]) -> Value {
    weights.iter().map(|(place, weight)| json!([place, weight])).collect()
}

fn squares(squares: &SumOfSquares) -> Value {
    json!({ "basis": squares.basis, "gram": squares.gram })
}

fn identity(identity: &PutinarCertificate) -> Value {
    let multiplier = |own: &certus_audit::shield::Multiplier| {
        let mut value = squares(&own.squares);
        value["constraint"] = json!(own.constraint);
        value
    };
    json!({
        "free": squares(&identity.free),
        "multipliers": identity.multipliers.iter().map(multiplier).collect::<Vec<_>>(),
    })
}

fn cover(cover_of: &Cover) -> Value {
    match cover_of {
        Cover::Split { state, at, below, above } => {
            json!({ "state": state, "at": at, "below": cover(below), "above": cover(above) })
        }
        Cover::Inside { branch, identity: proof } => {
            json!({ "branch": branch, "identity": proof.as_ref().map(identity) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use certus_audit::shield::{BarrierCertificate, Halfspace, Multiplier, PieceProof, Polyhedron, read_shield};

    #[test]
    fn a_shield_is_read_back_as_it_was() {
        let squares = SumOfSquares { basis: vec![vec![0, 0], vec![1, 0]], gram: vec![vec![1.5], vec![-0.1, 2e-17]] };
        let multiplier = Multiplier { constraint: 3, squares: squares.clone() };
        let identity = PutinarCertificate { free: squares, multipliers: vec![multiplier] };
        let barrier = vec![(0.1 + 0.2, vec![2, 0]), (-1.0, vec![0, 0])];
        let proof = BarrierCertificate {
            barrier,
            contraction: 0.9,
            margin: 1e-6,
            step: identity.clone(),
            pieces: vec![(0.5, identity.clone())],
        };
        let halfspace = Halfspace { normal: vec![1.0, -0.3], bound: 2.0, multipliers: vec![(0, 1.0 / 3.0)] };
        let polyhedron = Polyhedron {
            halfspaces: vec![halfspace],
            pieces: vec![PieceProof { constraint: 0, multipliers: vec![(0, 1.0)] }],
        };
        let program = vec![vec![(-2.5, vec![1, 0])]];
        let inside = |identity| Box::new(Cover::Inside { branch: 1, identity });
        let shield = Shield {
            path: "a.certus".to_owned(),
            digest: "00".to_owned(),
            property: "safe".to_owned(),
            settings: vec![("mass".to_owned(), 1.3)],
            domain: vec![
                Range { lower: certus_audit::shield::rational(-0.4), upper: None },
                Range { lower: None, upper: certus_audit::shield::rational(0.1) },
            ],
            branches: vec![
                Branch { program: program.clone(), invariant: Invariant::Polynomial(proof) },
                Branch { program, invariant: Invariant::Polyhedron(polyhedron) },
            ],
            cover: Cover::Split { state: 0, at: 0.25, below: inside(None), above: inside(Some(identity.clone())) },
            release: 0.25,
            convergence: Some(Convergence {
                target: vec![
                    Range { lower: certus_audit::shield::rational(-0.1), upper: certus_audit::shield::rational(0.3) },
                    Range { lower: None, upper: None },
                ],
                proofs: vec![DecreaseProof {
                    function: vec![(1.5, vec![2, 0])],
                    contraction: 0.75,
                    floor: 0.5,
                    level: 1.0,
                    step: identity.clone(),
                    sides: vec![(0.125, identity)],
                }],
            }),
        };
        let text = document(&shield, "a", &["x".to_owned(), "y".to_owned()]).to_string();
        let read = read_shield(&serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(read, shield);
    }
}
