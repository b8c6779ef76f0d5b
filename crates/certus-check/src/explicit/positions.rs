//! Every position that a state can have: the inputs are cut into finitely many pieces, over each of which the step does one thing.
//!
//! A piece is a box each of whose sides is a number or an interval with or without its ends. Where a comparison or a floor is open over
//! a piece, the piece is cut at the border: where the two sides of the comparison are equal, found by the secant through the piece's ends
//! and tried; in the middle if there is no such place. The border becomes a piece of its own. A step that takes infinitely many successors
//! from one state is not for this engine, and is told apart by never being settled.

use certus_automata::system::Truths;
use certus_graph::ops::Op;
use certus_graph::{Graph, Interval};
use certus_lang::system::{ActionRole, AtomId, Integers, System, Truth, Variable, in_ranges};
use certus_model::ModelErrorKind;

use super::spans::{Span, spans};
use crate::confirm::{leaves, no_successor};

/// What is chosen at a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Choice {
    pub inputs: Vec<f64>,
    pub chances: Vec<usize>,
    pub actions: Vec<usize>,
}

/// What follows a position.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Then {
    State(Vec<f64>),
    Error(ModelErrorKind),
    /// Nothing is allowed in a terminal state, and nothing needs to be.
    Nothing,
}

/// A position that a state can have.
#[derive(Clone, Debug)]
pub(super) struct Position {
    /// The atoms that have a value, by their place among those that are asked about.
    pub truths: Truths,
    pub then: Then,
    pub choice: Choice,
}

/// The most pieces of the inputs in one state, for one outcome of the random choices.
const MOST_PIECES: usize = 256;

/// The most outcomes of the random choices of one step.
const MOST_DRAWS: usize = 256;

/// A system of which positions are listed.
pub(super) struct Lister<'a> {
    system: &'a System,
    pub asked: Vec<AtomId>,
    /// The step with what is read of it.
    graph: Graph,
    ports: Ports,
    /// Labels of the chances and random actions that have a positive probability.
    draws: Vec<Draw>,
    inputs: Vec<Interval>,
    /// Evaluations of the step that are left.
    pub left: usize,
}

/// Where outputs are in the graph.
#[derive(Clone)]
struct Ports {
    init: Option<usize>,
    init_defined: Option<usize>,
    terminal: Option<usize>,
    choice_defined: Option<usize>,
    assume: Option<usize>,
    defined: Option<usize>,
    next: Vec<usize>,
    /// For each atom that is asked about: its truth, and where it is defined.
    atoms: Vec<(usize, Option<usize>)>,
}

/// The values of a step's nodes over a piece.
struct Seen<'g> {
    graph: &'g Graph,
    nodes: Vec<Vec<Span>>,
}

impl Seen<'_> {
    fn spans(&self, port: usize) -> &[Span] {
        &self.nodes[self.graph.outputs()[port].node.index()]
    }

    /// Whether a condition holds; one that is absent does.
    fn holds(&self, port: Option<usize>) -> Option<bool> {
        port.map_or(Some(true), |port| self.spans(port).first().and_then(|own| own.range.certainty()))
    }
}

impl<'a> Lister<'a> {
    /// Nothing if the system has what no finite list has: free parameters, open networks, too many outcomes.
    pub fn new(system: &'a System, asked: Vec<AtomId>, evaluations: usize) -> Option<Lister<'a>> {
        let roles = &system.roles;
        if !roles.free_params.is_empty() || !roles.networks.is_empty() || asked.len() > 64 {
            return None;
        }
        let mut outputs = Vec::new();
        let mut keep = |port: usize| {
            outputs.push(port);
            outputs.len() - 1
        };
        let mut condition = |truth: Option<Truth>| truth.map(|own| keep(own.truth.port));
        let (init, init_defined) = (condition(roles.init), condition(roles.init_defined));
        let (terminal, choice_defined) = (condition(roles.terminal), condition(roles.choice_defined));
        let (assume, defined) = (condition(roles.assume), condition(roles.defined));
        let atoms = asked.iter().map(|id| (Some(roles.atoms[id.0]), roles.atoms_defined[id.0]));
        let atoms = atoms.map(|(truth, defined)| (condition(truth).unwrap_or(0), condition(defined))).collect();
        let next = roles.next.iter().map(|own| keep(own.port)).collect();
        let graph = system.step.keep_outputs(&outputs);
        let random = system.actions.iter().zip(&roles.actions);
        let random = random.filter(|(_, role)| matches!(role, ActionRole::Softmax { .. }));
        let mut draws = vec![(Vec::new(), Vec::new())];
        for chance in &system.chances {
            let labels = (0..chance.labels.len()).filter(|&label| chance.probabilities[label] > 0.0);
            draws = with_each(draws, labels.collect(), |draw, label| draw.0.push(label));
        }
        for (action, _) in random {
            draws = with_each(draws, (0..action.labels.len()).collect(), |draw, label| draw.1.push(label));
        }
        if draws.len() > MOST_DRAWS {
            return None;
        }
        let ranges = system.inputs.iter().flat_map(|input| input.lower.iter().zip(&input.upper));
        let inputs = ranges.map(|(&lo, &hi)| Interval { lo, hi }).collect();
        let ports = Ports { init, init_defined, terminal, choice_defined, assume, defined, next, atoms };
        Some(Lister { system, asked, graph, ports, draws, inputs, left: evaluations })
    }

    /// Whether the property reads something that is chosen, or the successor.
    fn reads_choices(&self) -> bool {
        self.asked.iter().map(|id| &self.system.atoms[id.0]).any(|atom| atom.uses_choice || atom.uses_next)
    }

    /// The step over a piece of states and inputs; nothing if no evaluations are left.
    fn see(&mut self, state: &[Span], inputs: &[Span], draw: &Draw) -> Option<Seen<'_>> {
        self.left = self.left.checked_sub(1)?;
        let vectors = |variables: &[certus_lang::system::Variable], mut values: &[Span]| -> Vec<Vec<Span>> {
            let lengths = variables.iter().map(|variable| variable.len);
            lengths
                .map(|len| {
                    let (own, rest) = values.split_at(len);
                    values = rest;
                    own.to_vec()
                })
                .collect()
        };
        let mut arguments = vectors(&self.system.states, state);
        arguments.extend(vectors(&self.system.inputs, inputs));
        let one_hot = |labels: usize, chosen: usize| -> Vec<Span> {
            (0..labels).map(|label| Span::point(f64::from(u8::from(label == chosen)))).collect()
        };
        let chances = self.system.chances.iter().zip(&draw.0);
        arguments.extend(chances.map(|(chance, &label)| one_hot(chance.labels.len(), label)));
        let random = self.system.actions.iter().zip(&self.system.roles.actions);
        let random = random.filter(|(_, role)| matches!(role, ActionRole::Softmax { .. })).zip(&draw.1);
        arguments.extend(random.map(|((action, _), &label)| one_hot(action.labels.len(), label)));
        Some(Seen { nodes: spans(&self.graph, &arguments), graph: &self.graph })
    }

    /// Every initial state, if they are finitely many.
    pub fn initial_states(&mut self) -> Option<Vec<Vec<f64>>> {
        let (lower, upper) = &self.system.init_box;
        if lower.iter().chain(upper).any(|end| !end.is_finite()) {
            return None;
        }
        let system = self.system;
        let inputs: Vec<Span> = self.inputs.iter().map(|&range| Span::closed(range)).collect();
        let draw = self.draws.first()?.clone();
        // What `init` says must have a value in every state of the declared ranges.
        if self.ports.init_defined.is_some() {
            let ranges = self.system.states.iter().flat_map(|state| state.lower.iter().zip(&state.upper));
            let whole: Vec<Span> = ranges.map(|(&lo, &hi)| Span::closed(Interval { lo, hi })).collect();
            let port = self.ports.init_defined;
            if self.see(&whole, &inputs, &draw)?.holds(port) != Some(true) {
                return None;
            }
        }
        let mut found = Vec::new();
        let port = self.ports.init;
        for (lower, upper) in &system.init_boxes {
            let sides: Vec<Interval> = lower.iter().zip(upper).map(|(&lo, &hi)| Interval { lo, hi }).collect();
            let starts = starts(&system.states, &sides);
            self.pieces(Free::State(&inputs, &draw), starts, |seen, piece| {
                let state: Option<Vec<f64>> = piece.iter().map(|side| side.single()).collect();
                match (if system.init_is_union { Some(true) } else { seen.holds(port) }, state) {
                    (Some(true), Some(state)) => found.push(state),
                    // A whole piece of initial states: not finitely many.
                    (Some(true), None) => return None,
                    (Some(false), _) => {}
                    (None, _) => return Some(false),
                }
                Some(true)
            })?;
        }
        Some(found)
    }

    /// Every position of a state; nothing if they are not found to be finitely many.
    pub fn positions(&mut self, state: &[f64]) -> Option<Vec<Position>> {
        let point: Vec<Span> = state.iter().map(|&value| Span::point(value)).collect();
        let whole: Vec<Span> = self.inputs.iter().map(|&range| Span::closed(range)).collect();
        let draws = self.draws.clone();
        let OfState { terminal, truths, undefined } = self.of_state(&point, &whole, draws.first()?)?;
        let nothing = Choice {
            inputs: self.inputs.iter().map(|range| range.lo).collect(),
            chances: draws[0].0.clone(),
            actions: draws[0].1.clone(),
        };
        let mut positions: Vec<Position> = Vec::new();
        let pieces = starts(&self.system.inputs, &self.inputs);
        let (system, asked, ports) = (self.system, self.asked.clone(), self.ports.clone());
        for draw in &draws {
            self.pieces(Free::Inputs(&point, draw), pieces.clone(), |seen, piece| {
                let Some(settled) = settled(system, &asked, &ports, seen, truths) else { return Some(false) };
                let Some((truths, mut then)) = settled else { return Some(true) };
                // What is chosen still gives a value to the atoms that read it.
                if let (Then::State(_), Some(kind)) = (&then, &undefined) {
                    then = Then::Error(kind.clone());
                }
                let known = |own: &Position| own.truths == truths && own.then == then;
                if !positions.iter().any(known) {
                    let inputs = piece.iter().map(|side| side.middle()).collect();
                    let choice = Choice { inputs, chances: draw.0.clone(), actions: draw.1.clone() };
                    positions.push(Position { truths, then, choice });
                }
                Some(true)
            })?;
        }
        if positions.is_empty() {
            let then = match terminal {
                _ if undefined.is_some() => undefined.map_or(Then::Nothing, Then::Error),
                false => Then::Error(ModelErrorKind::Deadlock),
                true if self.reads_choices() => return Some(positions),
                true => Then::Nothing,
            };
            positions.push(Position { truths, then, choice: nothing });
        }
        Some(positions)
    }

    /// What the state alone settles.
    fn of_state(&mut self, state: &[Span], inputs: &[Span], draw: &Draw) -> Option<OfState> {
        let (terminal, atoms, asked) = (self.ports.terminal, self.ports.atoms.clone(), self.asked.clone());
        let system = self.system;
        let seen = self.see(state, inputs, draw)?;
        let (mut truths, mut undefined) = (Truths::default(), None);
        for (place, (&(truth, defined), id)) in atoms.iter().zip(&asked).enumerate() {
            let atom = &system.atoms[id.0];
            if atom.uses_choice || atom.uses_next {
                continue;
            }
            match seen.holds(defined)? {
                true => note(&mut truths, place, seen.holds(Some(truth))?),
                false => {
                    let what = format!("`{}`", atom.text);
                    undefined.get_or_insert(ModelErrorKind::Undefined { what });
                }
            }
        }
        // Where `terminal` itself has no value, every choice says so.
        let terminal = terminal.is_some_and(|port| seen.holds(Some(port)) == Some(true));
        Some(OfState { terminal, truths, undefined })
    }

    /// Cuts pieces further until each is settled. `settle` says whether a piece is, and nothing if none of this leads anywhere.
    fn pieces(
        &mut self,
        free: Free<'_>,
        mut open: Vec<Vec<Span>>,
        mut settle: impl FnMut(&Seen<'_>, &[Span]) -> Option<bool>,
    ) -> Option<()> {
        let most = MOST_PIECES + open.len();
        let mut seen = 0;
        while let Some(piece) = open.pop() {
            seen += 1;
            if seen > most {
                return None;
            }
            let step = self.see_free(free, &piece)?;
            if settle(&step, &piece)? {
                continue;
            }
            let borders = borders(&step);
            open.extend(self.cut(free, &piece, &borders)?);
        }
        Some(())
    }

    fn see_free(&mut self, free: Free<'_>, piece: &[Span]) -> Option<Seen<'_>> {
        match free {
            Free::Inputs(state, draw) => self.see(state, piece, draw),
            Free::State(inputs, draw) => self.see(piece, inputs, draw),
        }
    }

    /// The parts of a piece on both sides of a border and on it.
    fn cut(&mut self, free: Free<'_>, piece: &[Span], borders: &[Border]) -> Option<Vec<Vec<Span>>> {
        let at = |side: usize, value: f64| -> Vec<Span> {
            let middle = piece.iter().map(|own| Span::point(own.middle()));
            middle.enumerate().map(|(place, own)| if place == side { Span::point(value) } else { own }).collect()
        };
        for side in (0..piece.len()).filter(|&side| piece[side].single().is_none()) {
            let Interval { lo, hi } = piece[side].range;
            let differences =
                |seen: &Seen<'_>| borders.iter().map(|border| border.difference(seen)).collect::<Vec<_>>();
            let low = differences(&self.see_free(free, &at(side, lo))?);
            let high = differences(&self.see_free(free, &at(side, hi))?);
            for (low, high) in low.into_iter().zip(high) {
                let place = match (low, high) {
                    (0.0, _) if !piece[side].low_open => lo,
                    (_, 0.0) if !piece[side].high_open => hi,
                    _ if low * high < 0.0 => lo + (hi - lo) * (low / (low - high)),
                    _ => continue,
                };
                if let Some(parts) = parts(piece, side, place) {
                    return Some(parts);
                }
            }
        }
        let width = |side: &usize| piece[*side].range.width();
        let widest = (0..piece.len()).max_by(|a, b| width(a).total_cmp(&width(b)))?;
        parts(piece, widest, piece[widest].middle())
    }
}

/// The pieces that a box is cut into to begin with: one for each value of its integers, as far as these are few.
fn starts(variables: &[Variable], sides: &[Interval]) -> Vec<Vec<Span>> {
    let integers = variables.iter().flat_map(|own| std::iter::repeat_n(own.integers.as_ref(), own.len));
    let mut found: Vec<Vec<Span>> = vec![Vec::new()];
    for (side, integers) in sides.iter().zip(integers) {
        let inside = integers.and_then(|own: &Integers| own.between(side.lo, side.hi));
        let own: Vec<Span> = match inside {
            Some(own) if own.count().saturating_mul(found.len() as u64) <= MOST_PIECES as u64 => {
                own.iter().map(Span::point).collect()
            }
            _ => vec![Span::closed(*side)],
        };
        let with = |piece: &Vec<Span>| own.iter().map(|&last| [piece.as_slice(), &[last]].concat()).collect::<Vec<_>>();
        found = found.iter().flat_map(with).collect();
    }
    found
}

/// What happens over a piece of the inputs: nothing inside where the choice is not allowed; nothing at all where it is not settled.
fn settled(
    system: &System,
    asked: &[AtomId],
    ports: &Ports,
    seen: &Seen<'_>,
    letter: Truths,
) -> Option<Option<Settled>> {
    let mut truths = letter;
    if !seen.holds(ports.choice_defined)? {
        let kind = ModelErrorKind::Undefined { what: "a policy, an action, `terminal` or `assume`".to_owned() };
        let others = asked.iter().enumerate().filter(|(_, id)| !system.atoms[id.0].state_only);
        let without_value = others.fold(0u64, |mask, (place, _)| mask | 1 << place);
        (truths.yes, truths.no) = (truths.yes & !without_value, truths.no & !without_value);
        return Some(Some((truths, Then::Error(kind))));
    }
    if !seen.holds(ports.assume)? {
        return Some(None);
    }
    let next: Vec<Span> = ports.next.iter().flat_map(|&port| seen.spans(port).iter().copied()).collect();
    let ranges: Vec<Interval> = next.iter().map(|own| own.range).collect();
    let mut then = match (seen.holds(ports.defined)?, leaves(system, &ranges)) {
        (false, _) => Then::Error(no_successor(system, &ranges)),
        (true, Some(kind)) => Then::Error(kind),
        (true, None) => Then::State(successor(system, next)?),
    };
    let goes_on = matches!(then, Then::State(_));
    for (place, (&(truth, defined), id)) in ports.atoms.iter().zip(asked).enumerate() {
        let atom = &system.atoms[id.0];
        if !atom.uses_choice && !atom.uses_next || atom.uses_next && !goes_on {
            continue;
        }
        match seen.holds(defined)? {
            true => note(&mut truths, place, seen.holds(Some(truth))?),
            false if goes_on => {
                then = Then::Error(ModelErrorKind::Undefined { what: format!("`{}`", atom.text) });
            }
            false => {}
        }
    }
    Some(Some((truths, then)))
}

/// What pieces are cut from: the inputs in a state, or the states; with outcomes of the random choices.
#[derive(Clone, Copy)]
enum Free<'f> {
    Inputs(&'f [Span], &'f Draw),
    State(&'f [Span], &'f Draw),
}

/// Labels of the chances, and of the random actions.
type Draw = (Vec<usize>, Vec<usize>);

/// What a state alone settles.
struct OfState {
    terminal: bool,
    /// The atoms that read nothing else.
    truths: Truths,
    /// One of them that has no value.
    undefined: Option<ModelErrorKind>,
}

/// What a piece settles of a position: the atoms that have a value, and what follows.
type Settled = (Truths, Then);

/// Where something open over a piece changes: where two numbers are equal, or one is an integer.
enum Border {
    Equal([(usize, usize); 2]),
    Integer((usize, usize), f64),
}

impl Border {
    /// Zero on the border.
    fn difference(&self, seen: &Seen<'_>) -> f64 {
        let value = |&(node, element): &(usize, usize)| seen.nodes[node][element].middle();
        match self {
            Border::Equal([a, b]) => value(a) - value(b),
            Border::Integer(a, integer) => value(a) - integer,
        }
    }
}

/// The comparisons and floors that are open over a piece.
fn borders(seen: &Seen<'_>) -> Vec<Border> {
    let mut found = Vec::new();
    for (place, node) in seen.graph.nodes().iter().enumerate() {
        let arguments: Vec<usize> = node.inputs.iter().map(|id| id.index()).collect();
        let open = seen.nodes[place].iter().enumerate().filter(|(_, own)| own.single().is_none());
        match (&node.op, arguments.as_slice()) {
            (Op::Compare(_), &[a, b]) if seen.nodes[a].len() == seen.nodes[b].len() => {
                found.extend(open.map(|(element, _)| Border::Equal([(a, element), (b, element)])));
            }
            (Op::Floor(_), &[a]) => {
                found.extend(open.filter(|(_, own)| own.range.width().is_finite()).map(|(element, own)| {
                    Border::Integer((a, element), (own.range.lo / 2.0 + own.range.hi / 2.0).floor() + 1.0)
                }))
            }
            _ => {}
        }
    }
    found
}

/// A piece cut at a place of one of its sides; nothing if there is nothing to cut.
fn parts(piece: &[Span], side: usize, place: f64) -> Option<Vec<Vec<Span>>> {
    let Span { range: Interval { lo, hi }, low_open, high_open } = piece[side];
    let inside = lo < place && place < hi;
    let at_an_end = lo < hi && (place == lo && !low_open || place == hi && !high_open);
    if !inside && !at_an_end {
        return None;
    }
    let mut own = vec![Span::point(place)];
    if lo < place {
        own.push(Span { range: Interval { lo, hi: place }, low_open, high_open: true });
    }
    if place < hi {
        own.push(Span { range: Interval { lo: place, hi }, low_open: true, high_open });
    }
    let with = |own: Span| {
        let mut piece = piece.to_vec();
        piece[side] = own;
        piece
    };
    Some(own.into_iter().map(with).collect())
}

/// The successor; nothing if it is not settled that it is one state, in its ranges.
fn successor(system: &System, next: Vec<Span>) -> Option<Vec<f64>> {
    let state: Vec<f64> = next.into_iter().map(Span::single).collect::<Option<_>>()?;
    in_ranges(&system.states, &state).then_some(state)
}

fn note(truths: &mut Truths, place: usize, value: bool) {
    match value {
        true => truths.yes |= 1 << place,
        false => truths.no |= 1 << place,
    }
}

/// Each of some draws with each of some labels added.
fn with_each(draws: Vec<Draw>, labels: Vec<usize>, add: impl Fn(&mut Draw, usize)) -> Vec<Draw> {
    if draws.len().saturating_mul(labels.len()) > MOST_DRAWS {
        return vec![Draw::default(); MOST_DRAWS + 1];
    }
    let mut all = Vec::new();
    for draw in draws {
        for &label in &labels {
            let mut own = draw.clone();
            add(&mut own, label);
            all.push(own);
        }
    }
    all
}
