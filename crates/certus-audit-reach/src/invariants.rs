//! Invariants: boxes in which runs stay for ever, while what is left of the property returns to itself.
//!
//! From each box of a family everything is in some box of the family again within a number of steps, with the same conjunction of releases left to show. So every run from any of
//! them is made of stretches that lead from that conjunction back to it, and satisfies it ([`crate::progression`]). A box that returns to itself is a family; where a loop
//! switches, there may be one box for each of its modes, and some that are passed through at the beginning.
//!
//! A certificate names boxes and nothing else. The family is the largest set of them that is closed, as far as boxes are asked for: all that one of them leads to
//! are taken to belong to it, until one turns out to be left (a greatest fixed point: Park, "Concurrency and automata on infinite sequences", 1981).

use std::collections::BTreeSet;

use certus_graph::Interval;
use certus_obligations::Nnf;

use crate::claim::Invariant;
use crate::pass::Cases;
use crate::progression::lasting;
use crate::set::Set;
use crate::tube::{After, Branch, MOST_CASES, Obstacle, Tube, obstacle};

/// How often a box that is left is made wider.
const MOST_WIDENINGS: usize = 4;

/// An invariant from which every run satisfies a formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Lasting {
    /// The box.
    pub invariant: Invariant,
    pub(crate) formula: Nnf,
}

impl Lasting {
    fn covers(&self, set: &Set, formula: &Nnf) -> bool {
        self.formula == *formula && contains(&self.invariant.bounds, set)
    }
}

/// Where invariants come from.
pub(crate) enum Invariants<'i> {
    /// From a certificate.
    Given(Given<'i>),
    /// From other boxes of initial states; more are looked for from the eighth step on, and kept.
    Sought(&'i [Lasting], Vec<Lasting>),
}

/// The boxes of a certificate, with what was found out about them for each formula.
pub(crate) struct Given<'i> {
    boxes: &'i [Invariant],
    known: Vec<(Nnf, Vec<Fate>)>,
}

/// What is known of a box.
#[derive(Clone, Debug, PartialEq)]
enum Fate {
    Unknown,
    /// Runs from it return to these.
    Leads(BTreeSet<usize>),
    /// Runs from it stay in boxes for ever.
    Lasts,
    /// That was not seen.
    Open,
}

impl<'i> Given<'i> {
    pub(crate) fn new(boxes: &'i [Invariant]) -> Given<'i> {
        Given { boxes, known: Vec::new() }
    }

    /// How many boxes runs stay in for ever.
    pub(crate) fn lasting(&self) -> usize {
        let lasts = |place: usize| self.known.iter().any(|(_, fates)| fates[place] == Fate::Lasts);
        (0..self.boxes.len()).filter(|place| lasts(*place)).count()
    }

    fn fates(&mut self, formula: &Nnf) -> &mut Vec<Fate> {
        let place = self.known.iter().position(|(own, _)| own == formula).unwrap_or_else(|| {
            self.known.push((formula.clone(), vec![Fate::Unknown; self.boxes.len()]));
            self.known.len() - 1
        });
        &mut self.known[place].1
    }
}

impl Tube<'_> {
    /// Whether a branch lies in a box that runs stay in for ever, or in others to which it leads.
    pub(crate) fn lasts(&self, branch: &mut Branch, invariants: &mut Invariants<'_>) -> bool {
        let wanted = lasting(&branch.formula);
        match invariants {
            Invariants::Given(given) => wanted.into_iter().any(|formula| {
                let boxes = given.boxes;
                let around = (0..boxes.len()).filter(|&place| contains(&boxes[place].bounds, &branch.set));
                around
                    .collect::<Vec<_>>()
                    .into_iter()
                    .any(|place| self.endures(boxes, given.fates(formula), formula, place))
            }),
            Invariants::Sought(known, found) => {
                let is_known = |formula: &Nnf| known.iter().chain(&*found).any(|own| own.covers(&branch.set, formula));
                if wanted.iter().any(|formula| is_known(formula)) {
                    return true;
                }
                if branch.at < branch.next_return || wanted.is_empty() {
                    return false;
                }
                branch.next_return *= 2;
                for formula in wanted {
                    if let Some(invariant) = self.around(&branch.set, formula, branch.at) {
                        found.push(Lasting { invariant, formula: formula.clone() });
                        return true;
                    }
                }
                false
            }
        }
    }

    /// Whether runs from a box stay in boxes for ever, while a formula returns to itself.
    fn endures(&self, boxes: &[Invariant], fates: &mut [Fate], formula: &Nnf, first: usize) -> bool {
        loop {
            match fates[first] {
                Fate::Lasts => return true,
                Fate::Open => return false,
                Fate::Unknown | Fate::Leads(_) => {}
            }
            let mut family = BTreeSet::from([first]);
            let mut open = vec![first];
            while let Some(place) = open.pop() {
                let is_open = |other: &usize| fates[*other] == Fate::Open;
                if !matches!(&fates[place], Fate::Leads(to) if !to.iter().any(is_open)) {
                    fates[place] = self.leads(boxes, &*fates, formula, place);
                }
                let Fate::Leads(to) = &fates[place] else { break };
                open.extend(to.iter().copied().filter(|other| fates[*other] != Fate::Lasts && family.insert(*other)));
            }
            if family.iter().all(|place| fates[*place] != Fate::Open) {
                family.into_iter().for_each(|place| fates[place] = Fate::Lasts);
            }
        }
    }

    /// The boxes that runs from one of them return to, of those that may last: preferably itself, or one of which that is known.
    fn leads(&self, boxes: &[Invariant], fates: &[Fate], formula: &Nnf, place: usize) -> Fate {
        let Invariant { within, bounds } = &boxes[place];
        let mut to = BTreeSet::new();
        let mut arrives = |set: &Set| {
            let around = (0..boxes.len()).filter(|&own| fates[own] != Fate::Open && contains(&boxes[own].bounds, set));
            let best = around.min_by_key(|&own| (own != place, fates[own] != Fate::Lasts, own));
            to.extend(best);
            best.is_some()
        };
        match self.returns(bounds, formula, *within, &mut arrives) {
            Ok(_) => Fate::Leads(to),
            Err(_) => Fate::Open,
        }
    }

    /// Boxes around where the runs from a box are after a step, if the formula is then what it was.
    pub(crate) fn successors(&self, bounds: &[Interval], formula: &Nnf) -> Result<Vec<Vec<Interval>>, Obstacle> {
        let mut found = Vec::new();
        let mut arrives = |set: &Set| {
            found.push(set.ranges());
            true
        };
        match self.returns(bounds, formula, 1, &mut arrives) {
            Ok(_) => Ok(found),
            Err(Lost::Open(obstacle)) => Err(obstacle),
            Err(Lost::Elsewhere(_)) => Err(obstacle(1, "the property is not what it was", &[], 0)),
        }
    }

    /// Looks for an invariant around a set: boxes that are a little wider, and wider still where runs leave them.
    fn around(&self, set: &Set, formula: &Nnf, most: usize) -> Option<Invariant> {
        for share in [0.02, 0.1, 0.5] {
            let mut bounds = self.inflated(&set.ranges(), share);
            for _ in 0..=MOST_WIDENINGS {
                match self.returns(&bounds, formula, most, &mut |set| contains(&bounds, set)) {
                    Ok(within) => return Some(Invariant { within, bounds }),
                    // Where everything went belongs to the next box.
                    Err(Lost::Elsewhere(reached)) => {
                        let both: Vec<Interval> = bounds.iter().zip(reached).map(|(a, b)| a.hull(b)).collect();
                        bounds = self.inflated(&both, 0.05);
                    }
                    Err(Lost::Open(_)) => break,
                }
            }
        }
        None
    }

    /// A box whose sides of some width are wider by a share of it at either end, as far as states go.
    fn inflated(&self, bounds: &[Interval], share: f64) -> Vec<Interval> {
        let around = |(range, declared): (&Interval, &Interval)| match range.lo == range.hi {
            true => *range,
            false => range.widen(share * range.width()).intersection(*declared).unwrap_or(*range),
        };
        bounds.iter().zip(&self.step.ranges).map(around).collect()
    }

    /// The number of steps within which everything in a box arrives somewhere, while a formula that can last returns to itself; at most so many.
    fn returns(
        &self,
        bounds: &[Interval],
        formula: &Nnf,
        most: usize,
        arrives: &mut dyn FnMut(&Set) -> bool,
    ) -> Result<usize, Lost> {
        let is_box = bounds.len() == self.step.ranges.len() && bounds.iter().all(|range| range.is_well_formed());
        let set = if is_box { Set::of_box(bounds, self.degree.min(2)) } else { None };
        let Some(set) = set else { return Err(Lost::Open(obstacle(0, "there is no such box", &[], 0))) };
        let mut branches = vec![(set, Cases::new(), formula.clone(), 0)];
        let (mut cases, mut longest) = (1, 0);
        let mut elsewhere = None::<Vec<Interval>>;
        while let Some((set, own, left, steps)) = branches.pop() {
            if steps > 0 && own.is_empty() && left == *formula && arrives(&set) {
                longest = longest.max(steps);
                continue;
            }
            if steps >= most {
                if !own.is_empty() || left != *formula {
                    return Err(Lost::Open(obstacle(steps, "the property is not what it was", &[], 0)));
                }
                let ranges = set.ranges();
                elsewhere = Some(match elsewhere {
                    Some(all) => all.iter().zip(ranges).map(|(a, b)| a.hull(b)).collect(),
                    None => ranges,
                });
                continue;
            }
            match self.after(&set, &own, &left, steps, cases < MOST_CASES).map_err(Lost::Open)? {
                After::Shown => {}
                After::Next(set, left) => branches.push((set, Cases::new(), left, steps + 1)),
                After::Cases(found) => {
                    cases += 1;
                    branches.extend(found.into_iter().map(|(set, own)| (set, own, left.clone(), steps)));
                }
            }
        }
        elsewhere.map_or(Ok(longest), |own| Err(Lost::Elsewhere(own)))
    }
}

/// Why not everything in a box returns.
enum Lost {
    /// Some of it is in this box after all steps.
    Elsewhere(Vec<Interval>),
    Open(Obstacle),
}

/// Whether a set lies in a box.
fn contains(bounds: &[Interval], set: &Set) -> bool {
    bounds.len() == set.state.len() && bounds.iter().zip(&set.state).all(|(range, form)| range.encloses(form.range))
}
