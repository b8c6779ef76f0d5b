//! Verdicts of the grid engine in words: notes, what an `unknown` leaves open, and the conditions under which the property would hold.

use certus_check::convergence::OVER_THE_REALS;
use certus_model::{ModelError, ModelErrorKind, Unknown, Verdict, short_range};
use certus_solver::UnknownReason;

use crate::engine::{Options, Policy};
use crate::possible_errors::PossibleErrors;
use crate::refinement::Check;
use crate::validate::{ErrorCause, Found};

impl Check<'_> {
    /// The verdict that a validated run gives.
    pub(crate) fn verdict(&self, found: Found) -> Verdict {
        match found {
            Found::Violation(run) => Verdict::Violated(run),
            Found::Error(run, wrong) => Verdict::ModelError(Box::new(ModelError { run, kind: self.kind_of(wrong) })),
        }
    }

    /// The verdict `unknown`, with what is known so far.
    pub(crate) fn unknown(&self, reason: Option<UnknownReason>) -> Verdict {
        let steps = self.product.settled;
        let place = format!(
            "{} after {}",
            certus_model::counted(self.product.cells.len() as u128, "cell"),
            certus_model::steps(self.product.layers.len().saturating_sub(1))
        );
        // Only bad prefixes are excluded by the first steps; a violation that needs an infinite run is not.
        let settled = steps.filter(|_| self.product.violations.is_finite());
        let holds_if = match self.product.open_errors.first() {
            Some(here) if self.error_rounds > 0 => self.conditions_at(here.cell),
            _ => Vec::new(),
        };
        let candidate = self.concretisation.candidate.clone().map(Box::new);
        Verdict::Unknown(Unknown { settled, holds_if, candidate, ..Unknown::at(reason, place) })
    }

    /// Notes on the verdict: what it is about, the size of the abstraction, what stands in the way.
    pub(crate) fn notes(&self, options: &Options, verdict: &Verdict) -> Vec<String> {
        let mut notes = Vec::new();
        match options.policy {
            Policy::Network => notes.push("about the network itself".to_owned()),
            Policy::Extracted(own) => notes.push(format!(
                "about a policy extracted from the network ({} samples per cell, seed {}), not about the network",
                own.samples, own.seed
            )),
        }
        if let Verdict::Violated(run) = verdict {
            if run.converges {
                notes.push(OVER_THE_REALS.to_owned());
            }
            return notes;
        }
        if matches!(verdict, Verdict::ModelError(_)) {
            return notes;
        }
        let (cells, bounded) = (self.product.cells.len() as u64, self.product.expansions);
        let how = if matches!(verdict, Verdict::Holds(_)) { "by abstraction on " } else { "" };
        let mut counted = format!("{how}a grid of {}", certus_model::counted(cells, "cell"));
        if bounded != cells {
            counted += &format!(", {bounded} bounded");
        }
        if self.refinements > 0 {
            let refinements = certus_model::counted(self.refinements as u64, "refinement");
            counted += &format!(", {} halved in {refinements}", self.product.cells.halvings());
        }
        notes.push(counted);
        if options.open.is_some() {
            notes.push(
                "from the initial states that reachable sets left open; they show the property from all others"
                    .to_owned(),
            );
        }
        if !self.cone.without.is_empty() {
            let left_out = self.cone.without.join(", ");
            notes.push(format!("cone of influence: the property does not depend on {left_out}"));
        }
        // What stands in the way, for whoever chooses the widths.
        if let (Verdict::Unknown(_), Some(place)) = (verdict, self.place_of_candidate()) {
            notes.push(place);
        }
        if let (Verdict::Unknown(_), Some(atoms)) = (verdict, self.undecided()) {
            notes.push(format!(
                "{atoms} can be neither proved nor refuted along it; if runs converge there, no cell width decides the property"
            ));
        }
        notes
    }

    /// The model error, with the name of its variable.
    fn kind_of(&self, wrong: ErrorCause) -> ModelErrorKind {
        match wrong {
            ErrorCause::RangeExit { element, value } => {
                let variable = self.system.state_names().swap_remove(element);
                ModelErrorKind::RangeExit { variable, value }
            }
            ErrorCause::Deadlock => ModelErrorKind::Deadlock,
            ErrorCause::Undefined => ModelErrorKind::Undefined { what: "the step".to_owned() },
        }
    }

    /// Where the last abstract counterexample loops or ends, in words.
    fn place_of_candidate(&self) -> Option<String> {
        let cells =
            &self.candidate[self.loop_to.unwrap_or(self.candidate.len().saturating_sub(1)).min(self.candidate.len())..];
        let mut hull = self.product.ends(*cells.first()?);
        for &cell in cells {
            for (all, own) in hull.iter_mut().zip(self.product.ends(cell)) {
                *all = (all.0.min(own.0), all.1.max(own.1));
            }
        }
        let names = self.cone.system.state_names();
        let ranges = names.iter().zip(hull).map(|(name, (low, high))| format!("{name} in {}", short_range(low, high)));
        let ranges: Vec<String> = ranges.collect();
        let what = if self.loop_to.is_some() { "loops in" } else { "reaches" };
        Some(format!("the last abstract counterexample {what} {}", ranges.join(", ")))
    }

    /// Atoms that are unknown in some cell of the last abstract counterexample, in words.
    fn undecided(&self) -> Option<String> {
        let violations = &self.product.violations;
        let mut open = 0u64;
        for &cell in &self.candidate[self.loop_to.unwrap_or(0).min(self.candidate.len())..] {
            if self.product.cells.is_expanded(cell) {
                let truths = violations.at(self.product.cells.class(cell)).truths;
                open |= !(truths.yes | truths.no);
            }
        }
        let names = violations.atoms.iter().enumerate().filter(|(place, _)| open >> place & 1 == 1);
        let names: Vec<String> = names.map(|(_, atom)| format!("`{}`", self.system.atoms[atom.0].text)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// What would have to be shown of a cell so that the property holds, in words.
    fn conditions_at(&self, cell: u32) -> Vec<String> {
        let errors = self.product.cells.errors(cell);
        let names = self.cone.system.state_names();
        let ranges = names.iter().zip(self.product.ends(cell));
        let place: Vec<String> =
            ranges.map(|(name, (low, high))| format!("{name} in {}", short_range(low, high))).collect();
        let place = place.join(", ");
        let mut conditions = Vec::new();
        if errors.has(PossibleErrors::RANGE) {
            let leaving = self.expander.expand(self.product.cells.key(cell)).map_or(0, |own| own.leaving[0]);
            let leaving = (0..names.len()).filter(|axis| leaving >> axis & 1 == 1);
            conditions.extend(leaving.map(|axis| {
                let own = &self.product.grid.axes[axis];
                format!("{} stays in [{}, {}] from {place}", names[axis], own.lower, own.upper)
            }));
        }
        if errors.has(PossibleErrors::DEADLOCK) {
            conditions.push(format!("`assume` allows a choice everywhere in {place}"));
        }
        if errors.has(PossibleErrors::UNDEFINED) {
            conditions.push(format!("every operation is defined in {place}"));
        }
        conditions
    }
}
