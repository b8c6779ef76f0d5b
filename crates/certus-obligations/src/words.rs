//! The words of a proof: what it rests on, said so briefly that everything else follows.
//!
//! They stand in the second line of a certificate as JSON. Numbers are texts there, so that they read back to the same double.

use serde_json::{Value, json};

/// Why a property holds, and why no run meets a model error before it is decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Words {
    /// Why no run violates the property.
    pub proof: Proof,
    /// Why no run has a model error before the property is decided on it.
    pub errors: Errors,
    /// Choices of which every state that matters allows one; none are needed without `assume`.
    pub witness: Vec<WitnessChoice>,
}

/// Why no run violates a property.
#[derive(Clone, Debug, PartialEq)]
pub enum Proof {
    /// No run of so many steps shows a violation, and no lasso within them.
    Bounded {
        /// How many steps.
        steps: usize,
        /// Periods that no lasso has on which a violation could last, wherever it begins.
        cycles: Vec<usize>,
    },
    /// No run shows a violation by so many steps, and after them none is possible any more.
    OutOfReach {
        /// How many steps.
        steps: usize,
    },
    /// A method for each formula that the property is the conjunction of.
    ForAllTime(Vec<Method>),
}

/// A proof for all time.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// After so many positions in a row at which no violation begins, inside of an invariant, none begins at the next.
    Induction {
        /// How many positions.
        depth: usize,
        /// How many steps of a violation are looked at.
        ahead: usize,
        /// The invariant; no faces if none is needed.
        invariant: Vec<Face>,
        /// Whether the states are pairwise different, as those of a shortest run are.
        different: bool,
    },
    /// A linear function of the state goes down on every step on which a violation lasts.
    Ranking {
        /// The coefficient of each number of the state.
        coefficients: Vec<f64>,
        /// By how much at least.
        decrease: f64,
        /// How many steps of the violation are looked at, the one on which it goes down first.
        context: usize,
    },
}

/// A halfspace: coefficients · (state, outputs of the policies) ≤ bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// The coefficients; those that are left out are zero.
    pub coefficients: Vec<f64>,
    /// The bound.
    pub bound: f64,
}

/// Why no run has a model error before a property is decided on it.
#[derive(Clone, Debug, PartialEq)]
pub enum Errors {
    /// No state of a box that no run leaves has one.
    Everywhere,
    /// No run has one by so many steps while the property is open.
    Bounded(usize),
    /// No state of an invariant has one while the property is open.
    Induction(Vec<Face>),
    /// No state has one in which the property can be open.
    Undecided,
    /// It was not shown but assumed.
    Assumed,
}

/// A choice that `assume` allows: against deadlocks.
#[derive(Clone, Debug, PartialEq)]
pub struct WitnessChoice {
    /// For each number of the inputs: a constant and a coefficient for each number of the state; limited to the input's range.
    pub inputs: Vec<Vec<f64>>,
    /// The label of each chance.
    pub chances: Vec<usize>,
    /// The label of each random action.
    pub actions: Vec<usize>,
}

/// No honest proof looks at more steps than this.
const MOST_STEPS: u64 = 10_000;

impl Words {
    /// Reads them from the members `proof`, `errors` and `witness` of a JSON object; the name of the member that is wrong otherwise.
    pub fn from_json(value: &Value) -> Result<Words, &'static str> {
        let witness = match value.get("witness") {
            None => Vec::new(),
            Some(own) => list(own, witness_from).ok_or("witness")?,
        };
        let proof = proof_from(&value["proof"]).ok_or("proof")?;
        Ok(Words { proof, errors: errors_from(&value["errors"]).ok_or("errors")?, witness })
    }

    /// Writes them as members of a JSON object.
    pub fn to_json(&self) -> Value {
        let mut object = json!({"proof": proof_to(&self.proof), "errors": errors_to(&self.errors)});
        if !self.witness.is_empty() {
            object["witness"] = self.witness.iter().map(witness_to).collect();
        }
        object
    }
}

fn list<T>(value: &Value, item: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    value.as_array()?.iter().map(item).collect()
}

fn count(value: &Value) -> Option<usize> {
    value.as_u64().filter(|&count| count <= MOST_STEPS).map(|count| count as usize)
}

fn number(value: &Value) -> Option<f64> {
    value.as_str()?.parse().ok().filter(|value: &f64| value.is_finite())
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    list(value, number)
}

/// A number as text, which reads back to the same double everywhere.
fn exact(value: f64) -> Value {
    format!("{value:?}").into()
}

fn exact_list(values: &[f64]) -> Value {
    values.iter().map(|&value| exact(value)).collect()
}

/// The one member that an object of words has besides those named.
fn only(value: &Value, besides: &[&str]) -> Option<String> {
    let object = value.as_object()?;
    let mut keys = object.keys().filter(|key| !besides.contains(&key.as_str()));
    keys.next().filter(|_| keys.next().is_none()).cloned()
}

fn face_from(value: &Value) -> Option<Face> {
    Some(Face { coefficients: numbers(&value["coefficients"])?, bound: number(&value["bound"])? })
}

fn face_to(face: &Face) -> Value {
    json!({"coefficients": exact_list(&face.coefficients), "bound": exact(face.bound)})
}

fn proof_from(value: &Value) -> Option<Proof> {
    match only(value, &["cycles"])?.as_str() {
        "bounded" => Some(Proof::Bounded { steps: count(&value["bounded"])?, cycles: list(&value["cycles"], count)? }),
        "out_of_reach" => Some(Proof::OutOfReach { steps: count(&value["out_of_reach"])? }),
        "for_all_time" => Some(Proof::ForAllTime(list(&value["for_all_time"], method_from)?)),
        _ => None,
    }
}

fn proof_to(proof: &Proof) -> Value {
    match proof {
        Proof::Bounded { steps, cycles } => json!({"bounded": steps, "cycles": cycles}),
        Proof::OutOfReach { steps } => json!({"out_of_reach": steps}),
        Proof::ForAllTime(methods) => json!({"for_all_time": methods.iter().map(method_to).collect::<Value>()}),
    }
}

fn method_from(value: &Value) -> Option<Method> {
    match only(value, &["ahead", "different", "invariant", "decrease", "context"])?.as_str() {
        "induction" => Some(Method::Induction {
            depth: count(&value["induction"])?,
            ahead: count(&value["ahead"])?,
            invariant: list(&value["invariant"], face_from)?,
            different: value["different"].as_bool()?,
        }),
        "ranking" => Some(Method::Ranking {
            coefficients: numbers(&value["ranking"])?,
            decrease: number(&value["decrease"])?,
            context: count(&value["context"])?,
        }),
        _ => None,
    }
}

fn method_to(method: &Method) -> Value {
    match method {
        Method::Induction { depth, ahead, invariant, different } => json!({
            "induction": depth, "ahead": ahead, "different": different,
            "invariant": invariant.iter().map(face_to).collect::<Value>(),
        }),
        Method::Ranking { coefficients, decrease, context } => {
            json!({"ranking": exact_list(coefficients), "decrease": exact(*decrease), "context": context})
        }
    }
}

fn errors_from(value: &Value) -> Option<Errors> {
    let key = only(value, &[])?;
    let own = &value[&key];
    let nothing = own.as_object().is_some_and(|own| own.is_empty());
    match key.as_str() {
        "everywhere" if nothing => Some(Errors::Everywhere),
        "undecided" if nothing => Some(Errors::Undecided),
        "assumed" if nothing => Some(Errors::Assumed),
        "bounded" => Some(Errors::Bounded(count(own)?)),
        "induction" => Some(Errors::Induction(list(own, face_from)?)),
        _ => None,
    }
}

fn errors_to(errors: &Errors) -> Value {
    match errors {
        Errors::Everywhere => json!({"everywhere": {}}),
        Errors::Undecided => json!({"undecided": {}}),
        Errors::Assumed => json!({"assumed": {}}),
        Errors::Bounded(steps) => json!({"bounded": steps}),
        Errors::Induction(faces) => json!({"induction": faces.iter().map(face_to).collect::<Value>()}),
    }
}

fn witness_from(value: &Value) -> Option<WitnessChoice> {
    Some(WitnessChoice {
        inputs: list(&value["inputs"], numbers)?,
        chances: list(&value["chances"], count)?,
        actions: list(&value["actions"], count)?,
    })
}

fn witness_to(witness: &WitnessChoice) -> Value {
    let inputs: Value = witness.inputs.iter().map(|row| exact_list(row)).collect();
    json!({"inputs": inputs, "chances": witness.chances, "actions": witness.actions})
}
