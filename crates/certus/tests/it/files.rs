//! What commands read is never written over: not by its own name, not by another, and not for any flag.

use std::path::{Path, PathBuf};

use crate::support::{Folder, certus, root};

/// Flags that name files which are read. Together with the table of the test below they are all flags that take a file or a folder.
const READ: [(&str, &str); 17] = [
    ("check", "--network"),
    ("region", "--network"),
    ("simulate", "--network"),
    ("extract", "--network"),
    ("prob", "--network"),
    ("shield", "--network"),
    ("shield run", "--network"),
    ("shield run", "--system"),
    ("shield export", "--system"),
    ("verify", "--network"),
    ("optimise", "--network"),
    ("audit", "--network"),
    ("audit", "--specification"),
    ("audit", "--query"),
    ("mine", "--specifications"),
    ("mine", "--baseline"),
    ("mine", "--regions"),
];

/// A copy of the files that commands are tried on.
struct Copies(Folder);

impl Copies {
    fn new(name: &str) -> Copies {
        let own = Copies(Folder::new(name));
        for (from, name) in [
            ("zoo/toy/toy.certus", "toy.certus"),
            ("zoo/toy/toy.onnx", "toy.onnx"),
            ("zoo/toy/below_ten.vnnlib", "below_ten.vnnlib"),
            ("zoo/toy/square.vnnlib", "square.vnnlib"),
            ("zoo/pendulum/pendulum.certus", "pendulum.certus"),
            ("zoo/pendulum/pendulum.onnx", "pendulum.onnx"),
            ("zoo/stopping_car/stopping_car.certus", "stopping_car.certus"),
            ("zoo/stopping_car/stopping_car.onnx", "stopping_car.onnx"),
            ("docs/models/link.prism", "link.prism"),
            ("docs/mining/video.toml", "video.toml"),
            ("docs/mining/buffer-based.csv", "buffer-based.csv"),
            ("docs/mining/mpc.csv", "mpc.csv"),
            ("docs/mining/traces.txt", "traces.txt"),
        ] {
            own.0.write(name, std::fs::read(root().join(from)).unwrap());
        }
        own
    }

    fn at(&self, name: &str) -> String {
        self.0.file(name)
    }

    /// Another name of a file.
    fn link(&self, name: &str, of: &str) {
        #[cfg(unix)]
        std::os::unix::fs::symlink(of, self.0.0.join(name)).unwrap();
        #[cfg(not(unix))]
        std::fs::hard_link(self.0.0.join(of), self.0.0.join(name)).unwrap();
    }

    fn bytes(&self) -> Vec<(String, Vec<u8>)> {
        let names = self.0.names().into_iter().filter(|name| Path::new(&self.at(name)).is_file());
        names.map(|name| (name.clone(), std::fs::read(self.at(&name)).unwrap())).collect()
    }
}

/// The flags of a command that take a file or a folder, by its help.
fn file_flags(command: &str) -> Vec<String> {
    let arguments: Vec<&str> = command.split(' ').chain(["--help"]).collect();
    let help = certus(&arguments).stdout;
    let lines = help.lines().map(str::trim).filter(|line| {
        line.starts_with('-') && ["<FILE>", "<FOLDER>", "<NAME=FILE>"].iter().any(|kind| line.contains(kind))
    });
    let flag = |line: &str| line.split([' ', ',']).find(|word| word.starts_with("--")).map(str::to_owned);
    lines.filter_map(flag).collect()
}

/// Seam 20: outputs replaced inputs.
#[test]
fn no_command_writes_over_what_it_reads() {
    let copies = Copies::new("over-inputs");
    copies.link("query.query", "toy.onnx");
    copies.link("runs.csv", "toy.certus");
    copies.link("labels.lab", "stopping_car.certus");
    copies.link("shield.h", "pendulum.shield.json");
    let at = |name: &str| copies.at(name);
    let made = certus(&["shield", &at("pendulum.certus"), "upright", "-o", &at("pendulum.shield.json"), "--quiet"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let toy = ["toy.onnx", "below_ten.vnnlib"];
    let proved = certus(&["verify", &at(toy[0]), &at(toy[1]), "--certificate", &at("proof")]);
    assert_eq!(proved.code, 0, "{}", proved.stderr);
    let result = certus(&["check", &at("toy.certus"), "below_ten", "-k", "1", "--json", "-o", &at("result.json")]);
    assert_eq!(result.code, 0, "{}", result.stderr);
    std::fs::create_dir(at("state")).unwrap();
    std::fs::copy(at("toy.onnx"), at("state/toy.onnx")).unwrap();
    std::fs::create_dir(at("written")).unwrap();
    std::fs::write(at("written/specifications.json"), "[]").unwrap();
    std::fs::write(at("spaces.json"), r#"{"observation": {"low": [-1, -1], "high": [1, 1]}}"#).unwrap();
    std::fs::write(at("inputs.csv"), "d1,d2\n0,0\n").unwrap();
    let region = ["toy.certus", "below_five", "-k", "1", "--region", "push"];
    let car = "stopping_car.certus";

    // A command with its inputs, the flag of an output (the long name where there are two), and an input as its name.
    let cases: &[(&str, &[&str], &str, &str)] = &[
        ("check", &["toy.certus"], "--output", "toy.certus"),
        ("check", &["toy.certus"], "--output", "toy.onnx"),
        ("check", &["toy.certus", "--network", "f={}/pendulum.onnx"], "--output", "pendulum.onnx"),
        ("check", &["toy.certus"], "--trace", "runs.csv"),
        ("check", &["toy.certus", "below_ten"], "--certificate", "toy.onnx"),
        ("check", &["toy.certus", "--engine", "grid"], "--cells", "toy.onnx"),
        ("check", &["toy.certus"], "--flowpipe", "toy.onnx"),
        ("check", &region, "--picture", "toy.onnx"),
        ("check", &region, "--output", "toy.certus"),
        ("region", &["toy.certus", "below_five", "--region", "push"], "--picture", "toy.onnx"),
        ("region", &["toy.certus", "below_five", "--region", "push"], "--output", "toy.onnx"),
        ("region", &["toy.certus", "--network", "y={}/pendulum.onnx"], "--output", "pendulum.onnx"),
        ("gate", &["toy.certus", "toy.onnx"], "--output", "toy.certus"),
        ("gate", &["toy.certus", "toy.onnx"], "--picture", "toy.onnx"),
        ("simulate", &["toy.certus"], "--output", "toy.onnx"),
        ("simulate", &["toy.certus", "--inputs", "{}/inputs.csv"], "--output", "inputs.csv"),
        ("verify", &toy, "--output", "toy.onnx"),
        ("verify", &toy, "--certificate", "toy.onnx"),
        ("verify", &toy, "--save-query", "query.query"),
        ("verify", &["state/toy.onnx", "below_ten.vnnlib"], "--resume", "state"),
        ("optimise", &["toy.onnx", "square.vnnlib", "--maximise", "Y_0"], "--output", "square.vnnlib"),
        ("extract", &["pendulum.certus"], "--output", "pendulum.onnx"),
        ("extract", &["pendulum.certus"], "--picture", "pendulum.certus"),
        ("prob", &[car, "worst"], "--output", "stopping_car.onnx"),
        ("prob", &[car, "worst"], "--map", car),
        ("prob", &[car, "worst", "--method", "unfold"], "--model", "labels.tra"),
        ("mdp", &["link.prism"], "--output", "link.prism"),
        ("mdp", &["link.prism"], "--write", "link.prism"),
        ("mdp", &["link.prism"], "--values", "link.prism"),
        ("shield", &["pendulum.certus", "upright"], "--output", "pendulum.certus"),
        ("shield run", &["pendulum.shield.json"], "--output", "pendulum.onnx"),
        ("shield export", &["pendulum.shield.json", "--lang", "rust"], "--output", "pendulum.shield.json"),
        ("shield export", &["pendulum.shield.json", "--lang", "c"], "--output", "shield"),
        ("audit", &["proof"], "--output", "proof"),
        ("audit", &["proof"], "--output", "toy.onnx"),
        ("observe", &["traces.txt"], "--output", "traces.txt"),
        ("mine", &["video.toml"], "--output", "video.toml"),
        ("mine", &["video.toml"], "--output", "mpc.csv"),
        ("mine", &["video.toml", "--emit-sql", "duckdb"], "--output", "video.toml"),
        ("mine", &["video.toml", "--verify", "{}/toy.onnx"], "--cache", "toy.onnx"),
        ("mine", &["video.toml", "--specifications", "{}/written/specifications.json"], "--write", "written"),
        ("inspect", &["toy.certus"], "--output", "toy.onnx"),
        ("inspect", &["toy.onnx"], "--output", "toy.onnx"),
        ("report", &["result.json"], "--output", "result.json"),
        ("new", &["toy.onnx", "--force"], "--output", "toy.onnx"),
        ("new", &["toy.onnx", "--force", "--spaces", "{}/spaces.json"], "--output", "spaces.json"),
    ];
    let before = copies.bytes();
    for &(command, inputs, flag, victim) in cases {
        let path = |word: &&str| match word {
            word if word.contains("{}") => word.replace("{}", &copies.0.0.display().to_string()),
            word if word.contains('.') || *word == "proof" => at(word),
            word => (**word).to_owned(),
        };
        let mut arguments: Vec<String> = command.split(' ').map(str::to_owned).collect();
        if command == "observe" {
            arguments.extend(["pensieve".to_owned(), "buffer-based".to_owned()]);
        }
        arguments.extend(inputs.iter().map(path));
        arguments.extend([flag.to_owned(), at(victim)]);
        let ran = certus(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let told = &ran.stderr;
        assert_eq!(ran.code, 2, "{arguments:?}: {}{told}", ran.stdout);
        let short = if flag == "--output" { "-o" } else { flag };
        assert!(told.contains(short) && told.contains("would be written over"), "{arguments:?}: {told}");
        assert_eq!(copies.bytes(), before, "{arguments:?}");
    }

    // No flag that takes a file was forgotten, here or by whoever adds one.
    let tried: Vec<(&str, &str)> = cases.iter().map(|&(command, _, flag, _)| (command, flag)).collect();
    let commands =
        ["check", "region", "gate", "simulate", "verify", "optimise", "extract", "prob", "mdp", "shield", "shield run"];
    let commands = commands.iter().chain(&["shield export", "audit", "observe", "mine", "inspect", "report", "new"]);
    let help = certus(&["--help"]).stdout;
    let own =
        help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1).take_while(|line| !line.is_empty());
    for name in own.filter_map(|line| line.split_whitespace().next()) {
        let known = commands.clone().any(|command| *command == name) || ["fmt", "completions", "help"].contains(&name);
        assert!(known, "`certus {name}` is not tried");
    }
    for command in commands {
        for flag in file_flags(command) {
            let pair = (*command, flag.as_str());
            let known = tried.contains(&pair)
                || READ.contains(&pair)
                || [("new", "--spaces"), ("report", "--figures")].contains(&pair);
            assert!(known, "`certus {command} {flag}` is neither read nor tried as an output");
        }
    }
}

#[test]
fn pictures_of_a_report_replace_no_result() {
    let copies = Copies::new("over-figures");
    let at = |name: &str| copies.at(name);
    let file = "system s\nparam a in [0, 1] = 1\nstate x in [0, 9]\nnext x = clamp(x + a, 0, 9)\ninit x == 0\nproperty low = G x <= 1\n";
    let file = copies.0.write("s.certus", file);
    let region = ["check", &file, "low", "-k", "2", "--region", "a", "--resolution", "2"];
    let made = certus(&[&region[..], &["--json", "-o", &at("result.json")]].concat());
    assert_eq!(made.code, 1, "{}", made.stderr);
    std::fs::create_dir(at("figures")).unwrap();
    let page = |page: &str| certus(&["report", &at("result.json"), "-o", &at(page), "--figures", &at("figures")]);
    assert_eq!(page("page.html").code, 0);
    let figure: PathBuf = std::fs::read_dir(at("figures")).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_file(&figure).unwrap();
    std::fs::hard_link(at("result.json"), &figure).unwrap();
    let ran = page("other.html");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("--figures") && !Path::new(&at("other.html")).exists(), "{}", ran.stderr);
}

#[test]
fn an_output_may_replace_an_older_one() {
    let copies = Copies::new("over-outputs");
    let at = |name: &str| copies.at(name);
    for _ in 0..2 {
        assert_eq!(certus(&["check", &at("toy.certus"), "below_ten", "-k", "1", "-o", &at("out.txt")]).code, 0);
    }
}
