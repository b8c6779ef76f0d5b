//! What a certificate of a reachability proof says: trees of splits of the boxes of the initial set, and boxes that may be invariants.
//!
//! None of it has to be believed. The trees are one list in preorder, so that reading it takes no recursion; numbers are texts that read back to the same double.

use certus_graph::Interval;
use serde_json::{Value, json};

/// A reachability proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Reachable {
    /// The degree of the polynomials in the initial variables.
    pub degree: usize,
    /// The order of Taylor series in time.
    pub order: usize,
    /// Whether that no run has a model error is shown along the way, or assumed.
    pub shows_no_errors: bool,
    /// Boxes that runs from any leaf may end up in.
    pub invariants: Vec<Invariant>,
    /// The trees of all boxes one after the other, in preorder.
    pub tree: Vec<Branch>,
}

/// A node of the tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Branch {
    /// The part where an element of the state is at most a number, then the part where it is at least that.
    Split {
        /// Which element.
        element: usize,
        /// At which number.
        at: f64,
    },
    /// Nothing more is split.
    Leaf,
}

/// A box that runs return to for ever.
#[derive(Clone, Debug, PartialEq)]
pub struct Invariant {
    /// Within how many more steps everything in it is in it again.
    pub within: usize,
    /// The box.
    pub bounds: Vec<Interval>,
}

/// Limits of what is tried.
const MOST_STEPS: u64 = 100_000;
const LARGEST_DEGREE: u64 = 8;
const LARGEST_ORDER: u64 = 30;

impl Reachable {
    /// Reads it from the members `proof` and `errors` of a JSON object; the name of the member that is wrong otherwise.
    pub fn from_json(value: &Value) -> Result<Reachable, &'static str> {
        let own = &value["proof"]["reachable"];
        let alone = value["proof"].as_object().is_some_and(|object| object.len() == 1);
        let number =
            |key: &str, most: u64| own[key].as_u64().filter(|own| (1..=most).contains(own)).map(|own| own as usize);
        let degree = number("degree", LARGEST_DEGREE).filter(|_| alone).ok_or("proof")?;
        let order = number("order", LARGEST_ORDER).ok_or("proof")?;
        let tree = own["tree"].as_array().ok_or("proof")?;
        let tree = tree.iter().map(branch_from).collect::<Option<_>>().ok_or("proof")?;
        let invariants = own["invariants"].as_array().ok_or("proof")?;
        let invariants = invariants.iter().map(invariant_from).collect::<Option<_>>().ok_or("proof")?;
        let errors = value["errors"].as_object().filter(|own| own.len() == 1);
        let shows_no_errors = match errors.and_then(|own| own.keys().next()).map(String::as_str) {
            Some("along") => true,
            Some("assumed") => false,
            _ => return Err("errors"),
        };
        Ok(Reachable { degree, order, shows_no_errors, invariants, tree })
    }

    /// Writes it as members of a JSON object.
    pub fn to_json(&self) -> Value {
        let tree: Value = self.tree.iter().map(branch_to).collect();
        let errors = if self.shows_no_errors { json!({"along": {}}) } else { json!({"assumed": {}}) };
        let invariants: Value = self.invariants.iter().map(invariant_to).collect();
        let own = json!({"degree": self.degree, "order": self.order, "invariants": invariants, "tree": tree});
        json!({"proof": {"reachable": own}, "errors": errors})
    }

    /// How many leaves it has.
    pub fn leaves(&self) -> usize {
        self.tree.iter().filter(|own| matches!(own, Branch::Leaf)).count()
    }
}

fn double(value: &Value) -> Option<f64> {
    value.as_str()?.parse().ok().filter(|own: &f64| own.is_finite())
}

fn count(value: &Value) -> Option<usize> {
    value.as_u64().filter(|own| *own <= MOST_STEPS).map(|own| own as usize)
}

fn branch_from(value: &Value) -> Option<Branch> {
    if let Some(element) = value.get("split") {
        return Some(Branch::Split { element: count(element)?, at: double(&value["at"])? });
    }
    value["leaf"].as_object().filter(|own| own.is_empty()).map(|_| Branch::Leaf)
}

fn invariant_from(value: &Value) -> Option<Invariant> {
    let bounds = value["box"].as_array()?.iter().map(|range| {
        let (lo, hi) = (double(&range[0])?, double(&range[1])?);
        (lo <= hi).then_some(Interval { lo, hi })
    });
    Some(Invariant { within: count(&value["within"])?, bounds: bounds.collect::<Option<_>>()? })
}

fn text(value: f64) -> String {
    format!("{value:?}")
}

fn branch_to(branch: &Branch) -> Value {
    match branch {
        Branch::Split { element, at } => json!({"split": element, "at": text(*at)}),
        Branch::Leaf => json!({"leaf": {}}),
    }
}

fn invariant_to(own: &Invariant) -> Value {
    let bounds: Value = own.bounds.iter().map(|range| json!([text(range.lo), text(range.hi)])).collect();
    json!({"within": own.within, "box": bounds})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_read_back_as_they_were_written() {
        let bounds = vec![Interval { lo: 0.1, hi: 0.30000000000000004 }, Interval { lo: -1e-300, hi: 0.0 }];
        let tree = vec![Branch::Split { element: 1, at: 0.1 + 0.2 }, Branch::Leaf, Branch::Leaf];
        let invariants = vec![Invariant { within: 3, bounds }];
        for shows_no_errors in [true, false] {
            let own =
                Reachable { degree: 3, order: 7, shows_no_errors, invariants: invariants.clone(), tree: tree.clone() };
            let text = own.to_json().to_string();
            assert_eq!(Reachable::from_json(&serde_json::from_str(&text).unwrap()), Ok(own));
        }
        let wrong = |text: &str| Reachable::from_json(&serde_json::from_str(text).unwrap());
        assert_eq!(wrong("{}"), Err("proof"));
        let with = |degree: usize, invariants: &str, tree: &str, errors: &str| {
            let own = format!(r#""degree":{degree},"order":7,"invariants":{invariants},"tree":{tree}"#);
            wrong(&format!(r#"{{"proof":{{"reachable":{{{own}}}}},"errors":{{"{errors}":{{}}}}}}"#))
        };
        assert!(with(2, "[]", r#"[{"leaf":{}}]"#, "along").is_ok());
        assert_eq!(with(99, "[]", "[]", "along"), Err("proof"));
        for (invariants, tree) in [
            ("{}", "[]"),
            (r#"[{"within":1}]"#, "[]"),
            (r#"[{"within":1,"box":[["1","0"]]}]"#, "[]"),
            (r#"[{"within":1,"box":[["0","inf"]]}]"#, "[]"),
            ("[]", r#"[{"leaf":1}]"#),
            ("[]", r#"[{"leaf":[]}]"#),
        ] {
            assert_eq!(with(2, invariants, tree, "along"), Err("proof"), "{invariants} {tree}");
        }
        assert_eq!(with(2, "[]", "[]", "everywhere"), Err("errors"));
    }
}
