//! Systems that are written down.
//!
//! The text format has a line per state. `#` begins a comment; names that are not plain words stand between quotation marks.
//!
//! ```text
//! system 1
//! atoms request grant
//! initial 0
//! state 0 -> 0 1
//! state 1 request -> 1 2         # atoms that hold; all others do not
//! state 2 request ?grant -> 0    # ?: not known
//! ```
//!
//! States are numbered from 0 without gaps, in order; names contain no line ends. In memory successors lie in one vector with an index per state, so
//! that a system of a million states takes tens of megabytes.

use crate::parse::ParseError;
use crate::print::quoted;
use crate::system::{System, Truths};

/// A stored transition system.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Explicit {
    /// Names of the atoms, at most 64.
    pub atoms: Vec<String>,
    /// The initial states.
    pub initial: Vec<u32>,
    truths: Vec<Truths>,
    targets: Vec<u32>,
    ends: Vec<usize>,
}

impl Explicit {
    /// A system without states.
    pub fn new(atoms: Vec<String>) -> Explicit {
        Explicit { atoms, ..Explicit::default() }
    }

    /// Adds the next state. Successors may be states that are added later.
    pub fn push(&mut self, truths: Truths, targets: &[u32]) -> u32 {
        self.truths.push(truths);
        self.targets.extend_from_slice(targets);
        self.ends.push(self.targets.len());
        (self.truths.len() - 1) as u32
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.truths.len()
    }

    /// The successors of a state; none for a state that was never added.
    pub fn targets(&self, state: u32) -> &[u32] {
        let state = state as usize;
        let begin = if state == 0 { 0 } else { self.ends.get(state - 1).copied().unwrap_or(0) };
        self.ends.get(state).map_or(&[], |end| &self.targets[begin..*end])
    }

    /// Atoms that hold in a state, and with a question mark those that are not known.
    pub(crate) fn listed(&self, state: u32) -> Vec<String> {
        let truths = self.truths[state as usize];
        let atom = |(n, name): (usize, &String)| match (truths.yes >> n & 1, truths.no >> n & 1) {
            (1, _) => Some(quoted(name)),
            (0, 1) => None,
            _ => Some(format!("?{}", quoted(name))),
        };
        self.atoms.iter().enumerate().filter_map(atom).collect()
    }

    /// The system as text.
    pub fn write(&self) -> String {
        let numbers = |all: &[u32]| all.iter().map(|n| format!(" {n}")).collect::<String>();
        let mut text = String::from("system 1\natoms");
        for atom in &self.atoms {
            text.push(' ');
            text.push_str(&quoted(atom));
        }
        text.push_str(&format!("\ninitial{}\n", numbers(&self.initial)));
        for state in 0..self.states() as u32 {
            let atoms: String = self.listed(state).iter().map(|atom| format!(" {atom}")).collect();
            text.push_str(&format!("state {state}{atoms} ->{}\n", numbers(self.targets(state))));
        }
        text
    }

    /// Reads a system from text.
    pub fn read(text: &str) -> Result<Explicit, ParseError> {
        let mut system = Explicit::default();
        let (mut offset, mut header, mut end) = (0, 0, text.len());
        let mut largest = None;
        for line in text.split_inclusive('\n') {
            let words = words(line, offset)?;
            let wrong = |at: usize, message: &str| ParseError { offset: at, message: message.to_string() };
            if let Some((at, first, _)) = words.first() {
                match (first.as_str(), header) {
                    ("system", 0) if words.len() == 2 && words[1].1 == "1" => header = 1,
                    (_, 0) => return Err(wrong(*at, "expected 'system 1'")),
                    ("atoms", 1) => {
                        header = 2;
                        system.atoms = words[1..].iter().map(|(_, word, _)| word.clone()).collect();
                        if system.atoms.len() > 64 {
                            return Err(wrong(*at, "more than 64 atoms"));
                        }
                    }
                    (_, 1) => return Err(wrong(*at, "expected 'atoms'")),
                    ("initial", 2) => {
                        header = 3;
                        for (at, word, _) in &words[1..] {
                            let start = word.parse().map_err(|_| wrong(*at, "expected the number of a state"))?;
                            largest = largest.max(Some((start, *at)));
                            system.initial.push(start);
                        }
                    }
                    (_, 2) => return Err(wrong(*at, "expected 'initial'")),
                    ("state", _) => system.read_state(&words, &mut largest)?,
                    _ => return Err(wrong(*at, "expected 'state'")),
                }
            }
            offset += line.len();
            end = offset;
        }
        let error = |offset, message: &str| Err(ParseError { offset, message: message.to_string() });
        match largest {
            _ if header < 3 => error(end, "expected 'system 1', 'atoms' and 'initial'"),
            Some((state, at)) if state as usize >= system.states() => error(at, "this state is not defined"),
            _ => Ok(system),
        }
    }

    fn read_state(&mut self, words: &[Word], largest: &mut Option<(u32, usize)>) -> Result<(), ParseError> {
        let wrong = |at: usize, message: String| Err(ParseError { offset: at, message });
        let next = self.states();
        match words.get(1) {
            Some((_, number, _)) if *number == next.to_string() => {}
            Some((at, ..)) => return wrong(*at, format!("expected state {next}")),
            None => return wrong(words[0].0, format!("expected state {next}")),
        }
        let mut truths = Truths::known(0);
        let mut targets = Vec::new();
        let Some(arrow) = words.iter().position(|(_, word, plain)| word == "->" && *plain) else {
            return wrong(words[0].0, "expected '->' and the successors".to_string());
        };
        for (at, word, plain) in words.get(2..arrow).unwrap_or(&[]) {
            let unknown = *plain && word.starts_with('?');
            let name = if unknown { word[1..].to_string() } else { word.clone() };
            let Some(atom) = self.atoms.iter().position(|known| *known == name) else {
                return wrong(*at, format!("no atom is called {name}"));
            };
            truths.no &= !(1 << atom);
            if !unknown {
                truths.yes |= 1 << atom;
            }
        }
        for (at, word, _) in &words[arrow + 1..] {
            let Ok(target) = word.parse() else { return wrong(*at, "expected the number of a state".to_string()) };
            *largest = (*largest).max(Some((target, *at)));
            targets.push(target);
        }
        self.push(truths, &targets);
        Ok(())
    }
}

/// A word of a line: where it begins, its text, and whether it stood without quotation marks (`?"x"` counts as plain).
type Word = (usize, String, bool);

fn words(line: &str, offset: usize) -> Result<Vec<Word>, ParseError> {
    let mut words = Vec::new();
    let mut chars = line.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        if c.is_whitespace() {
            continue;
        }
        if c == '#' {
            break;
        }
        let (mut word, mut plain) = (String::new(), true);
        let mut quote = c == '"';
        if c == '?' {
            word.push('?');
            quote = chars.next_if(|(_, c)| *c == '"').is_some();
        } else if !quote {
            word.push(c);
        } else {
            plain = false;
        }
        if quote {
            let mut closed = false;
            while let Some((_, c)) = chars.next() {
                match c {
                    '"' => {
                        closed = true;
                        break;
                    }
                    '\\' => word.extend(chars.next().map(|(_, c)| c)),
                    c => word.push(c),
                }
            }
            if !closed {
                return Err(ParseError {
                    offset: offset + i,
                    message: "this quotation mark is never closed".to_string(),
                });
            }
        } else {
            while let Some((_, c)) = chars.next_if(|(_, c)| !c.is_whitespace() && *c != '#') {
                word.push(c);
            }
        }
        words.push((offset + i, word, plain));
    }
    Ok(words)
}

impl System for Explicit {
    type State = u32;
    fn initial(&mut self, states: &mut Vec<u32>) {
        states.extend_from_slice(&self.initial);
    }
    fn successors(&mut self, state: &u32, states: &mut Vec<u32>) {
        states.extend_from_slice(self.targets(*state));
    }
    fn truths(&mut self, state: &u32) -> Truths {
        self.truths.get(*state as usize).copied().unwrap_or_default()
    }
}
