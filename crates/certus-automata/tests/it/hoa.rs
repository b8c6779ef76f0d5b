//! Automata that are written and read again are the same; files from elsewhere are read or refused at their place.

use certus_automata::degeneralise::state_based;
use certus_automata::dot::automaton_dot;
use certus_automata::formula::{Formulas, Names};
use certus_automata::hoa::{read_hoa, write_hoa};
use certus_automata::translate::{Options, translate};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn round_trip(tree in crate::common::trees(3, 10)) {
        let (mut store, names) = (Formulas::new(), Names(vec!["a".into(), "x \"<\\ 1".into(), "c".into()]));
        let formula = tree.build(&mut store);
        let options = Options { most_states: 300, most_transitions: 5000, ..Options::default() };
        let Ok(automaton) = translate(&mut store, formula, &names, &options) else { return Ok(()) };
        for automaton in [state_based(&automaton), automaton] {
            let text = write_hoa(&automaton);
            prop_assert_eq!(read_hoa(&text), Ok(automaton.clone()), "{}", text);
            prop_assert!(automaton_dot(&automaton).starts_with("digraph"));
        }
    }

    #[test]
    fn reading_never_panics(
        text in "(HOA: v1\n)?((States|Start|AP|Acceptance|Alias|name|State):|--BODY--|--END--|Inf|[0-3t@a\\[\\](){}&|!\" \n]){0,40}"
    ) {
        let _ = read_hoa(&text);
    }
}

/// The same language (a U b) said in four ways.
#[test]
fn labels_in_every_style() {
    let head = "HOA: v1\nStates: 2\nStart: 0\nAP: 2 \"a\" \"b\"\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n";
    let explicit =
        format!("{head}tool: \"x\" \"1\"\n--BODY--\nState: 0\n[0&!1] 0\n[1] 1\nState: 1 \"end\" {{0}}\n[t] 1\n--END--");
    let implicit = format!("{head}--BODY--\nState: 0 1 0 1 1 State: 1 {{0}} 1 1 1 1\n--END--")
        .replace("State: 0 1 0 1 1", "State: 0 /* !a!b */ 1 0 1 1");
    let aliases = format!(
        "{head}Alias: @b 1\nAlias: @wait !@b & 0\n--BODY--\nState: 0 [@wait] 0 [@b] 1\nState: 1 {{0}} [t] 1\n--END--"
    );
    let transitions =
        format!("{head}--BODY--\nState: 0 [!(!0 | 1)] 0 [0&1 | !0&1] 1\nState: 1 [0] 1 {{0}} [!0] 1 {{0}}\n--END--");
    let first = read_hoa(&explicit).unwrap();
    for text in [aliases, transitions] {
        assert_eq!(read_hoa(&text), Ok(first.clone()));
    }
    // Without a and b the implicit one goes on to 1: letters count from no atom at all.
    let implicit = read_hoa(&implicit).unwrap();
    assert!(implicit.edges[0].iter().any(|edge| edge.target == 1 && edge.label.contains(0)));
    assert!(implicit.edges[0].iter().any(|edge| edge.target == 0 && edge.label.contains(1)));
    let states = format!("{head}--BODY--\nState: [0] 0 0 1\nState: [1] 1 {{0}} 1\n--END--");
    assert_eq!(read_hoa(&states).unwrap().edges[0].len(), 2);
}

#[test]
fn refusals_have_places() {
    let wrong = |text: &str| read_hoa(text).unwrap_err().to_string();
    assert_eq!(wrong("never"), "1:1: expected 'HOA: v1'");
    assert_eq!(wrong("HOA: v2"), "1:6: only version v1 is known");
    assert_eq!(wrong("HOA: v1\nStates: 9000000000"), "2:9: this file is too short to define so many states");
    assert_eq!(wrong("HOA: v1\nStart: 0&1"), "2:9: alternating automata are not supported");
    assert!(wrong("HOA: v1\nAcceptance: 1 Fin(0)").starts_with("2:15: only (generalised) Büchi acceptance"));
    assert!(wrong("HOA: v1\nAcceptance: 2 Inf(0)|Inf(1)").starts_with("2:21: only (generalised) Büchi acceptance"));
    assert_eq!(wrong("HOA: v1\nFancy: 3"), "2:1: 'Fancy:' matters, says the format, and is not known");
    let head = "HOA: v1\nStates: 1\nStart: 0\nAP: 1 \"a\"\nAcceptance: 0 t\n--BODY--\n";
    assert_eq!(wrong(&format!("{head}State: 0 [1] 0\n--END--")), "7:11: there are 1 atoms, none is 1");
    assert_eq!(wrong(&format!("{head}State: 0 [0] 1\n--END--")), "8:1: a state beyond those that 'States:' declares");
    assert_eq!(wrong(&format!("{head}State: 0 [0] 0 {{0}}\n--END--")), "7:18: there is no such set");
    assert_eq!(wrong(&format!("{head}State: 0 [@x] 0\n--END--")), "7:11: no alias @x before this");
    assert_eq!(wrong(&format!("{head}State: 0 0\n--END--")), "8:1: state 0 has 1 transitions, not one for each letter");
    assert_eq!(wrong(&format!("{head}--ABORT--")), "7:1: whoever wrote this file gave up here");
    assert_eq!(wrong(&format!("{head}--END-- HOA: v1")), "7:9: one automaton at a time: this follows the end");
}
