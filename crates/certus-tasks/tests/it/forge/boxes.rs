//! The boxes that runs are said to stay in, changed.

use serde_json::{Value, json};

use super::{Numbers, Parts};

/// A box less, one more, another's, one that is larger or smaller by little or by much, or with another number of steps.
pub(super) fn edit(own: &mut Parts, other: &Parts, numbers: &mut Numbers) {
    let stolen = other.header["proof"]["reachable"]["invariants"].as_array().cloned().unwrap_or_default();
    let Some(boxes) = own.header["proof"]["reachable"]["invariants"].as_array_mut() else { return };
    let place = numbers.below(boxes.len());
    match numbers.below(8) {
        0 if !boxes.is_empty() => drop(boxes.remove(place)),
        1 => boxes.extend(boxes.get(place).cloned()),
        2 => *boxes = stolen,
        3 => boxes.extend(stolen),
        4 if !boxes.is_empty() => boxes[place]["within"] = json!(numbers.below(6)),
        _ if !boxes.is_empty() => move_end(&mut boxes[place], numbers),
        _ => {}
    }
}

/// One end of a side, elsewhere.
fn move_end(own: &mut Value, numbers: &mut Numbers) {
    let sides = own["box"].as_array().map_or(0, Vec::len);
    let end = &mut own["box"][numbers.below(sides)][numbers.below(2)];
    let Some(value) = end.as_str().and_then(|own| own.parse::<f64>().ok()) else { return };
    let moved = match numbers.below(5) {
        0 => value.next_up(),
        1 => value.next_down(),
        2 => value + 0.01,
        3 => value - 0.01,
        _ => value / 2.0,
    };
    *end = format!("{moved:?}").into();
}
