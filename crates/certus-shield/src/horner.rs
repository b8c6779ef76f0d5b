//! Polynomials in Horner's form: one order of operations for every language.

use certus_audit::shield::Monomial;
use certus_shield_rt::Op;

/// A polynomial, nested.
#[derive(Clone, Debug, PartialEq)]
pub enum Horner {
    /// A number.
    Number(f64),
    /// inner · variable^power + rest; nothing is added if there is no rest.
    Step {
        /// What is multiplied.
        inner: Box<Horner>,
        /// The variable.
        variable: usize,
        /// How often.
        power: u8,
        /// What is added.
        rest: Option<Box<Horner>>,
    },
}

impl Horner {
    /// The form of a polynomial given by its terms.
    pub fn new(terms: &[(f64, Monomial)]) -> Horner {
        let terms: Vec<(f64, Monomial)> = terms.iter().filter(|(c, _)| *c != 0.0).cloned().collect();
        nested(&terms).unwrap_or(Horner::Number(0.0))
    }

    /// As instructions.
    pub fn ops(&self) -> Vec<Op> {
        let mut ops = Vec::new();
        self.write_ops(&mut ops);
        ops
    }

    fn write_ops(&self, ops: &mut Vec<Op>) {
        match self {
            Horner::Number(number) => ops.push(Op::Number(*number)),
            Horner::Step { inner, variable, power, rest } => {
                inner.write_ops(ops);
                (0..*power).for_each(|_| ops.push(Op::Times(*variable as u16)));
                if let Some(rest) = rest {
                    rest.write_ops(ops);
                    ops.push(Op::Plus);
                }
            }
        }
    }

    /// As an expression of C, Rust or Python, which agree on it; `name` gives the text of a variable.
    pub fn expression(&self, name: &dyn Fn(usize) -> String) -> String {
        match self {
            Horner::Number(number) => literal(*number),
            Horner::Step { inner, variable, power, rest } => {
                let mut text = inner.expression(name);
                for _ in 0..*power {
                    text = format!("{text} * {}", name(*variable));
                }
                // A product of products is evaluated from the left, as the instructions do.
                match rest {
                    Some(rest) => format!("({text} + {})", rest.expression(name)),
                    None => text,
                }
            }
        }
    }

    /// How many operations it takes.
    pub fn operations(&self) -> usize {
        self.ops().iter().filter(|op| !matches!(op, Op::Number(_))).count()
    }
}

/// A double that every language reads back as the same.
pub fn literal(number: f64) -> String {
    let text = format!("{number:?}");
    if number < 0.0 { format!("({text})") } else { text }
}

fn nested(terms: &[(f64, Monomial)]) -> Option<Horner> {
    let (first, _) = terms.first().map(|(_, m)| (m, ()))?;
    // The variable that most terms have is taken out.
    let count = |v: usize| terms.iter().filter(|(_, m)| m[v] > 0).count();
    let variable = (0..first.len()).max_by_key(|&v| (count(v), first.len() - v)).filter(|&v| count(v) > 0);
    let Some(variable) = variable else { return Some(Horner::Number(terms.iter().map(|(c, _)| c).sum())) };
    let power = terms.iter().map(|(_, m)| m[variable]).filter(|&e| e > 0).min().unwrap_or(1);
    let (with, without): (Vec<_>, Vec<_>) = terms.iter().cloned().partition(|(_, m)| m[variable] > 0);
    let lowered: Vec<(f64, Monomial)> = with
        .into_iter()
        .map(|(c, mut m)| {
            m[variable] -= power;
            (c, m)
        })
        .collect();
    let inner = Box::new(nested(&lowered)?);
    Some(Horner::Step { inner, variable, power, rest: nested(&without).map(Box::new) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::polynomial::Poly;

    fn run(ops: &[Op], x: &[f64]) -> f64 {
        let mut stack = Vec::new();
        for op in ops {
            match *op {
                Op::Number(c) => stack.push(c),
                Op::Times(v) => *stack.last_mut().unwrap() *= x[usize::from(v)],
                Op::Plus => {
                    let upper = stack.pop().unwrap();
                    *stack.last_mut().unwrap() += upper;
                }
            }
        }
        assert_eq!(stack.len(), 1);
        stack[0]
    }

    proptest! {
        #[test]
        fn the_form_is_the_polynomial(
            terms in proptest::collection::vec((-9i32..9, proptest::collection::vec(0u8..4, 3)), 0..9),
            x in proptest::collection::vec(-3i32..3, 3),
        ) {
            let terms: Vec<(f64, Monomial)> = terms.into_iter().map(|(c, m)| (f64::from(c), m)).collect();
            let x: Vec<f64> = x.into_iter().map(f64::from).collect();
            let mut poly = Poly::zero(3);
            terms.iter().for_each(|(c, m)| poly.add(m.clone(), *c));
            // Small whole numbers: every order of operations gives the same.
            prop_assert_eq!(run(&Horner::new(&terms).ops(), &x), poly.value(&x));
        }
    }
}
