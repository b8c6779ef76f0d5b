use super::*;
use serde_json::json;

fn page_of(document: Value) -> Report {
    report(&[("r.json".to_owned(), document)]).unwrap()
}

fn check_document() -> Value {
    let position = |x: f64, ok: bool| {
        json!({"state": {"x": x, "y": -x}, "input": {"d": 0.25}, "policy": {"a": 1.0},
        "action": {"go": "left"}, "chance": {}, "atoms": {"x < 2": ok}})
    };
    json!({"system": "s<1>", "states": [{"name": "x", "lower": -3, "upper": 3}, {"name": "y", "lower": -3, "upper": 3}],
    "results": [
        {"property": "p", "formula": "G x < 2", "words": "x stays small", "verdict": "violated", "engine": "bmc",
         "scope": {"bounded": 2}, "seconds": 0.5, "trace": [position(0.1 + 0.2, true), position(1.5, true), position(2.5, false)],
         "loop": null, "notes": ["note & more"]},
        {"property": "q", "verdict": "holds", "engine": "induction", "scope": "unbounded", "seconds": 1.25,
         "certificate": "q.certificate",
         "proof": {"for_all_time": [{"induction": {"depth": 1, "invariant": [{"linear": {"x": 1, "y": 2}, "at_most": 1.5}]}}]},
         "grid": {"axes": ["x", "y"], "reachable": {"every": 1, "units": [
             {"step": 0, "box": [[0, 1], [0, 1]]}, {"step": 3, "box": [[1, 2], [0, 1]]}]}}},
        {"property": "r", "verdict": "unknown", "engine": "bmc", "scope": null, "reason": "the time was over"},
    ]})
}

#[test]
fn a_check_is_shown_with_its_numbers() {
    let Report { html, figures, results } = page_of(check_document());
    assert!(html.contains(r#"<data value="0.30000000000000004">0.3</data>"#), "exact numbers are on the page");
    assert!(html.contains("s&lt;1&gt;") && !html.contains("s<1>"), "names cannot break out");
    assert!(html.contains("x stays small (always x &lt; 2)"));
    assert!(html.contains("up to 2 steps") && html.contains("for all time") && html.contains("the time was over"));
    assert!(html.contains("d = <data value=\"0.25\">0.25</data> at every step"));
    assert_eq!(results, 3);
    let names: Vec<&str> = figures.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["01-s-1--p-over-time", "02-s-1--p-phase-portrait", "03-s-1--q-invariant", "04-s-1--q-grid"]);
}

#[test]
fn pages_need_nothing_else() {
    let html = page_of(check_document()).html;
    for other in ["http://", "https://", "src=", "@import", "url(h"] {
        let rest = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!rest.contains(other), "{other}");
    }
    assert_eq!(html.matches("<script>").count(), 1);
}

#[test]
fn anchors_lead_to_sections() {
    let html = page_of(check_document()).html;
    let targets: Vec<&str> = html.split("<a href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(targets.len(), 2, "{targets:?}");
    assert_ne!(targets[0], targets[1]);
    for target in targets {
        assert!(html.contains(&format!("<section id=\"{target}\"")));
    }
}

#[test]
fn an_audit_says_what_became_of_a_certificate() {
    let audit =
        json!({"certificate": "q.certificate", "verdict": "accepted", "claim": "x", "files": [], "seconds": 0.1});
    let documents = [("a".to_owned(), check_document()), ("b".to_owned(), audit)];
    assert!(report(&documents).unwrap().html.contains("q.certificate: accepted by the audit"));
}

#[test]
fn what_is_no_outcome_is_refused_with_its_place() {
    let told = |document: Value| report(&[("r.json".to_owned(), document)]).unwrap_err().to_string();
    assert!(told(json!([1, 2])).starts_with("r.json: this is no outcome that Certus writes"));
    assert!(told(json!({"a": 1})).starts_with("r.json: this is no outcome that Certus writes"));
    let mut wrong = check_document();
    wrong["results"][0]["trace"][1]["state"]["x"] = json!("much");
    assert_eq!(told(wrong), "r.json: results[0].trace[1].state.x: expected a number, found a text");
    let mut wrong = check_document();
    wrong["results"][1]["grid"]["reachable"]["units"][1]["box"] = json!([[1, 2]]);
    assert_eq!(told(wrong), "r.json: results[1].grid.reachable.units[1]: as many ends as there are axes are needed");
    assert_eq!(
        told(json!({"system": "s", "results": [{"verdict": "holds"}]})),
        "r.json: results[0]: `property` is missing"
    );
}

#[test]
fn long_runs_are_thinned_and_say_so() {
    let trace: Vec<Value> =
        (0..5000).map(|step| json!({"state": {"x": f64::from(step) * 0.1, "y": f64::from(step % 9)}})).collect();
    let html = page_of(
        json!({"system": "s", "results": [{"property": "p", "verdict": "violated", "trace": trace, "loop": 10}]}),
    )
    .html;
    assert!(html.contains("The table shows the first and the last 100 of 5000 steps"));
    assert!(html.contains("the smallest and the largest value of every 17 steps"));
    assert_eq!(html.matches("data-step=").count(), 200);
    assert!(html.len() < 600_000, "{}", html.len());
}

fn probability_document(actions: Value) -> Value {
    json!({"system": "s", "results": [{"property": "p", "formula": "P<=0.5 [ F<=3 bad ]", "verdict": "holds", "engine": "imdp",
        "scope": {"bounded": 3}, "seconds": 0.5, "probability": {"lower": 0.1, "upper": 0.25},
        "axes": ["x", "y"],
        "cells": [{"lower": [0, 0], "upper": [1, 1], "bound": 0.25}, {"lower": [1, 0], "upper": [2, 1], "bound": 0.125}],
        "convergence": [{"seconds": 0.1, "lower": 0.0, "upper": 1.0}, {"seconds": 0.5, "lower": 0.1, "upper": 0.25}],
        "actions": actions}]})
}

#[test]
fn a_probability_has_a_map_for_every_action() {
    let action = |label: &str, lower: [f64; 2], upper: [f64; 2]| json!({"action": "act", "label": label, "lower": lower, "upper": upper});
    let shown = page_of(probability_document(json!([
        action("go", [0.5, 0.0625], [0.75, 0.375]),
        action("stay", [0.25, 0.625], [0.5, 0.9375])
    ])));
    let names: Vec<&str> = shown.figures.iter().map(|(name, _)| name.as_str()).collect();
    for wanted in ["convergence", "partition", "go", "stay"] {
        assert!(names.iter().any(|name| name.ends_with(wanted)), "{wanted}: {names:?}");
    }
    // Boxes are in the order of their bounds, and so are the other numbers; places stand on the page once.
    assert!(shown.html.contains(r#""least":[0.0625,0.5]"#) && shown.html.contains(r#""values":[0.375,0.75]"#));
    assert_eq!(shown.html.matches(r#""lower":[["#).count(), 1);
    assert!(page_of(probability_document(Value::Null)).html.contains("was not bounded over so many parts"));
    let wrong = json!([{"action": "act", "label": "go", "lower": [0.5], "upper": [0.75]}]);
    let told = report(&[("r.json".to_owned(), probability_document(wrong))]).unwrap_err().to_string();
    assert!(told.contains("actions[0]") && told.contains("each of 2 cells"), "{told}");
}
