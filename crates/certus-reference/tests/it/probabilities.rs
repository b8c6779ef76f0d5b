//! Probabilities of small systems that can be computed by hand.

use certus_reference::{Lattice, Model, Rational, Real, Specification, Worst, probability, rational, whole};

fn asked(text: &str, starts: &[f64], inputs: &[f64], worst: Worst) -> Result<Real, String> {
    let model = Model::read(text, &[]).unwrap();
    let path = &model.properties[0].body.probability().unwrap().path;
    let specification = Specification::new(&model, path).unwrap();
    let number = |value: f64| rational(value).unwrap();
    let inputs = match model.inputs.is_empty() {
        true => vec![Vec::new()],
        false => inputs.iter().map(|&input| vec![number(input)]).collect(),
    };
    let starts = starts.iter().map(|&start| vec![number(start)]).collect();
    probability(&model, &specification, &Lattice { starts, inputs }, worst)
}

fn exactly(numerator: i64, denominator: i64) -> Result<Real, String> {
    Ok(Real::Exact(Rational::from(whole(numerator)) / whole(denominator)))
}

const WALK: &str = "system s\nstate x in [0, 3]\nchance c of { up: 0.25, down: 0.75 }\ninit x == 1\n\
                    next x = match c { up: min(x + 1, 3), down: max(x - 1, 0) }\nproperty p = ";

#[test]
fn bounded_formulas_are_exact() {
    // Up twice; and one step down.
    assert_eq!(asked(&format!("{WALK}P<=0.5 [ F<=2 x == 3 ]"), &[1.0], &[], Worst::Largest), exactly(1, 16));
    assert_eq!(asked(&format!("{WALK}P>=0.5 [ G<=1 x <= 1 ]"), &[1.0], &[], Worst::Smallest), exactly(3, 4));
    assert_eq!(asked(&format!("{WALK}P<=0.5 [ X X x == 1 ]"), &[1.0], &[], Worst::Largest), exactly(6, 16));
}

#[test]
fn the_environment_chooses_after_the_draws() {
    // Whatever is drawn, the environment can undo it.
    let text = "system s\nstate x in [0, 1]\ninput u in [0, 1]\nchance c of { a: 0.5, b: 0.5 }\ninit x == 0\n\
                next x = if c == a then u else 1 - u\nassume u == 0 | u == 1\nproperty p = P<=0.5 [ F<=1 x == 1 ]";
    assert_eq!(asked(text, &[0.0], &[0.0, 0.5, 1.0], Worst::Largest), exactly(1, 1));
    assert_eq!(asked(text, &[0.0], &[0.0, 0.5, 1.0], Worst::Smallest), exactly(0, 1));
    let pinned = text.replace("assume u == 0 | u == 1", "assume u == 1");
    assert_eq!(asked(&pinned, &[0.0], &[0.0, 0.5, 1.0], Worst::Largest), exactly(1, 2));
    // A die cannot be restricted.
    let refused = text.replace("assume u == 0 | u == 1", "assume c == a");
    assert!(asked(&refused, &[0.0], &[0.0, 1.0], Worst::Largest).is_err());
}

#[test]
fn an_input_before_a_draw_is_blind_of_it() {
    let text = "system s\nstate x in [0, 1]\nchance c of { a: 0.25, b: 0.75 }\ninput u in [0, 1] before c\ninit x == 0\n\
                next x = if c == a then u else 1 - u\nassume u == 0 | u == 1\nproperty p = P<=0.5 [ F<=1 x == 1 ]";
    // It bets on the likelier outcome, and not on both.
    assert_eq!(asked(text, &[0.0], &[0.0, 0.5, 1.0], Worst::Largest), exactly(3, 4));
    assert_eq!(asked(text, &[0.0], &[0.0, 0.5, 1.0], Worst::Smallest), exactly(1, 4));
    // Of another draw it knows.
    let two = text
        .replace("chance c", "chance d of { l: 0.5, r: 0.5 }\nchance c")
        .replace("c == a", "d == l & c == a | d == r");
    assert_eq!(asked(&two, &[0.0], &[0.0, 0.5, 1.0], Worst::Largest), exactly(7, 8));
    let both = two.replace("before c", "before c, d");
    assert_eq!(asked(&both, &[0.0], &[0.0, 0.5, 1.0], Worst::Largest), exactly(5, 8));
}

#[test]
fn a_model_error_counts_against_the_property() {
    let text = "system s\nstate x in [0, 1]\nchance c of { a: 0.5, b: 0.5 }\ninit x == 0\n\
                next x = match c { a: 0, b: 9 }\nproperty p = P<=0.5 [ F<=2 x == 1 ]";
    assert_eq!(asked(text, &[0.0], &[], Worst::Largest), exactly(3, 4));
    assert_eq!(asked(text, &[0.0], &[], Worst::Smallest), exactly(0, 1));
}

#[test]
fn unbounded_formulas_lie_between_two_numbers() {
    // The gambler's ruin, absorbed at both ends: from 1 of 3 with odds 1:3 the top is reached with (3 - 1) / (27 - 1).
    let text = WALK.replace("property p = ", "terminal x <= 0 | x >= 3\nproperty p = P<=0.5 [ F x == 3 ]");
    let Ok(value) = asked(&text, &[1.0], &[], Worst::Largest) else { panic!() };
    let expected = whole(2) / whole(26);
    assert!(value.low() <= &expected && &expected <= value.high());
    assert!(value.high() - value.low() < whole(1) / whole(1_000_000));
    // It ends at one of the two almost surely.
    let text = text.replace("F x == 3", "G (x > 0 & x < 3)");
    let Ok(value) = asked(&text, &[1.0], &[], Worst::Largest) else { panic!() };
    assert!(value.low() == &whole(0) && value.high() < &(whole(1) / whole(1_000_000)));
}
