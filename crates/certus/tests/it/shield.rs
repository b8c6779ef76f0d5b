//! `certus shield` and the audit of what it writes, as a user meets them.

use crate::support::certus;

fn folder(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("certus-shield-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Seam 17: a shield that the audit rejects was exported.
#[test]
fn a_shield_is_made_audited_run_and_exported() {
    let folder = folder("whole");
    let place = |file: &str| folder.join(file).display().to_string();
    let shield = place("quadcopter.json");
    let made = certus(&["shield", "zoo/quadcopter/quadcopter.certus", "-o", &shield, "--json"]);
    assert_eq!(made.code, 0, "{}{}", made.stdout, made.stderr);
    assert!(made.stdout.contains("\"verdict\": \"verified\""));
    let audited = certus(&["audit", &shield]);
    assert_eq!(audited.code, 0, "{}", audited.stdout);
    assert!(audited.stdout.starts_with("accepted"));
    let run = certus(&["shield", "run", &shield, "--runs", "50", "--steps", "40", "--json", "--quiet"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["with_shield"]["unsafe_runs"], 0);
    assert_eq!(document["with_shield"]["alarms"], 0);
    assert_eq!(certus(&["shield", "export", &shield, "--lang", "c", "-o", &place("guard")]).code, 0);
    assert!(std::fs::read_to_string(place("guard.c")).unwrap().contains("guard_decide"));
    assert!(certus(&["shield", "export", &shield, "--lang", "python"]).stdout.contains("class Monitor"));
    assert!(certus(&["shield", "export", &shield, "--lang", "rust"]).stdout.contains("impl Guard for Shield"));

    // One number worse, and the audit rejects it.
    let text = std::fs::read_to_string(&shield).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let coefficient = &mut document["branches"][0]["program"][0][0][0];
    *coefficient = (coefficient.as_f64().unwrap() * 3.0 + 1.0).into();
    std::fs::write(place("worse.json"), document.to_string()).unwrap();
    let rejected = certus(&["audit", &place("worse.json")]);
    assert_eq!(rejected.code, 1, "{}", rejected.stdout);
    assert!(rejected.stdout.starts_with("rejected"));
    // What the audit rejects is neither exported nor run.
    let exported = certus(&["shield", "export", &place("worse.json"), "--lang", "c", "-o", &place("worse")]);
    assert!(exported.code == 2 && exported.stderr.contains("rejected by the audit"), "{}", exported.stderr);
    assert!(!std::path::Path::new(&place("worse.c")).exists());
    assert_eq!(certus(&["shield", "run", &place("worse.json")]).code, 2);

    // A shield for another version of the system is refused.
    let other = place("other.certus");
    let system = std::fs::read_to_string(crate::support::root().join("zoo/quadcopter/quadcopter.certus")).unwrap();
    std::fs::write(&other, system + "\n// changed\n").unwrap();
    assert_eq!(certus(&["shield", "run", &shield, "--system", &other]).code, 2);
    assert_eq!(certus(&["audit", &shield, "--specification", &other]).code, 1);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_changed_environment_gets_a_shield_of_its_own() {
    let folder = folder("changed");
    let shield = folder.join("heavier.json").display().to_string();
    let made = certus(&["shield", "zoo/pendulum/pendulum.certus", "within_half", "--set", "mass=1.3", "-o", &shield]);
    assert_eq!(made.code, 0, "{}{}", made.stdout, made.stderr);
    assert!(std::fs::read_to_string(&shield).unwrap().contains("\"mass\":1.3"));
    let audited = certus(&["audit", &shield]);
    let first = audited.stdout.lines().next().unwrap_or_default();
    assert!(audited.code == 0 && first.contains("with mass = 1.3 in place of the file's"), "{}", audited.stdout);
    // The proof is about that mass: for another one it is worth nothing.
    let text = std::fs::read_to_string(&shield).unwrap().replace("\"mass\":1.3", "\"mass\":0.5");
    std::fs::write(&shield, text).unwrap();
    assert_eq!(certus(&["audit", &shield]).code, 1);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn convergence_is_claimed_audited_and_a_worse_claim_rejected() {
    let folder = folder("converges");
    let shield = folder.join("rest.json").display().to_string();
    let target = ["--converge", "x1=-0.25..0.25", "--converge", "x2=-0.25..0.25"];
    let arguments = [&["shield", "zoo/satellite/satellite.certus", "-o", &shield][..], &target[..]].concat();
    let made = certus(&arguments);
    assert_eq!(made.code, 0, "{}{}", made.stdout, made.stderr);
    assert!(
        made.stdout.contains("the program leads to x1 in -0.25..0.25, x2 in -0.25..0.25 within"),
        "{}",
        made.stdout
    );
    assert!(certus(&["audit", &shield]).stdout.contains("and stays"));
    let text = std::fs::read_to_string(&shield).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let first = &mut document["convergence"]["proofs"][0]["function"][0][0];
    *first = (first.as_f64().unwrap() * 0.5).into();
    std::fs::write(&shield, document.to_string()).unwrap();
    let rejected = certus(&["audit", &shield]);
    assert_eq!(rejected.code, 1, "{}", rejected.stdout);
    assert!(rejected.stdout.contains("convergence"), "{}", rejected.stdout);
    let unknown = certus(&["shield", "zoo/satellite/satellite.certus", "--converge", "speed=-1..1"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("the states are x1, x2"), "{}", unknown.stderr);
    assert_eq!(certus(&["shield", "zoo/satellite/satellite.certus", "--converge", "x1=1..-1"]).code, 2);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_cannot_be_shielded_is_refused_by_name() {
    let refused = certus(&["shield", "zoo/ball/ball.certus"]);
    assert_eq!(refused.code, 2);
    let reached = certus(&["shield", "zoo/selfdriving_obstacle/selfdriving_obstacle.certus", "reaches_origin"]);
    assert_eq!(reached.code, 2);
    assert!(reached.stderr.contains("`G φ`"), "{}", reached.stderr);
    assert_eq!(certus(&["shield", "zoo/cruise/cruise.certus", "--degree", "3"]).code, 2);
    assert_eq!(certus(&["shield", "run", "no/such/shield.json"]).code, 2);
}
