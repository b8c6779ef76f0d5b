//! The version, the declarations of networks, and the assertions that follow them.

use certus_graph::element_count;

use super::*;
use crate::vnnlib::error::quoted;
use crate::vnnlib::lexer::{Kind, Lexer};

/// All inputs together, and all outputs, may have this many elements.
const MAX_ELEMENTS: usize = 1 << 28;

/// A tensor may have this many axes.
const MAX_RANK: usize = 32;

/// The element types of network files that are not accepted here.
const REFUSED_TYPES: [&str; 17] = [
    "float16",
    "bfloat16",
    "float8e4m3fn",
    "float8e5m2",
    "float8e4m3fnuz",
    "float8e5m2fnuz",
    "float4e2m1",
    "int4",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
];

/// Whether a text begins by naming its version.
pub(super) fn names_version(text: &str) -> bool {
    let mut lexer = Lexer::with_marks(text);
    let mut next = || lexer.next().ok().flatten().map(|token| (token.kind, token.text));
    next() == Some((Kind::Open, "(")) && next() == Some((Kind::Symbol, "vnnlib-version"))
}

/// Reads a whole text.
pub(super) fn specification(text: &str) -> Result<NetworkSpecification, Fault> {
    let mut script = Script::of_networks(text);
    let mut read = NetworkSpecification {
        networks: Vec::new(),
        inputs: 0,
        outputs: 0,
        assertion: logic::truth(true),
        written: Written::default(),
    };
    let mut versioned = false;
    let mut assertions = Vec::new();
    while let Some(open) = script.lexer.next()? {
        if open.kind != Kind::Open {
            return Err(open.fault(format!("expected a command in parentheses, found {}", quoted(open.text))));
        }
        let command = script.head(&open)?;
        match command.text {
            "vnnlib-version" if !versioned => {
                let version = script.required(&open, "`vnnlib-version` needs a version")?;
                check_version(&version)?;
                script.close(&open)?;
                versioned = true;
            }
            _ if !versioned => return Err(command.fault("expected `vnnlib-version` first")),
            "declare-network" if assertions.is_empty() => script.network(&open, &mut read)?,
            "declare-network" => return Err(command.fault("networks are declared before the first assertion")),
            "assert" => {
                let body = script.required(&open, "`assert` needs a formula")?;
                assertions.push(script.formula(&body, 1)?);
                script.close(&open)?;
            }
            _ => return Err(command.fault(format!("unknown command {}", quoted(command.text)))),
        }
    }
    if read.networks.is_empty() {
        return Err(Fault::new(text.len(), "the text declares no network"));
    }
    read.assertion = logic::conjunction(assertions);
    read.written = script.written;
    Ok(read)
}

/// `<2.0>`, or a later one that claims to break nothing.
fn check_version(version: &Token<'_>) -> Result<(), Fault> {
    let bare = version.text.strip_prefix('<').and_then(|text| text.strip_suffix('>')).unwrap_or(version.text);
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match bare.split_once('.') {
        Some(("2", minor)) if digits(minor) => Ok(()),
        _ => Err(version.fault(format!("expected the version `<2.0>`, found {}", quoted(version.text)))),
    }
}

impl<'t> Script<'t> {
    /// The rest of `declare-network`.
    fn network(&mut self, open: &Token<'t>, read: &mut NetworkSpecification) -> Result<(), Fault> {
        let name = self.required(open, "`declare-network` needs a name")?;
        check_name(&name)?;
        if read.networks.iter().any(|network| network.name == name.text) {
            return Err(name.fault(format!("the network {} is declared twice", quoted(name.text))));
        }
        let mut network = NetworkDeclaration { name: name.text.to_owned(), likeness: None, tensors: Vec::new() };
        let mut reference = None;
        while let Some(part) = self.argument(open)? {
            if part.kind != Kind::Open {
                return Err(part.fault(format!("expected a declaration in parentheses, found {}", quoted(part.text))));
            }
            let head = self.head(&part)?;
            let role = match head.text {
                "declare-input" => Role::Input,
                "declare-hidden" => Role::Hidden,
                "declare-output" => Role::Output,
                "equal-to" | "isomorphic-to" => {
                    if network.likeness.is_some() || !network.tensors.is_empty() {
                        return Err(head.fault(format!("{} stands once, before the tensors", quoted(head.text))));
                    }
                    network.likeness = Some(self.likeness(&part, &head, read)?);
                    reference = Some(head);
                    continue;
                }
                _ => return Err(head.fault(format!("unknown declaration {}", quoted(head.text)))),
            };
            if network.tensors.last().is_some_and(|last| last.role > role) {
                return Err(head.fault("inputs come before hidden tensors, and these before outputs"));
            }
            let tensor = self.tensor(&part, &head, role, read)?;
            network.tensors.push(tensor);
        }
        for (role, kind) in [(Role::Input, "input"), (Role::Output, "output")] {
            if network.tensors(role).next().is_none() {
                return Err(name.fault(format!("the network {} has no {kind}", quoted(name.text))));
            }
        }
        let named = |tensor: &&TensorDeclaration| tensor.role != Role::Hidden && tensor.onnx_name.is_some();
        let count = network.tensors.iter().filter(named).count();
        if count != 0 && count != network.tensors.len() - network.tensors(Role::Hidden).count() {
            return Err(name.fault("either all inputs and outputs of a network have ONNX names, or none has"));
        }
        if let (Some(likeness), Some(head)) = (network.likeness, reference) {
            check_likeness(&network, likeness, read).map_err(|message| head.fault(message))?;
        }
        read.networks.push(network);
        Ok(())
    }

    /// The rest of `equal-to` or `isomorphic-to`.
    fn likeness(&mut self, open: &Token<'t>, head: &Token<'t>, read: &NetworkSpecification) -> Result<Likeness, Fault> {
        let other = self.required(open, "the name of a network is missing")?;
        self.close(open)?;
        let place = read.networks.iter().position(|network| network.name == other.text);
        let place = place.ok_or_else(|| other.fault(format!("there is no network {} before", quoted(other.text))))?;
        if read.networks[place].likeness.is_some() {
            return Err(other.fault(format!("{} refers to another network itself", quoted(other.text))));
        }
        let equal = head.text == "equal-to";
        Ok(if equal { Likeness::EqualTo(place) } else { Likeness::IsomorphicTo(place) })
    }

    /// The rest of `declare-input`, `declare-hidden` or `declare-output`.
    fn tensor(
        &mut self,
        open: &Token<'t>,
        head: &Token<'t>,
        role: Role,
        read: &mut NetworkSpecification,
    ) -> Result<TensorDeclaration, Fault> {
        let incomplete = format!("{} needs a name, an element type and a shape", quoted(head.text));
        let name = self.required(open, &incomplete)?;
        check_name(&name)?;
        if self.declared(&name) {
            return Err(name.fault(format!("{} is declared twice", quoted(name.text))));
        }
        let element_type = element_type(&self.required(open, &incomplete)?)?;
        let bracket = self.required(open, &incomplete)?;
        if bracket.kind != Kind::Mark || bracket.text != "[" {
            return Err(bracket.fault(format!("expected a shape, found {}", quoted(bracket.text))));
        }
        let shape = if self.lexer.take_mark("]")? { Vec::new() } else { self.indices(&bracket)? };
        let onnx_name = match self.argument(open)? {
            None => None,
            Some(string) => {
                self.close(open)?;
                Some(onnx_name(&string)?)
            }
        };
        if role == Role::Hidden && onnx_name.is_none() {
            return Err(head.fault("`declare-hidden` needs the ONNX name of the tensor"));
        }
        let total = if role == Role::Input { &mut read.inputs } else { &mut read.outputs };
        let bounded = shape.len() <= MAX_RANK && shape.iter().all(|&extent| extent <= MAX_ELEMENTS);
        let count = element_count(&shape).filter(|_| bounded);
        let Some(count) = count.filter(|count| *total + count <= MAX_ELEMENTS) else {
            return Err(bracket.fault(format!("tensors have more than {MAX_ELEMENTS} elements or {MAX_RANK} axes")));
        };
        let first = *total;
        *total += count;
        let tensor = TensorDeclaration { name: name.text.to_owned(), role, element_type, shape, onnx_name, first };
        if let Some(tensors) = &mut self.tensors {
            tensors.insert(name.text, &tensor);
        }
        Ok(tensor)
    }

    /// `1,2,3]`: whole numbers up to the bracket that closes.
    pub fn indices(&mut self, open: &Token<'t>) -> Result<Vec<usize>, Fault> {
        let mut indices = Vec::new();
        loop {
            let missing = || open.fault("the bracket is not closed");
            let token = self.lexer.next()?.ok_or_else(missing)?;
            let digits = token.kind == Kind::Symbol && token.text.bytes().all(|byte| byte.is_ascii_digit());
            let index = token.text.parse().ok().filter(|_| digits);
            indices.push(index.ok_or_else(|| token.fault(format!("expected an index, found {}", quoted(token.text))))?);
            if indices.len() > MAX_RANK {
                return Err(token.fault(format!("more than {MAX_RANK} axes")));
            }
            if self.lexer.take_mark("]")? {
                return Ok(indices);
            }
            if !self.lexer.take_mark(",")? {
                let next = self.lexer.next()?.ok_or_else(missing)?;
                return Err(next.fault(format!("expected `,` or `]`, found {}", quoted(next.text))));
            }
        }
    }
}

/// A letter, then letters, digits and underscores; dashes as in the standard's examples.
fn check_name(name: &Token<'_>) -> Result<(), Fault> {
    let letters = name.text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if name.kind == Kind::Symbol && letters && name.text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return Ok(());
    }
    Err(name.fault(format!("{} is no name: letters, digits and underscores", quoted(name.text))))
}

fn element_type(token: &Token<'_>) -> Result<ElementType, Fault> {
    match token.text {
        "real" | "Real" => Ok(ElementType::Real),
        "float32" => Ok(ElementType::Float32),
        "float64" => Ok(ElementType::Float64),
        other if REFUSED_TYPES.contains(&other) => {
            Err(token.fault(format!("the element type `{other}` is not supported")))
        }
        other => Err(token.fault(format!("unknown element type {}", quoted(other)))),
    }
}

fn onnx_name(token: &Token<'_>) -> Result<String, Fault> {
    let inside = token.text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    // A backslash may begin an escape, which readers of the format treat differently.
    match inside.filter(|name| token.kind == Kind::Quoted && !name.contains('\\')) {
        Some(name) => Ok(name.to_owned()),
        None => Err(token.fault(format!("expected an ONNX name in double quotes, found {}", quoted(token.text)))),
    }
}

/// The interfaces of networks that are said to be alike must be the same but for names (and types, if only isomorphic).
fn check_likeness(network: &NetworkDeclaration, likeness: Likeness, read: &NetworkSpecification) -> Result<(), String> {
    let (place, same_types) = match likeness {
        Likeness::EqualTo(place) => (place, true),
        Likeness::IsomorphicTo(place) => (place, false),
    };
    let other = &read.networks[place];
    let alike = |a: &TensorDeclaration, b: &TensorDeclaration| {
        a.shape == b.shape && (!same_types || a.element_type == b.element_type)
    };
    for role in [Role::Input, Role::Output] {
        let (own, others) = (network.tensors(role), other.tensors(role));
        let same_count = network.tensors(role).count() == other.tensors(role).count();
        if !same_count || own.zip(others).any(|(a, b)| !alike(a, b) || a.onnx_name != b.onnx_name) {
            return Err(format!("the tensors of `{}` and `{}` are not the same", network.name, other.name));
        }
    }
    for hidden in network.tensors(Role::Hidden) {
        let same_node = other.tensors(Role::Hidden).find(|tensor| tensor.onnx_name == hidden.onnx_name);
        if same_node.is_some_and(|tensor| !alike(tensor, hidden)) {
            return Err(format!("the hidden tensors of `{}` and `{}` are not the same", network.name, other.name));
        }
    }
    Ok(())
}
