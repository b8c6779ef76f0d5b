//! `verify`, `audit` and `optimise` through the binary: verdicts, certificates, resumed searches, and bad input.

use crate::support::{Folder, Ran, certus};
use serde_json::Value;

const TOY: &str = "zoo/toy/toy.onnx";
const BELOW_TEN: &str = "zoo/toy/below_ten.vnnlib";
const BELOW_FIVE: &str = "zoo/toy/below_five.vnnlib";
const SQUARE: &str = "zoo/toy/square.vnnlib";

/// Two boxes: the output stays below 8 on the first, below 0.5 on the second.
const TWO_BOXES: &str = "(assert (or
  (and (>= X_0 0) (<= X_0 1) (>= X_1 0) (<= X_1 1) (>= Y_0 8))
  (and (>= X_0 -1) (<= X_0 0) (>= X_1 -1) (<= X_1 0) (>= Y_0 0.5))))";

/// Two networks with the same input.
const PAIR: &str = "(vnnlib-version <2.0>)
(declare-network f (declare-input X float32 [1,2]) (declare-output Y float32 [1,1]))
(declare-network g (declare-input U float32 [1,2]) (declare-output V float32 [1,1]))
(assert (and (== X[0,0] U[0,0]) (== X[0,1] U[0,1])))
(assert (and (<= -1.0 X[0,0]) (<= X[0,0] 1.0) (<= -1.0 X[0,1]) (<= X[0,1] 1.0)))
";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A specification for a network with some inputs and one output.
fn specification(inputs: usize, assertions: &str) -> String {
    let declared: String = (0..inputs).map(|index| format!("(declare-const X_{index} Real)\n")).collect();
    format!("{declared}(declare-const Y_0 Real)\n{assertions}\n")
}

/// The toy network on a specification of its own.
fn ask(folder: &Folder, assertions: &str, more: &[&str]) -> Ran {
    let file = folder.write("asked.vnnlib", specification(2, assertions));
    certus(&[&["verify", TOY, &file], more].concat())
}

/// A network with weights from a simple generator, as NNet.
fn network(sizes: &[usize]) -> String {
    let list = |values: &[usize]| values.iter().map(|value| format!("{value},")).collect::<String>();
    let (inputs, outputs) = (sizes[0], sizes[sizes.len() - 1]);
    let widest = *sizes.iter().max().unwrap();
    let mut text = format!("{}\n{}\n0,\n", list(&[sizes.len() - 1, inputs, outputs, widest]), list(sizes));
    for (word, count) in [("-1,", inputs), ("1,", inputs), ("0,", inputs + 1), ("1,", inputs + 1)] {
        text += &format!("{}\n", word.repeat(count));
    }
    let mut state = 1u64;
    let mut next = || {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31);
        format!("{}e-3,", (state / 65_536 % 2001) as i64 - 1000)
    };
    for pair in sizes.windows(2) {
        for _ in 0..pair[1] {
            text += &format!("{}\n", (0..pair[0]).map(|_| next()).collect::<String>());
        }
        for _ in 0..pair[1] {
            text += &format!("{}\n", next());
        }
    }
    text
}

/// All inputs between -1 and 1.
fn cube(inputs: usize) -> String {
    (0..inputs).map(|index| format!("(assert (>= X_{index} -1))(assert (<= X_{index} 1))\n")).collect()
}

#[test]
fn unusual_regions_get_right_answers() {
    let folder = Folder::new("regions");
    let inside = "(assert (and (>= X_0 0) (<= X_0 1) (>= X_1 0) (<= X_1 1)))";
    for (assertions, verdict) in [
        // The bounds exclude each other.
        ("(assert (>= X_0 2))(assert (<= X_0 1))(assert (>= Y_0 -100))".to_owned(), "unsat"),
        // The box has points, the constraints of the output exclude each other.
        (format!("{inside}(assert (>= Y_0 3))(assert (<= Y_0 2))"), "unsat"),
        // So do those of the inputs.
        (format!("{inside}(assert (<= (+ X_0 X_1) -1))"), "unsat"),
        // A strict bound of nothing.
        (format!("{inside}(assert (> X_0 1))"), "unsat"),
        // No bounds at all.
        ("(assert (>= Y_0 10))".to_owned(), "sat"),
        // A single point, and no float32.
        ("(assert (= X_0 0.1))(assert (= X_1 0.25))(assert (>= Y_0 0.39))".to_owned(), "sat"),
        ("(assert (= X_0 0.1))(assert (= X_1 0.25))(assert (>= Y_0 0.41))".to_owned(), "unsat"),
        // Several boxes.
        (TWO_BOXES.to_owned(), "unsat"),
        (TWO_BOXES.replace("Y_0 8", "Y_0 6.5"), "sat"),
    ] {
        let ran = ask(&folder, &assertions, &[]);
        assert_eq!((ran.code, ran.stdout.lines().next()), (0, Some(verdict)), "{assertions}: {}", ran.stderr);
    }
}

#[test]
fn what_asks_nothing_is_refused_with_the_way_out() {
    let folder = Folder::new("refused");
    let nan = folder.write("nan.vnnlib", specification(2, "(assert (<= X_0 nan))"));
    let pair = folder.write("pair.vnnlib", PAIR);
    let cut = folder.write("cut.query", "certus-query 1\ngraph\n0 Input");
    for (arguments, message) in [
        (&["verify", TOY][..], "zoo/toy/toy.onnx alone asks nothing"),
        (&["verify", TOY, &nan], "nan.vnnlib: line 4, column 17"),
        (&["verify", "nowhere.onnx", BELOW_TEN], "nowhere.onnx"),
        (&["verify", "nowhere.query"], "cannot read nowhere.query"),
        (&["verify", &cut], "cut.query:3: "),
        (&["verify", TOY, &pair], "files for f, g with --network"),
        (&["verify", &pair, "--network", "f=zoo/toy/toy.onnx"], "network `g`: its file is missing"),
        (&["verify", &pair, "--network", "h=zoo/toy/toy.onnx"], "network `h`: it is not declared"),
        (&["verify", BELOW_TEN, "--network", "f=zoo/toy/toy.onnx"], "without --network"),
        (&["verify", TOY, &pair, "--network", "f=zoo/toy/toy.onnx"], "give the specification alone"),
        (&["verify", TOY, BELOW_TEN, "--timeout=-1"], "--timeout -1"),
        (&["verify", TOY, BELOW_TEN, "--save-query", "x.txt"], "must end in .query"),
        (&["verify", TOY, BELOW_TEN, "--certificate", "/nonexistent/x"], "cannot write /nonexistent/x"),
        (&["verify", TOY, BELOW_TEN, "-o", "/nonexistent/x"], "cannot write /nonexistent/x"),
        (&["verify", TOY, BELOW_TEN, "--save-query", "/nonexistent/x.query"], "cannot write /nonexistent/x.query"),
        (&["verify", TOY, BELOW_TEN, "--resume", "zoo"], "zoo is neither empty nor a folder of --resume"),
        (&["verify", TOY, BELOW_TEN, "--resume", TOY], "cannot write zoo/toy/toy.onnx"),
    ] {
        let ran = certus(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(message), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn two_networks_are_asked_about_together() {
    let folder = Folder::new("pair");
    let networks = ["--network", "f=zoo/toy/toy.onnx", "--network", "g=zoo/toy/toy.onnx"];
    let ask = |assertion: &str, more: &[&str]| {
        let file = folder.write("pair.vnnlib", format!("{PAIR}(assert {assertion})"));
        certus(&[&["verify", &file], &networks[..], more].concat())
    };
    let same = ask("(>= Y[0,0] (+ V[0,0] 0.5))", &[]);
    assert_eq!((same.code, same.stdout.as_str()), (0, "unsat\n"), "{}", same.stderr);
    let sat = ask("(>= (+ Y[0,0] V[0,0]) 14)", &[]);
    let form =
        "sat\nX float32 [1,2]\n1.0\n1.0\nY float32 [1,1]\n7.0\nU float32 [1,2]\n1.0\n1.0\nV float32 [1,1]\n7.0\n";
    assert_eq!(sat.stdout, form);
    let document = json(&ask("(>= (+ Y[0,0] V[0,0]) 14)", &["--json"]).stdout);
    assert_eq!(document["witness"]["U"], serde_json::json!([1.0, 1.0]));
    assert_eq!(document["networks"]["g"], TOY);
    // A certificate names one network; the question as a file names all that is in it.
    let certificate = folder.file("pair.certificate");
    let refused = ask("(>= Y[0,0] (+ V[0,0] 0.5))", &["--certificate", &certificate]);
    assert!(refused.code == 2 && refused.stderr.contains("--save-query"), "{}", refused.stderr);
    let query = folder.file("pair.query.gz");
    assert_eq!(ask("(>= Y[0,0] (+ V[0,0] 0.5))", &["--save-query", &query]).stdout, "unsat\n");
    assert_eq!(certus(&["verify", &query, "--certificate", &certificate]).stdout, "unsat\n");
    let audited = certus(&["audit", &certificate]);
    assert_eq!(audited.code, 0, "{}", audited.stdout);
    let file = folder.write("pair.vnnlib", PAIR);
    let sum = [&["optimise", &file], &networks[..], &["--maximise", "Y[0,0] + V[0,0] - U[0,1]"]].concat();
    let maximum = certus(&sum);
    assert_eq!(maximum.code, 0, "{}", maximum.stderr);
    assert!(maximum.stdout.contains("X float32 [1,2]\n1.0\n1.0\n"), "{}", maximum.stdout);
}

#[test]
fn a_network_of_version_two_may_stand_before_its_specification() {
    let folder = Folder::new("single");
    let text = "(vnnlib-version <2.0>)
(declare-network f (declare-input X float32 [1,2]) (declare-output Y float32 [1,1]))
(assert (and (<= -1.0 X[0,0]) (<= X[0,0] 1.0) (<= -1.0 X[0,1]) (<= X[0,1] 1.0)))
(assert (>= Y[0,0] 10.0))";
    let file = folder.write("single.vnnlib", text);
    let certificate = folder.file("single.certificate");
    for arguments in [&["verify", TOY, &file][..], &["verify", &file, "--network", "f=zoo/toy/toy.onnx"]] {
        let ran = certus(&[arguments, &["--certificate", &certificate]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "unsat\n"), "{}", ran.stderr);
        assert_eq!(certus(&["audit", &certificate]).code, 0);
    }
}

#[test]
fn questions_can_be_kept_and_asked_again() {
    let folder = Folder::new("queries");
    let query = folder.file("five.query");
    let first = certus(&["verify", TOY, BELOW_FIVE, "--save-query", &query]);
    let again = certus(&["verify", &query]);
    assert_eq!((again.code, &again.stdout), (0, &first.stdout), "{}", again.stderr);
    assert!(std::fs::read_to_string(&query).unwrap().starts_with("certus-query 1\n"));
    let boxes = folder.file("boxes.query.gz");
    assert_eq!(ask(&folder, TWO_BOXES, &["--save-query", &boxes]).stdout, "unsat\n");
    assert_eq!(folder.names(), ["asked.vnnlib", "boxes-0.query.gz", "boxes-1.query.gz", "five.query"]);
    assert_eq!(certus(&["verify", &folder.file("boxes-1.query.gz")]).stdout, "unsat\n");
}

#[test]
fn certificates_are_accepted_and_spoilt_ones_are_not() {
    let folder = Folder::new("certificates");
    let net = folder.write("net.nnet", network(&[2, 8, 1]));
    let file = folder.write("bound.vnnlib", specification(2, &format!("{}(assert (>= Y_0 0.49))", cube(2))));
    let certificate = folder.file("bound.certificate");
    let proved = certus(&["verify", &net, &file, "--certificate", &certificate, "--json"]);
    assert_eq!((proved.code, json(&proved.stdout)["verdict"].as_str()), (0, Some("unsat")), "{}", proved.stderr);
    let audited = certus(&["audit", &certificate]);
    assert_eq!(audited.code, 0, "{}", audited.stdout);
    assert!(audited.stdout.contains("checked        1 case, "), "{}", audited.stdout);
    let document = json(&certus(&["audit", &certificate, "--json"]).stdout);
    assert_eq!((&document["verdict"], &document["cases"]), (&"accepted".into(), &1.into()));

    let text = std::fs::read_to_string(&certificate).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (end, last) = (lines.len() - 1, lines.len() - 2);
    let joined = |lines: &[&str]| lines.join("\n") + "\n";
    for (what, spoilt) in [
        ("without its end", joined(&lines[..end])),
        ("without its last leaf", joined(&[&lines[..last], &lines[end..]].concat())),
        ("with a leaf too many", joined(&[&lines[..end], &["empty"], &lines[end..]].concat())),
        ("with a line after its end", joined(&[&lines[..], &["end"]].concat())),
        ("with a leaf that is none", joined(&[&lines[..4], &["empty"], &lines[end..]].concat())),
        ("cut in the middle", text[..text.len() * 2 / 3].to_owned()),
    ] {
        let spoilt = folder.write("spoilt.certificate", spoilt);
        let ran = certus(&["audit", &spoilt]);
        assert_eq!(ran.code, 1, "{what}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.starts_with("rejected: ") && ran.stdout.contains(", line "), "{what}: {}", ran.stdout);
        let document = json(&certus(&["audit", &spoilt, "--json"]).stdout);
        assert!(document["verdict"] == "rejected" && document["line"].as_u64().unwrap() > 3, "{document}");
    }
}

#[test]
fn certificates_are_about_their_files() {
    let folder = Folder::new("files");
    let net = folder.write("net.nnet", network(&[2, 4, 1]));
    let file = folder.write("bound.vnnlib", specification(2, &format!("{}(assert (>= Y_0 100))", cube(2))));
    let certificate = folder.file("bound.certificate");
    assert_eq!(certus(&["verify", &net, &file, "--certificate", &certificate]).stdout, "unsat\n");
    let moved = folder.file("moved.nnet");
    std::fs::rename(&net, &moved).unwrap();
    let missing = certus(&["audit", &certificate]);
    assert!(missing.code == 2 && missing.stderr.contains("say with --network where it is"), "{}", missing.stderr);
    assert_eq!(certus(&["audit", &certificate, "--network", &moved]).code, 0);
    let other = folder.write("other.nnet", network(&[2, 5, 1]));
    let about_another = certus(&["audit", &certificate, "--network", &other]);
    assert_eq!(about_another.code, 1);
    assert!(about_another.stdout.contains("it is about another network"), "{}", about_another.stdout);
    // The same question in other words is another file.
    let changed = folder.write("changed.vnnlib", std::fs::read_to_string(&file).unwrap() + "; more\n");
    let ran = certus(&["audit", &certificate, "--network", &moved, "--specification", &changed]);
    assert!(ran.code == 1 && ran.stdout.contains("it is about another specification"), "{}", ran.stdout);
    for (arguments, message) in [
        (&["audit", &folder.file("nowhere")][..], "cannot read"),
        (&["audit", &moved], "this is not a certificate"),
        (&["audit", &certificate, "--query", "x.query"], "not a query"),
    ] {
        let ran = certus(arguments);
        assert!(ran.code == 2 && ran.stderr.contains(message), "{arguments:?}: {} {}", ran.code, ran.stderr);
    }
}

/// A pipe that first serves the specification that the certificate names, and then the one that its tree proves.
/// Seam 14: bytes were read twice, and a pipe served two files.
#[cfg(unix)]
#[test]
fn a_specification_is_read_once() {
    let folder = Folder::new("pipe");
    let net = folder.write("net.nnet", network(&[2, 4, 1]));
    let proved = specification(2, &format!("{}(assert (>= Y_0 100))", cube(2)));
    let claimed = specification(2, &format!("{}(assert (>= Y_0 -100))", cube(2)));
    let file = folder.write("bound.vnnlib", proved.clone());
    let certificate = folder.file("bound.certificate");
    assert_eq!(certus(&["verify", &net, &file, "--certificate", &certificate]).stdout, "unsat\n");
    let digest = |text: &str| certus_audit::digest(text.as_bytes());
    let text = std::fs::read_to_string(&certificate).unwrap();
    // Whichever is read first, parsed or digested.
    for (name, served) in [("first", [&claimed, &proved]), ("second", [&proved, &claimed])] {
        let pipe = folder.file(&format!("{name}.vnnlib"));
        let forged = text.replace(&digest(&proved), &digest(&claimed)).replace(&file, &pipe);
        assert_ne!(forged, text);
        let forged = folder.write(&format!("{name}.certificate"), forged);
        let make = |path: &str| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        make(&pipe);
        let served = served.map(String::clone);
        // Whoever reads once leaves the thread waiting, which ends with the process.
        std::thread::spawn(move || {
            for text in served {
                let Ok(mut open) = std::fs::OpenOptions::new().write(true).open(&pipe) else { return };
                // The reader has this pipe; whoever opens the path again gets another, and this one ends when it is closed.
                let _ = std::fs::remove_file(&pipe);
                make(&pipe);
                let _ = std::io::Write::write_all(&mut open, text.as_bytes());
            }
        });
        let audited = certus(&["audit", &forged]);
        assert_eq!(audited.code, 1, "{}{}", audited.stdout, audited.stderr);
    }
}

#[test]
fn only_unsat_has_a_certificate() {
    let folder = Folder::new("no-certificate");
    let certificate = folder.file("x.certificate");
    for more in [&[TOY, BELOW_FIVE][..], &[TOY, BELOW_TEN, "--timeout", "0"]] {
        let ran = certus(&[&["verify"], more, &["--certificate", &certificate]].concat());
        assert!(ran.stderr.contains("only `unsat` has a certificate"), "{more:?}: {}{}", ran.stdout, ran.stderr);
    }
    assert!(folder.names().is_empty());
}

#[test]
fn a_timeout_of_zero_is_a_timeout() {
    let ran = certus(&["verify", TOY, BELOW_TEN, "--timeout", "0"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (3, "timeout\n"));
    assert!(ran.stderr.starts_with("note: out of time: "), "{}", ran.stderr);
    let quiet = certus(&["verify", TOY, BELOW_TEN, "--timeout", "0", "--quiet", "--json"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (3, ""));
    let document = json(&quiet.stdout);
    assert_eq!((&document["verdict"], &document["reason"]), (&"timeout".into(), &"deadline".into()));
    let best = certus(&["optimise", TOY, SQUARE, "--maximise", "Y_0", "--timeout", "0"]);
    assert!(best.code == 3 && best.stdout.contains(", inf]"), "{}{}", best.stdout, best.stderr);
}

#[test]
fn without_memory_nothing_is_decided() {
    let folder = Folder::new("memory");
    let net = folder.write("net.nnet", network(&[2, 8, 1]));
    let file = folder.write("bound.vnnlib", specification(2, &format!("{}(assert (>= Y_0 0.49))", cube(2))));
    let ran = certus(&["verify", &net, &file, "--memory", "0"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (3, "unknown\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("more memory than --memory allows"), "{}", ran.stderr);
}

#[test]
fn a_search_goes_on_where_it_was_left() {
    let folder = Folder::new("resume");
    let state = folder.file("state");
    let question = specification(2, TWO_BOXES);
    let file = folder.write("boxes.vnnlib", &question);
    let verify = |more: &[&str]| certus(&[&["verify", TOY, &file, "--resume", &state], more].concat());
    let left = verify(&["--memory", "0"]);
    assert_eq!((left.code, left.stdout.as_str()), (3, "unknown\n"), "{}", left.stderr);
    assert!(left.stderr.contains(&format!("--resume {state} goes on from here")), "{}", left.stderr);
    let progress = std::fs::read_to_string(folder.file("state/progress")).unwrap();
    assert!(progress.ends_with("cases 2\ncertificate no\nend\n"), "{progress}");

    // Another question, or another wish, is not answered from this folder.
    let other = certus(&["verify", TOY, BELOW_TEN, "--resume", &state]);
    assert!(other.code == 2 && other.stderr.contains("is the state of another question"), "{}", other.stderr);
    let certified = verify(&["--certificate", &folder.file("x.certificate")]);
    assert!(certified.code == 2 && certified.stderr.contains("begun without --certificate"), "{}", certified.stderr);
    folder.write("boxes.vnnlib", question.replace("Y_0 8", "Y_0 6"));
    assert_eq!(verify(&[]).code, 2);
    folder.write("boxes.vnnlib", &question);

    // It goes on, and the state is gone once the question is decided.
    let decided = verify(&[]);
    assert_eq!((decided.code, decided.stdout.as_str()), (0, "unsat\n"), "{}", decided.stderr);
    assert_eq!(folder.names(), ["boxes.vnnlib"]);
}

#[test]
fn what_was_closed_is_not_searched_again() {
    let folder = Folder::new("closed");
    let state = folder.file("state");
    let file = folder.write("boxes.vnnlib", specification(2, TWO_BOXES));
    let verify = |more: &[&str]| certus(&[&["verify", TOY, &file, "--resume", &state], more].concat());
    let leave = || assert_eq!(verify(&["--memory", "0"]).code, 3);
    let close = |lines: &str| {
        let text = std::fs::read_to_string(folder.file("state/progress")).unwrap();
        folder.write("state/progress", text.replace("end\n", &format!("{lines}end\n")));
    };
    // Nothing can be searched without memory; what the folder has need not be.
    leave();
    close("closed 0 17\n");
    leave();
    close("closed 1 4\n");
    let document = json(&verify(&["--memory", "0", "--json"]).stdout);
    assert_eq!((&document["verdict"], &document["verified"]), (&"unsat".into(), &21.into()));

    // What is damaged is named.
    for (name, text) in [
        ("case-0.search", "certus-search 2\nstrategy input-splits\n"),
        ("progress", "certus-resume 1\nnetwork"),
        ("progress", "something else"),
    ] {
        leave();
        folder.write(&format!("state/{name}"), text);
        let ran = verify(&[]);
        assert!(ran.code == 2 && ran.stderr.contains(&state), "{name}: {}{}", ran.stdout, ran.stderr);
        std::fs::remove_dir_all(&state).unwrap();
    }
    leave();
    close("closed 2 4\n");
    assert!(verify(&[]).stderr.contains("a line is not understood"));
}

#[test]
fn a_resumed_search_gives_a_whole_certificate() {
    let folder = Folder::new("resumed");
    let net = folder.write("net.nnet", network(&[2, 8, 1]));
    let file = folder.write("bound.vnnlib", specification(2, &format!("{}(assert (>= Y_0 0.49))", cube(2))));
    let (state, certificate) = (folder.file("state"), folder.file("bound.certificate"));
    let arguments = ["verify", &net, &file, "--resume", &state, "--certificate", &certificate];
    // Without memory the search ends before its first part, and leaves its state.
    let left = certus(&[&arguments[..], &["--memory", "0"]].concat());
    assert_eq!((left.code, left.stdout.as_str()), (3, "unknown\n"), "{}", left.stderr);
    assert!(std::fs::exists(folder.file("state/case-0.search")).unwrap());
    let decided = certus(&arguments);
    assert_eq!((decided.code, decided.stdout.as_str()), (0, "unsat\n"), "{}", decided.stderr);
    assert_eq!(folder.names(), ["bound.certificate", "bound.vnnlib", "net.nnet"]);
    let audited = certus(&["audit", &certificate]);
    assert_eq!(audited.code, 0, "{}", audited.stdout);
}

#[test]
fn a_hard_case_does_not_hide_a_point_in_a_later_one() {
    let folder = Folder::new("turns");
    let net = folder.write("net.nnet", network(&[10, 40, 40, 40, 1]));
    let within = |radius: &str| -> String {
        (0..10).map(|index| format!("(>= X_{index} -{radius}) (<= X_{index} {radius}) ")).collect()
    };
    // The first box takes hours; the second is nearly a point, and everything in it is a witness that no sample of the first shows.
    let cases = format!("(assert (or (and {} (>= Y_0 60)) (and {} (>= Y_0 -100))))", within("1"), within("0.001"));
    let file = folder.write("turns.vnnlib", specification(10, &cases));
    let ran = certus(&["verify", &net, &file]);
    assert!(ran.code == 0 && ran.stdout.starts_with("sat\n"), "{}{}", ran.stdout, ran.stderr);
}

/// Interrupts a search that takes hours, once it has begun.
#[cfg(unix)]
#[test]
fn an_interrupted_search_says_what_is_known_and_can_go_on() {
    use std::process::{Command, Stdio};
    let folder = Folder::new("interrupt");
    let net = folder.write("net.nnet", network(&[10, 60, 60, 60, 1]));
    let file = folder.write("far.vnnlib", specification(10, &format!("{}(assert (>= Y_0 60))", cube(10))));
    let (state, certificate) = (folder.file("state"), folder.file("far.certificate"));
    let arguments = ["verify", &net, &file, "--resume", &state, "--certificate", &certificate];
    let mut child = Command::new(env!("CARGO_BIN_EXE_certus"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The folder appears after the handler of the signal is in place.
    while !std::path::Path::new(&state).join("progress").exists() {
        assert!(child.try_wait().unwrap().is_none(), "the search ended before it began");
        std::thread::yield_now();
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    let (shown, told) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert_eq!((ended.status.code(), shown.as_ref()), (Some(3), "unknown\n"), "{told}");
    assert!(told.contains("note: interrupted: "), "{told}");
    let further = certus(&[&arguments[..], &["--timeout", "0"]].concat());
    assert_eq!((further.code, further.stdout.as_str()), (3, "timeout\n"), "{}", further.stderr);
    let without = certus(&arguments[..5]);
    assert!(without.code == 2 && without.stderr.contains("begun with --certificate"), "{}", without.stderr);
}

#[test]
fn extremes_are_enclosed() {
    let bound = |direction: &str, expression: &str, more: &[&str]| {
        let arguments = ["optimise", TOY, SQUARE, direction, expression, "--json"];
        let ran = certus(&[&arguments[..], more].concat());
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let document = json(&ran.stdout);
        (document["lower"].as_f64().unwrap(), document["upper"].as_f64().unwrap(), document)
    };
    // y = 4 relu(x0 + x1) + relu(x0 - x1) - 1
    for (direction, expression, expected) in [
        ("--maximise", "Y_0", 7.0),
        ("--maximise", "Y_0 - 0.5*X_0", 6.5),
        ("--minimise", "Y_0", -1.0),
        ("--minimise", "-Y_0 + 2", -5.0),
        ("--maximise", "X_0 - X_1", 2.0),
        ("--maximise", "3", 3.0),
    ] {
        let (lower, upper, document) = bound(direction, expression, &["--gap", "0.01"]);
        let inside = lower <= expected + 1e-9 && expected - 1e-9 <= upper && upper - lower <= 0.0100001;
        assert!(inside, "{expression}: {expected} in [{lower}, {upper}]");
        assert!(document["point"]["X_0"].is_number(), "{document}");
    }
}

#[test]
fn the_maximum_is_that_of_all_boxes() {
    let folder = Folder::new("boxes");
    for boxes in [
        ["(and (>= X_0 0) (<= X_0 1) (>= X_1 0) (<= X_1 1))", "(and (>= X_0 -1) (<= X_0 0) (>= X_1 -1) (<= X_1 0))"],
        ["(and (>= X_0 -1) (<= X_0 0) (>= X_1 -1) (<= X_1 0))", "(and (>= X_0 0) (<= X_0 1) (>= X_1 0) (<= X_1 1))"],
    ] {
        let file = folder.write("boxes.vnnlib", specification(2, &format!("(assert (or {}))", boxes.join(" "))));
        let ran = certus(&["optimise", TOY, &file, "--maximise", "Y_0"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.ends_with("((X_0 1.0)\n(X_1 1.0)\n(Y_0 7.0))\n"), "{}", ran.stdout);
    }
}

#[test]
fn expressions_and_gaps_are_checked() {
    let folder = Folder::new("expressions");
    for (arguments, message) in [
        (&["--maximise", "Y_1"][..], "'Y_1' is neither a number nor a variable"),
        (&["--maximise", "X_0*Y_0"], "is not linear"),
        (&["--maximise", "Y_0", "--gap=-1"], "--gap -1"),
        (&["--maximise", "Y_0", "--gap", "NaN"], "--gap NaN"),
        (&["--maximise", "Y_0", "--minimise", "Y_0"], "cannot be used with"),
        (&[], "required arguments"),
    ] {
        let ran = certus(&[&["optimise", TOY, SQUARE], arguments].concat());
        assert!(ran.code == 2 && ran.stderr.contains(message), "{arguments:?}: {}{}", ran.stdout, ran.stderr);
    }
    let empty = folder.write("empty.vnnlib", specification(2, "(assert (>= X_0 2))(assert (<= X_0 1))"));
    for file in [BELOW_TEN, &empty] {
        let ran = certus(&["optimise", TOY, file, "--maximise", "Y_0"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.starts_with("no point of the region satisfies the assertion"), "{}", ran.stdout);
    }
}
