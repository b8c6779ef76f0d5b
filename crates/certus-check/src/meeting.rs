//! Runs on which two numbers are equal, between runs on which one and the other is larger.
//!
//! A query that asks for f(z) = 0 has answers on a set without volume: no sample meets it, and a solver that wants a witness in doubles searches for ever. Its two halves, f ≤ 0 and
//! f ≥ 0, are as easy as other queries. Between an answer to one and an answer to the other f changes its sign, so bisection along the line between
//! them (Bolzano's theorem) ends next to a zero. There doubles are dense: the last bits of one choice move f by less than f is rounded by, so one of a few neighbours gives the
//! very number. What is found is replayed like any other witness; that there is a zero over the reals is shown elsewhere (`equalities`).

use certus_graph::eval::{Evaluator, Workspace};
use certus_graph::{GraphError, Interval};
use certus_model::{CheckError, Run};
use certus_numerics::Random;
use certus_solver::formula::{Atom, Formula, Linear};
use certus_solver::{Answer, Budget, Place, Query, Witness, solve};

use crate::query::RunQuery;
use crate::replay::Drive;
use crate::unroll::Unrolled;

/// Subproblems of each half: where it takes many, its equality is not what makes the query hard.
const WORK_OF_HALF: u64 = 500;

/// Bisections, at most: from any interval to neighbouring doubles.
const MOST_BISECTIONS: usize = 128;

/// Neighbours that are tried, and how far they are away at most, in roundings.
const NEIGHBOURS: usize = 96;
const DISTANCES: [f64; 4] = [4.0, 64.0, 1024.0, 16_384.0];

/// The run of a query that has one equality, if this finds it; and what the halves took, in multiplications.
pub(crate) fn met(
    query: &RunQuery,
    budget: &Budget<'_>,
    replayed: &mut dyn FnMut(&Drive) -> Result<Option<Run>, CheckError>,
) -> Result<(Option<Run>, u64), CheckError> {
    let Some((below, above)) = halves(query.formula()) else { return Ok((None, 0)) };
    let unrolled = query.unrolled();
    let own = Budget { subproblems: WORK_OF_HALF.min(budget.subproblems), ..*budget };
    let mut effort = 0;
    let mut answer = |formula: &Formula<Place>| -> Result<Option<Vec<f64>>, CheckError> {
        let half = Query::over_nodes(&unrolled.graph, unrolled.region.clone(), formula)?;
        let mut spent = 0;
        let found = solve(&half, &own, &mut |progress| spent = progress.effort.max(spent))?;
        effort += spent;
        Ok(if let Answer::Sat(witness) = found { Some(witness.inputs) } else { None })
    };
    let Some(first) = answer(&below.rest)? else { return Ok((None, effort)) };
    let Some(second) = answer(&above.rest)? else { return Ok((None, effort)) };
    let zero = Difference::new(unrolled, &below.dropped).between(first, second)?;
    let mut random = Random::new(budget.seed, 0);
    let region = &unrolled.region;
    let movable: Vec<usize> = (0..zero.len()).filter(|&place| region.lower[place] < region.upper[place]).collect();
    if movable.is_empty() {
        return Ok((None, effort));
    }
    for distance in DISTANCES {
        for _ in 0..NEIGHBOURS {
            let place = movable[random.bits() as usize % movable.len()];
            let mut inputs = zero.clone();
            let size = distance * f64::EPSILON * inputs[place].abs().max(f64::EPSILON);
            inputs[place] += size * (2.0 * random.unit() - 1.0);
            inputs[place] = inputs[place].clamp(region.lower[place], region.upper[place]);
            if let Some(run) = replayed(&query.drive(&Witness { inputs, outputs: Vec::new() }))? {
                return Ok((Some(run), effort));
            }
        }
    }
    Ok((None, effort))
}

/// A formula without one of its atoms, and that atom.
struct Half {
    rest: Formula<Place>,
    dropped: Atom<Place>,
}

/// The two halves of a conjunction with one equality, which is two atoms.
fn halves(formula: &Formula<Place>) -> Option<(Half, Half)> {
    let Formula::And(parts) = formula else { return None };
    let is_opposite = |a: &Linear<Place>, b: &Linear<Place>| {
        let matches = |(place, factor): &(Place, Interval)| b.terms.contains(&(*place, -*factor));
        a.terms.len() == b.terms.len() && a.constant == -b.constant && a.terms.iter().all(matches)
    };
    let atom = |place: usize| match &parts[place] {
        Formula::Atom(own) if !own.strict && !own.linear.terms.is_empty() => Some(own),
        _ => None,
    };
    let pairs = (0..parts.len()).flat_map(|first| (first + 1..parts.len()).map(move |second| (first, second)));
    let mut equal = pairs.filter(|&(first, second)| match (atom(first), atom(second)) {
        (Some(one), Some(other)) => is_opposite(&one.linear, &other.linear),
        _ => false,
    });
    let (first, second) = equal.next()?;
    if equal.next().is_some() {
        return None;
    }
    let without = |place: usize| {
        let kept = parts.iter().enumerate().filter(|(own, _)| *own != place).map(|(_, part)| part.clone());
        Some(Half { rest: Formula::And(kept.collect()), dropped: atom(place)?.clone() })
    };
    Some((without(first)?, without(second)?))
}

/// A linear function of numbers of an unrolled loop, in doubles.
struct Difference<'u> {
    evaluator: Evaluator<f64>,
    linear: &'u Linear<Place>,
}

impl<'u> Difference<'u> {
    fn new(unrolled: &Unrolled, atom: &'u Atom<Place>) -> Difference<'u> {
        let mut graph = unrolled.graph.clone();
        let before = graph.outputs().len();
        atom.linear.terms.iter().for_each(|(place, _)| graph.output("", place.node));
        let wanted: Vec<usize> = (before..before + atom.linear.terms.len()).collect();
        Difference { evaluator: Evaluator::new(&graph.keep_outputs(&wanted)), linear: &atom.linear }
    }

    fn at(&self, inputs: &[f64], workspace: &mut Workspace<f64>) -> Result<f64, GraphError> {
        let slices = [inputs];
        self.evaluator.run(workspace, &slices, 1)?;
        let middle = |own: Interval| own.lo / 2.0 + own.hi / 2.0;
        let terms = self.linear.terms.iter().enumerate();
        let value = |(output, (place, factor)): (usize, &(Place, Interval))| {
            middle(*factor) * self.evaluator.output(workspace, &slices, output)[place.element]
        };
        Ok(middle(self.linear.constant) + terms.map(value).sum::<f64>())
    }

    /// A point on the line between two others next to which the sign changes, if it does between them.
    fn between(&self, mut first: Vec<f64>, mut second: Vec<f64>) -> Result<Vec<f64>, GraphError> {
        let mut workspace = Workspace::default();
        let sign = self.at(&first, &mut workspace)? <= 0.0;
        for _ in 0..MOST_BISECTIONS {
            let middle: Vec<f64> = first.iter().zip(&second).map(|(a, b)| a / 2.0 + b / 2.0).collect();
            if middle == first || middle == second {
                break;
            }
            let value = self.at(&middle, &mut workspace)?;
            if value == 0.0 {
                return Ok(middle);
            }
            if (value <= 0.0) == sign { first = middle } else { second = middle }
        }
        Ok(first)
    }
}
