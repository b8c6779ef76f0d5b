//! Writes the canonical form of a `.certus` file: `cargo run -p certus-lang --example format -- FILE`

use std::process::ExitCode;

use certus_lang::Source;

fn main() -> ExitCode {
    for path in std::env::args().skip(1) {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::from(2);
            }
        };
        match certus_lang::format(&Source::new(path, text)) {
            Ok(formatted) => print!("{formatted}"),
            Err(diagnostics) => {
                eprint!("{diagnostics}");
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}
