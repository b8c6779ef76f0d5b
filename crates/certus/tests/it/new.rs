//! `certus new`: what it writes loads, simulates and checks as it stands.

use crate::support::{Folder, certus, root};

fn works(file: &str) -> String {
    let simulated = certus(&["simulate", file, "--runs", "20", "--steps", "20"]);
    assert_eq!(simulated.code, 0, "{}{}", simulated.stdout, simulated.stderr);
    assert!(simulated.stderr.is_empty(), "no warnings: {}", simulated.stderr);
    let checked = certus(&["check", file, "-k", "2", "--timeout", "60"]);
    assert!([0, 1].contains(&checked.code), "{}{}", checked.stdout, checked.stderr);
    assert_eq!(certus(&["fmt", "--check", file]).code, 0, "in canonical form");
    checked.stdout
}

#[test]
fn a_network_alone_is_enough() {
    let folder = Folder::new("new");
    for network in ["toy", "pendulum", "cartpole_gym", "cruise"] {
        let file = folder.file(&format!("{network}.certus"));
        let path = format!("zoo/{network}/{network}.onnx");
        let ran = certus(&["new", &path, "-o", &file]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let checked = works(&file);
        assert!(checked.contains("outputs_in_range  holds for all time"), "{network}: {checked}");
    }
}

#[test]
fn actions_and_spaces_give_names_and_ranges() {
    let folder = Folder::new("new-spaces");
    let network = root().join("zoo/cartpole_gym/cartpole_gym.onnx").display().to_string();
    let file = folder.file("labels.certus");
    assert_eq!(certus(&["new", &network, "--actions", "left,right", "-o", &file]).code, 0);
    assert!(std::fs::read_to_string(&file).unwrap().contains("action act = argmax(scores) of { left, right }"));
    works(&file);
    let spaces =
        r#"{"name": "Pole-v0", "observation": {"low": [-0.4, null], "high": [0.4, null]}, "action": {"n": 2}}"#;
    let spaces = folder.write("spaces.json", spaces);
    let file = folder.file("both.certus");
    assert_eq!(certus(&["new", &network, "--spaces", &spaces, "-o", &file]).code, 0);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("system pole_v0") && text.contains("[-0.4, -10]"), "{text}");
    works(&file);
    let file = folder.file("spaces.certus");
    assert_eq!(certus(&["new", "--spaces", &spaces, "-o", &file]).code, 0);
    works(&file);
    // The hint in the file is one: what it suggests can be put in.
    let text = std::fs::read_to_string(folder.file("both.certus")).unwrap();
    let (line, hint) =
        (text.find("next seen = ").unwrap(), text.split("such as `").nth(1).unwrap().split('`').next().unwrap());
    let (before, after) = text.split_at(line);
    let rest = &after[after.find('\n').unwrap()..];
    let hinted = format!("{before}{hint}\nnext seen[1] = seen[1]{rest}").replace("\ninput move[2] in [-1, 1]", "");
    let ran = certus(&["inspect", &folder.write("hinted.certus", hinted)]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for n in [3, 7, 49] {
        let spaces = format!(r#"{{"observation": {{"low": [0], "high": [1]}}, "action": {{"n": {n}}}}}"#);
        let file = folder.file(&format!("choice_{n}.certus"));
        assert_eq!(certus(&["new", "--spaces", &folder.write("choice.json", spaces), "-o", &file]).code, 0);
        works(&file);
    }
    let spaces = r#"{"name": "Pendulum-v1", "observation": {"low": [-1, -1, -8], "high": [1, 1, 8]}, "action": {"low": [-2], "high": [2]}}"#;
    let file = folder.file("box.certus");
    let spaces = folder.write("box.json", spaces);
    assert_eq!(certus(&["new", "--spaces", &spaces, "-o", &file]).code, 0);
    works(&file);
    // The same with a network, whose outputs are clipped to what the environment allows.
    let network = root().join("zoo/gym_pendulum/gym_pendulum.onnx").display().to_string();
    let file = folder.file("clipped.certus");
    assert_eq!(certus(&["new", &network, "--spaces", &spaces, "-o", &file]).code, 0);
    assert!(std::fs::read_to_string(&file).unwrap().contains("policy act = clamp(net("));
    works(&file);
}

#[test]
fn mistakes_are_told_and_files_are_kept() {
    let folder = Folder::new("new-bad");
    let file = folder.write("mine.certus", "system mine\n");
    let told = |arguments: &[&str]| {
        let ran = certus(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.stdout);
        ran.stderr
    };
    assert!(told(&["new", "zoo/toy/toy.onnx", "-o", &file]).contains("exists already"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "system mine\n");
    assert!(told(&["new"]).contains("name a network"));
    assert!(
        told(&["new", "zoo/toy/toy.onnx", "--actions", "a,b"])
            .contains("the network gives 1 number, and 2 would be needed")
    );
    let spaces = folder.write("wide.json", r#"{"observation": {"low": [0], "high": [1]}, "action": {"n": 2}}"#);
    assert!(told(&["new", "zoo/toy/toy.onnx", "--spaces", &spaces]).contains("they do not belong together"));
    assert!(told(&["new", "--spaces", &folder.write("bad.json", "{}")]).contains("`observation` is missing"));
}

/// The environments whose plants are known, each with what a network for it takes and gives.
const ENVIRONMENTS: [(&str, usize, usize); 5] = [
    ("CartPole-v1", 4, 2),
    ("MountainCar-v0", 2, 3),
    ("MountainCarContinuous-v0", 2, 1),
    ("Pendulum-v1", 3, 1),
    ("Acrobot-v1", 6, 3),
];

#[test]
fn plants_of_environments_work_with_their_placeholders() {
    let folder = Folder::new("new-env");
    for (environment, ..) in ENVIRONMENTS {
        let file = folder.file(&format!("{environment}.certus"));
        let ran = certus(&["new", "--env", environment, "-o", &file]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!(certus(&["fmt", "--check", &file]).code, 0, "{environment}: in canonical form");
        // Within the length of an episode nothing leaves a range, and every placeholder does what is asked for.
        let simulated = certus(&["simulate", &file, "--runs", "20", "--steps", "500", "--json"]);
        assert_eq!(simulated.code, 0, "{}{}", simulated.stdout, simulated.stderr);
        assert!(simulated.stderr.is_empty(), "no warnings: {}", simulated.stderr);
        let document: serde_json::Value = serde_json::from_str(&simulated.stdout).unwrap();
        let ends = &document["ends"];
        let well = ends["completed"].as_u64().unwrap_or(0) + ends["terminal"].as_u64().unwrap_or(0);
        assert_eq!(well, 20, "{environment}: {ends}");
        for property in document["properties"].as_array().unwrap() {
            assert_eq!(property["violated"], 0, "{environment}: {property}");
        }
        let checked = certus(&["check", &file, "-k", "1", "--timeout", "1"]);
        assert!([0, 1, 3].contains(&checked.code), "{}{}", checked.stdout, checked.stderr);
    }
    // One of them is proved: the car gets over the hill, from everywhere that it is reset to.
    let file = folder.file("MountainCarContinuous-v0.certus");
    let checked = certus(&["check", &file, "reaches_goal_999", "--engine", "reach", "--timeout", "60"]);
    assert!(checked.stdout.contains("reaches_goal_999  holds up to step 999"), "{}", checked.stdout);
}

#[test]
fn plants_of_environments_take_networks_that_fit() {
    let folder = Folder::new("new-env-networks");
    let file = folder.file("pendulum.certus");
    let network = root().join("zoo/gym_pendulum/gym_pendulum.onnx").display().to_string();
    assert_eq!(certus(&["new", &network, "--env", "Pendulum-v1", "--name", "own", "-o", &file]).code, 0);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.contains("system own\n") && text.contains("gym_pendulum.onnx\", cos(theta), sin(theta), omega)"),
        "{text}"
    );
    let simulated = certus(&["simulate", &file, "--runs", "20", "--steps", "200"]);
    assert_eq!(simulated.code, 0, "{}", simulated.stderr);
    assert!(simulated.stderr.is_empty(), "no warnings: {}", simulated.stderr);
    // Networks that are still to be trained: the file says how many numbers they take and give.
    for (environment, inputs, _) in ENVIRONMENTS {
        let ran = certus(&["new", "later.onnx", "--env", environment]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains("later.onnx does not exist yet"), "{}", ran.stderr);
        let applied = ran.stdout.split("net(\"later.onnx\", ").nth(1).unwrap();
        let applied = applied.split_once(if applied.contains(")) of") { ")) of" } else { "), -" }).unwrap().0;
        assert_eq!(applied.split(", ").count(), inputs, "{applied}");
    }
    let told = |arguments: &[&str]| {
        let ran = certus(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.stdout);
        ran.stderr
    };
    let cartpole = "zoo/cartpole_gym/cartpole_gym.onnx";
    assert!(told(&["new", cartpole, "--env", "CartPole-v1"]).contains("CartPole-v1 shows 4 (p, v, theta, omega)"));
    assert!(told(&["new", cartpole, "--env", "MountainCar-v0"]).contains("MountainCar-v0 needs 3"));
    assert!(told(&["new", "--env", "CartPole-v0"]).contains("did you mean 'CartPole-v1'?"));
    assert!(told(&["new", "--env", "CartPole-v1", "--actions", "a,b"]).contains("leave out --spaces and --actions"));
    assert!(told(&["new", "no/where.onnx", "--env", "CartPole-v1"]).contains("no"));
}
