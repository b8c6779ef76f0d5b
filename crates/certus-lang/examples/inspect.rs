//! Loads `.certus` files and says what they are: `cargo run -p certus-lang --example inspect -- FILE…`
//!
//! Exits with 2 if one of them is wrong.

use std::process::ExitCode;

use certus_lang::{LowerOptions, load_file};

fn main() -> ExitCode {
    let mut failed = false;
    for path in std::env::args().skip(1) {
        match load_file(&path, &LowerOptions::default()) {
            Ok(system) => {
                eprint!("{}", system.warnings);
                println!(
                    "{path}: {} with {} state, {} input reals, {} properties, {} atoms, step of {} nodes",
                    system.name,
                    system.state_len(),
                    system.inputs.iter().map(|v| v.len).sum::<usize>(),
                    system.properties.len(),
                    system.atoms.len(),
                    system.step.len(),
                );
            }
            Err(diagnostics) => {
                failed = true;
                eprint!("{diagnostics}");
            }
        }
    }
    if failed { ExitCode::from(2) } else { ExitCode::SUCCESS }
}
