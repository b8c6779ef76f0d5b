//! Whether solutions exist for all time, from the shape of the equation.
//!
//! If f is defined everywhere and |f(x)| ≤ a + b·|x| for the held numbers of a period, no solution escapes in finite time
//! (Grönwall). The bound is read off the instructions: held numbers, varying ones and constants are bounded; sines, cosines,
//! `tanh`, the logistic function and truth values are bounded whatever their argument; sums and clips keep the bound, a product
//! with something bounded does too.

use super::Function;
use super::program::{Instruction, Program};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Growth {
    Bounded,
    Linear,
    Unknown,
}

/// Whether the results are defined everywhere and grow at most linearly with the state.
pub(super) fn grows_linearly(program: &Program) -> bool {
    let mut growth: Vec<Growth> = Vec::with_capacity(program.instructions.len());
    for (place, instruction) in program.instructions.iter().enumerate() {
        let most = |places: &[usize]| places.iter().map(|&own| growth[own]).max().unwrap_or(Growth::Bounded);
        let own = match instruction {
            Instruction::State(_) => Growth::Linear,
            Instruction::Held(_) | Instruction::Varying(_) | Instruction::Constant(_) => Growth::Bounded,
            Instruction::Product(a, b) => match (growth[*a], growth[*b]) {
                (Growth::Bounded, other) | (other, Growth::Bounded) => other,
                _ => Growth::Unknown,
            },
            Instruction::Smooth { function, argument, .. } | Instruction::Pieces { function, argument } => {
                by_function(*function, growth[*argument])
            }
            Instruction::Combine { .. } | Instruction::Select(..) => most(&Program::arguments(instruction)),
        };
        // What only slopes need says nothing of the value.
        growth.push(if program.needed[place] { own } else { Growth::Unknown });
    }
    program.results.iter().all(|&place| growth[place] != Growth::Unknown)
}

fn by_function(function: Function, argument: Growth) -> Growth {
    if argument == Growth::Unknown {
        return Growth::Unknown;
    }
    match function {
        Function::Sin | Function::Cos | Function::Tanh | Function::Sigmoid => Growth::Bounded,
        Function::Positive | Function::NonNegative => Growth::Bounded,
        Function::Clip { lower, upper } if lower.is_finite() && upper.is_finite() => Growth::Bounded,
        Function::Softplus | Function::Abs | Function::Relu | Function::Clip { .. } | Function::Floor => argument,
        Function::Exp if argument == Growth::Bounded => Growth::Bounded,
        // Not defined everywhere, or faster than linear.
        Function::Exp | Function::Log | Function::Sqrt | Function::Reciprocal => Growth::Unknown,
    }
}
