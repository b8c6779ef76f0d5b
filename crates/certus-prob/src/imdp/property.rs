//! Properties of interval MDPs, with both players in the open: `Pmaxmin=? [ "safe" U<=20 "goal" ]`.

use std::fmt;

use certus_graph::Fault;

use super::robust_value_iteration::{self, Resources, Values};
use super::{Imdp, Objective, Players, drn, interval_iteration};

/// A formula over labels.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// Everything, or nothing.
    Constant(bool),
    /// States with a label.
    Label(String),
    /// Negation.
    Not(Box<Labels>),
    /// Conjunction.
    And(Box<Labels>, Box<Labels>),
    /// Disjunction.
    Or(Box<Labels>, Box<Labels>),
}

/// What is asked of the probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    /// How large it is.
    Value,
    /// Whether it is at most (or less than) a number.
    AtMost(f64, bool),
    /// Whether it is at least (or more than) a number.
    AtLeast(f64, bool),
}

/// A property.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Who wants what; nature is not named for models without intervals.
    pub scheduler: Objective,
    /// Nature's aim, where it is named.
    pub nature: Option<Objective>,
    /// What is asked.
    pub question: Question,
    /// What holds until then.
    pub stay: Labels,
    /// What is reached.
    pub goal: Labels,
    /// Within how many steps; none for any number.
    pub steps: Option<u64>,
    /// Whether the formula was `G`, so that the probability is one minus that of reaching.
    pub globally: bool,
}

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertyError {
    /// The place, in characters from the start.
    pub at: usize,
    /// What was expected.
    pub message: String,
}

impl fmt::Display for PropertyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the property, character {}: {}", self.at + 1, self.message)
    }
}

impl std::error::Error for PropertyError {}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

/// Parentheses and negations nest no deeper than this.
const DEEPEST: usize = 200;

impl Reader<'_> {
    fn space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        let found = self.text[self.at..].starts_with(token.as_bytes());
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), PropertyError> {
        if self.take(token) { Ok(()) } else { Err(self.error(format!("expected '{token}'"))) }
    }

    fn error(&self, message: impl Into<String>) -> PropertyError {
        PropertyError { at: self.at, message: message.into() }
    }

    fn number(&mut self) -> Result<f64, PropertyError> {
        self.space();
        let start = self.at;
        while self.text.get(self.at).is_some_and(|c| c.is_ascii_digit() || b".eE+-".contains(c)) {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).unwrap_or("");
        text.parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
            .ok_or_else(|| PropertyError { at: start, message: "expected a number".to_owned() })
    }

    fn aim(&mut self) -> Option<Objective> {
        if self.take("max") {
            Some(Objective::Max)
        } else if self.take("min") {
            Some(Objective::Min)
        } else {
            None
        }
    }

    fn labels(&mut self, depth: usize) -> Result<Labels, PropertyError> {
        let mut left = self.conjunction(depth)?;
        while self.take("|") {
            left = Labels::Or(Box::new(left), Box::new(self.conjunction(depth)?));
        }
        Ok(left)
    }

    fn conjunction(&mut self, depth: usize) -> Result<Labels, PropertyError> {
        let mut left = self.atom(depth)?;
        while self.take("&") {
            left = Labels::And(Box::new(left), Box::new(self.atom(depth)?));
        }
        Ok(left)
    }

    fn atom(&mut self, depth: usize) -> Result<Labels, PropertyError> {
        if depth > DEEPEST {
            return Err(self.error("the formula is nested too deeply"));
        }
        if self.take("!") {
            return Ok(Labels::Not(Box::new(self.atom(depth + 1)?)));
        }
        if self.take("(") {
            let inner = self.labels(depth + 1)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.take("true") {
            return Ok(Labels::Constant(true));
        }
        if self.take("false") {
            return Ok(Labels::Constant(false));
        }
        if self.take("\"") {
            let start = self.at;
            while self.text.get(self.at).is_some_and(|&c| c != b'"') {
                self.at += 1;
            }
            let name = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
            self.expect("\"")?;
            return Ok(Labels::Label(name));
        }
        Err(self.error("expected a label in quotes, true, false, '!' or '('"))
    }

    fn steps(&mut self) -> Result<Option<u64>, PropertyError> {
        let strict = if self.take("<=") {
            false
        } else if self.take("<") {
            true
        } else {
            return Ok(None);
        };
        let number = self.number()?;
        if number < 0.0 || number.fract() != 0.0 || number > 1e15 || (strict && number == 0.0) {
            return Err(self.error("a bound on the steps is a whole number"));
        }
        Ok(Some(number as u64 - u64::from(strict)))
    }
}

impl Property {
    /// Reads a property.
    pub fn parse(text: &str) -> Result<Property, PropertyError> {
        let mut reader = Reader { text: text.as_bytes(), at: 0 };
        reader.expect("P")?;
        let (first, second) = (reader.aim(), reader.aim());
        let question = if reader.take("=?") {
            Question::Value
        } else if reader.take("<=") {
            Question::AtMost(reader.number()?, false)
        } else if reader.take("<") {
            Question::AtMost(reader.number()?, true)
        } else if reader.take(">=") {
            Question::AtLeast(reader.number()?, false)
        } else if reader.take(">") {
            Question::AtLeast(reader.number()?, true)
        } else {
            return Err(reader.error("expected '=?', or a comparison with a number"));
        };
        // A comparison speaks of all schedulers: without a name it is that of the worst one.
        let scheduler = match (first, question) {
            (Some(aim), _) => aim,
            (None, Question::AtMost(..)) => Objective::Max,
            (None, Question::AtLeast(..)) => Objective::Min,
            (None, Question::Value) => return Err(reader.error("say who the scheduler is: Pmax=? or Pmin=?")),
        };
        reader.expect("[")?;
        let (stay, goal, steps, globally) = if reader.take("F") {
            let steps = reader.steps()?;
            (Labels::Constant(true), reader.labels(0)?, steps, false)
        } else if reader.take("G") {
            let steps = reader.steps()?;
            (Labels::Constant(true), Labels::Not(Box::new(reader.labels(0)?)), steps, true)
        } else {
            let stay = reader.labels(0)?;
            reader.expect("U")?;
            let steps = reader.steps()?;
            (stay, reader.labels(0)?, steps, false)
        };
        reader.expect("]")?;
        reader.space();
        if reader.at < reader.text.len() {
            return Err(reader.error("nothing more was expected"));
        }
        Ok(Property { scheduler, nature: second, question, stay, goal, steps, globally })
    }

    /// The players of this property on a model; an error if nature must be named.
    pub fn players(&self, model: &Imdp) -> Result<Players, String> {
        match self.nature {
            Some(nature) => Ok(Players { scheduler: self.scheduler, nature }),
            None if model.is_plain() => Ok(Players { scheduler: self.scheduler, nature: self.scheduler }),
            None => Err("the model has intervals: name nature too, as the second player, for example Pmaxmin=? or \
                         Pmaxmax=?"
                .to_owned()),
        }
    }
}

impl Labels {
    /// The states where the formula holds; an error names a label that does not exist.
    pub fn states(&self, model: &Imdp) -> Result<Vec<bool>, String> {
        let both = |a: &Labels, b: &Labels, and: bool| -> Result<Vec<bool>, String> {
            let (a, b) = (a.states(model)?, b.states(model)?);
            Ok(a.into_iter().zip(b).map(|(a, b)| if and { a && b } else { a || b }).collect())
        };
        match self {
            Labels::Constant(value) => Ok(vec![*value; model.states()]),
            Labels::Label(name) => model.labelled(name).ok_or_else(|| {
                let known: Vec<&str> = model.labels().collect();
                format!("the model has no label \"{name}\"; it has {}", known.join(", "))
            }),
            Labels::Not(part) => Ok(part.states(model)?.into_iter().map(|holds| !holds).collect()),
            Labels::And(a, b) => both(a, b, true),
            Labels::Or(a, b) => both(a, b, false),
        }
    }
}

/// What a property says of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The probabilities, one per state.
    pub values: Values,
    /// The interval of the initial states: the smallest lower and the largest upper end.
    pub initial: (f64, f64),
    /// Whether the property holds in all initial states, where it asks that and the intervals allow to say.
    pub holds: Option<bool>,
    /// Whether all intervals are as narrow as was asked for.
    pub narrow: bool,
    /// A choice for every state, by number within the state, that attains the values: with a bound on the steps, that of the first step (and nothing
    /// where there is none, or where the plan for all steps would be too long).
    pub strategy: Option<Vec<usize>>,
    /// The interval of the initial states on the model that the strategy leaves (the plan for all steps, with a bound on them): it must meet that of
    /// the model.
    pub rechecked: Option<(f64, f64)>,
}

fn over_initial(model: &Imdp, values: &Values) -> (f64, f64) {
    let mut found = (f64::INFINITY, f64::NEG_INFINITY);
    for state in model.initial() {
        found = (found.0.min(values.lower[state]), found.1.max(values.upper[state]));
    }
    found
}

/// Answers a property; nothing when stopped.
pub fn answer(model: &Imdp, property: &Property, gap: f64, resources: Resources<'_>) -> Result<Option<Answer>, String> {
    let asked = property.players(model)?;
    if model.initial().next().is_none() {
        return Err("the model has no initial state".to_owned());
    }
    let (stay, goal) = (property.stay.states(model)?, property.goal.states(model)?);
    let flip = |aim: Objective| if aim == Objective::Max { Objective::Min } else { Objective::Max };
    let players = match property.globally {
        true => Players { scheduler: flip(asked.scheduler), nature: flip(asked.nature) },
        false => asked,
    };
    let (mut values, narrow, strategy, mut rechecked) = match property.steps {
        Some(steps) => {
            let Some(values) = robust_value_iteration::until(model, &stay, &goal, steps, players, resources) else {
                return Ok(None);
            };
            let plan = robust_value_iteration::plan(model, &stay, &goal, steps, players, resources);
            let again = plan
                .as_ref()
                .and_then(|plan| robust_value_iteration::following(model, &stay, &goal, plan, players, resources));
            let first = plan.and_then(|mut plan| plan.pop());
            let first = first.map(|chosen| chosen.into_iter().map(|place| place as usize).collect());
            (values, true, first, again.map(|again| over_initial(model, &again)))
        }
        None => {
            let (values, narrow) = interval_iteration::until(model, &stay, &goal, gap, players, resources);
            let chosen = interval_iteration::strategy(model, &goal, &values, players);
            let chain = interval_iteration::induced(model, &chosen);
            let (again, _) = interval_iteration::until(&chain, &stay, &goal, gap, players, resources);
            let rechecked = over_initial(model, &again);
            (values, narrow, Some(chosen), Some(rechecked))
        }
    };
    if let Some(state) = (0..model.states()).find(|&state| values.lower[state] > values.upper[state]) {
        let ends = (values.lower[state], values.upper[state]);
        let message = format!("state {state} of a model has a lower end above its upper one: {ends:?}");
        return Err(Fault::raise(message, format!("{property:?}\n{}", drn::write(model))).to_string());
    }
    if property.globally {
        let complement = |value: &f64| 1.0 - value;
        values = Values {
            lower: values.upper.iter().map(|value| complement(value).next_down().max(0.0)).collect(),
            upper: values.lower.iter().map(|value| complement(value).next_up().min(1.0)).collect(),
        };
        rechecked = rechecked.map(|(low, high)| (1.0 - high, 1.0 - low));
    }
    let initial = over_initial(model, &values);
    let holds = match property.question {
        Question::Value => None,
        Question::AtMost(p, strict) => decided(initial.1, initial.0, p, strict),
        Question::AtLeast(p, strict) => decided(-initial.0, -initial.1, -p, strict),
    };
    Ok(Some(Answer { values, initial, holds, narrow, strategy, rechecked }))
}

/// Whether everything up to `most` is at most a number, or something from `least` on is not.
fn decided(most: f64, least: f64, number: f64, strict: bool) -> Option<bool> {
    let (fits, exceeds) = match strict {
        true => (most < number, least >= number),
        false => (most <= number, least > number),
    };
    if fits { Some(true) } else { exceeds.then_some(false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_players_are_read() {
        let property = Property::parse("Pmaxmin=? [ \"a\" & !\"b\" U<=7 (\"c\" | true) ]").unwrap();
        assert_eq!((property.scheduler, property.nature), (Objective::Max, Some(Objective::Min)));
        assert_eq!((property.steps, property.globally), (Some(7), false));
        let property = Property::parse("P<0.25 [G<3 \"safe\"]").unwrap();
        assert_eq!(property.question, Question::AtMost(0.25, true));
        assert_eq!((property.steps, property.globally, property.scheduler), (Some(2), true, Objective::Max));
    }

    #[test]
    fn errors_name_the_place() {
        let error = |text: &str| Property::parse(text).unwrap_err().to_string();
        assert_eq!(error("P=? [ F true ]"), "the property, character 4: say who the scheduler is: Pmax=? or Pmin=?");
        assert!(error("Pmax=? [ F goal ]").contains("character 12: expected a label in quotes"));
        assert!(error("Pmax=? [ F true ] x").contains("nothing more"));
        assert!(error(&format!("Pmax=? [ F {} ]", "(".repeat(1000))).contains("nested too deeply"));
    }
}
