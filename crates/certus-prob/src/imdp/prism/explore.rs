//! From a program to its reachable states.

use std::collections::HashMap;

use super::expression::{Expression, Scope, Value};
use super::parse::{Command, Program};
use crate::imdp::{Builder, Imdp};

/// More states than this are not built.
const MOST_STATES: usize = 20_000_000;

/// All initial states are found by trying all values of all variables; beyond this many that is refused.
const MOST_TRIED: usize = 10_000_000;

/// One way a move can go: lower and upper probability, and the next state.
type Branch = (f64, f64, Vec<Value>);

/// One move of a state: its action's name (empty for none), the line of its command, and its branches.
type Move = (String, usize, Vec<Branch>);

struct Explorer<'a> {
    program: &'a Program,
    values: HashMap<String, Value>,
    variables: HashMap<String, usize>,
    ranges: Vec<Option<(i64, i64)>>,
    /// For each synchronising action, the modules that have it.
    actions: Vec<(String, Vec<usize>)>,
}

fn constants(program: &Program, settings: &[(String, f64)]) -> Result<HashMap<String, Value>, String> {
    let mut values = HashMap::new();
    for (name, _) in settings {
        if !program.constants.iter().any(|constant| constant.name == *name) {
            let known: Vec<&str> = program.constants.iter().map(|constant| constant.name.as_str()).collect();
            return Err(format!("the model has no constant '{name}'; it has {}", known.join(", ")));
        }
    }
    for constant in &program.constants {
        let set = settings.iter().find(|(name, _)| *name == constant.name).map(|&(_, value)| value);
        let empty = HashMap::new();
        let scope = Scope { values: &values, variables: &empty, state: &[], formulas: &program.formulas };
        let value = match (set, &constant.value) {
            (Some(value), _) => Value::Real(value),
            (None, Some(own)) => {
                own.evaluate(&scope, 0).map_err(|error| format!("constant {}: {error}", constant.name))?
            }
            (None, None) => {
                let name = &constant.name;
                return Err(format!("constant {name} has no value: set it"));
            }
        };
        let typed = match (constant.kind.as_str(), value) {
            ("int", Value::Real(value)) if value.fract() == 0.0 && value.abs() < 9e15 => Value::Int(value as i64),
            ("int", Value::Real(value)) => return Err(format!("constant {}: {value} is no integer", constant.name)),
            ("double", value) => Value::Real(value.number()?),
            ("bool", Value::Real(value)) => Value::Bool(value != 0.0),
            (_, value) => value,
        };
        values.insert(constant.name.clone(), typed);
    }
    Ok(values)
}

impl Explorer<'_> {
    fn evaluate(&self, expression: &Expression, state: &[Value]) -> Result<Value, String> {
        let scope = Scope { values: &self.values, variables: &self.variables, state, formulas: &self.program.formulas };
        expression.evaluate(&scope, 0)
    }

    fn initial(&self) -> Result<Vec<Vec<Value>>, String> {
        let Some(condition) = &self.program.init else {
            let mut state = Vec::new();
            for (place, variable) in self.program.variables.iter().enumerate() {
                state.push(match (&variable.init, self.ranges[place]) {
                    (Some(own), _) => self.evaluate(own, &[])?,
                    (None, Some((low, _))) => Value::Int(low),
                    (None, None) => Value::Bool(false),
                });
            }
            return Ok(vec![state]);
        };
        let size = |(low, high): (i64, i64)| {
            high.checked_sub(low).and_then(|width| usize::try_from(width).ok()?.checked_add(1))
        };
        let sizes: Vec<usize> =
            self.ranges.iter().map(|range| range.map_or(2, |range| size(range).unwrap_or(usize::MAX))).collect();
        let total = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
        let total = total.filter(|&total| total <= MOST_TRIED).ok_or("init … endinit: too many states to try")?;
        let mut found = Vec::new();
        for mut number in 0..total {
            let state: Vec<Value> = self
                .ranges
                .iter()
                .zip(&sizes)
                .map(|(range, &size)| {
                    let digit = number % size;
                    number /= size;
                    range.map_or(Value::Bool(digit == 1), |(low, _)| Value::Int(low + digit as i64))
                })
                .collect();
            if self.evaluate(condition, &state)?.truth()? {
                found.push(state);
            }
        }
        Ok(found)
    }

    /// The branches of one command.
    fn branches(&self, command: &Command, state: &[Value], from: &[Value]) -> Result<Vec<Branch>, String> {
        let mut found = Vec::with_capacity(command.updates.len());
        for update in &command.updates {
            let (lower, upper) =
                (self.evaluate(&update.lower, state)?.number()?, self.evaluate(&update.upper, state)?.number()?);
            if upper == 0.0 {
                continue;
            }
            let mut next = from.to_vec();
            for (name, value) in &update.assignments {
                let place = *self.variables.get(name).ok_or_else(|| format!("'{name}' is no variable"))?;
                let value = self.evaluate(value, state)?;
                next[place] = match (self.ranges[place], value) {
                    (Some((low, high)), Value::Int(number)) if low <= number && number <= high => value,
                    (Some((low, high)), value) => {
                        return Err(format!("{name}' becomes {value:?}, which is not in [{low}..{high}]"));
                    }
                    (None, value) => Value::Bool(value.truth()?),
                };
            }
            found.push((lower, upper, next));
        }
        Ok(found)
    }

    /// What is chosen among in a state. A Markov chain chooses uniformly, so that its moves are one.
    fn choices(&self, state: &[Value]) -> Result<Vec<Move>, String> {
        let moves = self.moves(state)?;
        if !self.program.uniform || moves.len() < 2 {
            return Ok(moves);
        }
        let count = moves.len() as f64;
        let mut all = Vec::new();
        for (_, line, branches) in moves {
            for (lower, upper, to) in branches {
                // Intervals of the mixture would forget that each command's own probabilities sum to one.
                if lower != upper {
                    return Err(format!(
                        "line {line}: a dtmc chooses uniformly among the {count} commands that are enabled in one state, \
                         and cannot mix intervals: make their guards exclude each other, or the model an mdp"
                    ));
                }
                all.push((lower / count, upper / count, to));
            }
        }
        Ok(vec![(String::new(), 0, all)])
    }

    /// All moves of a state.
    fn moves(&self, state: &[Value]) -> Result<Vec<Move>, String> {
        let enabled = |module: usize, action: &str| -> Result<Vec<&Command>, String> {
            let own = self.program.modules[module].commands.iter().filter(|command| command.action == action);
            let mut found = Vec::new();
            for command in own {
                let at = |error: String| format!("line {}: {error}", command.line);
                if self.evaluate(&command.guard, state).map_err(at)?.truth().map_err(at)? {
                    found.push(command);
                }
            }
            Ok(found)
        };
        let mut moves = Vec::new();
        for module in 0..self.program.modules.len() {
            for command in enabled(module, "")? {
                let at = |error: String| format!("line {}: {error}", command.line);
                moves.push((String::new(), command.line, self.branches(command, state, state).map_err(at)?));
            }
        }
        for (action, modules) in &self.actions {
            let mut joint: Vec<(usize, Vec<Branch>)> = vec![(0, vec![(1.0, 1.0, state.to_vec())])];
            for &module in modules {
                let commands = enabled(module, action)?;
                let mut next = Vec::new();
                for (_, before) in &joint {
                    for command in &commands {
                        let at = |error: String| format!("line {}: {error}", command.line);
                        let mut combined = Vec::new();
                        for (low, high, from) in before {
                            for (lower, upper, to) in self.branches(command, state, from).map_err(at)? {
                                combined.push((low * lower, high * upper, to));
                            }
                        }
                        next.push((command.line, combined));
                    }
                }
                joint = next;
            }
            moves.extend(joint.into_iter().map(|(line, branches)| (action.clone(), line, branches)));
        }
        Ok(moves)
    }
}

/// A state as a key.
fn key(state: &[Value]) -> Vec<i64> {
    let number = |value: &Value| match value {
        Value::Int(value) => *value,
        Value::Bool(value) => i64::from(*value),
        Value::Real(value) => value.to_bits() as i64,
    };
    state.iter().map(number).collect()
}

/// Builds the states that can be reached.
pub(super) fn explore(program: &Program, settings: &[(String, f64)]) -> Result<Imdp, String> {
    let values = constants(program, settings)?;
    let variables: HashMap<String, usize> =
        program.variables.iter().enumerate().map(|(place, variable)| (variable.name.clone(), place)).collect();
    let mut explorer = Explorer { program, values, variables, ranges: Vec::new(), actions: Vec::new() };
    for variable in &program.variables {
        let range = match &variable.range {
            None => None,
            Some((low, high)) => match (explorer.evaluate(low, &[])?, explorer.evaluate(high, &[])?) {
                (Value::Int(low), Value::Int(high)) if low <= high => Some((low, high)),
                _ => return Err(format!("variable {}: its range must be between two integers", variable.name)),
            },
        };
        explorer.ranges.push(range);
    }
    for (module, own) in program.modules.iter().enumerate() {
        for command in own.commands.iter().filter(|command| !command.action.is_empty()) {
            let place = explorer.actions.iter().position(|(name, _)| *name == command.action).unwrap_or_else(|| {
                explorer.actions.push((command.action.clone(), Vec::new()));
                explorer.actions.len() - 1
            });
            if !explorer.actions[place].1.contains(&module) {
                explorer.actions[place].1.push(module);
            }
        }
    }
    let mut numbers: HashMap<Vec<i64>, usize> = HashMap::new();
    let mut states: Vec<Vec<Value>> = Vec::new();
    let mut number = |state: Vec<Value>, states: &mut Vec<Vec<Value>>| -> usize {
        *numbers.entry(key(&state)).or_insert_with(|| {
            states.push(state);
            states.len() - 1
        })
    };
    let mut builder = Builder::new();
    for state in explorer.initial()? {
        let own = number(state, &mut states);
        builder.initial(own);
    }
    let mut at = 0;
    while at < states.len() {
        if states.len() > MOST_STATES {
            return Err(format!("the model has more than {MOST_STATES} states"));
        }
        builder.state();
        let state = states[at].clone();
        for (name, _, branches) in explorer.choices(&state)? {
            let edges: Vec<(usize, f64, f64)> =
                branches.into_iter().map(|(low, high, to)| (number(to, &mut states), low, high)).collect();
            builder.choice(&edges);
            if !name.is_empty() {
                builder.name(&name);
            }
        }
        at += 1;
    }
    for (label, condition) in &program.labels {
        builder.declare(label);
        for (place, state) in states.iter().enumerate() {
            if explorer.evaluate(condition, state).and_then(Value::truth).map_err(|e| format!("label {label}: {e}"))? {
                builder.label(label, place);
            }
        }
    }
    builder.finish().map_err(|error| error.to_string())
}
