//! Forgeries: honest certificates that were changed, mixed, or made up, and what the audit says of them.

mod ground;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use certus_tasks::audit::{Audit, Judgement, audit};
use serde_json::{Value, json};

pub use ground::{Fact, Ground, KNOWN, digest};

/// A fixed sequence of numbers.
pub struct Numbers(pub u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    fn one<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }
}

/// A certificate in parts.
#[derive(Clone)]
pub struct Parts {
    pub header: Value,
    /// The records of each case.
    pub cases: Vec<Vec<String>>,
}

impl Parts {
    pub fn of(text: &str) -> Parts {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.next();
        let header = lines.next().unwrap().strip_prefix("proof ").unwrap();
        let mut cases: Vec<Vec<String>> = Vec::new();
        for line in lines.filter(|line| *line != "end") {
            match (line.starts_with("case "), cases.last_mut()) {
                (false, Some(case)) => case.push(line.to_owned()),
                _ => cases.push(Vec::new()),
            }
        }
        Parts { header: serde_json::from_str(header).unwrap(), cases }
    }

    pub fn text(&self) -> String {
        let mut text = format!("certus-certificate 1\nproof {}\n", self.header);
        for (number, case) in self.cases.iter().enumerate() {
            text.push_str(&format!("case {number}\n"));
            case.iter().for_each(|line| text.push_str(&format!("{line}\n")));
        }
        text + "end\n"
    }
}

/// What came of a campaign.
#[derive(Debug, Default)]
pub struct Tally {
    pub forged: usize,
    pub of_false_claims: usize,
    pub accepted: usize,
    pub assumed: usize,
    /// Certificates that were accepted for something false.
    pub wrong: Vec<String>,
}

/// Makes forgeries and has them judged.
pub fn campaign(ground: &Ground, count: usize, seed: u64) -> Tally {
    let mut numbers = Numbers(seed | 1);
    let honest: Vec<Parts> = ground.honest.iter().map(|own| Parts::of(&own.text)).collect();
    let mut tally = Tally::default();
    for _ in 0..count {
        let mut forged = numbers.one(&honest).clone();
        for _ in 0..1 + numbers.below(3) {
            forge(ground, &honest, &mut forged, &mut numbers);
        }
        if numbers.below(12) == 0 {
            disguise(ground, &mut forged, &mut numbers);
        }
        let mut text = forged.text();
        if numbers.below(8) == 0 {
            text = scratched(&text, &mut numbers);
        }
        judge(ground, &text, &mut tally);
    }
    tally
}

/// Has a certificate judged, and compares that with what is true.
pub fn judge(ground: &Ground, text: &str, tally: &mut Tally) {
    let path = ground.path("forged.certificate");
    std::fs::write(&path, text).unwrap();
    tally.forged += 1;
    let claimed = text.lines().nth(1).and_then(|line| serde_json::from_str(line.strip_prefix("proof ")?).ok());
    tally.of_false_claims +=
        usize::from(claimed.as_ref().is_some_and(|header: &Value| fact(header).is_none_or(is_false)));
    let task = Audit { certificate: path, ..Audit::default() };
    let Ok((Some(Judgement::Accepted(own)), _)) = audit(&task, &Arc::new(AtomicBool::new(false)), |_| {}) else {
        return;
    };
    tally.accepted += 1;
    let said = |name: &str| own.particulars.iter().find(|(key, _)| *key == name).map_or("", |(_, text)| text);
    let assumed = own.claim.contains("assumed, not proved");
    tally.assumed += usize::from(assumed);
    let reach = match said("scope").strip_prefix("up to ") {
        None => u64::MAX,
        Some(rest) => rest.trim_start_matches("step ").trim_end_matches(" steps").parse().unwrap(),
    };
    let within = |step: Option<u64>| step.is_some_and(|step| step <= reach);
    let known = claimed.as_ref().and_then(fact);
    // Behind the last step of a property that has one nothing is claimed, and nothing is known to be wrong.
    let true_claim = known.is_some_and(|own| !within(own.violated) && (assumed || !within(own.error)));
    if !true_claim {
        tally.wrong.push(text.to_owned());
    }
}

fn is_false(fact: Fact) -> bool {
    fact.violated.is_some() || fact.error.is_some()
}

/// What is true of the property that a header speaks of.
fn fact(header: &Value) -> Option<Fact> {
    let system = header["system"]["path"].as_str()?.rsplit('/').next()?;
    let property = header["property"].as_str()?;
    let known = KNOWN.iter().find(|own| (own.system, own.property) == (system, property))?;
    let settings = header["settings"].as_array()?;
    let gust =
        settings.iter().rev().find(|own| own["name"] == "gust").and_then(|own| own["value"].as_str()?.parse().ok());
    if header["networks"].to_string().contains("push.nnet") {
        return Some(Fact { violated: Some(1), error: None });
    }
    Some((known.fact)(gust.unwrap_or(1.0)))
}

/// Changes a certificate in one way.
fn forge(ground: &Ground, honest: &[Parts], own: &mut Parts, numbers: &mut Numbers) {
    let other = numbers.one(honest).clone();
    match numbers.below(16) {
        0 => edit_record(own, numbers),
        14 | 15 => edit_tree(own, &other, numbers),
        1 => own.header = edited_number(&own.header, numbers),
        // Another property, of any system: its words and trees are those of this one.
        2 => {
            let known = numbers.one(KNOWN);
            own.header["property"] = known.property.into();
            swap_system(ground, own, known.system);
        }
        3 => own.cases = other.cases,
        4 => {
            let gust = *numbers.one(&["0.0", "1.0", "0.5", "1e-9", "-0.0", "0.75"]);
            let settings = [json!([]), json!([{"name": "gust", "value": gust}])];
            own.header["settings"] = numbers.one(&settings).clone();
        }
        5 => {
            let system = numbers.one(KNOWN).system;
            swap_system(ground, own, system);
        }
        6 => {
            for key in ["proof", "errors", "witness"] {
                own.header[key] = other.header[key].clone();
            }
            if numbers.below(2) == 0 {
                own.cases = other.cases;
            }
        }
        7 => own.header["errors"] = other_errors(numbers),
        8 => {
            let place = numbers.below(own.cases.len());
            if !own.cases.is_empty() {
                own.cases.remove(place);
            }
        }
        9 => own.cases = (0..numbers.below(6)).map(|_| made_up_tree(numbers, 0)).collect(),
        10 => {
            let place = numbers.below(own.cases.len() + 1);
            let stolen = other.cases.get(numbers.below(other.cases.len())).cloned();
            let made_up = made_up_tree(numbers, 0);
            own.cases.insert(place, stolen.filter(|_| numbers.below(2) == 0).unwrap_or(made_up));
        }
        11 => own.header["proof"] = other_proof(numbers),
        12 => {
            let place = numbers.below(own.cases.len());
            if !own.cases.is_empty() {
                own.cases[place] = made_up_tree(numbers, 0);
            }
        }
        _ => {
            let name = *numbers.one(&["p.nnet", "push.nnet"]);
            let path = ground.path(name);
            if let Some(networks) = own.header["networks"].as_array_mut() {
                networks.iter_mut().for_each(|network| {
                    network["path"] = path.display().to_string().into();
                    network["sha256"] = digest(&path).into();
                });
            }
        }
    }
}

/// The system behind another path: an edited copy under the old digest, a link or a pipe that leads to something else than the digest says.
fn disguise(ground: &Ground, own: &mut Parts, numbers: &mut Numbers) {
    let Some(path) = own.header["system"]["path"].as_str().map(std::path::PathBuf::from) else { return };
    let Some(name) = path.file_name() else { return };
    let other = ground.path(numbers.one(KNOWN).system);
    match numbers.below(3) {
        0 => {
            // Whatever is said of this file is wrong: its digest is that of the file it was.
            let edited = ground.path("edited.certus");
            let Ok(text) = std::fs::read_to_string(&path) else { return };
            let changed = scratched(&text, numbers);
            if changed != text {
                std::fs::write(&edited, changed).unwrap();
                own.header["system"]["path"] = edited.display().to_string().into();
            }
        }
        #[cfg(unix)]
        1 => {
            // A link with the name of one system that leads to another.
            let link = ground.folder("links").join(name);
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(&other, &link).unwrap();
            own.header["system"]["path"] = link.display().to_string().into();
        }
        #[cfg(unix)]
        _ => {
            // A pipe that serves what the digest says, and then another system.
            let piped = ground.folder(&format!("pipe-{}", numbers.0)).join(name);
            let (Ok(first), Ok(second)) = (std::fs::read(&path), std::fs::read(&other)) else { return };
            pipe(&piped, if numbers.below(2) == 0 { vec![first, second] } else { vec![second, first] });
            own.header["system"]["path"] = piped.display().to_string().into();
        }
        #[cfg(not(unix))]
        _ => {}
    }
}

/// A path that leads whoever opens it to one content after the other, each through a pipe of its own.
#[cfg(unix)]
pub fn pipe(path: &Path, contents: Vec<Vec<u8>>) {
    let make = |path: &Path| std::process::Command::new("mkfifo").arg(path).status().is_ok_and(|done| done.success());
    assert!(make(path));
    let path = path.to_owned();
    // Whoever reads once leaves the thread waiting, which ends with the process.
    std::thread::spawn(move || {
        for own in contents {
            let Ok(mut open) = std::fs::OpenOptions::new().write(true).open(&path) else { return };
            // The reader has this pipe; whoever opens the path again gets another, and this one ends when it is closed.
            let _ = std::fs::remove_file(&path);
            if !make(&path) {
                return;
            }
            let _ = std::io::Write::write_all(&mut open, &own);
        }
    });
}

/// The same certificate about another system, with its right digest.
fn swap_system(ground: &Ground, own: &mut Parts, system: &str) {
    let path = ground.path(system);
    own.header["system"] = json!({"path": path.display().to_string(), "sha256": digest(&path)});
    let network = ground.path("p.nnet");
    own.header["networks"] = match system {
        "driven.certus" => {
            json!([{"name": "p.nnet", "path": network.display().to_string(), "sha256": digest(&network)}])
        }
        _ => json!([]),
    };
}

/// The tree of a reachability proof, changed: a leaf less, a leaf more, a split that was moved, another's leaves.
fn edit_tree(own: &mut Parts, other: &Parts, numbers: &mut Numbers) {
    let stolen = other.header["proof"]["reachable"]["tree"].as_array().cloned().unwrap_or_default();
    let made_up = made_up_branch(numbers);
    let Some(tree) = own.header["proof"]["reachable"]["tree"].as_array_mut() else { return };
    let place = numbers.below(tree.len());
    match numbers.below(6) {
        0 if !tree.is_empty() => drop(tree.remove(place)),
        1 => tree.insert(place, made_up),
        2 if !tree.is_empty() => tree[place] = made_up,
        3 => *tree = stolen,
        4 if !stolen.is_empty() && !tree.is_empty() => tree[place] = numbers.one(&stolen).clone(),
        _ => {
            let copy = tree.get(place).cloned();
            tree.extend(copy);
        }
    }
}

/// A split or a leaf that nobody found.
fn made_up_branch(numbers: &mut Numbers) -> Value {
    let ends = ["-10.0", "-2.0", "0.0", "0.9", "0.95", "1.0", "2.0", "10.0"];
    if numbers.below(3) == 0 {
        return json!({"split": numbers.below(2), "at": *numbers.one(&ends)});
    }
    let returns: Value = (0..numbers.below(3))
        .map(|_| {
            let low = numbers.below(ends.len());
            let high = low + numbers.below(ends.len() - low);
            json!({"after": numbers.below(10), "within": numbers.below(10), "box": [[ends[low], ends[high]]]})
        })
        .collect();
    json!({"leaf": returns})
}

fn edit_record(own: &mut Parts, numbers: &mut Numbers) {
    let case = numbers.below(own.cases.len());
    let Some(case) = own.cases.get_mut(case).filter(|case| !case.is_empty()) else { return };
    let (line, other) = (numbers.below(case.len()), numbers.below(case.len()));
    match numbers.below(5) {
        0 => drop(case.remove(line)),
        1 => case.insert(other, case[line].clone()),
        2 => case.swap(line, other),
        3 => case[line] = made_up_record(numbers),
        _ => case[line] = scratched(&case[line], numbers),
    }
}

/// A text with one character changed: a digit where there is one.
fn scratched(text: &str, numbers: &mut Numbers) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let digits: Vec<usize> = (0..bytes.len()).filter(|&place| bytes[place].is_ascii_digit()).collect();
    let any: Vec<usize> = (0..bytes.len()).collect();
    let places = if digits.is_empty() || numbers.below(4) == 0 { any } else { digits };
    if !places.is_empty() {
        bytes[*numbers.one(&places)] = *numbers.one(b"0123456789-.ea ;:");
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A header with one number of its words changed.
fn edited_number(header: &Value, numbers: &mut Numbers) -> Value {
    fn leaves(value: &Value) -> usize {
        match value {
            Value::Array(items) => items.iter().map(leaves).sum(),
            Value::Object(items) => items.values().map(leaves).sum(),
            _ => 1,
        }
    }
    let mut edited = header.clone();
    let key = *numbers.one(&["proof", "errors", "witness"]);
    let count = leaves(&edited[key]);
    let chosen = numbers.below(count);
    let new = match numbers.below(3) {
        0 => json!(numbers.below(12)),
        1 => json!(*numbers.one(&["0.0", "-1.0", "0.5", "1e300", "-1e300", "1e-300", "10.0", "NaN", "inf"])),
        _ => json!(numbers.below(2) == 0),
    };
    replace_leaf(&mut edited[key], &mut { chosen }, &new);
    edited
}

fn replace_leaf(value: &mut Value, left: &mut usize, new: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter_mut().any(|item| replace_leaf(item, left, new)),
        Value::Object(items) => items.values_mut().any(|item| replace_leaf(item, left, new)),
        leaf if *left == 0 => {
            *leaf = new.clone();
            true
        }
        _ => {
            *left -= 1;
            false
        }
    }
}

fn faces(numbers: &mut Numbers) -> Value {
    let numbers_of = ["1.0", "-1.0", "0.0", "0.3", "-0.3", "2.0", "1e308"];
    (0..numbers.below(3))
        .map(|_| json!({"coefficients": [*numbers.one(&numbers_of)], "bound": *numbers.one(&numbers_of)}))
        .collect()
}

fn other_errors(numbers: &mut Numbers) -> Value {
    match numbers.below(8) {
        7 => json!({"along": {}}),
        0 => json!({"everywhere": {}}),
        1 => json!({"undecided": {}}),
        2 => json!({"assumed": {}}),
        3 => json!({"bounded": numbers.below(6)}),
        4 => json!({}),
        5 => json!({"everywhere": {}, "assumed": {}}),
        _ => json!({"induction": faces(numbers)}),
    }
}

fn other_proof(numbers: &mut Numbers) -> Value {
    let flag = numbers.below(2) == 0;
    match numbers.below(8) {
        6 | 7 => {
            let tree: Value = (0..1 + numbers.below(3)).map(|_| made_up_branch(numbers)).collect();
            json!({"reachable": {"degree": 1 + numbers.below(5), "order": 1 + numbers.below(9), "tree": tree}})
        }
        0 => json!({"bounded": numbers.below(8), "cycles": (0..numbers.below(4)).collect::<Vec<_>>()}),
        1 => json!({"out_of_reach": numbers.below(8)}),
        2 => json!({"for_all_time": []}),
        3 => json!({"for_all_time": [{"induction": 0, "ahead": numbers.below(4), "different": flag, "invariant": []}]}),
        4 => json!({"for_all_time": [{"ranking": ["1.0"], "decrease": "0.05", "context": numbers.below(3)}]}),
        _ => json!({"for_all_time": [
            {"induction": numbers.below(4), "ahead": numbers.below(3), "different": flag, "invariant": faces(numbers)}
        ]}),
    }
}

/// A tree that nobody found, as records in preorder.
fn made_up_tree(numbers: &mut Numbers, depth: usize) -> Vec<String> {
    let split = depth < 3 && numbers.below(3) == 0;
    let mut lines: Vec<String> = Vec::new();
    if numbers.below(2) == 0 {
        lines.push((*numbers.one(&["refine", "bound", "refine keep"])).to_owned());
    }
    if split {
        lines.push(match numbers.below(3) {
            0 => format!("split input {} {}.5", numbers.below(3), numbers.below(3)),
            1 => format!("split node {} 0 {}.0", numbers.below(9), numbers.below(3)),
            _ => format!("either {}", numbers.below(3)),
        });
        for _ in 0..2 {
            lines.extend(made_up_tree(numbers, depth + 1));
        }
    } else {
        lines.push(made_up_record(numbers));
    }
    lines
}

fn made_up_record(numbers: &mut Numbers) -> String {
    let weight = *numbers.one(&["1.0", "0.5", "-1.0", "0.0", "1e300", "NaN", "inf"]);
    match numbers.below(6) {
        0 => "empty".to_owned(),
        1 => format!("close a{}:{weight} a{}:1.0", numbers.below(5), numbers.below(5)),
        2 => format!("close n{}.0:{weight} a{}:1.0", numbers.below(6), numbers.below(4)),
        3 => format!("close a{}:{weight} t{}.0:0.5/1.0", numbers.below(4), numbers.below(6)),
        4 => format!("clip a{}:{weight} ; x{} <= -1e9", numbers.below(4), numbers.below(3)),
        _ => "close".to_owned(),
    }
}
