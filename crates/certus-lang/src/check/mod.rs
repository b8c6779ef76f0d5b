//! Tree to model: names, sorts, lengths, constants, networks' sizes, formulas.
//!
//! Every named declaration is an [`Entry`]. Entries are put in an order in which each one comes after
//! those it mentions; then each gets its value; then the declarations without a name are checked. An
//! entry whose value is wrong is marked as failed, and what mentions it fails silently: one mistake,
//! one message.

mod choices;
mod entries;
mod expressions;
mod formulas;
mod functions;
mod init_box;
mod integral;
mod labels;
mod names;
mod operands;
mod order;
mod rest;
mod seconds;
mod sets;
pub(crate) mod term;
mod updates;
mod vectorize;
mod warnings;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use certus_graph::Graph;

use crate::diagnostics::{Diagnostic, Report};
use crate::networks::Networks;
use crate::options::LowerOptions;
use crate::syntax::ast::{Expr, File};
use crate::syntax::{Span, ast};
use crate::system::{
    Action, Assumption, Atom, Chance, ChoiceId, Define, Formula, Integrator, Parameter, Policy, Property, Variable,
};

pub(crate) use names::applied_networks;
use term::{Term, Uses};

/// Most elements that one vector may have.
pub(crate) const MAX_VECTOR: usize = 1_000_000;

/// Most work that expanding a file may take, in elements and in terms of a fixed weight.
const MAX_WORK: usize = 8_000_000;
const TERM_WEIGHT: usize = 16;

/// A checked file: everything lowering needs.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub name: String,
    pub doc: String,
    pub dt: Option<f64>,
    pub integrator: Option<Integrator>,
    pub params: Vec<Parameter>,
    pub states: Vec<Variable>,
    pub inputs: Vec<Variable>,
    pub chances: Vec<Chance>,
    pub policies: Vec<(Policy, Term)>,
    pub actions: Vec<(Action, Term)>,
    pub defines: Vec<(Define, Term)>,
    /// Places in `defines` that belong to formulas, which have no value in a step.
    pub formula_defines: Vec<usize>,
    /// Policies, actions and defines in an order of dependence.
    pub order: Vec<Item>,
    pub networks: Vec<Arc<Graph>>,
    /// The paths of the networks that are outside of the step.
    pub open_networks: Vec<String>,
    pub init: Option<Term>,
    /// That the state's integers are of their sets.
    pub integral: Option<Term>,
    /// The same of the inputs.
    pub integral_inputs: Option<Term>,
    /// The same of successors, where it is not obvious.
    pub integral_successors: Option<Term>,
    /// The conditions on transitions, one per declaration.
    pub assume: Vec<Term>,
    /// Their conjunction; those that speak of the successor do not apply where a run has ended.
    pub assumption: Option<Term>,
    /// What the declarations say, in their order. Whether they depend on a draw is known once the step is lowered.
    pub assumptions: Vec<Assumption>,
    pub terminal: Option<Term>,
    pub reward: Option<Term>,
    /// One per state variable.
    pub updates: Vec<Update>,
    pub atoms: Vec<(Atom, Term)>,
    pub properties: Vec<Property>,
    pub init_box: (Vec<f64>, Vec<f64>),
    pub init_is_box: bool,
    pub init_boxes: Vec<(Vec<f64>, Vec<f64>)>,
    pub init_is_union: bool,
}

/// Something that is computed within a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Policy(usize),
    Action(usize),
    Define(usize),
}

/// How a state variable moves on.
#[derive(Clone, Debug)]
pub(crate) struct Update {
    /// Whether the term is the derivative rather than the successor.
    pub is_derivative: bool,
    pub value: Term,
    /// What the integrated value becomes, if it is mapped.
    pub after: Option<Term>,
}

/// Checks a file. Returns nothing if an error was reported.
pub(crate) fn check(
    file: &File,
    text: &str,
    networks: &mut dyn Networks,
    options: &LowerOptions,
    report: &mut Report,
) -> Option<Model> {
    let mut checker = Checker {
        file,
        text,
        networks,
        options,
        report,
        entries: Vec::new(),
        by_name: HashMap::new(),
        network_index: HashMap::new(),
        atom_index: HashMap::new(),
        unknown: HashSet::new(),
        context: Context::CONSTANT,
        opening: None,
        locals: Vec::new(),
        enumerations: Vec::new(),
        expected: None,
        work: 0,
        exhausted: false,
        formula_size: 0,
        about_runs: false,
        model: Model::default(),
    };
    checker.collect_entries();
    checker.collect_enumerations();
    checker.check_overrides();
    for entry in checker.dependency_order() {
        checker.evaluate_entry(entry);
    }
    checker.check_order();
    checker.check_rest();
    checker.check_updates();
    checker.demand_integers();
    checker.check_varying();
    checker.check_properties();
    checker.derive_init_box();
    checker.warn();
    let model = checker.model;
    if report.has_errors() { None } else { Some(model) }
}

/// A named declaration.
pub(crate) struct Entry<'a> {
    name: &'a str,
    span: Span,
    kind: EntryKind<'a>,
    value: Value,
    /// Its place in the model's list of its kind.
    ordinal: usize,
    is_used: bool,
}

/// What a named declaration declares.
#[derive(Clone, Copy)]
enum EntryKind<'a> {
    Builtin(f64),
    Const(&'a Expr),
    Dt(&'a Expr),
    Param { range: &'a ast::Range, value: &'a Expr },
    State(&'a ast::VariableDeclaration),
    Input(&'a ast::VariableDeclaration),
    Chance(&'a [(ast::Ident, Expr)]),
    Policy(&'a Expr),
    Action { rule: ast::ActionRule, value: &'a Expr, labels: &'a [ast::Ident] },
    Define(&'a Expr),
}

impl EntryKind<'_> {
    /// How messages name it.
    fn describe(&self) -> &'static str {
        match self {
            EntryKind::Builtin(_) => "a predefined constant",
            EntryKind::Const(_) => "a constant",
            EntryKind::Dt(_) => "the time step",
            EntryKind::Param { .. } => "a parameter",
            EntryKind::State(_) => "a state variable",
            EntryKind::Input(_) => "an input",
            EntryKind::Chance(_) => "a chance variable",
            EntryKind::Policy(_) => "a policy",
            EntryKind::Action { .. } => "an action",
            EntryKind::Define(_) => "a define",
        }
    }
}

/// What a name stands for.
#[derive(Clone)]
enum Value {
    /// Not looked at yet.
    Pending,
    /// Wrong; the reason is in the report.
    Failed,
    Term(Term),
    Choice(ChoiceId),
    Formula(Formula),
}

/// Where an expression stands, and so what it may speak of.
#[derive(Clone, Copy)]
struct Context {
    /// What it may speak of.
    allowed: Uses,
    /// Whether networks may be applied in it.
    networks: bool,
    /// How messages name the place.
    place: &'static str,
}

impl Context {
    const fn new(allowed: Uses, place: &'static str) -> Context {
        Context { allowed, networks: false, place }
    }

    const CONSTANT: Context = Context::new(Uses::NONE, "a constant expression");
    const INIT: Context = Context::new(Uses::STATE, "an initial condition");
    const TERMINAL: Context = Context::new(Uses::STATE, "`terminal`");
    const ASSUME: Context = Context::new(Uses::TRANSITION, "an assumption");
    const REWARD: Context = Context::new(Uses::TRANSITION, "the reward");
    const DEFINE: Context = Context::new(Uses::ALL, "a define");
    const PROPERTY: Context = Context::new(Uses::ALL, "a property");
    const UPDATE: Context = Context::new(Uses::PRESENT, "the successor of a state variable");
    const DERIVATIVE: Context = Context::new(Uses::PRESENT, "a derivative");
    const AFTER: Context = Context::new(Uses::PRESENT, "what follows the integration");
    const THROUGHOUT: Context = Context::new(Uses::PRESENT, "`throughout`");
    const POLICY: Context = Context { allowed: Uses::PRESENT, networks: true, place: "a policy" };
    const ACTION: Context = Context { allowed: Uses::PRESENT, networks: true, place: "an action" };
}

/// An open policy or action.
#[derive(Clone, Copy)]
struct Opening {
    /// Where its value stands.
    value: Span,
    /// How many labels it has; none for a policy.
    labels: Option<usize>,
}

struct Checker<'a> {
    file: &'a File,
    text: &'a str,
    networks: &'a mut dyn Networks,
    options: &'a LowerOptions,
    report: &'a mut Report,
    entries: Vec<Entry<'a>>,
    by_name: HashMap<&'a str, usize>,
    network_index: HashMap<String, Option<usize>>,
    atom_index: HashMap<String, usize>,
    /// Unknown names already reported.
    unknown: HashSet<String>,
    context: Context,
    /// The policy or action being looked at, if its networks are left outside.
    opening: Option<Opening>,
    /// Variables of the comprehensions around the current expression.
    locals: Vec<(String, Term)>,
    /// The lists of labels of variables of named values, each once.
    enumerations: Vec<Vec<String>>,
    /// The list that a label is expected from, where the next expression stands.
    expected: Option<usize>,
    work: usize,
    exhausted: bool,
    /// Operators of named formulas, counted at every mention.
    formula_size: usize,
    /// Whether the property being looked at is about runs, not about a probability.
    about_runs: bool,
    model: Model,
}

impl Checker<'_> {
    fn error(&mut self, diagnostic: Diagnostic) {
        self.report.push(diagnostic);
    }

    /// Runs `f` with another context and gives the old one back afterwards.
    fn within<T>(&mut self, context: Context, f: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.context, context);
        let result = f(self);
        self.context = outer;
        result
    }

    /// The source text of a span, on one line.
    fn source(&self, span: Span) -> String {
        let text = self.text.get(span.start..span.end).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}
