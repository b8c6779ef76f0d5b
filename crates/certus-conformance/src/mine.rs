//! Mined specifications: what is said of a tiny network and a specification is true on a lattice of its box, and a point that
//! breaks it lies in the box and is decided otherwise than allowed.

use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use certus_mine::Specification;
use certus_mine::query::Verdict;
use certus_reference::{Network, Rational, Real, rational, whole};
use certus_tasks::BudgetOptions;
use certus_tasks::mine::{Mine, mine};

use crate::campaign::Tally;
use crate::compare::{Class, Judged};
use crate::networks;
use crate::random::numbers;
use crate::rows::Study;
use crate::systems::{Case, lattice_of};

/// How mining is called in reports.
pub const NAME: &str = "mine";

/// Points along each side of the lattice.
const POINTS: i64 = 9;

/// What a network's outputs decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// The sign of a number: `-`, `0`, `+`.
    Sign,
    /// The largest of two numbers, the first one on ties.
    Choice,
    /// Bands that contain their lower ends: below -1, below 1, from 1 on.
    Bands,
}

impl Meaning {
    fn config(self) -> &'static str {
        match self {
            Meaning::Sign => "sign = true\nmargin = 0.0",
            Meaning::Choice => "labels = [\"l\", \"r\"]",
            Meaning::Bands => "labels = [\"low\", \"middle\", \"high\"]\nthresholds = [-1.0, 1.0]",
        }
    }

    fn outputs(self) -> usize {
        if self == Meaning::Choice { 2 } else { 1 }
    }

    /// The labels that rounding can make of what a network gives.
    fn labels_nearby(self, outputs: &[Rational]) -> impl Iterator<Item = usize> + '_ {
        let small = whole(1) / whole(1 << 40);
        let near = move |value: &Rational| -> Vec<Rational> {
            let limits = [-1, 0, 1].map(whole).into_iter();
            let ends = [value - &small, value + &small];
            let on_a_limit = limits.filter(|limit| ends[0] <= *limit && *limit <= ends[1]).collect::<Vec<_>>();
            ends.into_iter().chain(on_a_limit).collect()
        };
        near(&outputs[0]).into_iter().map(move |first| {
            let moved: Vec<Rational> = std::iter::once(first).chain(outputs[1..].iter().cloned()).collect();
            self.label(&moved)
        })
    }

    /// The label of what a network gives, by its place.
    fn label(self, outputs: &[Rational]) -> usize {
        let above = |limit: i64| usize::from(outputs[0] >= whole(limit));
        match self {
            Meaning::Sign => 1 + above(0) - usize::from(outputs[0] <= whole(0)),
            Meaning::Choice => usize::from(outputs[1] > outputs[0]),
            Meaning::Bands => above(-1) + above(1),
        }
    }

    fn name(self, label: usize) -> &'static str {
        match self {
            Meaning::Sign => ["-", "0", "+"][label],
            Meaning::Choice => ["l", "r"][label],
            Meaning::Bands => ["low", "middle", "high"][label],
        }
    }
}

/// Mines what one network decides, and asks whether another one obeys.
pub fn compare(study: &Study<'_>, tally: &mut Tally) -> Result<(), String> {
    let mut random = numbers(study.seed ^ 4, study.number as u64);
    let meaning = *random.choose(&[Meaning::Sign, Meaning::Choice, Meaning::Bands]);
    let (seen, asked) =
        (networks::of_size(&mut random, 2, meaning.outputs()), networks::of_size(&mut random, 2, meaning.outputs()));
    let parts = *random.choose(&[9, 13, 17]);
    let config = format!(
        "name = \"tiny\"\ninputs = 2\n\n[output]\nname = \"output\"\ncolumn = \"output\"\n{}\n\n\
         [[feature]]\ncolumns = \"a\"\ninputs = 0\nmined = 1\n\n[[feature]]\ncolumns = \"b\"\ninputs = 1\nmined = {}\n\n\
         [[reference]]\nname = \"seen\"\ntrain = \"seen.csv\"\n\n[mine]\nparts = {parts}\n",
        meaning.config(),
        random.choose(&[1, 1, 1, 0]),
    );
    let reference = Network::read(&seen)?;
    let mut table = "a,b,output\n".to_owned();
    for a in -8..=8 {
        for b in -8..=8 {
            let point = [whole(a) / whole(4), whole(b) / whole(4)];
            let label = meaning.label(&outputs(&reference, &point)?);
            let _ = writeln!(table, "{},{},{}", a as f64 / 4.0, b as f64 / 4.0, meaning.name(label));
        }
    }
    for (name, text) in [("tiny.toml", &config), ("seen.csv", &table), ("asked.nnet", &asked)] {
        fs::write(study.folder.join(name), text).map_err(|error| error.to_string())?;
    }
    let task = Mine {
        config: study.folder.join("tiny.toml"),
        networks: vec![study.folder.join("asked.nnet")],
        effort: BudgetOptions { threads: 1, ..BudgetOptions::default() },
        ..Mine::default()
    };
    let mined = mine(&task, &Arc::new(AtomicBool::new(false)), |_| {}).map_err(|failure| failure.to_string())?;
    let mined = mined.ok_or("mining was stopped")?;
    let network = Network::read(&asked)?;
    let case = Case {
        text: config,
        properties: Vec::new(),
        settings: Vec::new(),
        networks: vec![("seen".to_owned(), seen), ("asked.nnet".to_owned(), asked)],
        lattice: lattice_of(""),
        features: Vec::new(),
    };
    for (place, (specification, checked)) in mined.specifications.iter().zip(&mined.checked[0]).enumerate() {
        let Some(checked) = checked else { continue };
        let judged = judge(&checked.verdict, specification, &network, meaning)?;
        tally.note((study.number, &case, &format!("s{place}"), NAME), judged, || format!("{specification:?}"));
    }
    Ok(())
}

fn outputs(network: &Network, point: &[Rational]) -> Result<Vec<Rational>, String> {
    let point: Vec<Real> = point.iter().cloned().map(Real::Exact).collect();
    network.apply(&point)?.iter().map(|own| own.exact().cloned().ok_or_else(|| "not exact".to_owned())).collect()
}

/// The box of a specification: what it says, and what was seen where it says nothing.
fn sides(specification: &Specification) -> Option<Vec<(Rational, Rational)>> {
    let side = |column: usize| {
        let mut side: Option<(Rational, Rational)> = None;
        for bound in specification.bounds.iter().chain(&specification.observed).filter(|own| own.column == column) {
            let (low, high) = (rational(bound.low)?, rational(bound.high)?);
            side = Some(match side {
                None => (low, high),
                Some((a, b)) => (a.max(low), b.min(high)),
            });
        }
        side
    };
    (0..2).map(side).collect()
}

fn judge(
    verdict: &Verdict,
    specification: &Specification,
    network: &Network,
    meaning: Meaning,
) -> Result<Judged, String> {
    let Some(sides) = sides(specification) else { return Err("a specification without ends".to_owned()) };
    let is_allowed = |point: &[Rational]| -> Result<bool, String> {
        Ok(specification.allowed.contains(meaning.label(&outputs(network, point)?)))
    };
    let inside =
        |point: &[Rational]| point.len() == 2 && point.iter().zip(&sides).all(|(x, (low, high))| low <= x && x <= high);
    let exactly = |inputs: &[f64]| -> Result<Vec<Rational>, String> {
        inputs.iter().map(|own| rational(*own)).collect::<Option<_>>().ok_or_else(|| "no number".to_owned())
    };
    match verdict {
        Verdict::Open(_) => Ok(Judged::Unknown),
        Verdict::Holds => {
            for a in 0..POINTS {
                for b in 0..POINTS {
                    let at =
                        |(low, high): &(Rational, Rational), n: i64| low + (high - low) * whole(n) / whole(POINTS - 1);
                    let point = [at(&sides[0], a), at(&sides[1], b)];
                    if !is_allowed(&point)? {
                        return Ok(Judged::Wrong(Class::AnswerWrong, format!("holds, but not at {point:?}")));
                    }
                }
            }
            Ok(Judged::Right("holds"))
        }
        Verdict::Violated(witness) => {
            let point = exactly(&witness.inputs)?;
            Ok(if !inside(&point) {
                Judged::Wrong(Class::AnswerWrong, format!("violated at {:?}", witness.inputs))
            } else if !is_allowed(&point)? {
                Judged::Right("violated")
            } else if meaning
                .labels_nearby(&outputs(network, &point)?)
                .any(|label| !specification.allowed.contains(label))
            {
                // A replay in floats lands on the border, or beyond it.
                Judged::Right("violated in doubles")
            } else {
                Judged::Wrong(Class::AnswerWrong, format!("violated at {:?}", witness.inputs))
            })
        }
        // A number between both outputs is forbidden, and taken somewhere between both points.
        Verdict::Crossed(first, second) => {
            let (first, second) = (exactly(first)?, exactly(second)?);
            let (low, high) = (outputs(network, &first)?[0].clone(), outputs(network, &second)?[0].clone());
            let forbidden = !specification.allowed.contains(1) && meaning == Meaning::Sign;
            Ok(match inside(&first) && inside(&second) && forbidden && low < whole(0) && high > whole(0) {
                true => Judged::Right("crossed"),
                false => Judged::Wrong(Class::AnswerWrong, format!("crossed between {first:?} and {second:?}")),
            })
        }
    }
}
