//! `certus check` through the binary.

use crate::support::{Folder, certus};
use serde_json::Value;

const TOY: &str = "zoo/toy/toy.certus";

#[test]
fn verdicts_traces_and_exit_codes() {
    let holds = certus(&["check", TOY, "below_ten", "-k", "3", "--engine", "bmc"]);
    assert_eq!(holds.code, 0, "{}", holds.stderr);
    assert!(holds.stdout.contains("below_ten  holds up to 3 steps"), "{}", holds.stdout);
    let violated = certus(&["check", TOY, "--json", "--engine", "bmc"]);
    assert_eq!(violated.code, 1, "{}", violated.stderr);
    let document: Value = serde_json::from_str(&violated.stdout).unwrap();
    let result = |index: usize| &document["results"][index];
    assert_eq!(document["system"], "toy");
    // Nobody has asked for ten steps: for all time it is open.
    assert_eq!((&result(0)["verdict"], &result(0)["scope"]["bounded"]), (&"unknown".into(), &10.into()));
    assert_eq!((&result(1)["verdict"], &result(1)["engine"]), (&"violated".into(), &"bmc".into()));
    assert!(result(1)["trace"][0]["policy"]["y"].as_f64().unwrap() >= 5.0);
    assert_eq!(result(1)["trace"][0]["atoms"]["y < 5"], false);
    // For ever: the run returns to its first state.
    assert_eq!((&result(2)["verdict"], &result(2)["loop"]), (&"violated".into(), &0.into()));
}

#[test]
fn results_are_printed_as_they_come() {
    let ran = certus(&["check", TOY, "-k", "2", "--json-lines"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let documents: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(documents.len(), 3);
    for document in &documents {
        assert_eq!(document["schema"], "certus/check/1");
        assert!(document["provenance"].is_object());
        assert_eq!(document["results"].as_array().unwrap().len(), 1);
        assert!(document["results"][0]["engine"].is_string(), "{document}");
    }
    // One document of all has the same results.
    let whole: Value = serde_json::from_str(&certus(&["check", TOY, "-k", "2", "--json"]).stdout).unwrap();
    for (place, document) in documents.iter().enumerate() {
        let (one, all) = (&document["results"][0], &whole["results"][place]);
        assert_eq!(
            [&one["property"], &one["verdict"], &one["trace"]],
            [&all["property"], &all["verdict"], &all["trace"]]
        );
    }
    // To a file, all lines at the end.
    let folder = Folder::new("lines");
    let file = folder.file("toy.jsonl");
    assert_eq!(certus(&["check", TOY, "-k", "2", "--json-lines", "-o", &file]).code, 1);
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 3);
    let both = certus(&["check", TOY, "--json-lines", "--json"]);
    assert!(both.code == 2 && both.stderr.contains("choose one"), "{}", both.stderr);
}

#[test]
fn a_verdict_is_there_while_others_are_open() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let folder = Folder::new("early");
    // The second one is violated after 10¹² steps: it goes on until it is stopped.
    let text = "system early\nstate x in [0, 1]\nstate y in [0, 10]\nnext x = 0.5 * x\nnext y = min(y + 1e-12, 10)\ninit y == 0\n\
                property easy = G x <= 1\nproperty open = G y <= 0.9\n";
    let file = folder.write("early.certus", text);
    let mut child = Command::new(env!("CARGO_BIN_EXE_certus"))
        .args(["check", &file, "--timeout", "600"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let seen: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.contains("easy")).collect();
    // It is still running, and said that already.
    assert!(child.try_wait().unwrap().is_none(), "{seen:?}");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn expectations_are_compared() {
    assert_eq!(certus(&["check", TOY, "-k", "2", "--expect"]).code, 0);
    let folder = Folder::new("expect");
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../zoo/toy/toy.certus")).unwrap();
    let network = concat!(env!("CARGO_MANIFEST_DIR"), "/../../zoo/toy/toy.onnx");
    let wrong = text.replace("toy.onnx", network).replace("G y < 10 expect holds", "G y < 10 expect violated");
    assert_ne!(wrong, text.replace("toy.onnx", network));
    let file = folder.write("wrong.certus", wrong);
    assert_eq!(certus(&["check", &file, "below_ten", "-k", "2", "--expect"]).code, 1);
}

#[test]
fn a_system_without_runs_is_told() {
    let folder = Folder::new("vacuous");
    let text = "system stuck\nstate x in [0, 1]\nnext x = x + 2\ninit x >= 0.5\nproperty p = G (x < 5)\n";
    let file = folder.write("stuck.certus", text);
    let ran = certus(&["check", &file, "-k", "2", "--engine", "bmc"]);
    let told = ran.stdout.contains("model error at step 0: x leaves its declared range");
    assert!(ran.code == 2 && told, "{}{}", ran.stdout, ran.stderr);
    let none = folder.write("none.certus", text.replace("x >= 0.5", "x - x * x >= 0.3"));
    let ran = certus(&["check", &none, "-k", "2"]);
    assert!(ran.stdout.contains("vacuous: no state is initial"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn what_cannot_be_checked_is_said() {
    let unknown = certus(&["check", TOY, "below_tne"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("did you mean 'below_ten'?"), "{}", unknown.stderr);
    let random = certus(&["check", "zoo/ball/ball.certus", "worst", "-k", "1", "--engine", "bmc"]);
    let said = "asks for a probability, and this engine decides what every run does; imdp takes it";
    assert!(random.code == 2 && random.stdout.contains(said), "{}{}", random.stdout, random.stderr);
    let late = certus(&["check", TOY, "--timeout", "0"]);
    assert_eq!(late.code, 3, "{}{}", late.stdout, late.stderr);
}

#[test]
fn a_run_may_end_in_a_violation() {
    let folder = Folder::new("ends");
    // No transition leaves x = 2; that another property speaks of `next(x)` does not make it less reachable.
    let text = "system dead\nstate x in [0, 10]\nnext x = x + 1\nassume next(x) <= 2\ninit x == 0\n\
                property low = G (x < 2)\nproperty grows = G (next(x) > x)\n";
    let file = folder.write("dead.certus", text);
    let ran = certus(&["check", &file, "low", "-k", "4"]);
    assert!(ran.code == 1 && ran.stdout.contains("low  violated at step 2"), "{}{}", ran.stdout, ran.stderr);
    let ran = certus(&["check", &file, "grows", "-k", "4"]);
    let told = ran.stdout.contains("model error at step 2: deadlock");
    assert!(ran.code == 2 && told, "{}{}", ran.stdout, ran.stderr);
    let ran = certus(&["check", &file, "grows", "-k", "1", "--engine", "bmc"]);
    assert!(ran.code == 0 && ran.stdout.contains("holds up to 1 step "), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn what_has_no_probability_does_not_happen() {
    let folder = Folder::new("lucky");
    let text = |down: &str| {
        format!(
            "system lucky\nstate x in [0, 10]\nchance c of {{ up: 1 - {down}, down: {down} }}\n\
             next x = match c {{ up: x, down: x + 1 }}\ninit x == 0\nproperty still = G (x < 0.5)\n"
        )
    };
    for (down, code) in [("0", 0), ("0.1", 1)] {
        let file = folder.write("lucky.certus", text(down));
        let ran = certus(&["check", &file, "-k", "3"]);
        assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn violating_runs_are_written_as_tables() {
    let folder = Folder::new("trace");
    let table = folder.file("runs.csv");
    let ran = certus(&["check", TOY, "-k", "2", "--trace", &table]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let text = std::fs::read_to_string(&table).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "property,step,repeats,v1,v2,d1,d2,y,y < 10,y < 5,y > 0");
    let cells = |line: usize| lines[line].split(',').collect::<Vec<&str>>();
    let number = |line: usize, column: usize| cells(line)[column].parse::<f64>().unwrap();
    // One run reaches five, the other repeats itself for ever with a negative output.
    assert_eq!(
        (lines.len(), &cells(1)[..3], &cells(2)[..3]),
        (3, &["below_five", "0", "0"][..], &["turns_positive", "0", "1"][..])
    );
    assert!(number(1, 7) >= 5.0 && number(2, 7) <= 0.0);
    assert_eq!((cells(1)[9], cells(2)[10]), ("0", "0"));
    let json = folder.file("runs.json");
    certus(&["check", TOY, "below_five", "-k", "2", "--trace", &json]);
    let document: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(document["results"][0]["verdict"], "violated");
    // Nothing is violated: nothing is written, and that is said.
    let none = folder.file("none.csv");
    let ran = certus(&["check", TOY, "below_ten", "-k", "1", "--trace", &none]);
    assert!(ran.code == 0 && ran.stderr.contains("nothing is violated"), "{}", ran.stderr);
    assert_eq!(folder.names(), ["runs.csv", "runs.json"]);
    assert_eq!(certus(&["check", TOY, "--trace", "runs.txt"]).code, 2);
}

#[test]
fn proofs_for_all_time_have_certificates_that_are_checked() {
    let folder = Folder::new("proof");
    let certificate = folder.file("motor.cert");
    let motor = "zoo/dcmotor/dcmotor.certus";
    let ran = certus(&["check", motor, "stays_safe", "--engine", "induction", "--certificate", &certificate, "--json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    let result = &document["results"][0];
    assert_eq!((&result["scope"], &result["engine"]), (&"unbounded".into(), &"induction".into()));
    assert_eq!(result["certificate"], certificate.as_str());
    let invariant = result["proof"]["for_all_time"][0]["induction"]["invariant"].as_array().unwrap();
    assert!(!invariant.is_empty() && invariant[0]["at_most"].as_f64().is_some());
    let accepted = certus(&["audit", &certificate]);
    assert!(accepted.code == 0 && accepted.stdout.contains("stays_safe holds for all time"), "{}", accepted.stdout);
    // An invariant with one bound moved is another claim, which the trees do not prove.
    let text = std::fs::read_to_string(&certificate).unwrap();
    let (before, after) = text.split_once("\"bound\":\"").unwrap();
    let (_, rest) = after.split_once('"').unwrap();
    let moved = folder.write("moved.cert", format!("{before}\"bound\":\"0.5\"{rest}"));
    assert_eq!(certus(&["audit", &moved]).code, 1);
    // So is a proof of another property, or about a file that has changed.
    let other = folder.write("other.cert", text.replacen("\"sha256\":\"", "\"sha256\":\"0", 1));
    let rejected = certus(&["audit", &other]);
    assert!(rejected.code == 1 && rejected.stdout.contains("has changed"), "{}{}", rejected.stdout, rejected.stderr);
    // And about a network that it does not name.
    let (before, after) = text.split_once("\"networks\":[").unwrap();
    let (_, after) = after.split_once(']').unwrap();
    let unnamed = folder.write("unnamed.cert", format!("{before}\"networks\":[]{after}"));
    let rejected = certus(&["audit", &unnamed]);
    assert!(rejected.code == 1 && rejected.stdout.contains("which network"), "{}{}", rejected.stdout, rejected.stderr);
    let cut = folder.write("cut.cert", &text[..text.len() / 3]);
    assert_eq!(certus(&["audit", &cut]).code, 2);
}

/// Seam 4: settings were part of the proof and of no page.
#[test]
fn a_certificate_says_what_it_is_relative_to() {
    let folder = Folder::new("settings");
    let system = "system gusts\nparam gust in [0, 1] = 1\nstate x in [-20, 20]\ninput w in [-1, 1]\n\
                  next x = clamp(0.5 * x + gust * w, -10, 10)\ninit x in [-1, 1]\nproperty calm = G abs(x) <= 1\n";
    let file = folder.write("gusts.certus", system);
    let certificate = folder.file("calm.cert");
    let ran = certus(&["check", &file, "calm", "--set", "gust=0", "--certificate", &certificate]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let audited = certus(&["audit", &certificate]);
    let first = audited.stdout.lines().next().unwrap_or_default();
    assert!(
        first.ends_with("that calm holds for all time, with gust = 0 in place of the file's 1"),
        "{}",
        audited.stdout
    );
    for line in [
        "property       calm: G abs(x) <= 1",
        "settings       gust = 0 in place of the file's 1",
        "scope          for all time",
    ] {
        assert!(audited.stdout.contains(line), "{line}: {}", audited.stdout);
    }
    // Without its setting it is a proof of nothing.
    let text = std::fs::read_to_string(&certificate).unwrap();
    let (before, after) = text.split_once("\"settings\":[").unwrap();
    let (_, after) = after.split_once(']').unwrap();
    let bare = folder.write("bare.cert", format!("{before}\"settings\":[]{after}"));
    assert_eq!(certus(&["audit", &bare]).code, 1);
}

/// Certificates of reachable sets, of a discrete system with a network and of a differential equation.
#[test]
fn reachability_proofs_have_certificates_that_are_recomputed() {
    let folder = Folder::new("reach-proof");
    let exact = "system cools\nstate x in [-2, 2]\nstate v in [-2, 2]\ndefine u = tanh(-2 * x - 2 * v)\nstep 0.2 exact\nder x = v\nder v = 2 * u\n\
                 init x in [0.5, 0.6] & v in [-0.1, 0.1]\nproperty small = G<=2s throughout(x in [-0.3, 0.62])\n\
                 property smaller = G<=2s throughout(x in [-0.3, 0.59])\nproperty stays = G throughout(x < 0.9)\n";
    let file = folder.write("cools.certus", exact);
    let certificate = folder.file("reach.cert");
    let tora = "zoo/tora_reach/tora_reach.certus";
    let chosen = "system chosen\nstate x in [-2, 2]\nstate y in [0, 1]\ninput u in [0, 1]\nassume u > 0.5\nnext x = 0.5 * x + 0.1 * u\nnext y = y\n\
                  init x in [0, 2] & y in [0, 1] & x + 3 * y <= 1\nproperty low = G (next(x) > 0.02 & x <= 1.01)\n";
    let chosen = folder.write("chosen.certus", chosen);
    let claims = [
        (tora, "reaches_goal", "up to step 10"),
        (&chosen, "low", "for all time"),
        (&file, "small", "up to step 9"),
        (&file, "stays", "for all time"),
    ];
    for (system, property, scope) in claims {
        let ran = certus(&["check", system, property, "--engine", "reach", "--certificate", &certificate]);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let accepted = certus(&["audit", &certificate]);
        let said = format!("{property} holds {scope}");
        assert!(accepted.code == 0 && accepted.stdout.contains(&said), "{}{}", accepted.stdout, accepted.stderr);
        assert!(accepted.stdout.contains("reachable sets from"), "{}", accepted.stdout);
    }
    let accepted = certus(&["audit", &certificate]);
    for line in
        ["scope          for all time", "the differential equation itself", "settings       none", "engine reach"]
    {
        assert!(accepted.stdout.contains(line), "{line}: {}", accepted.stdout);
    }
    // The same leaves for a property that is false, for another system, with a leaf less, and with another box.
    let text = std::fs::read_to_string(&certificate).unwrap();
    let rejected = |changed: String| {
        let audited = certus(&["audit", &folder.write("forged.cert", changed)]);
        assert_eq!(audited.code, 1, "{}{}", audited.stdout, audited.stderr);
        audited.stdout
    };
    assert!(
        rejected(text.replace("\"property\":\"stays\"", "\"property\":\"smaller\"")).contains("the property is open")
    );
    let without = text.replace("\"invariants\":[{", "\"invariants\":[],\"unused\":[{");
    assert_ne!(without, text);
    rejected(without);
    rejected(text.replace("\"tree\":[", "\"tree\":[{\"split\":0,\"at\":\"0.55\"},"));
    rejected(text.replace("\"tree\":[", "\"tree\":[{\"split\":0,\"at\":\"0.7\"},{\"leaf\":{}},"));
    folder.write("cools.certus", exact.replace("2 * u", "3 * u"));
    assert!(rejected(text).contains("has changed"));
    // Other engines say nothing that could be recomputed.
    let refused = certus(&["check", &file, "small", "--engine", "bmc", "--certificate", &certificate]);
    assert!(refused.code == 2 && refused.stderr.contains("reachable sets"), "{}", refused.stderr);
}

/// A valve that is locked for some steps after each switch: there is one box for each mode, and a step from each leads to others.
#[test]
fn proofs_by_boxes_of_modes_have_certificates_that_are_recomputed() {
    let folder = Folder::new("modes-proof");
    let text = "system tank\nstate level in [0, 100]\nstate timer in [0, 100]\nstate valve in [0, 1]\ninput inflow in [1, 2]\ninput outflow in [0, 1]\n\
                define wanted = if level < 50 then 1 else 0\ndefine chosen = if timer < 3 & wanted != valve then valve else wanted\n\
                next level = clamp(level + chosen * inflow - outflow, 0, 100)\nnext timer = if chosen != valve then 0 else min(timer + 1, 9)\n\
                next valve = chosen\ninit level in [49, 51] & timer in [0, 6] & valve == 0\n\
                property near = G level in [40, 60]\nproperty nearer = G level in [47, 54]\n";
    let file = folder.write("tank.certus", text);
    let certificate = folder.file("tank.cert");
    let ran = certus(&["check", &file, "near", "--engine", "reach", "--certificate", &certificate]);
    assert!(ran.code == 0 && ran.stdout.contains("they stay in"), "{}{}", ran.stdout, ran.stderr);
    let accepted = certus(&["audit", &certificate]);
    assert!(accepted.code == 0 && accepted.stdout.contains("near holds for all time"), "{}", accepted.stdout);
    let text_of = std::fs::read_to_string(&certificate).unwrap();
    let header: serde_json::Value =
        serde_json::from_str(text_of.lines().nth(1).unwrap().strip_prefix("proof ").unwrap()).unwrap();
    let boxes = header["proof"]["reachable"]["invariants"].as_array().unwrap().clone();
    let said = format!("after which they stay in {} boxes", boxes.len());
    assert!(boxes.len() > 4 && accepted.stdout.contains(&said), "{said}: {}", accepted.stdout);
    let rejected = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut forged = header.clone();
        change(&mut forged);
        let forged = folder.write("forged.cert", format!("certus-certificate 1\nproof {forged}\nend\n"));
        let audited = certus(&["audit", &forged]);
        assert_eq!(audited.code, 1, "{}{}", audited.stdout, audited.stderr);
    };
    // Some box less, some box narrower, and another property.
    let invariants = |own: &mut serde_json::Value, change: &dyn Fn(&mut Vec<serde_json::Value>)| {
        change(own["proof"]["reachable"]["invariants"].as_array_mut().unwrap());
    };
    let end = |own: &serde_json::Value| own.as_str().unwrap().parse::<f64>().unwrap();
    let width = |own: &serde_json::Value| end(&own["box"][0][1]) - end(&own["box"][0][0]);
    let widest = (0..boxes.len()).max_by(|&a, &b| width(&boxes[a]).total_cmp(&width(&boxes[b]))).unwrap();
    rejected(&|own| invariants(own, &|boxes| drop(boxes.remove(widest))));
    rejected(&|own| invariants(own, &Vec::clear));
    for side in [0, 1] {
        let inner = end(&boxes[widest]["box"][0][side]) + if side == 0 { 0.01 } else { -0.01 };
        rejected(&|own| {
            invariants(own, &|boxes| boxes[widest]["box"][0][side] = format!("{inner:?}").into());
        });
    }
    rejected(&|own| own["property"] = "nearer".into());
    // The same boxes for other initial states.
    folder.write("tank.certus", text.replace("[49, 51]", "[46, 51]"));
    let other = certus(&["check", &file, "near", "--engine", "reach", "--certificate", &folder.file("other.cert")]);
    assert_eq!(other.code, 0, "{}{}", other.stdout, other.stderr);
    let other = std::fs::read_to_string(folder.file("other.cert")).unwrap();
    let other: serde_json::Value =
        serde_json::from_str(other.lines().nth(1).unwrap().strip_prefix("proof ").unwrap()).unwrap();
    rejected(&|own| own["system"] = other["system"].clone());
}

#[test]
fn a_bounded_verdict_has_a_certificate_too() {
    let folder = Folder::new("bounded-proof");
    let certificate = folder.file("toy.cert");
    let ran = certus(&["check", TOY, "below_ten", "-k", "2", "--engine", "bmc", "--certificate", &certificate]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let accepted = certus(&["audit", &certificate]);
    assert!(accepted.code == 0 && accepted.stdout.contains("below_ten holds up to 2 steps"), "{}", accepted.stdout);
    let several = certus(&["check", TOY, "--certificate", &certificate]);
    assert!(several.code == 2 && several.stderr.contains("one property"), "{}", several.stderr);
    let unknown = certus(&["check", TOY, "--engine", "magic"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("induction"), "{}", unknown.stderr);
}

/// Whether a number is in an interval, but for the rounding of simulated runs.
fn within(value: &Value, ends: &Value) -> bool {
    let of = |own: &Value| own.as_f64().unwrap();
    of(&ends[0]) - 1e-9 <= of(value) && of(value) <= of(&ends[1]) + 1e-9
}

#[test]
fn documents_have_flowpipes_that_contain_their_runs() {
    let folder = Folder::new("reachable-sets");
    let systems =
        [("zoo/b1/b1_exact.certus", "at_goal_at_end"), ("zoo/single_pendulum/single_pendulum.certus", "settles")];
    for (file, property) in systems {
        let ran = certus(&["check", file, property, "--engine", "reach", "--reachable-sets", "--json"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        let pipe = &document["results"][0]["flowpipe"];
        let boxes = pipe["boxes"].as_array().unwrap();
        assert!((1..=2000).contains(&boxes.len()) && pipe["complete"] == true, "{}", boxes.len());
        let covered = pipe["covered"].as_f64().unwrap();
        let mut seen = 0;
        for run in pipe["runs"].as_array().unwrap() {
            for (step, state) in run.as_array().unwrap().iter().enumerate().filter(|own| own.0 as f64 <= covered) {
                let at = step as f64;
                let during = |own: &&Value| own["from"].as_f64().unwrap() <= at && at <= own["to"].as_f64().unwrap();
                let contains = |own: &Value| {
                    let ends = own["box"].as_array().unwrap().iter();
                    state.as_array().unwrap().iter().zip(ends).all(|(value, ends)| within(value, ends))
                };
                assert!(boxes.iter().filter(during).any(contains), "{file}: {state} at step {step}");
                seen += 1;
            }
        }
        assert!(seen > 100, "{file}: {seen} states");
        // The page has a first picture, and the numbers of all others.
        let page = folder.file("page.html");
        assert_eq!(certus(&["report", &folder.write("own.json", ran.stdout), "-o", &page]).code, 0);
        let html = std::fs::read_to_string(&page).unwrap();
        for wanted in ["<figure class=\"flowpipe\"", "time (s)", "reachable sets, darker the later", "initial states"] {
            assert!(html.contains(wanted), "{file}: {wanted}");
        }
        let kind =
            if property == "settles" { "unsafe: not (theta in [0, 1]), from step 10 to 20" } else { "goal: at_goal" };
        let kind = if html.contains(kind) { kind } else { "what the goal asks of these variables: at_goal" };
        assert!(html.contains(kind), "{file}: {kind}");
    }
    let refused = certus(&["check", "zoo/b1/b1_exact.certus", "--reachable-sets"]);
    assert!(refused.code == 2 && refused.stderr.contains("add --json"), "{}", refused.stderr);
}

#[test]
fn flowpipes_are_drawn() {
    let folder = Folder::new("flowpipe");
    let (svg, png) = (folder.file("pipe.svg"), folder.file("pipe.png"));
    let file = "zoo/b1/b1_exact.certus";
    let ran = certus(&["check", file, "at_goal_at_end", "--flowpipe", &svg]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let picture = std::fs::read_to_string(&svg).unwrap();
    assert!(
        picture.contains("time (s)")
            && picture.contains(" simulated runs")
            && picture.contains("the goal asks of these variables: at_goal"),
        "{picture}"
    );
    let ran = certus(&["check", file, "at_goal_at_end", "--flowpipe", &png, "--flowpipe-axes", "x1,x2"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(std::fs::read(&png).unwrap().starts_with(b"\x89PNG"));
    let ran = certus(&["check", file, "at_goal_at_end", "--flowpipe", &svg, "--flowpipe-axes", "x1,y"]);
    assert!(
        ran.stderr.contains("was not written") && ran.stderr.contains("there are x1, x2 and time"),
        "{}",
        ran.stderr
    );
}
