//! Small systems with inputs, assumptions, chances, terminal states, range exits, deadlocks and undefined operations: every
//! bound is compared with plain enumeration, which shares no code with the engines.

use std::fmt::Write;
use std::path::Path;

use certus_lang::{FileNetworks, LowerOptions, System, load_str};
use certus_numerics::Random;
use certus_prob::{Budget, Method, Options, Outcome, check};

/// Places x = 0 … 3; y remembers what the input was: 0, 1 or 2.
const PLACES: i64 = 4;

/// Inputs that stand for all: the ends, the thresholds 0.5 and 1.5, and something between each two of them.
const INPUTS: [f64; 7] = [0.0, 0.25, 0.5, 1.0, 1.5, 1.75, 2.0];

/// Which of three inputs it is, as the systems tell them apart.
fn class(u: f64) -> usize {
    if u < 0.5 {
        0
    } else if u < 1.5 {
        1
    } else {
        2
    }
}

type Condition = Box<dyn Fn(i64, i64, f64) -> bool>;

/// A system as text and as tables.
struct Small {
    text: String,
    /// The probability of the first label.
    likely: f64,
    /// For each place, label and class of input where x goes.
    next: Vec<[[i64; 3]; 2]>,
    allowed: Vec<Condition>,
    terminal: i64,
    /// The place at which the step is undefined.
    undefined: Option<i64>,
    goal: i64,
    stay: i64,
    start: i64,
    steps: usize,
}

/// A comparison of the input with a threshold, perhaps only where x is large, as text and as a function.
fn assumption(random: &mut Random) -> (String, Condition) {
    let threshold = [0.5, 1.5][(random.bits() % 2) as usize];
    let which = random.bits() % 4;
    let sign = ["<", "<=", ">", ">="][which as usize];
    let compare = move |u: f64| match which {
        0 => u < threshold,
        1 => u <= threshold,
        2 => u > threshold,
        _ => u >= threshold,
    };
    let place = (random.bits() % 4) as i64;
    match random.bits() % 5 {
        0 => (format!("u {sign} {threshold}"), Box::new(move |_, _, u| compare(u))),
        1 => (format!("u {sign} {threshold} | x > {place} - 0.5"), Box::new(move |x, _, u| compare(u) || x >= place)),
        2 => (format!("u {sign} {threshold} & x < {place} + 0.5"), Box::new(move |x, _, u| compare(u) && x <= place)),
        // The successor of y does not depend on the draw.
        3 => ("next(y) > y - 1.5".to_owned(), Box::new(|_, y, u| class(u) as i64 > y - 2)),
        _ => ("next(y) < 1.5 | u >= 1.5".to_owned(), Box::new(|_, _, u| class(u) < 2 || u >= 1.5)),
    }
}

impl Small {
    fn new(random: &mut Random) -> Small {
        let mut pick = |count: u64| (random.bits() % count) as i64;
        // Mostly in range: beyond it a run ends in a model error.
        let mut place = |random_exit: u64| {
            if pick(random_exit) == 0 { [-1, PLACES][pick(2) as usize] } else { pick(PLACES as u64) }
        };
        let next: Vec<[[i64; 3]; 2]> = (0..PLACES).map(|_| [[(); 3]; 2].map(|row| row.map(|()| place(20)))).collect();
        let likely = [0.5, 0.25, 0.875][pick(3) as usize];
        let terminal = if pick(2) == 0 { 3 } else { PLACES };
        let undefined = (pick(4) == 0).then(|| pick(PLACES as u64));
        let (goal, stay, start) = (pick(PLACES as u64), pick(PLACES as u64), pick(PLACES as u64));
        let (steps, assumptions) = (1 + pick(4) as usize, pick(3));
        let (texts, allowed): (Vec<String>, Vec<Condition>) = (0..assumptions).map(|_| assumption(random)).unzip();
        let mut own =
            Small { text: String::new(), likely, next, allowed, terminal, undefined, goal, stay, start, steps };
        own.text = own.written(&texts);
        own
    }

    fn written(&self, assumptions: &[String]) -> String {
        let of_input =
            |row: &[i64; 3]| format!("if u < 0.5 then {} else if u < 1.5 then {} else {}", row[0], row[1], row[2]);
        let of_label = |label: usize| {
            let rows = self.next.iter().map(|rows| of_input(&rows[label])).collect::<Vec<_>>();
            let mut text = String::new();
            for (place, row) in rows.iter().enumerate().take(PLACES as usize - 1) {
                let _ = write!(text, "if x < {place} + 0.5 then ({row}) else ");
            }
            text + &format!("({})", rows[PLACES as usize - 1])
        };
        let mut text = format!(
            "system small\nchance c of {{ a: {}, b: {} }}\nstate x in [0, {}]\nstate y in [0, 2]\ninput u in [0, 2]\n",
            self.likely,
            1.0 - self.likely,
            PLACES - 1
        );
        let partial = self.undefined.map_or_else(String::new, |place| format!(" + min(0, abs(1 / (x - {place})))"));
        let _ = writeln!(text, "define first = {}\ndefine second = {}", of_label(0), of_label(1));
        let _ = writeln!(text, "next x = (match c {{ a: first, b: second }}){partial}");
        let _ = writeln!(text, "next y = if u < 0.5 then 0 else if u < 1.5 then 1 else 2");
        for own in assumptions {
            let _ = writeln!(text, "assume {own}");
        }
        if self.terminal < PLACES {
            let _ = writeln!(text, "terminal x > {} - 0.5", self.terminal);
        }
        let (goal, stay, steps) = (self.goal, self.stay, self.steps);
        let at_goal = format!("x > {goal} - 0.5 & x < {goal} + 0.5");
        let _ = writeln!(text, "init x == {} & y == 0", self.start);
        let _ = writeln!(text, "property most = Pmax=? [ F<={steps} ({at_goal}) ]");
        let _ = writeln!(text, "property least = Pmin=? [ F<={steps} ({at_goal}) ]");
        let _ = writeln!(text, "property until = Pmax=? [ (x < {stay} + 0.5) U<={steps} ({at_goal}) ]");
        let _ = writeln!(text, "property until_least = Pmin=? [ (x < {stay} + 0.5) U<={steps} ({at_goal}) ]");
        let _ = writeln!(text, "property safe = Pmin=? [ G<={steps} !({at_goal}) ]");
        text
    }

    /// The worst probability of what is bad: reaching the goal (by way of `stay`), or not reaching it; model errors count as bad. With `only_errors`, of
    /// a model error before that is decided.
    fn worst(&self, x: i64, y: i64, steps: usize, stay: i64, reaching_is_bad: bool, only_errors: bool) -> f64 {
        let decided = |reached: bool| f64::from(u8::from(!only_errors && reached == reaching_is_bad));
        if x == self.goal {
            return decided(true);
        }
        if x > stay || steps == 0 {
            return decided(false);
        }
        let go_on = |x: i64, y: i64| self.worst(x, y, steps - 1, stay, reaching_is_bad, only_errors);
        if x >= self.terminal {
            return go_on(x, y);
        }
        let allowed: Vec<f64> = INPUTS.into_iter().filter(|&u| self.allowed.iter().all(|own| own(x, y, u))).collect();
        // A deadlock, or an undefined operation.
        if allowed.is_empty() || self.undefined == Some(x) {
            return 1.0;
        }
        let after = |label: usize| {
            let of = |&u: &f64| {
                let to = self.next[x as usize][label][class(u)];
                if (0..PLACES).contains(&to) { go_on(to, class(u) as i64) } else { 1.0 }
            };
            allowed.iter().map(of).fold(0.0, f64::max)
        };
        self.likely * after(0) + (1.0 - self.likely) * after(1)
    }
}

fn loaded(text: &str) -> System {
    load_str(text, &mut FileNetworks::new(Path::new(".")), &LowerOptions::default())
        .unwrap_or_else(|error| panic!("{text}\n{error}"))
}

const METHODS: [Method; 5] = [
    Method::Automatic,
    Method::Unfold { containment: false },
    Method::Unfold { containment: true },
    Method::Search { containment: false },
    Method::Partition,
];

#[test]
fn bounds_are_those_of_plain_enumeration() {
    let mut random = Random::new(19, 2);
    let (mut asked, mut narrow, mut restricted, mut errors) = (0, 0, 0, 0);
    for number in 0..300usize {
        let small = Small::new(&mut random);
        let system = loaded(&small.text);
        let everywhere = PLACES;
        let questions = [
            ("most", everywhere, true),
            ("least", everywhere, false),
            ("until", small.stay, true),
            ("until_least", small.stay, false),
            ("safe", everywhere, true),
        ];
        // Two of the questions, by two of the methods, and over time all of them by all.
        for place in [number, number + 2 + number / 5 % 2] {
            let (name, stay, reaching_is_bad) = questions[place % questions.len()];
            let method = METHODS[(number / 5 + place) % METHODS.len()];
            let options = Options { method, most: 400, ..Options::default() };
            let budget = Budget { threads: 1, ..Budget::default() };
            let property = system.property(name).unwrap();
            let found: Outcome = check(&system, property, &options, &budget, &mut |_| {})
                .unwrap_or_else(|error| panic!("{}\n{name}: {error}", small.text));
            let of = |only_errors: bool| small.worst(small.start, 0, small.steps, stay, reaching_is_bad, only_errors);
            // Bounds are those of what is asked for: of the complement, where the worst case is the smallest probability.
            let is_least = matches!(name, "least" | "until_least" | "safe");
            let exact = if is_least { 1.0 - of(false) } else { of(false) };
            let shown = || format!("{}\n{name} by {method:?}: {exact}, but {found:?}", small.text);
            assert!(found.lower <= exact + 1e-12 && exact <= found.upper + 1e-12, "{}", shown());
            let error = of(true);
            assert!(found.error.is_none_or(|bound| error <= bound + 1e-12), "an error with {error}: {}", shown());
            asked += 1;
            narrow += usize::from(found.upper - found.lower < 1e-6);
            restricted += usize::from(!small.allowed.is_empty());
            errors += usize::from(error > 0.0);
        }
    }
    assert!(asked == 600 && restricted > 200 && errors > 100, "{asked} {restricted} {errors}");
    // The lower end plays constant inputs only, so it may be below the worst case.
    assert!(narrow > asked / 2, "{narrow} of {asked} are exact");
}
