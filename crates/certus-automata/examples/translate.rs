//! A formula to its automaton in the Hanoi format.
//!
//!     cargo run --release -p certus-automata --example translate 'G(request -> F[0,5] grant)'

use certus_automata::formula::{Formulas, Names};
use certus_automata::hoa::write_hoa;
use certus_automata::parse::parse;
use certus_automata::translate::{Options, translate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::env::args().nth(1).ok_or("give a formula")?;
    let (mut store, mut names) = (Formulas::new(), Names::default());
    let formula = parse(&text, &mut store, &mut names)?;
    print!("{}", write_hoa(&translate(&mut store, formula, &names, &Options::default())?));
    Ok(())
}
