//! Formulas in words.

/// A formula as a sentence would say it: temporal operators, bounds, probabilities and connectives by their names.
pub(crate) fn in_words(formula: &str) -> String {
    let tokens = tokens(formula);
    let mut words: Vec<String> = Vec::new();
    let mut place = 0;
    while let Some(token) = tokens.get(place) {
        place += 1;
        let bound = bound(&tokens[place..]);
        match token.as_str() {
            "G" | "F" | "U" | "R" | "W" | "X" => {
                let (within, used) = bound.unwrap_or_default();
                place += used;
                let name = match token.as_str() {
                    "G" => "always",
                    "F" => "at some time",
                    "U" => "until",
                    "R" => "releases",
                    "W" => "weakly until",
                    _ => "in the next step",
                };
                words.push(format!("{name}{within}"));
            }
            "P" | "Pmax" | "Pmin" => {
                let which = match token.as_str() {
                    "Pmax" => "largest ",
                    "Pmin" => "smallest ",
                    _ => "",
                };
                let (asked, used) = probability(&tokens[place..]);
                place += used;
                words.push(format!("the {which}probability{asked} of"));
            }
            "->" => words.push("implies".to_owned()),
            "<->" => words.push("exactly if".to_owned()),
            "&" => words.push("and".to_owned()),
            "|" => words.push("or".to_owned()),
            "!" => words.push("not".to_owned()),
            "<=" => words.push("≤".to_owned()),
            ">=" => words.push("≥".to_owned()),
            "!=" => words.push("≠".to_owned()),
            "==" => words.push("=".to_owned()),
            other => words.push(other.to_owned()),
        }
    }
    joined(&words)
}

/// The bound after a temporal operator, and how many tokens it takes.
fn bound(rest: &[String]) -> Option<(String, usize)> {
    let steps = |text: &String| text.parse::<u64>().ok();
    match rest {
        [relation, number, ..] if relation == "<=" => {
            let steps = steps(number)?;
            Some((format!(" within {steps} {}", if steps == 1 { "step" } else { "steps" }), 2))
        }
        [open, from, comma, to, close, ..] if open == "[" && comma == "," && close == "]" => {
            Some((format!(" from step {} to step {}", steps(from)?, steps(to)?), 5))
        }
        _ => None,
    }
}

/// What is asked of a probability, and how many tokens that takes.
fn probability(rest: &[String]) -> (String, usize) {
    match rest {
        [equals, asked, ..] if equals == "=" && asked == "?" => (String::new(), 2),
        [relation, number, ..] if number.parse::<f64>().is_ok() => {
            let relation = match relation.as_str() {
                "<=" => "at most",
                "<" => "below",
                ">=" => "at least",
                ">" => "above",
                _ => return (String::new(), 0),
            };
            (format!(" ({relation} {number})"), 2)
        }
        _ => (String::new(), 0),
    }
}

fn tokens(formula: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = formula;
    while let Some(first) = rest.chars().next() {
        let symbol = ["<->", "->", "<=", ">=", "!=", "=="].into_iter().find(|own| rest.starts_with(own));
        let length = match symbol {
            Some(symbol) => symbol.len(),
            None if first.is_alphanumeric() || first == '_' => {
                let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
                rest.find(|c: char| !inside(c)).unwrap_or(rest.len())
            }
            None => first.len_utf8(),
        };
        if !first.is_whitespace() {
            tokens.push(rest[..length].to_owned());
        }
        rest = &rest[length..];
    }
    tokens
}

/// Words with spaces between, but none inside of parentheses and calls.
fn joined(words: &[String]) -> String {
    let mut text = String::new();
    for (index, word) in words.iter().enumerate() {
        let before = index.checked_sub(1).map(|last| words[last].as_str());
        let call = (word == "(" || word == "[")
            && before.is_some_and(|own| own.chars().all(|c| c.is_alphanumeric() || c == '_'))
            && !matches!(before, Some("and" | "or" | "not" | "implies" | "always" | "until" | "releases" | "in"));
        let tight = matches!(word.as_str(), ")" | "]" | "," | "." | "^")
            || call
            || matches!(before, None | Some("(" | "[" | "." | "^"))
            || (before == Some("-") && index.checked_sub(2).is_none_or(|own| !is_operand(&words[own])));
        if !tight {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

fn is_operand(word: &str) -> bool {
    word == ")" || word == "]" || word.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_read_as_sentences() {
        let cases = [
            ("G (abs(eta) < deg(90))", "always (abs(eta) < deg(90))"),
            ("G (eta < 0 -> F omega > 0)", "always (eta < 0 implies at some time omega > 0)"),
            ("G<=300 upright", "always within 300 steps upright"),
            ("F[2,5] !safe", "at some time from step 2 to step 5 not safe"),
            ("P<=0.01 [ F<=7 gap <= -1 ]", "the probability (at most 0.01) of [at some time within 7 steps gap ≤ -1]"),
            ("Pmax=? [ F<=20 crash ]", "the largest probability of [at some time within 20 steps crash]"),
            ("x[1] - y >= 2 | !(a & b)", "x[1] - y ≥ 2 or not (a and b)"),
        ];
        for (formula, words) in cases {
            assert_eq!(in_words(formula), words);
        }
    }
}
