//! Tiny networks as the text of NNet files: whole weights, so that doubles are exact.

use std::fmt::Write as _;

use certus_numerics::Random;

/// A network of one input, with none or one hidden layer.
pub fn random(random: &mut Random, outputs: usize) -> String {
    of_size(random, 1, outputs)
}

/// A network with so many inputs and outputs.
pub fn of_size(random: &mut Random, inputs: usize, outputs: usize) -> String {
    let hidden = random.below(3);
    let sizes: Vec<usize> = [inputs, hidden, outputs].into_iter().filter(|&size| size > 0).collect();
    let joined = |numbers: &[String]| numbers.iter().map(|number| format!("{number},")).collect::<String>();
    let mut text = "// whole weights\n".to_owned();
    let words: Vec<String> = sizes.iter().map(usize::to_string).collect();
    let largest = sizes.iter().max().copied().unwrap_or(1);
    let _ = writeln!(text, "{},{inputs},{outputs},{largest},\n{}\n0,", sizes.len() - 1, joined(&words));
    let _ = writeln!(text, "{}\n{}", "-4,".repeat(inputs), "12,".repeat(inputs));
    // Where inputs are centred, and how outputs are scaled.
    let mean = *random.choose(&["0", "0", "1"]);
    let _ = writeln!(text, "{}{},", format!("{mean},").repeat(inputs), random.choose(&["0", "0", "1"]));
    let _ = writeln!(text, "{}{},", "1,".repeat(inputs), random.choose(&["1", "1", "2"]));
    for pair in sizes.windows(2) {
        for _ in 0..pair[1] {
            let row: Vec<String> =
                (0..pair[0]).map(|_| random.choose(&["-2", "-1", "0", "1", "1", "2"]).to_string()).collect();
            let _ = writeln!(text, "{}", joined(&row));
        }
        for _ in 0..pair[1] {
            let _ = writeln!(text, "{},", random.choose(&["-2", "-1", "0", "0", "1", "2", "3"]));
        }
    }
    text
}
