//! Random questions about graphs of every operator: 'unsat' means that no sample satisfies the formula over the reals, 'sat'
//! comes with a point that does under replay, and neither threads nor the way of cutting contradicts another.

use crate::support::{Asked, Numbers, Plan, ask};
use certus_solver::{Answer, Budget, solve};
use certus_testing::graphs;
use proptest::prelude::*;

/// Asks, and says what is wrong with the answer.
fn judged(asked: &Asked, budget: &Budget<'_>, samples: usize, numbers: &mut Numbers) -> Result<Option<bool>, String> {
    match solve(&asked.query(), budget, &mut |_| {}).map_err(|error| error.to_string())? {
        Answer::Sat(witness) => asked.fault(&witness).map_or(Ok(Some(true)), Err),
        Answer::Unsat(refutation) => {
            for _ in 0..samples {
                let x = asked.point(numbers);
                if asked.truth(&x) == Some(true) {
                    return Err(format!("'unsat', but the formula holds at {x:?}"));
                }
            }
            match (budget.certify, refutation.tree) {
                (true, Some(_)) | (false, None) => Ok(Some(false)),
                (_, tree) => Err(format!("asked for a certificate: {}, got {tree:?}", budget.certify)),
            }
        }
        Answer::Unknown(..) => Ok(None),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn answers_agree_with_samples(
        inner in graphs::graphs(),
        seed: u64,
        inputs in 1usize..5,
        unused in prop::sample::select(vec![0usize, 0, 8, 45]),
        copies in 1usize..4,
        looped: bool,
        certify: bool,
        threads in prop::sample::select(vec![1usize, 3]),
    ) {
        let mut numbers = Numbers(seed);
        let asked = ask(&inner, Plan { inputs, unused, copies, looped }, &mut numbers);
        let budget = Budget { subproblems: 150, certify, threads, ..Budget::default() };
        let verdict = judged(&asked, &budget, 300, &mut numbers);
        prop_assert!(verdict.is_ok(), "{verdict:?} for {:?}", asked.formula);
    }

    #[test]
    fn ways_of_searching_do_not_contradict_each_other(inner in graphs::graphs(), seed: u64) {
        let mut verdicts = Vec::new();
        // Inputs that nothing reads make the search cut elements, or take turns.
        for (unused, threads) in [(0, 1), (0, 3), (8, 2), (45, 1)] {
            let mut asked = ask(&inner, Plan { inputs: 2, unused: 0, copies: 1, looped: false }, &mut Numbers(seed));
            if unused > 0 {
                asked.graph.input("unused", &[unused]);
                asked.lower.resize(2 + unused, -1.0);
                asked.upper.resize(2 + unused, 1.0);
            }
            let budget = Budget { subproblems: 60, threads, ..Budget::default() };
            let verdict = judged(&asked, &budget, 100, &mut Numbers(!seed));
            prop_assert!(verdict.is_ok(), "{verdict:?} for {:?}", asked.formula);
            verdicts.extend(verdict);
        }
        let said = |truth: bool| verdicts.contains(&Some(truth));
        prop_assert!(!(said(true) && said(false)), "{verdicts:?}");
    }
}
