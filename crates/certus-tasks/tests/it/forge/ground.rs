//! What is forged: small systems of which everything is known, honest certificates about them, and files to swap.

use std::path::{Path, PathBuf};

use certus_lang::LowerOptions;
use certus_obligations::{Errors, Face, Method, Proof, WitnessChoice, Words};
use certus_solver::Budget;
use certus_tasks::Loading;
use certus_tasks::check::{certify_reachable, certify_words};

/// What is true of a property: the first step by which a run violates it or returns for ever without satisfying it, and the first at
/// which a run has a model error while it is open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fact {
    pub violated: Option<u64>,
    pub error: Option<u64>,
}

/// A property of a system.
pub struct Known {
    pub system: &'static str,
    pub property: &'static str,
    pub fact: fn(gust: f64) -> Fact,
}

const DECAY: &str = "system decay\nparam gust in [0, 1] = 1\nstate x in [-2, 2]\ninput w in [-0.1, 0.1]\n\
    next x = 0.5 * x + gust * w\ninit x in [-0.1, 0.1]\n\
    property small = G abs(x) <= 0.5\nproperty tiny = G abs(x) <= 0.15\nproperty soon = G<=1 abs(x) <= 0.151\n";

/// The same with a larger factor: it grows out of its range.
const GROWTH: &str = "system decay\nparam gust in [0, 1] = 1\nstate x in [-2, 2]\ninput w in [-0.1, 0.1]\n\
    next x = 1.5 * x + gust * w\ninit x in [-0.1, 0.1]\n\
    property small = G abs(x) <= 0.5\nproperty tiny = G abs(x) <= 0.15\nproperty soon = G<=1 abs(x) <= 0.151\n";

const CLOCK: &str = "system clock\nstate n in [0, 10]\nnext n = if n >= 10 then 0 else n + 1\ninit n == 0\n\
    property low = G n <= 5\nproperty soon = G<=4 n <= 5\nproperty comes = F n >= 3\nproperty never = F n > 10\n\
    property after = G (n >= 3 -> next(n) != 3)\n";

const LEAVES: &str = "system leaves\nstate x in [0, 10]\nnext x = x + 3\ninit x == 0\n\
    property stays = G x <= 10\nproperty soon = G<=2 x <= 10\nproperty far = F x > 100\nproperty near = F x >= 3\n";

const STUCK: &str = "system stuck\nstate x in [0, 4]\ninput u in [0, 1]\nnext x = clamp(x + u, 0, 4)\nassume u >= x - 1\n\
    init x == 0\nproperty stays = G x <= 4\nproperty soon = G<=1 x <= 1\nproperty chosen = G u >= x - 1\n\
    property both = G (next(x) <= 4 & x <= 2)\n";

const ENDS: &str = "system ends\nstate x in [-2, 10]\ninput u in [0, 1]\nnext x = x - u\nassume next(x) <= x - 0.1\n\
    init x in [2, 3]\nterminal x <= 0\nproperty far = F x >= 5\nproperty down = F x <= 0\nproperty stays = G x <= 3\n";

const BREAKS: &str = "system breaks\nstate x in [0, 1]\nnext x = clamp(x / (2 * x + 1), 0, 1)\ninit x == 0\n\
    property strange = G (0 / x == 0 / x)\nproperty stays = G x <= 1\nproperty two = G (x <= 1 & next(x) <= 0.5)\n";

const DRIVEN: &str = "system driven\nstate x in [-2, 2]\npolicy a = net(\"p.nnet\", x)\nnext x = clamp(0.5 * x + 0.1 * a, -2, 2)\n\
    init x in [-0.1, 0.1]\nproperty stays = G abs(x) <= 0.5\n";

/// A level that falls by three from six on, and otherwise rises as it is told: below seven, and back below six after a step.
const ANSWERS: &str = "system answers\nstate x in [0, 10]\ninput u in [0, 1]\nnext x = clamp(if x >= 6 then x - 3 else x + u, 0, 10)\ninit x in [0, 1]\n\
    property twice = G (x >= 6.5 -> F<=2 x < 6.5)\nproperty once = G (x >= 6.5 -> F<=1 x < 6.5)\nproperty at_once = G (x >= 6.5 -> F<=0 x < 6.5)\n\
    property some_time = G (x >= 6.5 -> F x < 6.5)\nproperty again = G F x < 6.5\nproperty tight = G (x >= 1 -> F<=3 x >= 6.5)\n\
    property far = G (x >= 6.5 -> F x > 8)\nproperty climbs = G (x in [1, 2] -> X x >= 1)\n";

// x(t) = x(0)·e^(−t): 0.5459 or more at t = 0.5, and 0.62 is passed at t = 0.37, within the second step.
const COOLS: &str = "system cools\nstate x in [-3, 3]\nstep 0.25 exact\nder x = -x\ninit x in [0.9, 1]\n\
    property above = G<=0.5s throughout(x > 0.54)\nproperty below = G<=0.5s throughout(x > 0.62)\nproperty stays = G throughout(x < 1.5)\n";

// x(t) = x(0)·e^t: 1.5 is passed at t = 0.4, within the second step.
const HEATS: &str = "system heats\nstate x in [-3, 3]\nstep 0.25 exact\nder x = x\ninit x in [0.9, 1]\n\
    property above = G<=0.5s throughout(x > 0.54)\nproperty below = G<=0.5s throughout(x > 0.62)\nproperty stays = G throughout(x < 1.5)\n";

/// Everything that there is to know.
pub const KNOWN: &[Known] = &[
    Known { system: "decay.certus", property: "small", fact: |_| Fact::default() },
    Known { system: "decay.certus", property: "tiny", fact: tiny },
    Known { system: "decay.certus", property: "soon", fact: |_| Fact::default() },
    Known { system: "growth.certus", property: "small", fact: |gust| grows(gust, 0.5) },
    Known { system: "growth.certus", property: "tiny", fact: |gust| grows(gust, 0.15) },
    Known {
        system: "growth.certus",
        property: "soon",
        fact: |gust| Fact { violated: (gust > 0.01).then_some(1), error: None },
    },
    Known { system: "clock.certus", property: "low", fact: |_| Fact { violated: Some(6), error: None } },
    Known { system: "clock.certus", property: "soon", fact: |_| Fact::default() },
    Known { system: "clock.certus", property: "comes", fact: |_| Fact::default() },
    Known { system: "clock.certus", property: "never", fact: |_| Fact { violated: Some(10), error: None } },
    Known { system: "clock.certus", property: "after", fact: |_| Fact::default() },
    Known { system: "leaves.certus", property: "stays", fact: |_| Fact { violated: None, error: Some(3) } },
    Known { system: "leaves.certus", property: "soon", fact: |_| Fact::default() },
    Known { system: "leaves.certus", property: "far", fact: |_| Fact { violated: None, error: Some(3) } },
    Known { system: "leaves.certus", property: "near", fact: |_| Fact::default() },
    Known { system: "stuck.certus", property: "stays", fact: |_| Fact { violated: None, error: Some(3) } },
    Known { system: "stuck.certus", property: "soon", fact: |_| Fact::default() },
    Known { system: "stuck.certus", property: "chosen", fact: |_| Fact { violated: None, error: Some(3) } },
    // At the deadlock x is 3, whatever cannot be chosen there.
    Known { system: "stuck.certus", property: "both", fact: |_| Fact { violated: Some(3), error: None } },
    Known { system: "answers.certus", property: "twice", fact: |_| Fact::default() },
    Known { system: "answers.certus", property: "once", fact: |_| Fact::default() },
    Known { system: "answers.certus", property: "at_once", fact: |_| Fact { violated: Some(6), error: None } },
    Known { system: "answers.certus", property: "some_time", fact: |_| Fact::default() },
    Known { system: "answers.certus", property: "again", fact: |_| Fact::default() },
    Known { system: "answers.certus", property: "tight", fact: |_| Fact { violated: Some(3), error: None } },
    Known { system: "answers.certus", property: "far", fact: |_| Fact { violated: Some(6), error: None } },
    Known { system: "answers.certus", property: "climbs", fact: |_| Fact::default() },
    Known { system: "ends.certus", property: "far", fact: |_| Fact { violated: Some(2), error: None } },
    Known { system: "ends.certus", property: "down", fact: |_| Fact::default() },
    Known { system: "ends.certus", property: "stays", fact: |_| Fact::default() },
    Known { system: "breaks.certus", property: "strange", fact: |_| Fact { violated: None, error: Some(0) } },
    Known { system: "breaks.certus", property: "stays", fact: |_| Fact::default() },
    Known { system: "breaks.certus", property: "two", fact: |_| Fact::default() },
    Known { system: "driven.certus", property: "stays", fact: |_| Fact::default() },
    Known { system: "cools.certus", property: "above", fact: |_| Fact::default() },
    Known { system: "cools.certus", property: "below", fact: |_| Fact { violated: Some(1), error: None } },
    Known { system: "cools.certus", property: "stays", fact: |_| Fact::default() },
    Known { system: "heats.certus", property: "above", fact: |_| Fact::default() },
    Known { system: "heats.certus", property: "below", fact: |_| Fact::default() },
    Known { system: "heats.certus", property: "stays", fact: |_| Fact { violated: Some(1), error: None } },
];

fn tiny(gust: f64) -> Fact {
    let mut x = 0.1;
    let violated = (1..200).find(|_| {
        x = 0.5 * x + 0.1 * gust;
        x > 0.15
    });
    Fact { violated, error: None }
}

fn grows(gust: f64, bound: f64) -> Fact {
    let mut x = 0.1;
    let violated = (1..200).find(|_| {
        x = 1.5 * x + 0.1 * gust;
        x > bound
    });
    Fact { violated, error: None }
}

/// A network that does nothing, or one that pushes.
fn network(slope: f64, bias: f64) -> String {
    // One hidden unit, shifted so that it never sleeps on [-2, 2].
    format!("//\n2,1,1,1,\n1,1,1,\n0,\n-10,\n10,\n0,0,\n1,1,\n{slope},\n10,\n1,\n{},\n", bias - 10.0)
}

/// An honest certificate.
pub struct Honest {
    pub name: String,
    pub text: String,
}

/// The folder with the systems, and honest certificates about them.
pub struct Ground {
    pub folder: PathBuf,
    pub honest: Vec<Honest>,
    failed: Vec<String>,
}

impl Ground {
    pub fn new(name: &str) -> Ground {
        let folder = std::env::temp_dir().join(format!("certus-forge-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let files = [
            ("decay.certus", DECAY.to_owned()),
            ("growth.certus", GROWTH.to_owned()),
            ("clock.certus", CLOCK.to_owned()),
            ("leaves.certus", LEAVES.to_owned()),
            ("stuck.certus", STUCK.to_owned()),
            ("ends.certus", ENDS.to_owned()),
            ("answers.certus", ANSWERS.to_owned()),
            ("breaks.certus", BREAKS.to_owned()),
            ("driven.certus", DRIVEN.to_owned()),
            ("cools.certus", COOLS.to_owned()),
            ("heats.certus", HEATS.to_owned()),
            ("p.nnet", network(0.0, 0.0)),
            ("push.nnet", network(0.0, 20.0)),
        ];
        for (name, text) in files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        let mut ground = Ground { folder, honest: Vec::new(), failed: Vec::new() };
        for (system, settings, property, words) in honest_words() {
            ground.certify(system, &settings, property, Some(&words));
        }
        for (system, property) in REACHED {
            ground.certify(system, &[], property, None);
        }
        assert!(ground.failed.is_empty(), "{}", ground.failed.join("\n"));
        ground
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A folder beside the systems.
    pub fn folder(&self, name: &str) -> PathBuf {
        let path = self.folder.join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    /// A certificate by some words, or by reachable sets.
    fn certify(&mut self, system: &str, settings: &[(String, f64)], property: &str, words: Option<&Words>) {
        let loading = Loading {
            path: self.path(system),
            options: LowerOptions { overrides: settings.to_vec(), ..LowerOptions::default() },
            ..Loading::default()
        };
        let path = self.path("honest.certificate");
        let budget = Budget { subproblems: 20_000, ..Budget::default() };
        let (name, written) = match words {
            Some(words) => {
                let name = format!("{property} of {system} by {words:?}");
                (name, certify_words(&path, &loading, property, words, &budget))
            }
            None => {
                let name = format!("{property} of {system} by reachable sets");
                (name, certify_reachable(&path, &loading, property, &budget))
            }
        };
        match written {
            Ok(()) => self.honest.push(Honest { name, text: std::fs::read_to_string(path).unwrap() }),
            Err(failure) => self.failed.push(format!("{name}: {failure}")),
        }
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub fn digest(path: &Path) -> String {
    certus_audit::digest(&std::fs::read(path).unwrap())
}

/// What is shown by reachable sets.
const REACHED: &[(&str, &str)] = &[
    ("decay.certus", "small"),
    ("decay.certus", "soon"),
    ("clock.certus", "soon"),
    ("clock.certus", "comes"),
    ("leaves.certus", "soon"),
    ("leaves.certus", "near"),
    ("driven.certus", "stays"),
    ("cools.certus", "above"),
    ("cools.certus", "stays"),
    ("heats.certus", "below"),
];

type HonestWords = (&'static str, Vec<(String, f64)>, &'static str, Words);

fn honest_words() -> Vec<HonestWords> {
    let face = |coefficient: f64, bound: f64| Face { coefficients: vec![coefficient], bound };
    let within = |bound: f64| vec![face(1.0, bound), face(-1.0, bound)];
    let looking = |depth: usize, ahead: usize, invariant: Vec<Face>| {
        Proof::ForAllTime(vec![Method::Induction { depth, ahead, invariant, different: false }])
    };
    let induction = |depth: usize, invariant: Vec<Face>| looking(depth, 0, invariant);
    let words = |proof: Proof, errors: Errors| Words { proof, errors, witness: Vec::new() };
    let bounded = |steps: usize| Proof::Bounded { steps, cycles: Vec::new() };
    let reach = |steps: usize| Proof::OutOfReach { steps };
    let no_gust = || vec![("gust".to_owned(), 0.0)];
    let choice = |constant: f64, slope: f64| WitnessChoice {
        inputs: vec![vec![constant, slope]],
        chances: Vec::new(),
        actions: Vec::new(),
    };
    let with = |words: Words, witness: Vec<WitnessChoice>| Words { witness, ..words };
    vec![
        ("decay.certus", vec![], "small", words(induction(1, within(0.3)), Errors::Induction(within(0.3)))),
        ("decay.certus", vec![], "small", words(induction(1, vec![]), Errors::Undecided)),
        ("decay.certus", vec![], "small", words(bounded(3), Errors::Bounded(3))),
        ("decay.certus", no_gust(), "tiny", words(induction(1, vec![]), Errors::Everywhere)),
        ("decay.certus", vec![], "tiny", words(bounded(0), Errors::Bounded(0))),
        ("decay.certus", vec![], "soon", words(reach(1), Errors::Bounded(1))),
        ("growth.certus", no_gust(), "small", words(bounded(2), Errors::Bounded(2))),
        ("clock.certus", vec![], "low", words(bounded(5), Errors::Bounded(5))),
        ("clock.certus", vec![], "soon", words(reach(4), Errors::Bounded(4))),
        ("clock.certus", vec![], "comes", words(reach(3), Errors::Bounded(3))),
        ("clock.certus", vec![], "comes", words(bounded(4), Errors::Bounded(4))),
        ("clock.certus", vec![], "never", words(bounded(3), Errors::Bounded(3))),
        ("leaves.certus", vec![], "soon", words(bounded(2), Errors::Bounded(2))),
        ("leaves.certus", vec![], "near", words(reach(1), Errors::Undecided)),
        ("leaves.certus", vec![], "far", words(bounded(2), Errors::Bounded(2))),
        ("leaves.certus", vec![], "stays", words(induction(0, vec![]), Errors::Assumed)),
        ("stuck.certus", vec![], "soon", with(words(bounded(1), Errors::Bounded(1)), vec![choice(1.0, 0.0)])),
        ("ends.certus", vec![], "stays", with(words(induction(1, vec![]), Errors::Everywhere), vec![choice(0.5, 0.0)])),
        (
            "ends.certus",
            vec![],
            "down",
            with(
                words(
                    Proof::ForAllTime(vec![Method::Ranking { coefficients: vec![1.0], decrease: 0.05, context: 1 }]),
                    Errors::Undecided,
                ),
                vec![choice(0.5, 0.0)],
            ),
        ),
        ("answers.certus", vec![], "twice", words(looking(0, 2, vec![]), Errors::Everywhere)),
        ("answers.certus", vec![], "once", words(looking(0, 1, vec![face(1.0, 7.5)]), Errors::Everywhere)),
        (
            "answers.certus",
            vec![],
            "once",
            words(looking(1, 1, vec![face(1.0, 7.5)]), Errors::Induction(vec![face(1.0, 7.5)])),
        ),
        ("answers.certus", vec![], "some_time", words(looking(0, 2, vec![]), Errors::Undecided)),
        ("answers.certus", vec![], "again", words(looking(0, 2, vec![]), Errors::Everywhere)),
        ("answers.certus", vec![], "climbs", words(looking(1, 1, vec![]), Errors::Everywhere)),
        ("breaks.certus", vec![], "stays", words(induction(0, vec![]), Errors::Everywhere)),
        ("breaks.certus", vec![], "two", words(induction(0, vec![]), Errors::Everywhere)),
        ("driven.certus", vec![], "stays", words(induction(1, vec![]), Errors::Everywhere)),
    ]
}
