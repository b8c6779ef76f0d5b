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
