//! A shield as a document.

use certus_audit::shield::{
    Branch, Convergence, Cover, DecreaseProof, FORMAT, Invariant, Multiplier, PutinarCertificate, Range, Shield,
    SumOfSquares, rounded,
};
use certus_documents::{Schema, shield};

/// The document of a shield: what `certus_audit::shield::read_shield` reads.
pub fn document(own: &Shield, system: &str, states: &[String]) -> shield::Shield {
    shield::Shield {
        schema: Schema::default(),
        format: FORMAT.to_owned(),
        system: shield::ShieldedSystem { name: system.to_owned(), path: own.path.clone(), sha256: own.digest.clone() },
        property: own.property.clone(),
        settings: own.settings.iter().cloned().collect(),
        states: states.to_vec(),
        domain: own.domain.iter().map(range).collect(),
        branches: own.branches.iter().map(branch).collect(),
        cover: cover(&own.cover),
        release: own.release,
        convergence: own.convergence.as_ref().map(convergence),
        ..shield::Shield::default()
    }
}

fn convergence(claimed: &Convergence) -> shield::Convergence {
    let proof = |own: &DecreaseProof| shield::DecreaseProof {
        function: own.function.clone(),
        contraction: own.contraction,
        floor: own.floor,
        level: own.level,
        step: identity(&own.step),
        sides: own.sides.iter().map(above).collect(),
    };
    shield::Convergence {
        target: claimed.target.iter().map(range).collect(),
        proofs: claimed.proofs.iter().map(proof).collect(),
    }
}

fn above((above, own): &(f64, PutinarCertificate)) -> shield::PutinarCertificateAbove {
    let shield::PutinarCertificate { free, multipliers } = identity(own);
    shield::PutinarCertificateAbove { free, multipliers, above: *above }
}

fn range(range: &Range) -> shield::Range {
    [range.lower.as_ref().map(rounded), range.upper.as_ref().map(rounded)]
}

fn branch(branch: &Branch) -> shield::Branch {
    let invariant = match &branch.invariant {
        Invariant::Polynomial(proof) => shield::Invariant::Polynomial(shield::BarrierCertificate {
            polynomial: proof.barrier.clone(),
            contraction: proof.contraction,
            margin: proof.margin,
            step: identity(&proof.step),
            pieces: proof.pieces.iter().map(above).collect(),
        }),
        Invariant::Polyhedron(polyhedron) => {
            let halfspaces = polyhedron.halfspaces.iter().map(|own| shield::Halfspace {
                normal: own.normal.clone(),
                bound: own.bound,
                multipliers: own.multipliers.clone(),
            });
            let pieces = polyhedron
                .pieces
                .iter()
                .map(|own| shield::PieceProof { constraint: own.constraint, multipliers: own.multipliers.clone() });
            shield::Invariant::Polyhedron(shield::Polyhedron {
                polyhedron: halfspaces.collect(),
                pieces: pieces.collect(),
            })
        }
    };
    shield::Branch { program: branch.program.clone(), invariant }
}

fn identity(identity: &PutinarCertificate) -> shield::PutinarCertificate {
    let multiplier = |own: &Multiplier| shield::Multiplier {
        basis: own.squares.basis.clone(),
        gram: own.squares.gram.clone(),
        constraint: own.constraint,
    };
    let SumOfSquares { basis, gram } = identity.free.clone();
    shield::PutinarCertificate {
        free: shield::SumOfSquares { basis, gram },
        multipliers: identity.multipliers.iter().map(multiplier).collect(),
    }
}

fn cover(cover_of: &Cover) -> shield::Cover {
    match cover_of {
        Cover::Split { state, at, below, above } => shield::Cover::Split {
            state: *state,
            at: *at,
            below: Box::new(cover(below)),
            above: Box::new(cover(above)),
        },
        Cover::Inside { branch, identity: proof } => {
            shield::Cover::Inside { branch: *branch, identity: proof.as_ref().map(identity) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use certus_audit::shield::{BarrierCertificate, Halfspace, PieceProof, Polyhedron, read_shield};
    use certus_documents::Document;

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
        let text = document(&shield, "a", &["x".to_owned(), "y".to_owned()]).to_line().unwrap();
        let read = read_shield(&serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(read, shield);
    }
}
