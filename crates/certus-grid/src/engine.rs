//! The engine: explore, look for accepted runs, try them on the system, cut finer where they were none.
//!
//! What was worked out about a unit stays known; a unit that is halved is replaced by its parts, only those are bounded anew,
//! and the automaton is led over the units again, which is cheap beside the bounds.

use std::collections::HashSet;
use std::time::Instant;

use certus_check::errors::Errors;
use certus_check::rest::{OVER_THE_REALS, Rest};
use certus_check::temporal::Normal;
use certus_check::{CheckError, ModelError, ModelErrorKind, Outcome, Run, Scope, Unknown, Verdict};
use certus_lang::system::{Formula, Property, PropertyKind, System};
use certus_solver::{Budget, UnknownReason};

use crate::bounded::{initial_is_defined, stays};
use crate::coarse::Coarse;
use crate::concrete::{Concrete, Guide, Lengths};
use crate::cycles::{accepting_components, lasso, path_to, way_to};
use crate::doubts::Doubts;
use crate::expand::Expander;
use crate::explore::{Explored, Here, Product, spent};
use crate::extract::{ExtractOptions, Extraction};
use crate::initials::Initials;
use crate::judging::{Found, Wrong};
use crate::lattice::{DEPTH, Lattice};
use crate::moves::Moves;
use crate::reading::{Reading, atoms_of};
use crate::relevant::Part;
use crate::report::Report;

/// What the engine is called.
pub const NAME: &str = "grid";

/// Whose actions are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Policy {
    /// Everything that the network can do in a unit.
    #[default]
    Network,
    /// One action per unit, extracted from the network.
    Extracted(ExtractOptions),
}

/// How a property is checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The width of units in each coordinate of the state; empty for widths that the system suggests.
    pub widths: Vec<f64>,
    /// Whose actions are taken.
    pub policy: Policy,
    /// How often units may be cut finer; none for as often as the budget allows.
    pub refinements: Option<usize>,
    /// How many units may be bounded; none for as many as the budget allows.
    pub most: Option<u64>,
    /// Whether model errors that are not excluded are accepted: what is said then holds if there are none.
    pub assume_no_model_errors: bool,
}

/// How far a check is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// How often units were cut finer.
    pub refinements: usize,
    /// Steps from the initial states.
    pub steps: usize,
    /// Units that were met.
    pub units: usize,
}

/// Without a range that says more, a coordinate is cut into so many units.
const UNITS_PER_RANGE: f64 = 1000.0;

/// The box of initial states is at least so many units wide.
const UNITS_PER_START: f64 = 10.0;

/// Runs that are tried before anything is explored, after the first abstract run, and after each: the more, the more often units were halved in vain.
const FIRST_TRY: Lengths = Lengths { runs: 3, steps: 50 };
const WIDE_TRY: Lengths = Lengths { runs: 16, steps: 500 };
const LONG_TRY: Lengths = Lengths { runs: 8, steps: 4000 };

/// All runs of a try together have at most so many steps, or so many for each unit that was bounded: they are not to take longer than bounds do.
const STEPS_OF_A_TRY: usize = 2048;
const STEPS_PER_UNIT: usize = 8;

/// With more initial units than this, wider ones come first: so many that halving some of them costs less than taking all.
const MOST_STARTS: f64 = 65536.0;

/// So many they are then.
const FEW_STARTS: f64 = 1024.0;

/// The most doublings of widths.
const MOST_GRAINS: u32 = 8;

/// The share of the time that is kept for the report.
const KEPT_BACK: f64 = 0.05;

/// Among more units than this, only those of the abstract run itself are halved.
const MOST_SEARCHED: usize = 1 << 21;

/// After so many looks at successors the budget is looked at.
const LOOKS_AT_ONCE: u64 = 1 << 15;

/// So often units are halved for nothing but model errors that could not be excluded.
const PATIENCE: usize = 10;

/// At most so many units are halved at a time.
const MOST_AT_ONCE: usize = 1 << 18;

/// A number in few digits, as notes have it.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.6e}").parse().unwrap_or(value);
    if rounded == 0.0 || (1e-4..1e6).contains(&rounded.abs()) { rounded.to_string() } else { format!("{rounded:e}") }
}

/// Widths that a system suggests: tenths of the box of initial states, or thousandths of the range.
pub fn suggested_widths(system: &System) -> Vec<f64> {
    let ranges = system.states.iter().flat_map(|state| state.lower.iter().zip(&state.upper));
    let starts = system.init_box.0.iter().zip(&system.init_box.1);
    ranges
        .zip(starts)
        .map(|((low, high), (first, last))| {
            let (range, start) = (high - low, last - first);
            let width = if start > 0.0 { (start / UNITS_PER_START).min(range / 10.0) } else { range / UNITS_PER_RANGE };
            if width > 0.0 { width } else { 1.0 }
        })
        .collect()
}

/// How many numbers of the state a property's grid is over.
pub fn dimensions(system: &System, property: &Property) -> Result<usize, CheckError> {
    let PropertyKind::Ltl(formula) = &property.kind else { return Ok(system.state_len()) };
    let mut atoms = Vec::new();
    atoms_of(formula, &mut atoms);
    Ok(Part::of(system, &atoms, false)?.kept.len())
}

/// How often widths are doubled to begin with, in each coordinate: with very many initial units, the wide ones that they are parts of do as
/// well at first, and are halved where they do not.
fn grains(system: &System, widths: &[f64]) -> Vec<u32> {
    let starts = system.init_box.0.iter().zip(&system.init_box.1);
    let mut counts: Vec<f64> =
        starts.zip(widths).map(|((low, high), width)| ((high - low) / width).ceil().max(1.0)).collect();
    let mut grains = vec![0; widths.len()];
    if counts.iter().product::<f64>() <= MOST_STARTS {
        return grains;
    }
    while counts.iter().product::<f64>() > FEW_STARTS {
        let open = (0..counts.len()).filter(|&axis| grains[axis] < MOST_GRAINS && counts[axis] > 1.0);
        let Some(axis) = open.max_by(|&a, &b| counts[a].total_cmp(&counts[b])) else { break };
        counts[axis] = (counts[axis] / 2.0).ceil();
        grains[axis] += 1;
    }
    grains
}

/// Checks a property.
pub fn check(
    system: &System,
    property: &Property,
    options: &Options,
    budget: &Budget<'_>,
    watch: &mut dyn FnMut(Standing),
) -> Result<(Outcome, Report), CheckError> {
    let PropertyKind::Ltl(formula) = &property.kind else {
        return Err(CheckError::Unsupported(format!(
            "{} asks for a probability: the engine imdp bounds it",
            property.name
        )));
    };
    let unsupported = CheckError::Unsupported;
    let widths = if options.widths.is_empty() { suggested_widths(system) } else { options.widths.clone() };
    if widths.len() != system.state_len() {
        let (found, expected) = (widths.len(), system.state_len());
        return Err(unsupported(format!("{found} widths for a state of {expected} numbers")));
    }
    let reading = Reading::new(system, formula).map_err(unsupported)?;
    // Runs are those of the whole system; the grid is over what matters of it.
    let extracted = matches!(options.policy, Policy::Extracted(_));
    let part = Part::of(system, &reading.atoms, extracted)?;
    let (own_system, widths) = (&part.system, part.of_state(&widths));
    let moves = Moves::new(own_system, &reading.atoms, extracted).map_err(unsupported)?;
    let extraction = match options.policy {
        Policy::Network => None,
        Policy::Extracted(own) => Some(Extraction::new(own_system, &moves, own)?),
    };
    let mut grains = grains(own_system, &widths);
    // Units that are not to be halved have the widths that were asked for.
    if options.refinements == Some(0) {
        grains.fill(0);
    }
    if let Some(own) = extraction.as_ref().filter(|_| grains.iter().any(|&grain| grain > 0))
        && !Coarse::new(own_system, &moves, own)?.is_known()
    {
        grains.fill(0);
    }
    let lattice = Lattice::coarse(own_system, &widths, &grains).map_err(unsupported)?;
    let concrete = match &extraction {
        None => Concrete::network(system, formula),
        Some(own) => Concrete::extracted(system, formula, (&lattice, &part), own.clone())?,
    };
    let mut expander = Expander::new(own_system, &lattice, &moves, &reading.atoms, extraction)?;
    // Shown once for all states, ranges are no concern of single units.
    if stays(system, extracted)?.iter().all(|stays| *stays) {
        expander.excluded.add(Doubts::RANGE);
    }
    // What was found out is to be put into words before the time is over.
    let own = Budget {
        deadline: budget.deadline.map(|deadline| {
            let now = Instant::now();
            now + deadline.saturating_duration_since(now).mul_f64(1.0 - KEPT_BACK)
        }),
        ..*budget
    };
    let mut product = Product::new(own_system, &lattice, reading);
    product.most = options.most.unwrap_or(u64::MAX);
    product.with_initials(Initials::new(system, &part));
    product.without_errors = options.assume_no_model_errors;
    let mut check = Check {
        system,
        part: &part,
        formula,
        rest: None,
        product,
        expander,
        concrete,
        budget: &own,
        refinements: 0,
        candidate: Vec::new(),
        loop_to: None,
        in_doubt: 0,
    };
    let verdict = check.decide(options, watch)?;
    let mut outcome = Outcome::new(NAME, verdict);
    outcome.notes = check.notes(options, &outcome.verdict);
    let names = own_system.state_names();
    let report = Report::new(&check.product, (names, &widths), extracted, check.refinements, &check.candidate);
    Ok((outcome, report))
}

struct Check<'a> {
    system: &'a System,
    /// What matters of it.
    part: &'a Part,
    formula: &'a Formula,
    /// Runs that come to rest, if the loop can have some that are about the network; not prepared before they are looked for.
    rest: Option<Option<Rest<'a>>>,
    product: Product<'a>,
    expander: Expander<'a>,
    concrete: Concrete<'a>,
    budget: &'a Budget<'a>,
    refinements: usize,
    /// The units of the last abstract run that violates the property.
    candidate: Vec<u32>,
    /// Where it repeats itself, if it does.
    loop_to: Option<usize>,
    /// How often in a row nothing but a model error stood in the way.
    in_doubt: usize,
}

impl Check<'_> {
    fn decide(&mut self, options: &Options, watch: &mut dyn FnMut(Standing)) -> Result<Verdict, CheckError> {
        let (lower, upper) = self.system.init_box.clone();
        if let Some(found) = self.tried((&lower, &upper), &Guide::default(), FIRST_TRY)? {
            return Ok(self.verdict(found));
        }
        loop {
            let refinements = self.refinements;
            let mut told = |steps: usize, units: usize| watch(Standing { refinements, steps, units });
            let explored = self.product.explore(&self.expander, self.budget, &mut told)?;
            self.loop_to = None;
            let (units, doubtful) = match explored {
                Explored::Spent(reason) => return Ok(self.unknown(Some(reason))),
                Explored::Reached(here) => {
                    let path = self.path_to(here);
                    let leading = self.leading_to(&[here.unit], &path);
                    self.in_doubt = 0;
                    (path, leading)
                }
                Explored::Closed => {
                    let components = match self.product.reading.is_finite() {
                        true => Vec::new(),
                        false => match accepting_components(&mut self.product, self.budget) {
                            Err(reason) => return Ok(self.unknown(Some(reason))),
                            Ok(components) => components,
                        },
                    };
                    // The component that a run can be in first.
                    let nearest = components.iter().min_by_key(|own| own.iter().map(|state| state.0).min());
                    let in_doubt = self.product.doubtful.iter().map(|here| here.unit);
                    let in_doubt: Vec<u32> = in_doubt.take(MOST_AT_ONCE).collect();
                    match (nearest, self.product.doubtful.first()) {
                        (None, None) => return self.holds(),
                        (None, Some(_)) if self.has_no_errors()? => return self.holds(),
                        (None, Some(&here)) => {
                            let path = self.path_to(here);
                            let leading = self.leading_to(&in_doubt, &path);
                            self.in_doubt += 1;
                            (path, leading)
                        }
                        (Some(nearest), _) => {
                            let found = lasso(&mut self.product, self.budget, nearest);
                            self.loop_to = found.as_ref().map(|own| own.prefix.len());
                            let path: Vec<u32> =
                                found.map_or_else(Vec::new, |own| own.prefix.into_iter().chain(own.cycle).collect());
                            // What is to blame may be on the way there.
                            let members = components.iter().flatten().map(|state| state.0);
                            let doubtful = members.chain(path.iter().copied()).chain(in_doubt).collect();
                            self.in_doubt = 0;
                            (path, doubtful)
                        }
                    }
                }
            };
            self.candidate = units;
            if let Some(run) = self.rests()? {
                return Ok(Verdict::Violated(run));
            }
            if self.refinements == 0
                && let Some(found) = self.tried((&lower, &upper), &Guide::default(), WIDE_TRY)?
            {
                return Ok(self.verdict(found));
            }
            if let Some(found) = self.follow()? {
                return Ok(self.verdict(found));
            }
            // Tries that were cut short say nothing, so the time comes first.
            if let Some(reason) = spent(self.budget) {
                return Ok(self.unknown(Some(reason)));
            }
            if options.refinements.is_some_and(|most| self.refinements >= most) || self.in_doubt > PATIENCE {
                return Ok(self.unknown(None));
            }
            if !self.refine(doubtful) {
                return Ok(self.unknown(None));
            }
            self.refinements += 1;
        }
    }

    fn tried(
        &mut self,
        corners: (&[f64], &[f64]),
        guide: &Guide,
        lengths: Lengths,
    ) -> Result<Option<Found>, CheckError> {
        let (budget, seed) = (self.budget, self.budget.seed);
        let most = (self.product.expansions as usize).saturating_mul(STEPS_PER_UNIT).max(STEPS_OF_A_TRY);
        let found = self.concrete.search(corners, guide, (lengths, most), seed, &|| spent(budget).is_some())?;
        // An error that is assumed not to be there is none.
        Ok(found.filter(|found| !self.product.without_errors || matches!(found, Found::Violation(_))))
    }

    /// That the property holds, as far as it reaches by itself.
    fn holds(&self) -> Result<Verdict, CheckError> {
        if !self.product.without_errors && !initial_is_defined(self.system)? {
            let Verdict::Unknown(unknown) = self.unknown(None) else { return Ok(self.unknown(None)) };
            let holds_if = vec!["the initial conditions have a value in every state of the declared ranges".to_owned()];
            return Ok(Verdict::Unknown(Unknown { holds_if, ..unknown }));
        }
        let horizon = Normal::of(self.formula, true).horizon().and_then(|horizon| usize::try_from(horizon).ok());
        Ok(Verdict::Holds(horizon.map_or(Scope::Unbounded, Scope::Horizon)))
    }

    /// Whether a solver shows that the network's system has no model error anywhere; asked once, and only where units leave that open.
    fn has_no_errors(&self) -> Result<bool, CheckError> {
        if self.expander.extraction.is_some() || self.refinements > 0 {
            return Ok(false);
        }
        let errors = Errors::new(self.system, false);
        let own = errors.of_property(self.formula)?;
        own.as_ref().unwrap_or(&errors).none_anywhere(self.budget, &mut |_| {})
    }

    /// What a run that was found means.
    fn verdict(&self, found: Found) -> Verdict {
        match found {
            Found::Violation(run) => Verdict::Violated(run),
            Found::Error(run, wrong) => Verdict::ModelError(Box::new(ModelError { run, kind: self.kind_of(wrong) })),
        }
    }

    /// A model error with names.
    fn kind_of(&self, wrong: Wrong) -> ModelErrorKind {
        match wrong {
            Wrong::Leaves { element, value } => {
                let variable = self.system.state_names().swap_remove(element);
                ModelErrorKind::RangeExit { variable, value }
            }
            Wrong::Deadlock => ModelErrorKind::Deadlock,
            Wrong::Undefined => ModelErrorKind::Undefined { what: "the step".to_owned() },
        }
    }

    /// The units of an abstract run to somewhere.
    fn path_to(&mut self, here: Here) -> Vec<u32> {
        if self.product.units.len() > MOST_SEARCHED {
            return way_to(&self.product, here.unit);
        }
        let path = path_to(&mut self.product, self.budget, &|_, state| here.is(state));
        path.unwrap_or_default().iter().map(|state| state.0).collect()
    }

    /// The initial states of the unit where the last abstract run began.
    fn beginning(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let ends = self.product.ends(*self.candidate.first()?);
        let (low, high) = &self.system.init_box;
        let ends = self.part.lifted(&ends, |place| (low[place], high[place]));
        let lower: Vec<f64> = ends.iter().zip(low).map(|(own, &low)| own.0.max(low)).collect();
        let upper: Vec<f64> = ends.iter().zip(high).map(|(own, &high)| own.1.min(high)).collect();
        lower.iter().zip(&upper).all(|(low, high)| low <= high).then_some((lower, upper))
    }

    /// A run that violates the property by coming to rest, from where the last abstract run began; only what goes on for ever can do that.
    fn rests(&mut self) -> Result<Option<Run>, CheckError> {
        let (Some(_), Some((lower, upper))) = (self.loop_to, self.beginning()) else { return Ok(None) };
        if self.rest.is_none() {
            self.rest = Some(if self.expander.extraction.is_some() { None } else { Rest::new(self.system)? });
        }
        let Some(Some(rest)) = &self.rest else { return Ok(None) };
        Ok(rest.violation_from(self.formula, (&lower, &upper), &|| spent(self.budget).is_some())?)
    }

    /// Runs of the system from where the last abstract run began.
    fn follow(&mut self) -> Result<Option<Found>, CheckError> {
        let Some((lower, upper)) = self.beginning() else { return Ok(None) };
        // Where somebody chooses, a run that has not closed after a few rounds will not close.
        let free = !self.system.inputs.is_empty() || !self.system.chances.is_empty();
        let effort = self.refinements.min(4);
        let lengths =
            Lengths { runs: LONG_TRY.runs >> (2 - effort / 2), steps: LONG_TRY.steps >> 3usize.saturating_sub(effort) };
        let steps = if free { 0 } else { lengths.steps }.max(4 * self.candidate.len());
        let anywhere = (f64::NEG_INFINITY, f64::INFINITY);
        let lifted = |&unit: &u32| self.part.lifted(&self.product.ends(unit), |_| anywhere);
        let boxes = self.candidate.iter().map(lifted).collect();
        let guide = Guide { boxes, loop_to: self.loop_to };
        self.tried((&lower, &upper), &guide, Lengths { steps, ..lengths })
    }

    /// The units from which one of some can be reached, among those that were met; some of them if the budget is used up.
    fn leading_to(&mut self, goals: &[u32], path: &[u32]) -> HashSet<u32> {
        if self.product.units.len() > MOST_SEARCHED {
            return path.iter().chain(goals).copied().collect();
        }
        let lattice = self.product.lattice;
        let mut leading = vec![false; self.product.units.len()];
        goals.iter().for_each(|&goal| leading[goal as usize] = true);
        let (mut count, mut looks) = (goals.len(), 0u64);
        // Successors mostly have larger numbers, so few rounds from back to front suffice.
        'rounds: loop {
            let before = count;
            for unit in (0..leading.len() as u32).rev() {
                let reached = self.product.states(unit).iter().any(|&word| word != 0);
                if leading[unit as usize] || !reached || !self.product.units.is_expanded(unit) {
                    continue;
                }
                let mut leads = false;
                self.product.units.each_successor(lattice, unit, &mut |next: u32| {
                    leads |= leading.get(next as usize).copied().unwrap_or(false);
                    looks += 1;
                });
                if leads {
                    leading[unit as usize] = true;
                    count += 1;
                }
                if looks > LOOKS_AT_ONCE {
                    self.product.looks += std::mem::take(&mut looks);
                    if spent(self.budget).is_some() || self.product.has_looked_enough() {
                        break 'rounds;
                    }
                }
            }
            if count == before || count > MOST_AT_ONCE {
                break;
            }
        }
        let units = leading.iter().enumerate().filter(|(_, leads)| **leads);
        units.map(|(unit, _)| unit as u32).collect()
    }

    /// Halves units; says whether there was any that can be.
    fn refine(&mut self, doubtful: HashSet<u32>) -> bool {
        let mut units: Vec<u32> =
            if doubtful.len() > MOST_AT_ONCE { self.candidate.clone() } else { doubtful.into_iter().collect() };
        units.sort_unstable();
        units.dedup();
        let axes = self.product.lattice.axes.len();
        let mut halved = false;
        for unit in units {
            let levels = self.product.lattice.unit(self.product.units.key(unit)).levels;
            // In few dimensions all at once; in many those that were cut least.
            let lowest = levels.iter().copied().min().unwrap_or(0);
            let mut chosen: Vec<usize> = (0..axes).filter(|&axis| levels[axis] < DEPTH).collect();
            if axes > 3 {
                chosen.retain(|&axis| levels[axis] == lowest);
                chosen.truncate(2);
            }
            let bits = chosen.iter().fold(0u32, |bits, axis| bits | 1 << axis);
            if bits != 0 && self.product.units.halved(unit) == 0 {
                self.product.units.halve(unit, bits);
                halved = true;
            }
        }
        halved
    }

    fn unknown(&self, reason: Option<UnknownReason>) -> Verdict {
        let steps = self.product.settled;
        let place =
            format!("{} units after {} steps", self.product.units.len(), self.product.layers.len().saturating_sub(1));
        // A run that only its whole length shows to be a violation is not excluded by its first steps.
        let settled = steps.filter(|_| self.product.reading.is_finite());
        let holds_if = match self.product.doubtful.first() {
            Some(here) if self.in_doubt > 0 => self.conditions_at(here.unit),
            _ => Vec::new(),
        };
        let candidate = self.concrete.candidate.clone().map(Box::new);
        Verdict::Unknown(Unknown { settled, holds_if, candidate, ..Unknown::at(reason, place) })
    }

    /// Where the last abstract run goes round, or ends, in words.
    fn place_of_candidate(&self) -> Option<String> {
        let units =
            &self.candidate[self.loop_to.unwrap_or(self.candidate.len().saturating_sub(1)).min(self.candidate.len())..];
        let mut hull = self.product.ends(*units.first()?);
        for &unit in units {
            for (all, own) in hull.iter_mut().zip(self.product.ends(unit)) {
                *all = (all.0.min(own.0), all.1.max(own.1));
            }
        }
        let names = self.part.system.state_names();
        let ranges =
            names.iter().zip(hull).map(|(name, (low, high))| format!("{name} in [{}, {}]", short(low), short(high)));
        let ranges: Vec<String> = ranges.collect();
        let what = if self.loop_to.is_some() { "goes round in" } else { "comes to" };
        Some(format!("the last abstract run that violates it {what} {}", ranges.join(", ")))
    }

    /// Atoms that are not known in some unit of the last abstract run, in words.
    fn undecided(&self) -> Option<String> {
        let reading = &self.product.reading;
        let mut open = 0u64;
        for &unit in &self.candidate[self.loop_to.unwrap_or(0).min(self.candidate.len())..] {
            if self.product.units.is_expanded(unit) {
                let truths = reading.at(self.product.units.class(unit)).truths;
                open |= !(truths.yes | truths.no);
            }
        }
        let names = reading.atoms.iter().enumerate().filter(|(place, _)| open >> place & 1 == 1);
        let names: Vec<String> = names.map(|(_, atom)| format!("`{}`", self.system.atoms[atom.0].text)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    fn notes(&self, options: &Options, verdict: &Verdict) -> Vec<String> {
        let mut notes = Vec::new();
        match options.policy {
            Policy::Network => notes.push("about the network itself".to_owned()),
            Policy::Extracted(own) => notes.push(format!(
                "about a policy extracted from the network ({} samples per unit, seed {}), not about the network",
                own.samples, own.seed
            )),
        }
        if let Verdict::Violated(run) = verdict {
            if run.comes_to_rest {
                notes.push(OVER_THE_REALS.to_owned());
            }
            return notes;
        }
        if matches!(verdict, Verdict::ModelError(_)) {
            return notes;
        }
        let mut counted =
            format!("{} units of the grid, {} bounded", self.product.units.len(), self.product.expansions);
        if self.refinements > 0 {
            counted += &format!(", {} halved in {} refinements", self.product.units.halvings(), self.refinements);
        }
        notes.push(counted);
        if !self.part.without.is_empty() {
            let left_out = self.part.without.join(", ");
            notes.push(format!("without {left_out}: nothing that the property speaks of depends on it"));
        }
        // What stands in the way, for those who choose widths.
        if let (Verdict::Unknown(_), Some(place)) = (verdict, self.place_of_candidate()) {
            notes.push(place);
        }
        if let (Verdict::Unknown(_), Some(atoms)) = (verdict, self.undecided()) {
            notes.push(format!(
                "the last abstract run stays where {atoms} can neither be shown to hold nor to fail; if runs come to rest there, no width decides"
            ));
        }
        notes
    }

    /// What would have to be shown of a unit, in words.
    fn conditions_at(&self, unit: u32) -> Vec<String> {
        let doubts = self.product.units.doubts(unit);
        let names = self.part.system.state_names();
        let ranges = names.iter().zip(self.product.ends(unit));
        let place: Vec<String> =
            ranges.map(|(name, (low, high))| format!("{name} in [{}, {}]", short(low), short(high))).collect();
        let place = place.join(", ");
        let mut conditions = Vec::new();
        if doubts.has(Doubts::RANGE) {
            let leaving = self.expander.expand(self.product.units.key(unit)).map_or(0, |own| own.leaving[0]);
            let leaving = (0..names.len()).filter(|axis| leaving >> axis & 1 == 1);
            conditions.extend(leaving.map(|axis| {
                let own = &self.product.lattice.axes[axis];
                format!("{} stays in [{}, {}] from {place}", names[axis], own.lower, own.upper)
            }));
        }
        if doubts.has(Doubts::DEADLOCK) {
            conditions.push(format!("`assume` allows a choice everywhere in {place}"));
        }
        if doubts.has(Doubts::UNDEFINED) {
            conditions.push(format!("every operation is defined in {place}"));
        }
        conditions
    }
}
