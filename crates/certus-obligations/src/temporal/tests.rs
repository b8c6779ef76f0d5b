//! The encoding against the definition of the operators, on all short lassos.

use super::*;

const ATOMS: usize = 2;

/// A fixed sequence of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn bounds(&mut self) -> Bounds {
        let lower = self.below(3);
        Bounds { lower, upper: (self.below(2) == 0).then(|| lower + self.below(3)) }
    }

    fn formula(&mut self, size: u64) -> Ltl {
        if size == 0 {
            return match self.below(8) {
                0 => Ltl::Constant(self.below(2) == 0),
                _ => Ltl::Atom(AtomId(self.below(ATOMS as u64) as usize)),
            };
        }
        let own = |numbers: &mut Numbers| Box::new(numbers.formula(size - 1));
        match self.below(11) {
            0 => Ltl::Not(own(self)),
            1 => Ltl::And(vec![*own(self), *own(self)]),
            2 => Ltl::Or(vec![*own(self), *own(self)]),
            3 => Ltl::Implies(own(self), own(self)),
            4 => Ltl::Iff(own(self), own(self)),
            5 => Ltl::Next(own(self)),
            6 => Ltl::Finally(self.bounds(), own(self)),
            7 => Ltl::Globally(self.bounds(), own(self)),
            8 => Ltl::Until(self.bounds(), own(self), own(self)),
            9 => Ltl::WeakUntil(self.bounds(), own(self), own(self)),
            _ => Ltl::Release(self.bounds(), own(self), own(self)),
        }
    }
}

/// An infinite word: letters, and where it returns to.
struct Word {
    letters: Vec<u64>,
    start: usize,
}

impl Word {
    fn at(&self, position: usize) -> usize {
        let period = self.letters.len() - self.start;
        if position < self.start { position } else { self.start + (position - self.start) % period }
    }

    /// Whether a formula holds at a position, by the definition of its operators: far enough ahead, everything was seen.
    fn satisfies(&self, formula: &Ltl, position: usize) -> bool {
        let position = self.at(position);
        let holds = |own: &Ltl, at: usize| self.satisfies(own, at);
        let steps = |bounds: &Bounds| {
            let far = bounds.lower + 2 * self.letters.len() as u64;
            bounds.lower..=bounds.upper.unwrap_or(far).min(far)
        };
        let until = |bounds: &Bounds, left: &Ltl, right: &Ltl| {
            steps(bounds).any(|step| {
                holds(right, position + step as usize)
                    && (0..step as usize).all(|before| holds(left, position + before))
            })
        };
        let globally = |bounds: &Bounds, own: &Ltl| steps(bounds).all(|step| holds(own, position + step as usize));
        match formula {
            Ltl::Constant(value) => *value,
            Ltl::Atom(atom) => self.letters[position] >> atom.0 & 1 == 1,
            Ltl::Not(own) => !holds(own, position),
            Ltl::And(parts) => parts.iter().all(|part| holds(part, position)),
            Ltl::Or(parts) => parts.iter().any(|part| holds(part, position)),
            Ltl::Implies(left, right) => !holds(left, position) || holds(right, position),
            Ltl::Iff(left, right) => holds(left, position) == holds(right, position),
            Ltl::Next(own) => holds(own, position + 1),
            Ltl::Finally(bounds, own) => until(bounds, &Ltl::Constant(true), own),
            Ltl::Globally(bounds, own) => globally(bounds, own),
            Ltl::Until(bounds, left, right) => until(bounds, left, right),
            Ltl::WeakUntil(bounds, left, right) => {
                until(bounds, left, right) || globally(&Bounds { lower: 0, upper: bounds.upper }, left)
            }
            Ltl::Release(bounds, left, right) => {
                let not = |own: &Ltl| Ltl::Not(Box::new(own.clone()));
                !until(bounds, &not(left), &not(right))
            }
        }
    }
}

fn says(shape: Shape, formula: &Nnf, letters: &[u64], position: usize) -> bool {
    let literal =
        &mut |atom: AtomId, at: usize, wanted: bool| Formula::constant((letters[at] >> atom.0 & 1 == 1) == wanted);
    let said = shape.says(formula, position, literal);
    assert!(said.is_true() || said.is_false());
    said.is_true()
}

#[test]
fn on_lassos_formulas_say_what_they_mean() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for _ in 0..20_000 {
        let size = 1 + numbers.below(3);
        let formula = numbers.formula(size);
        let length = 1 + numbers.below(4) as usize;
        let letters: Vec<u64> = (0..length).map(|_| numbers.below(1 << ATOMS)).collect();
        let start = numbers.below(length as u64) as usize;
        let shape = Shape { positions: length, after: After::Return(start) };
        let word = Word { letters, start };
        for positive in [true, false] {
            let own = says(shape, &Nnf::of(&formula, positive), &word.letters, 0);
            assert_eq!(
                own,
                word.satisfies(&formula, 0) == positive,
                "{formula:?} on {:?}, back to {start}",
                word.letters
            );
        }
    }
}

/// All words that begin so and return within two more letters.
fn extensions(prefix: &[u64]) -> Vec<Word> {
    let mut words = Vec::new();
    for more in 0..1u64 << (2 * ATOMS) {
        let mut letters = prefix.to_vec();
        letters.extend([more & ((1 << ATOMS) - 1), more >> ATOMS]);
        words.extend((prefix.len()..letters.len()).map(|start| Word { letters: letters.clone(), start }));
    }
    words
}

#[test]
fn what_a_prefix_shows_holds_whatever_follows_and_what_it_excludes_never() {
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let (mut shown, mut excluded, mut open) = (0, 0, 0);
    for _ in 0..6_000 {
        let size = 1 + numbers.below(3);
        let formula = numbers.formula(size);
        let nnf = Nnf::of(&formula, true);
        let length = 1 + numbers.below(4) as usize;
        let letters: Vec<u64> = (0..length).map(|_| numbers.below(1 << ATOMS)).collect();
        let prefix = |after| Shape { positions: length, after };
        let verdicts: Vec<bool> = extensions(&letters).iter().map(|word| word.satisfies(&formula, 0)).collect();
        if says(prefix(After::Nothing), &nnf, &letters, 0) {
            assert!(verdicts.iter().all(|&own| own), "{formula:?} after {letters:?}");
            assert!(nnf.shows_in_prefixes(), "{formula:?}");
            shown += 1;
        }
        if !says(prefix(After::Anything), &nnf, &letters, 0) {
            assert!(!verdicts.iter().any(|&own| own), "{formula:?} after {letters:?}");
            excluded += 1;
        }
        // Words of both kinds: the prefix leaves it open, and the condition for that holds at its last position.
        if verdicts.contains(&true) && verdicts.contains(&false) {
            assert!(says(Shape::prefix(length), &nnf.open(), &letters, length - 1), "{formula:?} after {letters:?}");
            open += 1;
        }
    }
    assert!(shown > 500 && excluded > 500 && open > 500, "{shown} {excluded} {open}");
}

#[test]
fn what_lasts_is_seen_on_every_loop() {
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let mut informative = 0;
    for _ in 0..20_000 {
        let size = 1 + numbers.below(3);
        let formula = numbers.formula(size);
        let nnf = Nnf::of(&formula, true);
        let tail = nnf.tail();
        let length = 1 + numbers.below(4) as usize;
        let letters: Vec<u64> = (0..length).map(|_| numbers.below(1 << ATOMS)).collect();
        let start = numbers.below(length as u64) as usize;
        let word = Word { letters, start };
        if tail != Nnf::Constant(true) && word.satisfies(&formula, 0) {
            let all = (start..length).all(|at| says(Shape::prefix(length), &tail, &word.letters, at));
            assert!(all, "{formula:?} on {:?}, back to {start}", word.letters);
            informative += 1;
        }
    }
    assert!(informative > 200, "{informative}");
}

#[test]
fn what_is_said_of_the_next_steps_holds_wherever_the_whole_does() {
    let mut numbers = Numbers(0x7f4a_7c15_9e37_79b9);
    let (mut held, mut shown) = (0, 0);
    for _ in 0..20_000 {
        let size = 1 + numbers.below(3);
        let formula = numbers.formula(size);
        let nnf = Nnf::of(&formula, true);
        let steps = numbers.below(5);
        let near = nnf.within(steps);
        assert!(near.horizon().is_some_and(|last| last <= steps), "{formula:?} for {steps} steps: {near:?}");
        let length = 1 + numbers.below(4) as usize;
        let letters: Vec<u64> = (0..length).map(|_| numbers.below(1 << ATOMS)).collect();
        let word = Word { letters: letters.clone(), start: numbers.below(length as u64) as usize };
        let shape = Shape { positions: length, after: After::Return(word.start) };
        if word.satisfies(&formula, 0) {
            assert!(says(shape, &near, &letters, 0), "{formula:?} for {steps} steps on {letters:?}");
            let later = word.at(steps as usize);
            assert!(says(shape, &nnf.at(steps), &letters, later), "{formula:?} after {steps} steps on {letters:?}");
            held += 1;
        }
        if says(Shape::prefix(length), &nnf, &letters, 0) {
            assert!(says(Shape::prefix(length), &near, &letters, 0), "{formula:?} for {steps} steps on {letters:?}");
            assert!(nnf.shows_after().is_some_and(|first| first < length as u64), "{formula:?} on {letters:?}");
            shown += 1;
        }
        if nnf.horizon().is_some_and(|last| last <= steps) {
            assert_eq!(near, nnf);
        }
    }
    assert!(held > 2_000 && shown > 1_000, "{held} {shown}");
}

#[test]
fn every_word_that_violates_a_property_has_a_beginning_of_that() {
    let mut numbers = Numbers(0x1357_9bdf_0246_8ace);
    let (mut begun, mut found) = (0, 0);
    for _ in 0..20_000 {
        let size = 1 + numbers.below(3);
        let formula = match numbers.below(2) {
            0 => numbers.formula(size),
            // Where properties that are proved for all time usually come from.
            _ => Ltl::Globally(Bounds { lower: 0, upper: None }, Box::new(numbers.formula(size))),
        };
        let length = 1 + numbers.below(4) as usize;
        let letters: Vec<u64> = (0..length).map(|_| numbers.below(1 << ATOMS)).collect();
        let word = Word { letters: letters.clone(), start: numbers.below(length as u64) as usize };
        let Some(bad) = crate::all_time::beginning(&Nnf::of(&formula, false)) else { continue };
        found += 1;
        if !word.satisfies(&formula, 0) {
            let shape = Shape { positions: length, after: After::Return(word.start) };
            assert!((0..length).any(|at| says(shape, &bad, &letters, at)), "{formula:?} on {letters:?}: {bad:?}");
            begun += 1;
        }
    }
    assert!(found > 5_000 && begun > 1_000, "{found} {begun}");
}
