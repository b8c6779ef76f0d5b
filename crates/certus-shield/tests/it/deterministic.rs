//! The same shield whatever the threads and the load, and programs of the kind that was asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use certus_documents::Document;
use certus_graph::Graph;
use certus_lang::{FileNetworks, LowerOptions, Networks, Open, System, load_file};
use certus_shield::document::document;
use certus_shield::synthesis::{Failed, Form, Options, Synthesised, synthesise};

fn zoo(name: &str) -> (System, Arc<Graph>) {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../zoo").join(name);
    let options = LowerOptions { open: Open::All, ..LowerOptions::default() };
    let system = load_file(folder.join(format!("{name}.certus")), &options).unwrap();
    let network = FileNetworks::new(folder).load(&system.networks[0].path).unwrap();
    (system, network)
}

fn made(name: &str, property: &str, options: &Options) -> Result<Synthesised, Failed> {
    let (system, network) = zoo(name);
    let property = system.property(property).unwrap();
    synthesise(&system, property, &network, options, &AtomicBool::new(false), &|_| {})
}

#[test]
fn neither_threads_nor_load_change_a_shield() {
    let shield = |threads: usize| {
        let made = made("satellite", "stays_safe", &Options { threads, ..Options::default() }).unwrap();
        assert!(!made.cut_short, "there was no deadline");
        document(&made.shield, "satellite", &made.states).to_line().unwrap()
    };
    let first = shield(1);
    let busy = AtomicBool::new(true);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while busy.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let loaded = [shield(1), shield(2), shield(3)];
        busy.store(false, Ordering::Relaxed);
        for other in loaded {
            assert_eq!(other, first);
        }
    });
}

/// Regulators need the velocity: they are no programs over the angle alone.
/// Seam 16: what the sketch leaves out was in the program.
#[test]
fn a_sketch_is_a_promise() {
    let sketch = vec![vec![1, 0]];
    let quadratic = Options { form: Form::Polynomial, degree: Some(2), threads: 2, ..Options::default() };
    let options = Options { sketch: sketch.clone(), ..quadratic };
    match made("pendulum", "upright", &options) {
        Ok(made) => {
            let programs = made.shield.branches.iter().flat_map(|branch| &branch.program);
            for (factor, monomial) in programs.flatten() {
                assert!(*factor == 0.0 || sketch.contains(monomial), "{monomial:?} was not asked for");
            }
        }
        Err(Failed::NotFound { tried, .. }) => assert!(tried < 1000),
        Err(other) => panic!("{other:?}"),
    }
    // With both states there is a shield, over these states.
    let both = Options { sketch: vec![vec![1, 0], vec![0, 1]], threads: 2, ..Options::default() };
    let made = made("pendulum", "case_study", &both).unwrap();
    let programs = made.shield.branches.iter().flat_map(|branch| &branch.program);
    assert!(programs.flatten().all(|(factor, monomial)| *factor == 0.0 || both.sketch.contains(monomial)));
}
