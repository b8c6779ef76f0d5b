//! Expressions: what is true of a state, what is false, and what is undefined.

use certus_reference::{Lattice, Model, ModelError, Specification, Visited, rational};

const SYSTEM: &str = "system s\nconst tenth = 0.1, row = [1, 2, 3]\nparam k in [0, 9] = 2\nstate x in [-9, 9]\nstate v[3] in [-9, 9]\n\
                      action tie = argmax([x, 2, x]) of { l, m, r }\nchance c of { a: 1, b: 0 }\ndefine twice = 2 * x\n\
                      init x == 2\nnext x = x\nnext v = shift(v, x)\n";

#[derive(Debug, PartialEq)]
enum Said {
    True,
    False,
    Undefined,
    NotKnown,
}

/// What an atom is at x = 2 and v = [1, 4, 9].
fn said(atom: &str) -> Said {
    let model = Model::read(&format!("{SYSTEM}property p = {atom}"), &[]).unwrap();
    let formula = model.properties[0].body.over_runs().unwrap();
    let specification = Specification::new(&model, formula).unwrap();
    let start = [2.0, 1.0, 4.0, 9.0].map(|value| rational(value).unwrap()).to_vec();
    match Visited::new(&model, specification, &Lattice { starts: vec![start], inputs: vec![Vec::new()] }) {
        Ok(visited) => match visited.decide() {
            decision if decision.violated() => Said::False,
            decision => match decision.error {
                None => Said::True,
                Some((_, ModelError::Undefined(_))) => Said::Undefined,
                Some(other) => panic!("{atom}: {other:?}"),
            },
        },
        Err(message) if message.starts_with("not known") => Said::NotKnown,
        Err(message) => panic!("{atom}: {message}"),
    }
}

#[test]
fn what_is_true() {
    let all = [
        "x + 1 == 3 & x - 3 == -1 & x * x == 4 & x / 4 == 0.5",
        "-x^2 == -4 & x^-1 == 0.5 & x^0 == 1 & v[1]^0.5 == 2 & v[1]^1.5 == 8 & (x - 2)^0 == 1",
        "abs(-x) == 2 & floor(x / 4) == 0 & floor(-x / 4) == -1 & sign(-x) == -1 & sign(x - 2) == 0 & relu(-x) == 0",
        "sqrt(v[2]) == 3 & sqrt(x) > 1.41421356 & sqrt(x) < 1.41421357",
        "exp(x) > 7.389056 & exp(x) < 7.389057 & log(x) > 0.693147 & log(x) < 0.693148 & exp(log(x - 1)) == 1",
        "sin(x) > 0.909297 & cos(x) < -0.416146 & tan(x) < -2.185 & tanh(x) > 0.964 & sigmoid(x) < 0.881 & sigmoid(x - 2) == 0.5",
        "min(x, 1, 5) == 1 & max(v) == 9 & min(v) == 1 & clamp(x, 3, 4) == 3 & clamp(x, -1, 1) == 1",
        "sum(v) == 14 & len(v) == 3 & all(v >= 1) & any(v > 8) & !all(v > 1)",
        "all(interleave(v, row) == [1, 1, 4, 2, 9, 3]) & all(repeat(x, 2) == [2, 2]) & all(concat(v[1..], x) == [4, 9, 2])",
        "v[-1] == 9 & all(v[..2] == [1, 4]) & all([for i in 0..3: v[i] * i] == [0, 4, 18])",
        "all(next(v) == [4, 9, 2]) & next(x) == x",
        "tie == l & match tie { l: x == 2, _: 1 / (x - 2) > 0 } & c != b & (if x > 5 then 1 / (x - 2) else 1) == 1",
        "twice == 4 & k == x & x in [2, 3] & (x == 2 <-> v[0] == 1) & (x == 3 -> false)",
        "deg(90 * x) > 3.14159 & deg(90 * x) < 3.1416 & wrap(2 * x) < -2.28",
    ];
    for atom in all {
        assert_eq!(said(atom), Said::True, "{atom}");
    }
}

#[test]
fn constants_are_doubles_and_the_rest_is_real() {
    // As doubles, 0.1 + 0.2 is not 0.3; as reals that depend on the state neither is, but by less.
    assert_eq!(said("x > 0 & 0.1 + 0.2 > 0.3"), Said::True);
    assert_eq!(said("(x - 2) + tenth + 0.2 == tenth + 0.2"), Said::False);
    assert_eq!(said("x / 3 * 3 == 2"), Said::True);
    assert_eq!(said("(x - 1) / 3 == 1 / 3"), Said::False);
}

#[test]
fn what_is_undefined_is_so_whatever_is_made_of_it() {
    let all = [
        "1 / (x - 2) > 0",
        "x > 5 & 1 / (x - 2) > 0",
        "x == 2 | log(x - 2) > 0",
        "0 * sqrt(-x) == 0",
        "(x - 2)^-1 > 0",
        "(-x)^0.5 == 1",
        "clamp(log(2 - x), -4, 3) == -4",
        "(0 / (x - 2)) == (0 / (x - 2))",
        "match tie { l: 1 / (x - 2), _: 1 } > 0",
    ];
    for atom in all {
        assert_eq!(said(atom), Said::Undefined, "{atom}");
    }
}

#[test]
fn what_enclosures_cannot_tell_is_not_said() {
    assert_eq!(said("exp(x) * exp(-x) == 1"), Said::NotKnown);
    assert_eq!(said("sqrt(x) * sqrt(x) == 2"), Said::NotKnown);
    assert_eq!(said("log(sqrt(x)^2 - 2) > 0"), Said::NotKnown);
}
