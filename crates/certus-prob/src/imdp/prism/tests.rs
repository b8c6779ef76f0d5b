use super::*;
use crate::imdp::property::{Property, answer};
use crate::imdp::{drn, explicit, robust_value_iteration::Resources};

const DICE: &str = r#"
// A die made of coins.
dtmc
const double p = 0.5;
module die
  s : [0..7] init 0;
  d : [0..6] init 0;
  [] s=0 -> p : (s'=1) + 1-p : (s'=2);
  [] s=1 -> p : (s'=3) + 1-p : (s'=4);
  [] s=2 -> p : (s'=5) + 1-p : (s'=6);
  [] s=3 -> p : (s'=1) + 1-p : (s'=7) & (d'=1);
  [] s=4 -> p : (s'=7) & (d'=2) + 1-p : (s'=7) & (d'=3);
  [] s=5 -> p : (s'=7) & (d'=4) + 1-p : (s'=7) & (d'=5);
  [] s=6 -> p : (s'=2) + 1-p : (s'=7) & (d'=6);
  [] s=7 -> (s'=7);
endmodule
label "six" = s=7 & d=6;
"#;

const PAIR: &str = r#"
mdp
const int N = 2;
formula both = x=N & y=N;
module one
  x : [0..N];
  [go] x<N -> [0.4,0.6] : (x'=x+1) + [0.4,0.6] : true;
endmodule
module other
  y : [0..N] init 0;
  [go] true -> (y'=min(y+1, N));
  [stay] y=0 -> true;
endmodule
label "done" = both;
"#;

fn value(model: &Imdp, property: &str) -> (f64, f64) {
    let property = Property::parse(property).unwrap();
    answer(model, &property, 1e-10, Resources::default()).unwrap().unwrap().initial
}

#[test]
fn a_die_is_fair() {
    let model = read(DICE, &[]).unwrap();
    assert_eq!(model.states(), 13);
    let (low, high) = value(&model, "Pmax=? [ F \"six\" ]");
    assert!(low <= 1.0 / 6.0 && 1.0 / 6.0 <= high && high - low < 1e-9, "{low} {high}");
    let biased = read(DICE, &[("p".to_owned(), 1.0)]).unwrap();
    assert_eq!(value(&biased, "Pmax=? [ F \"six\" ]"), (0.0, 0.0));
}

#[test]
fn modules_synchronise_and_intervals_multiply() {
    let model = read(PAIR, &[]).unwrap();
    // Two successes in two steps.
    let (low, high) = value(&model, "Pmaxmax=? [ F<=2 \"done\" ]");
    assert!((low - 0.36).abs() < 1e-12 && (high - 0.36).abs() < 1e-12, "{low} {high}");
    let (low, high) = value(&model, "Pmaxmin=? [ F<=2 \"done\" ]");
    assert!((low - 0.16).abs() < 1e-12 && (high - 0.16).abs() < 1e-12, "{low} {high}");
    // A scheduler that only stays never gets there.
    assert_eq!(value(&model, "Pminmax=? [ F \"done\" ]"), (0.0, 0.0));
}

#[test]
fn every_format_gives_the_model_back() {
    for text in [DICE, PAIR] {
        let model = read(text, &[]).unwrap();
        assert_eq!(drn::read(&drn::write(&model)).unwrap(), model);
        let (transitions, labels) = explicit::write(&model);
        assert_eq!(explicit::read(&transitions, Some(&labels)).unwrap(), model);
        let again = read(&write(&model), &[]).unwrap();
        assert_eq!((again.states(), again.transition_count()), (model.states(), model.transition_count()));
    }
}

#[test]
fn errors_name_the_line() {
    let wrong = |text: &str| read(text, &[]).unwrap_err();
    assert_eq!(
        wrong("mdp\nmodule m\n x : [0..1];\n [] x=0 -> (x'=2);\nendmodule"),
        "line 4: x' becomes Int(2), which is not in [0..1]"
    );
    assert!(wrong("mdp\nmodule m\n x : [0..1];\n [] x=0 - (x'=1);\nendmodule").starts_with("line 4: expected '->'"));
    assert!(wrong("mdp\nconst int N;\n").contains("N has no value"));
    assert!(
        wrong("mdp\nformula a = b;\nformula b = a;\nmodule m\n x : [0..1];\n [] a -> true;\nendmodule")
            .contains("cyclically")
    );
    assert!(wrong(&format!("mdp\nformula a = {}1;", "(".repeat(5000))).contains("nested too deeply"));
}

#[test]
fn a_chain_chooses_uniformly_among_enabled_commands() {
    let text = |kind: &str| {
        format!(
            "{kind}\nmodule m\n x : [0..3];\n [] x<1 -> 0.5:(x'=1)+0.5:(x'=2);\n [] x>=0&x<1 -> (x'=3);\n \
             [] x=1 -> true;\nendmodule\nlabel \"g\" = x=3;\nlabel \"one\" = x=1;\n"
        )
    };
    let chain = read(&text("dtmc"), &[]).unwrap();
    let near = |(low, high): (f64, f64), exact: f64| low <= exact && exact <= high && high - low < 1e-9;
    for question in ["Pmax", "Pmin"] {
        assert!(near(value(&chain, &format!("{question}=? [ F \"g\" ]")), 0.5));
        assert!(near(value(&chain, &format!("{question}=? [ F \"one\" ]")), 0.25));
    }
    assert!(near(value(&read(&text("mdp"), &[]).unwrap(), "Pmax=? [ F \"g\" ]"), 1.0));
    // Three ways to go: two commands of one module's own, and one that two modules make together.
    let joint = "dtmc\nmodule a\n x : [0..3];\n [] x=0 -> (x'=1);\n [] x=0 -> (x'=2);\n [go] x=0 -> 0.5:(x'=3)+0.5:(x'=2);\n\
                 endmodule\nmodule b\n y : bool;\n [go] true -> (y'=true);\nendmodule\nlabel \"g\" = x=3 & y;\nlabel \"two\" = x=2;\n";
    let chain = read(joint, &[]).unwrap();
    assert!(near(value(&chain, "Pmax=? [ F \"g\" ]"), 1.0 / 6.0));
    assert!(near(value(&chain, "Pmin=? [ F \"two\" ]"), 0.5));
}

#[test]
fn a_chain_does_not_mix_intervals() {
    let text = |guard: &str| {
        format!(
            "dtmc\nmodule m\n x : [0..2];\n [] x=0 -> [0.4,0.6]:(x'=1)+[0.4,0.6]:(x'=2);\n [] {guard} -> (x'=2);\n\
             endmodule\nlabel \"g\" = x=1;\n"
        )
    };
    let alone = read(&text("x=1"), &[]).unwrap();
    let (low, high) = value(&alone, "Pmaxmax=? [ F<=1 \"g\" ]");
    assert!((low - 0.6).abs() < 1e-9 && (high - 0.6).abs() < 1e-9);
    let message = read(&text("x<=1"), &[]).unwrap_err();
    assert!(message.starts_with("line 4: a dtmc chooses uniformly among the 2 commands"), "{message}");
}
