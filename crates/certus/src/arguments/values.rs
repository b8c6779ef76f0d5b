//! Values of flags that are more than a number or a name.

use std::path::PathBuf;

use certus_tasks::simulate::Inputs;

use super::prob::Numbers;
use super::shield::Exponents;

/// A state's name with a range.
pub fn parse_target(text: &str) -> Result<(String, f64, f64), String> {
    let parts = text.split_once('=').and_then(|(name, range)| Some((name, range.split_once("..")?)));
    let Some((name, (low, high))) = parts else { return Err("expected NAME=LOW..HIGH".to_owned()) };
    let end = |text: &str| text.trim().parse::<f64>().ok().filter(|x| !x.is_nan());
    match (end(low), end(high)) {
        (Some(low), Some(high)) if low <= high => Ok((name.trim().to_owned(), low, high)),
        _ => Err("expected two numbers LOW..HIGH, the lower one first".to_owned()),
    }
}

pub fn parse_setting(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, for example mass=1.3")?;
    let number: f64 = value.trim().parse().map_err(|_| format!("'{value}' is no number"))?;
    if !number.is_finite() {
        return Err(format!("'{value}' is not finite"));
    }
    Ok((name.trim().to_owned(), number))
}

/// How many steps: without any, nothing would be looked at.
pub fn parse_steps(text: &str) -> Result<usize, String> {
    let steps = text.trim().parse::<usize>().ok();
    steps.filter(|&steps| steps > 0).ok_or_else(|| "expected a whole number from 1 on".to_owned())
}

pub fn parse_width(text: &str) -> Result<(Option<String>, f64), String> {
    let (name, width) = match text.split_once('=') {
        Some((name, width)) => (Some(name.trim().to_owned()), width),
        None => (None, text),
    };
    match width.trim().parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok((name, number)),
        _ => Err(format!("'{width}' is no positive number; expected 0.01 or NAME=0.01")),
    }
}

pub fn parse_trace(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv" | "json") => Ok(path),
        _ => Err("expected a name that ends in .csv or .json".to_owned()),
    }
}

pub fn parse_region(text: &str) -> Result<(String, Option<(f64, f64)>), String> {
    let wrong = || "expected NAME or NAME=A..B, for example mass=0.5..2".to_owned();
    let Some((name, range)) = text.split_once('=') else {
        return if text.trim().is_empty() { Err(wrong()) } else { Ok((text.trim().to_owned(), None)) };
    };
    let (low, high) = range.split_once("..").ok_or_else(wrong)?;
    let end = |text: &str| text.trim().parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(wrong);
    Ok((name.trim().to_owned(), Some((end(low)?, end(high)?))))
}

pub fn parse_direction(text: &str) -> Result<Numbers, String> {
    let number = |part: &str| part.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    let numbers: Option<Vec<f64>> = text.split(',').map(number).collect();
    numbers.map(Numbers).ok_or_else(|| "expected numbers, for example 0.22,1".to_owned())
}

pub fn parse_axes(text: &str) -> Result<(usize, usize), String> {
    let parts: Option<Vec<usize>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    match parts.as_deref() {
        Some(&[x, y]) if x != y => Ok((x, y)),
        _ => Err("expected two different numbers of state variables, for example 0,1".to_owned()),
    }
}

/// Two different names.
pub fn parse_names(text: &str) -> Result<(String, String), String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    match parts.as_slice() {
        [x, y] if x == y => Err(format!("'{x}' is named twice")),
        [x, y] if !x.is_empty() && !y.is_empty() => Ok(((*x).to_owned(), (*y).to_owned())),
        _ => Err("expected two names, for example p,v".to_owned()),
    }
}

pub fn parse_not_negative(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok();
    number
        .filter(|value| value.is_finite() && *value >= 0.0)
        .ok_or_else(|| "expected a number that is not negative".to_owned())
}

pub fn parse_significance(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok();
    number.filter(|&value| value > 0.0 && value <= 1.0).ok_or_else(|| "expected a number above 0, at most 1".to_owned())
}

pub fn parse_network(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_owned(), file.into())),
        _ => Err("expected NAME=FILE, for example f=policy.onnx".to_owned()),
    }
}

pub fn parse_monomial(text: &str) -> Result<Exponents, String> {
    let exponents = text.split(',').map(|e| e.trim().parse::<u8>()).collect::<Result<Vec<u8>, _>>();
    exponents.map(Exponents).map_err(|_| "expected exponents, for example 1,0,2".to_owned())
}

pub fn parse_inputs(text: &str) -> Result<Inputs, String> {
    Ok(Inputs::named(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_have_a_name_and_a_file() {
        assert_eq!(parse_network("f=a=b.onnx"), Ok(("f".to_owned(), PathBuf::from("a=b.onnx"))));
        for wrong in ["f.onnx", "=f.onnx", "f="] {
            assert!(parse_network(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn regions_are_names_with_or_without_a_range() {
        assert_eq!(parse_region("a"), Ok(("a".to_owned(), None)));
        assert_eq!(parse_region("a=-1..2.5"), Ok(("a".to_owned(), Some((-1.0, 2.5)))));
        for wrong in ["", "a=1", "a=1..", "a=1..x", "a=0..inf"] {
            assert!(parse_region(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn two_names_are_two() {
        assert_eq!(parse_names("p, v[0]"), Ok(("p".to_owned(), "v[0]".to_owned())));
        for wrong in ["", "p", "p,", "p,p", "p,v,w"] {
            assert!(parse_names(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_are_in_their_ranges() {
        assert_eq!(parse_not_negative("0"), Ok(0.0));
        for wrong in ["-1", "nan", "inf", "x"] {
            assert!(parse_not_negative(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_significance("1"), Ok(1.0));
        for wrong in ["0", "-1", "2", "nan", "inf", "x"] {
            assert!(parse_significance(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn settings_are_checked() {
        assert_eq!(parse_setting("m=1.5"), Ok(("m".to_owned(), 1.5)));
        assert!(parse_setting("m").is_err());
        assert!(parse_setting("m=x").is_err());
        assert!(parse_setting("m=inf").is_err());
    }
}
