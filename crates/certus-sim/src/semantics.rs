//! Finite-trace semantics of LTL: verdicts and robustness of a prefix.
//!
//! A run of n positions is a prefix of many infinite ones. For each subformula and position we keep the interval (least, greatest) of the values that it can take over all
//! continuations: positions beyond the run are unknown. A formula whose greatest truth is false is violated by every continuation, one whose least truth is true is satisfied by
//! every continuation, anything else is open: a sound approximation of the three-valued semantics LTL₃ (Bauer, Leucker and Schallhart, "Runtime Verification for LTL and TLTL", ACM TOSEM
//! 20(4), 2011), which bounds a formula by its parts and so may call open what is decided.
//!
//! The same recursion runs over truth values and over *margins*, the quantitative robustness of Fainekos and Pappas ("Robustness of temporal logic specifications for continuous-time
//! signals", Theoretical Computer Science 410(42), 2009) in the form of Donzé and Maler ("Robust Satisfaction of Temporal Logic over Real-Valued Signals", FORMATS 2010): a
//! conjunction is a minimum, a disjunction a maximum. Departure: an atom's margin is the difference of its two sides, not a distance to a set, so its sign is sound and its size is in the atom's unit.
//!
//! A run that ended in a terminal state does continue: terminal states are absorbing, so its last position repeats for ever, and the recursion starts from that tail instead of from the
//! unknown.

use certus_lang::system::{AtomId, Bounds, Formula};

use crate::report::Verdict;

/// Values of formulas: truth or margin.
pub trait Value: Copy + PartialOrd {
    /// The value of 'false', or what is below every margin.
    const BOTTOM: Self;
    /// The value of 'true', or what is above every margin.
    const TOP: Self;
    /// The value of the negation.
    fn negate(self) -> Self;
    /// The smaller value.
    fn meet(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
    /// The larger value.
    fn join(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

impl Value for bool {
    const BOTTOM: bool = false;
    const TOP: bool = true;
    fn negate(self) -> bool {
        !self
    }
}

impl Value for f64 {
    const BOTTOM: f64 = f64::NEG_INFINITY;
    const TOP: f64 = f64::INFINITY;
    fn negate(self) -> f64 {
        -self
    }
}

/// The least and greatest value over all continuations of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range<V> {
    /// Over the continuation that is worst for the formula.
    pub least: V,
    /// Over the continuation that is best for the formula.
    pub greatest: V,
}

impl<V: Value> Range<V> {
    const UNKNOWN: Range<V> = Range { least: V::BOTTOM, greatest: V::TOP };

    fn exactly(value: V) -> Self {
        Range { least: value, greatest: value }
    }

    fn negate(self) -> Self {
        Range { least: self.greatest.negate(), greatest: self.least.negate() }
    }

    fn meet(self, other: Self) -> Self {
        Range { least: self.least.meet(other.least), greatest: self.greatest.meet(other.greatest) }
    }

    fn join(self, other: Self) -> Self {
        Range { least: self.least.join(other.least), greatest: self.greatest.join(other.greatest) }
    }
}

/// How a run ends, for the semantics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// It was cut: anything may follow.
    Unknown,
    /// Its last position repeats for ever.
    Repeats,
}

/// A subformula over a run: its value at each position, and beyond the last one.
struct Signal<V> {
    values: Vec<Range<V>>,
    tail: Range<V>,
}

impl<V: Value> Signal<V> {
    fn at(&self, position: usize) -> Range<V> {
        self.values.get(position).copied().unwrap_or(self.tail)
    }

    fn map(self, f: impl Fn(Range<V>) -> Range<V>) -> Signal<V> {
        Signal { values: self.values.into_iter().map(&f).collect(), tail: f(self.tail) }
    }

    fn zip(self, other: &Signal<V>, f: impl Fn(Range<V>, Range<V>) -> Range<V>) -> Signal<V> {
        let values = self.values.iter().zip(&other.values).map(|(&a, &b)| f(a, b)).collect();
        Signal { values, tail: f(self.tail, other.tail) }
    }
}

/// The value of a formula at the first position of a run of `length` positions; `atom(id, position)` is what was seen.
pub fn evaluate<V: Value>(formula: &Formula, length: usize, tail: Tail, atom: &dyn Fn(AtomId, usize) -> V) -> Range<V> {
    if length == 0 {
        return Range::UNKNOWN;
    }
    // What most properties are needs no signal per subformula: the extreme over the positions.
    let extreme = |id: AtomId, combine: fn(V, V) -> V, start: V| {
        (0..length).fold(start, |value, position| combine(value, atom(id, position)))
    };
    match formula {
        Formula::Globally(Bounds { lower: 0, upper: None }, inner) => {
            if let Formula::Atom(id) = **inner {
                let seen = extreme(id, V::meet, V::TOP);
                return Range { least: if tail == Tail::Repeats { seen } else { V::BOTTOM }, greatest: seen };
            }
        }
        Formula::Finally(Bounds { lower: 0, upper: None }, inner) => {
            if let Formula::Atom(id) = **inner {
                let seen = extreme(id, V::join, V::BOTTOM);
                return Range { least: seen, greatest: if tail == Tail::Repeats { seen } else { V::TOP } };
            }
        }
        _ => {}
    }
    signal(formula, length, tail, atom).at(0)
}

/// The verdict of a formula on a run, from the truth of its atoms.
pub fn verdict(formula: &Formula, length: usize, tail: Tail, atom: &dyn Fn(AtomId, usize) -> bool) -> Verdict {
    match evaluate(formula, length, tail, atom) {
        Range { least: true, .. } => Verdict::Satisfied,
        Range { greatest: false, .. } => Verdict::Violated,
        _ => Verdict::Open,
    }
}

fn signal<V: Value>(formula: &Formula, length: usize, tail: Tail, atom: &dyn Fn(AtomId, usize) -> V) -> Signal<V> {
    let of = |inner: &Formula| signal(inner, length, tail, atom);
    let constant = |value: Range<V>| Signal { values: vec![value; length], tail: value };
    let top = Range::exactly(V::TOP);
    let bottom = Range::exactly(V::BOTTOM);
    match formula {
        Formula::Constant(truth) => constant(if *truth { top } else { bottom }),
        Formula::Atom(id) => {
            let values: Vec<Range<V>> = (0..length).map(|position| Range::exactly(atom(*id, position))).collect();
            let tail = match tail {
                Tail::Unknown => Range::UNKNOWN,
                Tail::Repeats => values[length - 1],
            };
            Signal { values, tail }
        }
        Formula::Not(inner) => of(inner).map(Range::negate),
        Formula::And(parts) => parts.iter().fold(constant(top), |all, part| all.zip(&of(part), Range::meet)),
        Formula::Or(parts) => parts.iter().fold(constant(bottom), |any, part| any.zip(&of(part), Range::join)),
        Formula::Implies(a, b) => of(a).map(Range::negate).zip(&of(b), Range::join),
        Formula::Iff(a, b) => {
            let (a, b) = (of(a), of(b));
            a.zip(&b, |a, b| a.negate().join(b).meet(a.join(b.negate())))
        }
        Formula::Next(inner) => {
            let inner = of(inner);
            Signal { values: (0..length).map(|position| inner.at(position + 1)).collect(), tail: inner.tail }
        }
        Formula::Finally(bounds, inner) => until(constant(top), of(inner), *bounds, tail),
        Formula::Globally(bounds, inner) => {
            let inner = of(inner).map(Range::negate);
            until(constant(top), inner, *bounds, tail).map(Range::negate)
        }
        Formula::Until(bounds, a, b) => until(of(a), of(b), *bounds, tail),
        // a R b is the negation of !a U !b.
        Formula::Release(bounds, a, b) => release(of(a), of(b), *bounds, tail),
        // a W b is (a U b) | G a, where 'globally' begins now and ends with the bound.
        Formula::WeakUntil(bounds, a, b) => {
            let from_now = Bounds { lower: 0, upper: bounds.upper };
            let broken = until(constant(top), of(a).map(Range::negate), from_now, tail);
            until(of(a), of(b), *bounds, tail).zip(&broken.map(Range::negate), Range::join)
        }
    }
}

fn release<V: Value>(a: Signal<V>, b: Signal<V>, bounds: Bounds, tail: Tail) -> Signal<V> {
    until(a.map(Range::negate), b.map(Range::negate), bounds, tail).map(Range::negate)
}

/// b at some step within the bounds, a at all steps before that one.
fn until<V: Value>(a: Signal<V>, b: Signal<V>, bounds: Bounds, tail: Tail) -> Signal<V> {
    let length = a.values.len();
    let after = match tail {
        // On a sequence that repeats for ever, until is its second argument (if it can be reached in time, it is now).
        Tail::Repeats => b.tail.meet(if bounds.lower > 0 { a.tail } else { Range::exactly(V::TOP) }),
        Tail::Unknown => Range::UNKNOWN,
    };
    if bounds.lower == 0 && bounds.upper.is_none() {
        let pairs = a.values.into_iter().zip(b.values);
        let mut next = after;
        let mut values: Vec<Range<V>> = pairs
            .rev()
            .map(|(a, b)| {
                next = b.join(a.meet(next));
                next
            })
            .collect();
        values.reverse();
        return Signal { values, tail: after };
    }
    let lower = usize::try_from(bounds.lower).unwrap_or(usize::MAX);
    let values = (0..length).map(|start| {
        // Beyond the run every step looks alike, so the search may stop one step after it.
        let first = start.saturating_add(lower);
        let end =
            bounds.upper.map_or(usize::MAX, |upper| start.saturating_add(usize::try_from(upper).unwrap_or(usize::MAX)));
        let last = end.min(length);
        let mut before = Range::exactly(V::TOP);
        let mut best = Range::exactly(V::BOTTOM);
        for step in start..=last {
            if step >= first {
                best = best.join(before.meet(b.at(step)));
            } else if step == length {
                // The window opens only after the run: the first argument must hold until then.
                best = best.join(before.meet(a.tail).meet(b.tail));
            }
            before = before.meet(a.at(step));
        }
        best
    });
    Signal { values: values.collect(), tail: after }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn atom(index: usize) -> Formula {
        Formula::Atom(AtomId(index))
    }

    fn always(inner: Formula) -> Formula {
        Formula::Globally(Bounds::default(), Box::new(inner))
    }

    fn eventually(bounds: Bounds, inner: Formula) -> Formula {
        Formula::Finally(bounds, Box::new(inner))
    }

    /// Truth on the infinite word `word[..]` followed by `word[start..]` for ever, by the textbook definition.
    fn holds(formula: &Formula, word: &[[bool; 2]], start: usize, position: usize) -> bool {
        let at = |step: usize| if step < word.len() { step } else { start + (step - start) % (word.len() - start) };
        // Every suffix repeats within this many steps of the position.
        let far = |bounds: &Bounds| {
            let cycle = 2 * word.len() + bounds.lower as usize;
            position + bounds.upper.map_or(cycle, |upper| cycle.min(upper as usize))
        };
        let inner = |f: &Formula, step: usize| holds(f, word, start, at(step));
        let until = |bounds: &Bounds, a: &dyn Fn(usize) -> bool, b: &dyn Fn(usize) -> bool| {
            (position + bounds.lower as usize..=far(bounds)).any(|end| b(end) && (position..end).all(a))
        };
        match formula {
            Formula::Constant(truth) => *truth,
            Formula::Atom(id) => word[at(position)][id.0],
            Formula::Not(a) => !inner(a, position),
            Formula::And(parts) => parts.iter().all(|part| inner(part, position)),
            Formula::Or(parts) => parts.iter().any(|part| inner(part, position)),
            Formula::Implies(a, b) => !inner(a, position) || inner(b, position),
            Formula::Iff(a, b) => inner(a, position) == inner(b, position),
            Formula::Next(a) => inner(a, position + 1),
            Formula::Finally(bounds, a) => until(bounds, &|_| true, &|step| inner(a, step)),
            Formula::Globally(bounds, a) => !until(bounds, &|_| true, &|step| !inner(a, step)),
            Formula::Until(bounds, a, b) => until(bounds, &|step| inner(a, step), &|step| inner(b, step)),
            Formula::Release(bounds, a, b) => !until(bounds, &|step| !inner(a, step), &|step| !inner(b, step)),
            Formula::WeakUntil(bounds, a, b) => {
                let from_now = Bounds { lower: 0, upper: bounds.upper };
                until(bounds, &|step| inner(a, step), &|step| inner(b, step))
                    || !until(&from_now, &|_| true, &|step| !inner(a, step))
            }
        }
    }

    fn formulas() -> impl Strategy<Value = Formula> {
        let bounds = prop_oneof![
            Just(Bounds::default()),
            (0u64..3, 0u64..4).prop_map(|(lower, more)| Bounds { lower, upper: Some(lower + more) }),
            (1u64..3).prop_map(|lower| Bounds { lower, upper: None }),
        ];
        let leaf = prop_oneof![(0usize..2).prop_map(atom), any::<bool>().prop_map(Formula::Constant)];
        leaf.prop_recursive(3, 12, 2, move |inner| {
            let pair = (bounds.clone(), inner.clone(), inner.clone());
            prop_oneof![
                inner.clone().prop_map(|a| Formula::Not(Box::new(a))),
                inner.clone().prop_map(|a| Formula::Next(Box::new(a))),
                prop::collection::vec(inner.clone(), 1..3).prop_map(Formula::And),
                prop::collection::vec(inner.clone(), 1..3).prop_map(Formula::Or),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| Formula::Implies(Box::new(a), Box::new(b))),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| Formula::Iff(Box::new(a), Box::new(b))),
                (bounds.clone(), inner.clone()).prop_map(|(k, a)| Formula::Finally(k, Box::new(a))),
                (bounds.clone(), inner).prop_map(|(k, a)| Formula::Globally(k, Box::new(a))),
                pair.clone().prop_map(|(k, a, b)| Formula::Until(k, Box::new(a), Box::new(b))),
                pair.clone().prop_map(|(k, a, b)| Formula::WeakUntil(k, Box::new(a), Box::new(b))),
                pair.prop_map(|(k, a, b)| Formula::Release(k, Box::new(a), Box::new(b))),
            ]
        })
    }

    fn words(longest: usize) -> impl Strategy<Value = Vec<[bool; 2]>> {
        prop::collection::vec(any::<[bool; 2]>(), 1..=longest)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn a_verdict_survives_every_continuation(formula in formulas(), prefix in words(4), rest in words(4), back in 0usize..4) {
            let seen = verdict(&formula, prefix.len(), Tail::Unknown, &|id, position| prefix[position][id.0]);
            let word: Vec<[bool; 2]> = prefix.iter().chain(&rest).copied().collect();
            let start = word.len() - 1 - back.min(word.len() - 1);
            let truth = holds(&formula, &word, start, 0);
            prop_assert!(seen != Verdict::Satisfied || truth, "{formula:?} is violated by {word:?} from {start}");
            prop_assert!(seen != Verdict::Violated || !truth, "{formula:?} is satisfied by {word:?} from {start}");
        }

        #[test]
        fn a_run_that_repeats_is_decided(formula in formulas(), word in words(5)) {
            let seen = verdict(&formula, word.len(), Tail::Repeats, &|id, position| word[position][id.0]);
            let truth = holds(&formula, &word, word.len() - 1, 0);
            prop_assert_eq!(seen, if truth { Verdict::Satisfied } else { Verdict::Violated });
        }

        #[test]
        fn the_short_way_agrees_with_the_long_one(word in words(6), repeats: bool) {
            // A double negation takes the long way.
            let tail = if repeats { Tail::Repeats } else { Tail::Unknown };
            let twice = |inner: Formula| Formula::Not(Box::new(Formula::Not(Box::new(inner))));
            let at = |id: AtomId, position: usize| word[position][id.0];
            for short in [always(atom(0)), eventually(Bounds::default(), atom(1))] {
                prop_assert_eq!(
                    evaluate(&short, word.len(), tail, &at),
                    evaluate(&twice(short.clone()), word.len(), tail, &at)
                );
            }
        }

        #[test]
        fn margins_agree_with_truth(formula in formulas(), margins in prop::collection::vec(prop::array::uniform2(-3i32..3), 1..5)) {
            // Margins off zero, so that their sign is the truth.
            let margin = |id: AtomId, position: usize| f64::from(margins[position][id.0]) + 0.5;
            let truth = evaluate(&formula, margins.len(), Tail::Unknown, &|id, position| margin(id, position) > 0.0);
            let range = evaluate(&formula, margins.len(), Tail::Unknown, &margin);
            prop_assert_eq!(truth.least, range.least > 0.0);
            prop_assert_eq!(truth.greatest, range.greatest > 0.0);
        }
    }

    #[test]
    fn safety_can_be_broken_but_not_shown_by_a_prefix() {
        let formula = always(atom(0));
        let on = |run: &[bool]| verdict(&formula, run.len(), Tail::Unknown, &|_, position| run[position]);
        assert_eq!(on(&[true, true]), Verdict::Open);
        assert_eq!(on(&[true, false]), Verdict::Violated);
    }

    #[test]
    fn bounded_response_is_broken_when_its_time_is_over() {
        let formula = eventually(Bounds { lower: 0, upper: Some(2) }, atom(0));
        let on = |run: &[bool]| verdict(&formula, run.len(), Tail::Unknown, &|_, position| run[position]);
        assert_eq!(on(&[false, false]), Verdict::Open);
        assert_eq!(on(&[false, false, false]), Verdict::Violated);
        assert_eq!(on(&[false, false, true]), Verdict::Satisfied);
    }
}
