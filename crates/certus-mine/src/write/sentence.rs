//! A specification as a sentence, in the units of the features.

use crate::layout::Layout;
use crate::{Bound, Specification};

/// The specification as a person reads it.
pub fn sentence(layout: &Layout, specification: &Specification) -> String {
    let conditions: Vec<String> = specification.bounds.iter().filter_map(|bound| condition(layout, bound)).collect();
    let outputs = &layout.outputs;
    let then = format!("the {} is {}", outputs.name, outputs.show(specification.allowed));
    match conditions.split_last() {
        None => format!("Always, {then}."),
        Some((only, [])) => format!("When {only}, {then}."),
        Some((last, first)) => format!("When {} and {last}, {then}.", first.join(", ")),
    }
}

/// One bound; none where there is no end.
fn condition(layout: &Layout, bound: &Bound) -> Option<String> {
    let column = &layout.columns[bound.column];
    let (mut low, mut high) = (bound.low * column.scale, bound.high * column.scale);
    if column.scale < 0.0 {
        (low, high) = (high, low);
    }
    let unit = if column.unit.is_empty() { String::new() } else { format!(" {}", column.unit) };
    let name = &column.name;
    match (low.is_finite(), high.is_finite()) {
        (true, true) if low == high => Some(format!("{name} is {}{unit}", short(low))),
        (true, true) => Some(format!("{name} is from {} to {}{unit}", short(low), short(high))),
        (true, false) => Some(format!("{name} is at least {}{unit}", short(low))),
        (false, true) => Some(format!("{name} is at most {}{unit}", short(high))),
        (false, false) => None,
    }
}

/// At most four significant digits after rounding, without trailing zeros.
pub(super) fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let decimals = (3 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Config;
    use crate::outputs::OutputSet;

    #[test]
    fn sentences_have_units() {
        let text = r#"
            name = "video"
            [output]
            name = "bitrate"
            column = "br"
            labels = [300, 750, 1200]
            unit = "kbit/s"
            [[feature]]
            columns = "buffer"
            mined = 1
            unit = "s"
            scale = 10
            [[feature]]
            name = "download time"
            columns = "dt_{1..2}"
            mined = 2
            [[reference]]
            name = "r"
        "#;
        let layout = Config::parse(text, Path::new("")).unwrap().layout;
        let bound = |column, low, high| Bound { column, low, high };
        let mut specification = Specification {
            bounds: vec![bound(0, 0.4, 1.0934), bound(1, 0.1, f64::INFINITY), bound(2, f64::NEG_INFINITY, 2.0)],
            allowed: OutputSet(0b101),
            observed: Vec::new(),
        };
        assert_eq!(
            sentence(&layout, &specification),
            "When buffer is from 4 to 10.93 s, download time −1 is at least 0.1 and download time −2 is at most 2, \
             the bitrate is 300 or 1200 kbit/s."
        );
        specification.bounds.clear();
        assert_eq!(sentence(&layout, &specification), "Always, the bitrate is 300 or 1200 kbit/s.");
    }
}
