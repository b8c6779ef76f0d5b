//! Exported shields compute the same as the runtime, to the last bit.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use certus_audit::shield::read_model;
use certus_lang::{FileNetworks, LowerOptions, Networks, Open, load_file};
use certus_numerics::Random;
use certus_shield::export::{c_header, c_source, python_module, rust_module};
use certus_shield::runtime::Runtime;
use certus_shield::synthesis::{Form, Options, synthesise};
use certus_shield_rt::{Decision, Fallback, Monitor};

fn runtime(name: &str, property: &str, form: Form) -> Runtime {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../zoo").join(name);
    let options = LowerOptions { open: Open::All, ..LowerOptions::default() };
    let system = load_file(folder.join(format!("{name}.certus")), &options).unwrap();
    let network = FileNetworks::new(folder).load(&system.networks[0].path).unwrap();
    let property = system.property(property).unwrap();
    let options = Options { form, ..Options::default() };
    let made = synthesise(&system, property, &network, &options, &AtomicBool::new(false), &|_| {}).unwrap();
    Runtime::new(&made.shield, &read_model(&system, property, &made.shield.domain).unwrap()).unwrap()
}

/// States in and around the domain, and actions within and beyond their limits.
fn cases(runtime: &Runtime, count: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
    let mut random = Random::new(7, 0);
    (0..count)
        .map(|_| {
            let state = runtime.domain.iter().map(|&(a, b)| random.between(1.1 * a, 1.1 * b)).collect();
            let actions = runtime.limits.iter().map(|&(a, b)| random.between(1.2 * a, 1.2 * b)).collect();
            (state, actions)
        })
        .collect()
}

/// Decision and bits of the actions for every case, as text.
fn expected(runtime: &Runtime, cases: &[(Vec<f64>, Vec<f64>)]) -> String {
    runtime.with_tables(|tables| {
        let mut monitor = Monitor::new();
        let mut text = String::new();
        for (state, actions) in cases {
            let (mut actions, mut next) = (actions.clone(), vec![0.0; state.len()]);
            let decision = monitor.decide(tables, state, &mut actions, &mut next, Fallback::LastBranch);
            let number = match decision {
                Decision::Passed(_) => 0,
                Decision::Overridden(_) => 1,
                Decision::Alarm => 2,
            };
            text += &number.to_string();
            actions.iter().for_each(|a| text += &format!(" {:016x}", a.to_bits()));
            text += "\n";
        }
        text += &format!("{} {}\n", monitor.steps(), monitor.interventions());
        text
    })
}

fn numbers(cases: &[(Vec<f64>, Vec<f64>)]) -> String {
    cases
        .iter()
        .map(|(state, actions)| {
            let bits = state.iter().chain(actions).map(|x| format!("{:016x}", x.to_bits()));
            bits.collect::<Vec<_>>().join(" ") + "\n"
        })
        .collect()
}

struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("certus-export-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const DRIVER: &str = r#"
#include "shield.h"
#include <stdio.h>
#include <stdint.h>
#include <inttypes.h>
#include <string.h>
int main(int argc, char **argv)
{
    shield_monitor monitor;
    double state[SHIELD_STATES], actions[SHIELD_ACTIONS];
    FILE *file = fopen(argv[1], "r");
    uint64_t bits;
    int i, decision;
    (void)argc;
    if (file == NULL) return 1;
    shield_start(&monitor);
    for (;;) {
        for (i = 0; i < SHIELD_STATES + SHIELD_ACTIONS; i++) {
            if (fscanf(file, "%" SCNx64, &bits) != 1) {
                printf("%llu %llu\n", monitor.steps, monitor.interventions);
                return 0;
            }
            memcpy(i < SHIELD_STATES ? &state[i] : &actions[i - SHIELD_STATES], &bits, sizeof bits);
        }
        decision = shield_decide(&monitor, state, actions, NULL);
        printf("%d", decision);
        for (i = 0; i < SHIELD_ACTIONS; i++) {
            memcpy(&bits, &actions[i], sizeof bits);
            printf(" %016" PRIx64, bits);
        }
        printf("\n");
    }
}
"#;

#[test]
fn c_python_and_rust_agree_with_the_interpreter_to_the_last_bit() {
    for (name, property, form) in [
        ("pendulum", "case_study", Form::Polyhedron),
        ("selfdriving", "stays_on_road", Form::Polynomial),
        ("lanekeeping", "stays_in_lane", Form::Auto),
    ] {
        let runtime = runtime(name, property, form);
        let cases = cases(&runtime, 4000);
        let expected = expected(&runtime, &cases);
        // All three kinds of decisions were made.
        assert!(expected.contains("\n0 ") && expected.contains("\n1 ") && expected.contains("\n2 "), "{name}");
        let folder = Folder::new(name);
        let place = |file: &str| folder.0.join(file);
        std::fs::write(place("cases.txt"), numbers(&cases)).unwrap();
        std::fs::write(place("shield.h"), c_header(&runtime, "shield")).unwrap();
        std::fs::write(place("shield.c"), c_source(&runtime, "shield")).unwrap();
        std::fs::write(place("driver.c"), DRIVER).unwrap();
        if Command::new("cc").arg("--version").output().is_ok() {
            for standard in [&["-std=c99", "-O2"][..], &["-std=gnu99", "-O2", "-mfma"][..]] {
                let compiled = Command::new("cc")
                    .args(standard)
                    .args(["-Wall", "-Wextra", "-Werror", "-o"])
                    .args([place("driver"), place("driver.c"), place("shield.c")])
                    .output()
                    .unwrap();
                if standard.contains(&"-mfma") && !compiled.status.success() {
                    continue; // Another processor.
                }
                assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
                let ran = Command::new(place("driver")).arg(place("cases.txt")).output().unwrap();
                if standard.contains(&"-mfma") && !ran.status.success() {
                    continue;
                }
                assert_eq!(String::from_utf8_lossy(&ran.stdout), expected, "{name} {standard:?}");
            }
        }
        std::fs::write(place("shield_module.py"), python_module(&runtime, "shield")).unwrap();
        let script = "import struct, sys, shield_module as s
m = s.Monitor()
for line in open('cases.txt'):
    x = [struct.unpack('>d', bytes.fromhex(w))[0] for w in line.split()]
    d, a = m.decide(x[:s.STATES], x[s.STATES:])
    print(d, *(struct.pack('>d', v).hex() for v in a))
print(m.steps, m.interventions)
";
        if let Ok(ran) = Command::new("python3").args(["-c", script]).current_dir(&folder.0).output() {
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
            assert_eq!(String::from_utf8_lossy(&ran.stdout), expected, "{name}");
        }
        std::fs::write(place("shield.rs"), rust_module(&runtime, "shield")).unwrap();
        assert_eq!(rust_answers(&folder.0), expected, "{name}");
    }
}

const RUST_DRIVER: &str = r#"
#[path = "shield.rs"]
mod shield;
use certus_shield_rt::{Decision, Fallback, Monitor};
use shield::{ACTIONS, STATES, Shield};

fn main() {
    let mut monitor = Monitor::new();
    for line in std::fs::read_to_string("cases.txt").unwrap().lines() {
        let numbers: Vec<f64> =
            line.split(' ').map(|word| f64::from_bits(u64::from_str_radix(word, 16).unwrap())).collect();
        let (mut actions, mut next) = (numbers[STATES..].to_vec(), [0.0; STATES]);
        assert_eq!(actions.len(), ACTIONS);
        let decision =
            monitor.decide(&Shield, &numbers[..STATES], &mut actions, &mut next, Fallback::LastBranch);
        let number = match decision {
            Decision::Passed(_) => 0,
            Decision::Overridden(_) => 1,
            Decision::Alarm => 2,
        };
        let bits: Vec<String> = actions.iter().map(|a| format!(" {:016x}", a.to_bits())).collect();
        println!("{number}{}", bits.concat());
    }
    println!("{} {}", monitor.steps(), monitor.interventions());
}
"#;

/// Compiles the exported module against the runtime's own source with the compiler that compiles this test, and runs it.
fn rust_answers(folder: &Path) -> String {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../certus-shield-rt/src/lib.rs");
    let compile = |arguments: &[&std::ffi::OsStr]| {
        let done = Command::new(&compiler)
            .args(["--edition=2024", "-Dwarnings", "-Copt-level=2", "--out-dir"])
            .arg(folder)
            .args(arguments)
            .current_dir(folder)
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    std::fs::write(folder.join("driver.rs"), RUST_DRIVER).unwrap();
    compile(&["--crate-type=rlib".as_ref(), "--crate-name=certus_shield_rt".as_ref(), runtime.as_os_str()]);
    compile(&["--extern=certus_shield_rt=libcertus_shield_rt.rlib".as_ref(), "driver.rs".as_ref()]);
    let ran = Command::new(folder.join("driver")).current_dir(folder).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).into_owned()
}
