//! What a question is read from: a network and a specification, several networks, or a query file.

use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};

use certus_audit::Problem;
use certus_documents::{Assignment, Members, Number, Values, numbers};
use certus_graph::Graph;
use certus_solver::formula::Formula;
use certus_solver::vnnlib::networks::{AnySpecification, Joint, Likeness, NetworkSpecification, Role, parse_any_bytes};
use certus_solver::vnnlib::{Case, Specification, Variable, VnnLibError};
use certus_solver::{Query, Witness, file};

use crate::failure::Failure;
use crate::sources::{Contents, Sources};
use crate::system;

/// Specifications that fall into more boxes than this are refused.
const MOST_CASES: usize = 1 << 16;

/// What a question is read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuerySource {
    /// The network; or a `.query` file; or, where networks have names, the specification.
    pub file: PathBuf,
    /// The specification.
    pub specification: Option<PathBuf>,
    /// Networks that the specification declares, and their files.
    pub networks: Vec<(String, PathBuf)>,
}

/// A file that a question was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// `network`, `specification` or `query`.
    pub role: &'static str,
    /// The name under which a specification declares a network.
    pub name: Option<String>,
    /// The file.
    pub path: PathBuf,
    /// The digest of its bytes; none if they came through a pipe.
    pub digest: Option<String>,
}

/// The files of a question, as documents name them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedFiles {
    /// The network.
    pub network: Option<String>,
    /// The specification.
    pub specification: Option<String>,
    /// The query file.
    pub query: Option<String>,
    /// The networks that the specification declares.
    pub networks: Option<Members<String>>,
}

/// A question, with its files.
pub struct LoadedQuery {
    /// The files: networks, then the specification; or the query.
    pub sources: Vec<Source>,
    about: About,
    cases: Vec<Case>,
}

enum About {
    /// A network without a name.
    One { graph: Graph, specification: Specification },
    /// Networks with names, and all of them as one.
    Named { declared: NetworkSpecification, joint: Box<Joint> },
    /// A query as it was kept; it is its own only case.
    Kept(Box<Query>),
}

/// Whether a proof or a kept search will rest on the digests of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sealed {
    /// Yes: networks whose weights stand in other files, which a digest does not cover, are refused.
    Yes,
    /// No.
    No,
}

impl LoadedQuery {
    /// Reads what the arguments name.
    pub fn read(asked: &QuerySource, sealed: Sealed) -> Result<LoadedQuery, Failure> {
        match (&asked.specification, asked.networks.as_slice()) {
            (Some(_), [_, ..]) => Err(Failure::message(
                "⟨networks⟩ names the networks of a specification: give the specification alone, without a network before it",
            )),
            (Some(specification), []) => LoadedQuery::of_network(&asked.file, specification, sealed),
            (None, []) if is_query(&asked.file) => LoadedQuery::of_query(&asked.file),
            (None, []) => Err(Failure::message(format!(
                "{} alone asks nothing: give a network and a specification, or a .query file",
                asked.file.display()
            ))),
            (None, networks) => LoadedQuery::of_networks(networks, &asked.file, sealed),
        }
    }

    /// A network and a specification; one of VNN-LIB 2.0 must declare a single network.
    pub fn of_network(network: &Path, specification: &Path, sealed: Sealed) -> Result<LoadedQuery, Failure> {
        let contents = Sources::default().read(specification)?;
        let two = match parsed(&contents)? {
            AnySpecification::One(one) => {
                let (graph, mut sources) = read_network(network, None, sealed)?;
                sources.push(digested(&contents, "specification"));
                let fault = in_file(specification);
                Query::from_specification(&graph, &one, Vec::new()).map_err(|error| fault(&error))?;
                let cases = one.cases(MOST_CASES).map_err(|error| fault(&error))?;
                return Ok(LoadedQuery { sources, about: About::One { graph, specification: one }, cases });
            }
            AnySpecification::Two(two) => two,
        };
        let mut needed = two.networks.iter().filter(|network| !matches!(network.likeness, Some(Likeness::EqualTo(_))));
        match (needed.next(), needed.next()) {
            (Some(only), None) => {
                let networks = [(only.name.clone(), network.to_owned())];
                LoadedQuery::of_declared(&networks, &contents, two, sealed)
            }
            _ => {
                let names: Vec<&str> = two.networks.iter().map(|network| network.name.as_str()).collect();
                Err(in_file(specification)(&format!(
                    "several networks are declared: give the specification alone, and files for {} with ⟨networks⟩",
                    names.join(", ")
                )))
            }
        }
    }

    fn of_networks(
        networks: &[(String, PathBuf)],
        specification: &Path,
        sealed: Sealed,
    ) -> Result<LoadedQuery, Failure> {
        let contents = Sources::default().read(specification)?;
        match parsed(&contents)? {
            AnySpecification::Two(two) => LoadedQuery::of_declared(networks, &contents, two, sealed),
            AnySpecification::One(_) => Err(in_file(specification)(
                &"no network is declared by name: give the network and the specification, without ⟨networks⟩",
            )),
        }
    }

    fn of_declared(
        networks: &[(String, PathBuf)],
        specification: &Contents,
        declared: NetworkSpecification,
        sealed: Sealed,
    ) -> Result<LoadedQuery, Failure> {
        let mut graphs = Vec::new();
        let mut sources = Vec::new();
        for (name, path) in networks {
            let (graph, own) = read_network(path, Some(name), sealed)?;
            graphs.push(graph);
            sources.extend(own);
        }
        let named: Vec<(&str, &Graph)> = networks.iter().map(|(name, _)| name.as_str()).zip(&graphs).collect();
        let fault = in_file(&specification.path);
        let joint = declared.joint(&named).map_err(|error| fault(&error))?;
        let cases = joint.specification.cases(MOST_CASES).map_err(|error| fault(&error))?;
        sources.push(digested(specification, "specification"));
        Ok(LoadedQuery { sources, about: About::Named { declared, joint: Box::new(joint) }, cases })
    }

    /// A query file.
    pub fn of_query(path: &Path) -> Result<LoadedQuery, Failure> {
        let contents = Sources::default().read(path)?;
        let query = file::query_from(path, contents.bytes.as_slice());
        let query = query.map_err(|error| Failure::message(error.to_string()))?;
        let source = digested(&contents, "query");
        Ok(LoadedQuery { sources: vec![source], about: About::Kept(Box::new(query)), cases: Vec::new() })
    }

    /// How many boxes of inputs are asked about; the question is satisfiable when it is on one of them.
    pub fn cases(&self) -> usize {
        match self.about {
            About::Kept(_) => 1,
            _ => self.cases.len(),
        }
    }

    /// What is asked about one of the boxes. Queries are made one at a time: each has a graph of its own.
    pub fn query(&self, index: usize) -> Result<Cow<'_, Query>, Failure> {
        let (graph, specification) = match &self.about {
            About::Kept(query) => return Ok(Cow::Borrowed(query)),
            About::One { graph, specification } => (graph, specification),
            About::Named { joint, .. } => (&joint.graph, &joint.specification),
        };
        let cases = self.cases.get(index).cloned().into_iter().collect();
        let mut queries = Query::from_specification(graph, specification, cases)
            .map_err(|error| Failure::message(format!("{}: {error}", self.title())))?;
        queries.pop().map(Cow::Owned).ok_or_else(|| Failure::message(format!("there is no case {index}")))
    }

    /// The same for the checker of certificates, all cases.
    pub fn problems(&self) -> Vec<Problem<'_>> {
        let graph = match &self.about {
            About::Kept(query) => return vec![problem_of(query)],
            About::One { graph, .. } => graph,
            About::Named { joint, .. } => &joint.graph,
        };
        let problem = |case: &Case| Problem {
            graph,
            lower: case.lower.clone(),
            upper: case.upper.clone(),
            formula: for_audit(&case.formula),
        };
        self.cases.iter().map(problem).collect()
    }

    /// The files in one line.
    pub fn title(&self) -> String {
        let paths: Vec<String> = self.sources.iter().map(|source| source.path.display().to_string()).collect();
        paths.join(" ")
    }

    /// The files as documents name them: each by its role, and the networks that a specification declares by their names.
    pub fn named_files(&self) -> NamedFiles {
        let mut files = NamedFiles::default();
        for source in &self.sources {
            let path = source.path.display().to_string();
            match (&source.name, source.role) {
                (_, "weights") => {}
                (Some(name), _) => drop(files.networks.get_or_insert_default().insert(name.clone(), path)),
                (None, "network") => files.network = Some(path),
                (None, "specification") => files.specification = Some(path),
                (None, _) => files.query = Some(path),
            }
        }
        files
    }

    /// The variable of that name: `X_0` and `Y_0`, or an element of a declared tensor.
    pub fn variable(&self, name: &str) -> Option<Variable> {
        let (inputs, outputs) = match &self.about {
            About::One { specification, .. } => (specification.inputs, specification.outputs),
            About::Kept(query) => {
                let graph = query.original();
                let count = |ports: &[certus_graph::Port]| ports.iter().map(|port| graph.elements(port.node)).sum();
                (count(graph.inputs()), count(graph.outputs()))
            }
            About::Named { declared, joint } => return declared_element(declared, joint, name),
        };
        let (letter, index) = name.split_once('_')?;
        let index: usize = index.parse().ok()?;
        match letter {
            "X" if index < inputs => Some(Variable::Input(index)),
            "Y" if index < outputs => Some(Variable::Output(index)),
            _ => None,
        }
    }

    /// Writes an assignment: in VNN-COMP's form, or in that of VNN-LIB 2.0 where tensors are declared.
    pub fn write_witness(&self, witness: &Witness, output: &mut impl Write) -> Result<(), Failure> {
        if let About::Named { declared, joint } = &self.about {
            for tensor in declared.networks.iter().flat_map(|network| &network.tensors) {
                let shape: Vec<String> = tensor.shape.iter().map(usize::to_string).collect();
                writeln!(output, "{} {} [{}]", tensor.name, tensor.element_type, shape.join(","))?;
                match tensor.role {
                    Role::Input => {
                        for value in joint.input_values(tensor, &witness.inputs) {
                            writeln!(output, "{value:?}")?;
                        }
                    }
                    Role::Hidden | Role::Output => {
                        for value in witness.outputs.iter().skip(tensor.first).take(tensor.elements()) {
                            writeln!(output, "{value:?}")?;
                        }
                    }
                }
            }
            return Ok(());
        }
        let inputs = witness.inputs.iter().enumerate().map(|(index, value)| format!("(X_{index} {value:?})"));
        let outputs = witness.outputs.iter().enumerate().map(|(index, value)| format!("(Y_{index} {value:?})"));
        let lines: Vec<String> = inputs.chain(outputs).collect();
        writeln!(output, "({})", lines.join("\n"))?;
        Ok(())
    }

    /// An assignment as documents have it: a number for each variable, or a list for each declared tensor.
    pub fn assignment(&self, witness: &Witness) -> Assignment {
        let outputs: Vec<f64> = witness.outputs.iter().map(|&value| f64::from(value)).collect();
        if let About::Named { declared, joint } = &self.about {
            let tensors = declared.networks.iter().flat_map(|network| &network.tensors);
            let shown = tensors.map(|tensor| {
                let values = match tensor.role {
                    Role::Input => joint.input_values(tensor, &witness.inputs),
                    Role::Hidden | Role::Output => {
                        outputs.iter().skip(tensor.first).take(tensor.elements()).copied().collect()
                    }
                };
                (tensor.name.clone(), Values::Many(numbers(&values)))
            });
            return shown.collect();
        }
        let named = |letter: char, values: &[f64]| -> Vec<(String, Values)> {
            let values = values.iter().enumerate();
            values.map(|(index, &value)| (format!("{letter}_{index}"), Values::One(Number(value)))).collect()
        };
        named('X', &witness.inputs).into_iter().chain(named('Y', &outputs)).collect()
    }
}

/// Whether a name is that of a query file.
fn is_query(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    name.ends_with(".query") || name.ends_with(".query.gz")
}

/// An error with the file that it is about.
fn in_file(path: &Path) -> impl Fn(&dyn std::fmt::Display) -> Failure + '_ {
    move |error| Failure::message(format!("{}: {error}", path.display()))
}

fn parsed(contents: &Contents) -> Result<AnySpecification, Failure> {
    let fault = in_file(&contents.path);
    let read = parse_any_bytes(&contents.path, &contents.bytes).map_err(|error| match error {
        // This one names the file itself.
        VnnLibError::Read { .. } => Failure::message(error.to_string()),
        _ => fault(&error),
    })?;
    let asserted = match &read {
        AnySpecification::One(one) => &one.assertion,
        AnySpecification::Two(two) => &two.assertion,
    };
    match asserted {
        Formula::And(parts) if parts.is_empty() => Err(fault(&"nothing is asserted, so there is nothing to decide")),
        _ => Ok(read),
    }
}

fn digested(contents: &Contents, role: &'static str) -> Source {
    contents.source(role, None)
}

fn read_network(path: &Path, name: Option<&str>, sealed: Sealed) -> Result<(Graph, Vec<Source>), Failure> {
    match sealed {
        // What is digested is what is loaded, and nothing else is.
        Sealed::Yes => {
            let contents = Sources::default().read(path)?;
            Ok((contents.network()?, vec![contents.source("network", name)]))
        }
        Sealed::No => system::read_network(path, name).map_err(|error| Failure::message(error.to_string())),
    }
}

/// The element of a declared tensor, as `Y[0,1]`.
fn declared_element(declared: &NetworkSpecification, joint: &Joint, name: &str) -> Option<Variable> {
    let (tensor, indices) = match name.split_once('[') {
        Some((tensor, rest)) => (tensor, rest.strip_suffix(']')?),
        None => (name, ""),
    };
    let mut tensors = declared.networks.iter().flat_map(|network| &network.tensors);
    let tensor = tensors.find(|own| own.name == tensor)?;
    let indices: Vec<usize> = match indices {
        "" => Vec::new(),
        _ => indices.split(',').map(|index| index.trim().parse().ok()).collect::<Option<_>>()?,
    };
    if indices.len() != tensor.shape.len() || indices.iter().zip(&tensor.shape).any(|(index, extent)| index >= extent) {
        return None;
    }
    let flat = indices.iter().zip(&tensor.shape).fold(0, |flat, (index, extent)| flat * extent + index);
    match tensor.role {
        Role::Input => {
            // Inputs that are said to be equal are one input of the joint graph; its number is where it takes its value.
            let numbers: Vec<f64> = (0..joint.specification.inputs).map(|number| number as f64).collect();
            joint.input_values(tensor, &numbers).get(flat).map(|&number| Variable::Input(number as usize))
        }
        Role::Hidden | Role::Output => Some(Variable::Output(tensor.first + flat)),
    }
}

/// A query as the checker of certificates takes it.
fn problem_of(query: &Query) -> Problem<'_> {
    let region = query.region();
    Problem {
        graph: query.original(),
        lower: region.lower.clone(),
        upper: region.upper.clone(),
        formula: for_audit(query.formula()),
    }
}

/// A formula in the types of the checker, which shares none with the solver.
fn for_audit(formula: &Formula<Variable>) -> certus_audit::Formula {
    let all = |parts: &[Formula<Variable>]| parts.iter().map(for_audit).collect();
    match formula {
        Formula::And(parts) => certus_audit::Formula::And(all(parts)),
        Formula::Or(parts) => certus_audit::Formula::Or(all(parts)),
        Formula::Atom(atom) => {
            let terms = atom.linear.terms.iter().map(|&(variable, coefficient)| {
                let variable = match variable {
                    Variable::Input(index) => certus_audit::Variable::Input(index),
                    Variable::Output(index) => certus_audit::Variable::Output(index),
                };
                (variable, coefficient)
            });
            let terms = terms.collect();
            certus_audit::Formula::Atom(certus_audit::Atom {
                terms,
                constant: atom.linear.constant,
                strict: atom.strict,
            })
        }
    }
}
