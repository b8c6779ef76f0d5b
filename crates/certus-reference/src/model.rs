//! A file's declarations, sorted by what they declare. Nothing is rewritten: expressions stay as they were read.

use std::collections::HashMap;

use certus_lang::Source;
use certus_lang::syntax::ast::{
    self, ActionRule, DeclarationKind, Expr, Member, Property, Set, Values, VariableDeclaration,
};

use crate::eval::Scene;
use crate::network::Network;
use crate::real::{Rational, Real, rational, whole};
use crate::uses::Uses;
use crate::value::{Evaluated, Stop, Term, malformed};

/// The flattened numbers of a state.
pub type State = Vec<Rational>;

/// A closed loop, as it was written.
#[derive(Debug, Default)]
pub struct Model {
    /// Its state variables.
    pub states: Vec<Variable>,
    /// The environment's choices.
    pub inputs: Vec<Variable>,
    /// Random choices with known probabilities.
    pub chances: Vec<Chance>,
    /// Discrete actions.
    pub actions: Vec<Action>,
    /// What is to be shown.
    pub properties: Vec<Property>,
    pub(crate) policies: Vec<Expr>,
    pub(crate) init: Vec<Expr>,
    pub(crate) assume: Vec<Assumption>,
    pub(crate) terminal: Option<Expr>,
    pub(crate) updates: Vec<Vec<Update>>,
    /// What integrated numbers become at the end of a step.
    pub(crate) after: Vec<Vec<Update>>,
    pub(crate) dt: Option<f64>,
    pub(crate) method: Method,
    pub(crate) names: HashMap<String, Meaning>,
    pub(crate) networks: HashMap<String, Network>,
}

/// A state variable or an input.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Where its numbers begin in the flattened state or input.
    pub start: usize,
    /// How many numbers it has.
    pub len: usize,
    /// The range of each number; none if it has no range.
    pub range: Option<Vec<(Rational, Rational)>>,
    /// The integers that each number can be, as runs with both of their ends; none if any number of the range will do.
    pub integers: Option<Vec<(i64, i64)>>,
    /// The names of the integers from 0 on, if they have names.
    pub labels: Vec<String>,
    /// Of an input: whether it may change within a step.
    pub varying: bool,
    /// Of an input: the names of the draws that it is chosen before.
    pub before: Vec<String>,
}

/// A finite random choice.
#[derive(Clone, Debug)]
pub struct Chance {
    /// Its labels.
    pub labels: Vec<String>,
    /// The probability of each.
    pub probabilities: Vec<Rational>,
}

/// A discrete action.
#[derive(Clone, Debug)]
pub struct Action {
    /// Its labels.
    pub labels: Vec<String>,
    /// How it is chosen.
    pub rule: ActionRule,
    pub(crate) scores: Expr,
}

/// A restriction of the transitions.
#[derive(Debug)]
pub(crate) struct Assumption {
    pub condition: Expr,
    pub mentions_next: bool,
}

/// How some numbers of a state variable move on.
#[derive(Debug)]
pub(crate) struct Update {
    /// The elements, by their place in the variable.
    pub elements: std::ops::Range<usize>,
    pub is_derivative: bool,
    pub value: Expr,
}

/// How derivatives become steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Method {
    #[default]
    Euler,
    RungeKutta,
    /// The differential equation itself.
    Exact,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(crate) enum Meaning {
    /// A constant, not yet computed.
    Constant(Expr),
    /// A computed constant.
    Known(Term),
    State(usize),
    Input(usize),
    Chance(usize),
    Action(usize),
    Policy(usize),
    Define(Expr),
}

impl Model {
    /// Reads a file. `settings` are the values of parameters in place of those in the file.
    pub fn read(text: &str, settings: &[(String, f64)]) -> Result<Model, String> {
        Model::read_with(text, settings, &[])
    }

    /// Reads a file that applies networks: each by its path as written in the file, with the text of its NNet file.
    pub fn read_with(text: &str, settings: &[(String, f64)], networks: &[(String, String)]) -> Result<Model, String> {
        let file = certus_lang::parse(&Source::new("<text>", text)).map_err(|errors| errors.render(false))?;
        let read = |(path, text): &(String, String)| Network::read(text).map(|network| (path.clone(), network));
        let networks = networks.iter().map(read).collect::<Result<_, _>>()?;
        Model { networks, ..Model::default() }
            .filled(file.declarations.into_iter().map(|d| d.kind).collect(), settings)
            .map_err(|stop| match stop {
                Stop::Malformed(message) => message,
                other => format!("{other:?}"),
            })
    }

    fn filled(mut self, declarations: Vec<DeclarationKind>, settings: &[(String, f64)]) -> Evaluated<Model> {
        self.names.insert("pi".to_owned(), Meaning::Known(Term::number(std::f64::consts::PI)?));
        self.constants(&declarations, settings)?;
        let (mut updates, mut after) = (Vec::new(), Vec::new());
        for declaration in declarations {
            match declaration {
                DeclarationKind::State(variable) => {
                    let own = self.variable(&variable, &self.states)?;
                    self.names.insert(own.name.clone(), Meaning::State(self.states.len()));
                    self.states.push(own);
                }
                DeclarationKind::Input(variable) => {
                    let own = self.variable(&variable, &self.inputs)?;
                    self.names.insert(own.name.clone(), Meaning::Input(self.inputs.len()));
                    self.inputs.push(own);
                }
                DeclarationKind::Chance { name, cases } => {
                    let mut chance = Chance { labels: Vec::new(), probabilities: Vec::new() };
                    for (label, probability) in &cases {
                        let probability = rational(single(&self.constant(probability)?)?);
                        chance.probabilities.push(probability.ok_or(Stop::Malformed("no probability".to_owned()))?);
                        chance.labels.push(label.name.clone());
                    }
                    self.names.insert(name.name, Meaning::Chance(self.chances.len()));
                    self.chances.push(chance);
                }
                DeclarationKind::Policy { name, value } => {
                    self.names.insert(name.name, Meaning::Policy(self.policies.len()));
                    self.policies.push(value);
                }
                DeclarationKind::Action { name, rule, value, labels } => {
                    self.names.insert(name.name, Meaning::Action(self.actions.len()));
                    let labels = labels.into_iter().map(|label| label.name).collect();
                    self.actions.push(Action { labels, rule, scores: value });
                }
                DeclarationKind::Define { name, value } => {
                    self.names.insert(name.name, Meaning::Define(value));
                }
                DeclarationKind::Init(condition) => self.init.push(condition),
                DeclarationKind::Assume(condition) => {
                    self.assume.push(Assumption { condition, mentions_next: false });
                }
                DeclarationKind::Next(update) => updates.push((false, update)),
                DeclarationKind::Der(update) => updates.push((true, update)),
                DeclarationKind::After(update) => after.push((false, update)),
                DeclarationKind::Terminal(condition) => self.terminal = Some(condition),
                DeclarationKind::Property(own) => self.properties.push(own),
                DeclarationKind::Step { method, .. } => {
                    self.method = match method.as_ref().map(|method| method.name.as_str()) {
                        Some("rk4") => Method::RungeKutta,
                        Some("exact") => Method::Exact,
                        _ => Method::Euler,
                    };
                }
                DeclarationKind::System(_)
                | DeclarationKind::Const(_)
                | DeclarationKind::Param { .. }
                | DeclarationKind::Reward(_) => {}
            }
        }
        self.updates = self.by_variable(updates)?;
        self.after = self.by_variable(after)?;
        for place in 0..self.assume.len() {
            self.assume[place].mentions_next = Uses::of(&self, &self.assume[place].condition).next;
        }
        Ok(self)
    }

    /// Declarations of how numbers move on, by their variable.
    fn by_variable(&self, declared: Vec<(bool, ast::Update)>) -> Evaluated<Vec<Vec<Update>>> {
        let mut sorted: Vec<Vec<Update>> = self.states.iter().map(|_| Vec::new()).collect();
        for (is_derivative, update) in declared {
            let Some(Meaning::State(place)) = self.names.get(&update.name.name) else {
                return malformed("only state variables move on");
            };
            let (place, len) = (*place, self.states[*place].len);
            let elements = match &update.index {
                None => 0..len,
                Some(index) => match self.constant(index)?.integer()? {
                    // `next x[n]` with the length of x repeats its declaration.
                    all if all == len as i64 => 0..len,
                    index => {
                        let from_start = if index < 0 { index + len as i64 } else { index };
                        let start =
                            usize::try_from(from_start).map_err(|_| Stop::Malformed("no such element".to_owned()))?;
                        start..start + 1
                    }
                },
            };
            sorted[place].push(Update { elements, is_derivative, value: update.value });
        }
        Ok(sorted)
    }

    /// Names and computes all constants and parameters, and the time step.
    fn constants(&mut self, declarations: &[DeclarationKind], settings: &[(String, f64)]) -> Evaluated<()> {
        for declaration in declarations {
            match declaration {
                DeclarationKind::Const(list) => {
                    for (name, value) in list {
                        self.names.insert(name.name.clone(), Meaning::Constant(value.clone()));
                    }
                }
                DeclarationKind::Param { name, value, .. } => {
                    let meaning = match settings.iter().rev().find(|(own, _)| *own == name.name) {
                        Some((_, value)) => Meaning::Known(Term::number(*value)?),
                        None => Meaning::Constant(value.clone()),
                    };
                    self.names.insert(name.name.clone(), meaning);
                }
                DeclarationKind::Step { dt, .. } => {
                    self.names.insert("dt".to_owned(), Meaning::Constant(dt.clone()));
                }
                _ => {}
            }
        }
        let names: Vec<String> = self.names.keys().cloned().collect();
        for name in names {
            if let Some(Meaning::Constant(value)) = self.names.get(&name) {
                let known = self.constant(value)?;
                if name == "dt" {
                    self.dt = Some(single(&known)?);
                }
                self.names.insert(name, Meaning::Known(known));
            }
        }
        Ok(())
    }

    /// The value of a constant expression.
    pub(crate) fn constant(&self, expression: &Expr) -> Evaluated<Term> {
        let term = Scene::nowhere(self).term(expression)?;
        if term.constant { Ok(term) } else { malformed("a constant is needed") }
    }

    fn variable(&self, declared: &VariableDeclaration, before: &[Variable]) -> Evaluated<Variable> {
        let len = match &declared.size {
            None => 1,
            Some(size) => match usize::try_from(self.constant(size)?.integer()?) {
                Ok(len) if len <= 1_000_000 => len,
                _ => return malformed("no length of a vector"),
            },
        };
        let ends = |end: &Expr| -> Evaluated<Vec<Rational>> {
            let values = self.constant(end)?.doubles()?;
            let values = if values.len() == 1 { vec![values[0]; len] } else { values };
            let exact: Option<Vec<Rational>> = values.into_iter().map(rational).collect();
            exact.filter(|ends| ends.len() == len).ok_or(Stop::Malformed("no range".to_owned()))
        };
        let (mut integers, mut labels) = (None, Vec::new());
        let range = match &declared.range {
            None => None,
            Some(Values::Range(range)) => Some(ends(&range.low)?.into_iter().zip(ends(&range.high)?).collect()),
            Some(Values::Set(set)) => {
                let runs = self.runs(set)?;
                let (low, high) = (runs.iter().map(|run| run.0).min(), runs.iter().map(|run| run.1).max());
                let (Some(low), Some(high)) = (low, high) else { return malformed("an empty set") };
                integers = Some(runs);
                Some(vec![(whole(low), whole(high)); len])
            }
            Some(Values::Labels(names)) => {
                labels = names.iter().map(|name| name.name.clone()).collect();
                let last = labels.len() as i64 - 1;
                integers = Some(vec![(0, last)]);
                Some(vec![(whole(0), whole(last)); len])
            }
        };
        let start = before.last().map_or(0, |last| last.start + last.len);
        let names = declared.before.iter().map(|name| name.name.clone()).collect();
        let varying = declared.varying.is_some();
        let name = declared.name.name.clone();
        Ok(Variable { name, start, len, range, integers, labels, varying, before: names })
    }

    /// The integers of a set.
    pub(crate) fn runs(&self, set: &Set) -> Evaluated<Vec<(i64, i64)>> {
        let integer = |own: &Expr| self.constant(own)?.integer();
        let run = |member: &Member| match member {
            Member::One(only) => integer(only).map(|value| (value, value)),
            Member::Run(from, to) => Ok((integer(from)?, integer(to)?)),
        };
        set.members.iter().map(run).collect()
    }

    /// Whether a name is a label of some variable.
    pub(crate) fn is_label(&self, name: &str) -> bool {
        self.states.iter().chain(&self.inputs).any(|variable| variable.labels.iter().any(|label| label == name))
    }

    /// How many numbers a state has.
    pub fn state_len(&self) -> usize {
        self.states.iter().map(|variable| variable.len).sum()
    }

    /// The element of a state that is outside of its range, if there is one.
    pub fn outside(&self, state: &[Rational]) -> Option<(String, Rational)> {
        for variable in &self.states {
            let Some(range) = &variable.range else { continue };
            for (element, (low, high)) in range.iter().enumerate() {
                let value = &state[variable.start + element];
                if value < low || value > high || !variable.is_among(value) {
                    let name =
                        if variable.len == 1 { variable.name.clone() } else { format!("{}[{element}]", variable.name) };
                    return Some((name, value.clone()));
                }
            }
        }
        None
    }

    /// Whether inputs lie in their ranges.
    pub fn permits(&self, inputs: &[Rational]) -> bool {
        self.inputs.iter().all(|input| {
            let own = &inputs[input.start..input.start + input.len];
            let inside = |(value, (low, high)): (&Rational, &(Rational, Rational))| low <= value && value <= high;
            input.range.as_ref().is_none_or(|range| own.iter().zip(range).all(inside))
                && own.iter().all(|value| input.is_among(value))
        })
    }

    /// The property of this name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.name.name == name)
    }
}

impl Variable {
    /// Whether a number is one of the variable's integers, if it has such.
    pub fn is_among(&self, value: &Rational) -> bool {
        let within = |&(from, to): &(i64, i64)| &whole(from) <= value && value <= &whole(to);
        self.integers.as_ref().is_none_or(|runs| value.is_int() && runs.iter().any(within))
    }

    /// The labels that some numbers stand for.
    pub(crate) fn named(&self, values: &[Real]) -> Evaluated<Vec<String>> {
        let name = |value: &Real| {
            let place = self.labels.iter().enumerate().find(|(place, _)| value.exact() == Some(&whole(*place as i64)));
            place.map_or_else(|| malformed("no label"), |(_, label)| Ok(label.clone()))
        };
        values.iter().map(name).collect()
    }

    /// The numbers that labels stand for.
    pub(crate) fn numbered(&self, labels: &[String]) -> Evaluated<Vec<Real>> {
        let number = |label: &String| {
            let place = self.labels.iter().position(|own| own == label);
            place.map_or_else(|| malformed("no such label"), |place| Ok(Real::Exact(whole(place as i64))))
        };
        labels.iter().map(number).collect()
    }
}

fn single(term: &Term) -> Evaluated<f64> {
    match term.doubles()?.as_slice() {
        [value] => Ok(*value),
        _ => malformed("a single number is needed"),
    }
}
