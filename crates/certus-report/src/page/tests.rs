use certus_documents::Document;
use certus_documents::audit::{Audit, AuditVerdict};
use certus_documents::check::{Check, Grid, Position, PropertyResult};
use serde::Serialize;
use serde_json::json;

use super::*;

fn page_of(document: Value) -> Report {
    report(vec![("r.json".to_owned(), document)]).unwrap()
}

/// What differs from the default of a type.
fn over<T: Serialize + Default>(own: Value) -> Value {
    let mut whole = serde_json::to_value(T::default()).unwrap();
    if let (Value::Object(whole), Value::Object(own)) = (&mut whole, own) {
        whole.extend(own);
    }
    whole
}

/// A check with these results, each told by what differs from the default.
fn check(results: Value) -> Value {
    let Value::Array(results) = results else { panic!("a list of results") };
    let results: Vec<Value> = results.into_iter().map(over::<PropertyResult>).collect();
    over::<Check>(json!({"system": "s", "results": results}))
}

fn check_document() -> Value {
    let position = |x: f64, ok: bool| {
        over::<Position>(json!({"state": {"x": x, "y": -x}, "input": {"d": 0.25}, "policy": {"a": 1.0},
        "action": {"go": "left"}, "atoms": {"x < 2": ok}}))
    };
    let mut document = check(json!([
        {"property": "p", "formula": "G x < 2", "words": "x stays small", "verdict": "violated", "engine": "bmc",
         "scope": {"bounded": 2}, "seconds": 0.5, "trace": [position(0.1 + 0.2, true), position(1.5, true), position(2.5, false)],
         "loop": null, "notes": ["note & more"]},
        {"property": "q", "verdict": "holds", "engine": "induction", "scope": "unbounded", "seconds": 1.25,
         "certificate": "q.certificate",
         "proof": {"for_all_time": [{"induction": {"depth": 1, "different": false,
             "invariant": [{"linear": {"x": 1, "y": 2}, "at_most": 1.5}]}}]},
         "grid": over::<Grid>(json!({"axes": ["x", "y"], "reachable": {"every": 1, "cells": [
             {"step": 0, "box": [[0, 1], [0, 1]]}, {"step": 3, "box": [[1, 2], [0, 1]]}]}}))},
        {"property": "r", "verdict": "unknown", "engine": "bmc", "scope": null, "reason": "out of time"},
    ]));
    document["system"] = json!("s<1>");
    let ranges = json!([{"name": "x", "lower": -3, "upper": 3}, {"name": "y", "lower": -3, "upper": 3}]);
    document["states"] = ranges;
    document
}

#[test]
fn a_check_is_shown_with_its_numbers() {
    let Report { html, figures, results } = page_of(check_document());
    assert!(html.contains(r#"<data value="0.30000000000000004">0.3</data>"#), "exact numbers are on the page");
    assert!(html.contains("s&lt;1&gt;") && !html.contains("s<1>"), "names cannot break out");
    assert!(html.contains("x stays small (always x &lt; 2)"));
    assert!(html.contains("up to 2 steps") && html.contains("for all time") && html.contains("out of time"));
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
    assert_eq!(targets.len(), 3, "{targets:?}");
    assert!(targets[0] != targets[1] && targets[1] != targets[2]);
    for target in targets {
        assert!(html.contains(&format!("<section id=\"{target}\"")));
    }
}

#[test]
fn an_audit_says_what_became_of_a_certificate() {
    let certificate = "q.certificate".to_owned();
    let audit = Audit { certificate, verdict: AuditVerdict::Accepted, ..Audit::default() };
    let documents = vec![("a".to_owned(), check_document()), ("b".to_owned(), audit.to_value().unwrap())];
    assert!(report(documents).unwrap().html.contains("q.certificate: accepted by the audit"));
}

#[test]
fn what_is_no_outcome_is_refused_with_its_place() {
    let told = |document: Value| report(vec![("r.json".to_owned(), document)]).unwrap_err().to_string();
    assert!(told(json!([1, 2])).starts_with("r.json: this is no outcome that Certus writes"));
    assert!(told(json!({"a": 1})).starts_with("r.json: this is no outcome that Certus writes"));
    let mut wrong = check_document();
    wrong["results"][0]["trace"][1]["state"]["x"] = json!("much");
    let place = "r.json: results[0].trace[1].state.x: ";
    assert_eq!(told(wrong), format!("{place}invalid type: string \"much\", expected a number"));
    let mut wrong = check_document();
    wrong["results"][1]["grid"]["reachable"]["cells"][1]["box"] = json!([[1, 2]]);
    assert_eq!(told(wrong), "r.json: results[1].grid.reachable.cells[1]: as many ends as there are axes are needed");
    let mut wrong = check_document();
    wrong["results"][0].as_object_mut().unwrap().remove("property");
    assert_eq!(told(wrong), "r.json: results[0]: missing field `property`");
    let mut wrong = check_document();
    wrong["schema"] = json!("certus/check/0");
    assert!(told(wrong).contains("this version of Certus reads `certus/check/1`"));
    assert!(told(over::<certus_documents::fmt::Fmt>(json!({}))).contains("there is no page"));
}

#[test]
fn long_runs_are_thinned_and_say_so() {
    let trace: Vec<Value> = (0..5000)
        .map(|step| over::<Position>(json!({"state": {"x": f64::from(step) * 0.1, "y": f64::from(step % 9)}})))
        .collect();
    let html = page_of(check(json!([{"property": "p", "verdict": "violated", "trace": trace, "loop": 10}]))).html;
    assert!(html.contains("The table shows the first and the last 100 of 5000 steps"));
    assert!(html.contains("the smallest and the largest value of every 17 steps"));
    assert_eq!(html.matches("data-step=").count(), 200);
    assert!(html.len() < 600_000, "{}", html.len());
}

fn probability_document(actions: Value) -> Value {
    check(json!([{"property": "p", "formula": "P<=0.5 [ F<=3 bad ]", "verdict": "holds", "engine": "imdp",
        "scope": {"bounded": 3}, "seconds": 0.5, "probability": {"lower": 0.1, "upper": 0.25},
        "axes": ["x", "y"],
        "cells": [{"lower": [0, 0], "upper": [1, 1], "bound": 0.25}, {"lower": [1, 0], "upper": [2, 1], "bound": 0.125}],
        "convergence": [{"seconds": 0.1, "lower": 0.0, "upper": 1.0}, {"seconds": 0.5, "lower": 0.1, "upper": 0.25}],
        "actions": actions}]))
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
    let told = report(vec![("r.json".to_owned(), probability_document(wrong))]).unwrap_err().to_string();
    assert!(told.contains("actions[0]") && told.contains("each of 2 cells"), "{told}");
}

#[test]
fn a_model_error_is_no_violation() {
    let at = |x: f64| over::<Position>(json!({"state": {"x": x}}));
    let html = page_of(check(json!([{"property": "p", "verdict": "model error", "scope": {"bounded": 1},
        "reason": "x leaves its range", "trace": [at(1.0), at(2.0)], "loop": null}])))
    .html;
    assert!(html.contains("meets a model error at step <data value=\"1\">1</data>: x leaves its range"));
    assert!(!html.contains("the property is violated"));
}

/// A result of one property with where it comes from.
fn outcome(verdict: &str, scope: Value, engine: &str, network: &str, settings: Value) -> (String, Value) {
    let mut document = check(json!([
        {"property": "p", "formula": "G x < 2", "verdict": verdict, "engine": engine, "scope": scope,
         "relative_to": "the network in its file, over the reals"}]));
    document["provenance"] = over::<Provenance>(json!({
        "certus": "1.0", "engine": engine, "seed": 0, "budget": {"steps": 5}, "settings": settings,
        "sources": [{"role": "network", "name": "n.onnx", "path": "n.onnx", "sha256": network}]}));
    ("r.json".to_owned(), document)
}

#[test]
fn verdicts_that_differ_are_explained_or_called_a_contradiction() {
    let told = |first: (String, Value), second: (String, Value)| {
        let html = report(vec![first, second]).unwrap().html;
        let notes =
            html.split("<ul class=\"notes\">").nth(1).map(|rest| rest.split("</ul>").next().unwrap().to_owned());
        notes.unwrap_or_default()
    };
    let (all, steps) = (json!("unbounded"), |n: usize| json!({"bounded": n}));
    let plain = |verdict: &str, scope: Value, engine: &str| outcome(verdict, scope, engine, "ab", json!([]));
    // Engines that disagree cannot both be right.
    let contradiction = told(plain("holds", all.clone(), "induction"), plain("violated", steps(9), "bmc"));
    assert!(contradiction.contains("THEY CONTRADICT EACH OTHER") && contradiction.contains("induction / bmc"));
    let bounded = told(plain("violated", steps(9), "bmc"), plain("holds", steps(9), "bmc"));
    assert!(bounded.contains("THEY CONTRADICT EACH OTHER"), "{bounded}");
    // Fewer steps than the violation takes say nothing of it.
    let shorter = told(plain("violated", steps(9), "bmc"), plain("holds", steps(8), "bmc"));
    assert!(shorter.contains("they differ in scope (up to 9 steps / up to 8 steps)"), "{shorter}");
    // Other networks and other settings are other systems.
    let other = told(plain("violated", steps(9), "bmc"), outcome("holds", all.clone(), "bmc", "cd", json!([])));
    assert!(other.contains("they differ in the network (n.onnx ab / n.onnx cd)"), "{other}");
    let set = json!([{"name": "a", "value": 0.5, "declared": 1}]);
    let changed = told(plain("violated", steps(9), "bmc"), outcome("holds", all.clone(), "bmc", "ab", set));
    assert!(changed.contains("a (1 in the file / 0.5)") && !changed.contains("CONTRADICT"), "{changed}");
    let same = json!([{"name": "a", "value": 1, "declared": 1}]);
    let unchanged = told(plain("violated", steps(9), "bmc"), outcome("holds", all.clone(), "bmc", "ab", same));
    assert!(unchanged.contains("THEY CONTRADICT EACH OTHER"), "{unchanged}");
    // Of equal verdicts there is nothing to say.
    assert_eq!(told(plain("holds", all.clone(), "bmc"), plain("holds", all, "induction")), "");
}

#[test]
fn results_of_one_property_stand_beside_each_other() {
    let named = |name: &str| ("r.json".to_owned(), check(json!([{"property": name, "verdict": "holds"}])));
    let html = report(vec![named("p"), named("q"), named("p")]).unwrap().html;
    let order: Vec<&str> = html.split("s <b>").skip(1).filter_map(|rest| rest.split("</b>").next()).collect();
    assert_eq!(order, ["p", "p", "q"]);
}
