//! Text to a query.

use std::io::BufRead;

use certus_graph::store::{Lines, StoreError, read_graph};

use super::formula::read_formula;
use super::{MAX_BYTES, VERSION};
use crate::{Query, Region};

/// Reads a query from text.
pub fn parse_query(reader: &mut dyn BufRead) -> Result<Query, StoreError> {
    let mut lines = Lines::new(reader, MAX_BYTES);
    let first = lines.line("the version")?;
    if first.rest() != VERSION {
        return Err(first.error(format!("expected `{VERSION}`, the first line of a query")));
    }
    lines.heading("graph")?;
    let graph = read_graph(&mut lines)?;
    let inputs: usize = graph.inputs().iter().map(|port| graph.elements(port.node)).sum();
    lines.heading("region")?;
    let region = read_region(&mut lines, inputs)?;
    lines.heading("formula")?;
    let formula = read_formula(&mut lines)?;
    if let Some(extra) = lines.next_line()? {
        return Err(extra.error("the query is complete before this line"));
    }
    Query::new(&graph, region, formula).map_err(|error| lines.error(error.to_string()))
}

/// The rows of the region, up to `end`.
fn read_region(lines: &mut Lines<'_>, inputs: usize) -> Result<Region, StoreError> {
    let mut region = Region::new(Vec::new(), Vec::new());
    for _ in 0..inputs {
        let mut row = lines.row()?;
        let (lower, upper) = (row.number()?, row.number()?);
        let inner = if row.rest().is_empty() { (lower, upper) } else { (row.number()?, row.number()?) };
        let decimal = if row.rest().is_empty() { None } else { Some(row.number()?) };
        if decimal.is_some_and(|shown| {
            lower.next_up() != upper || inner != (upper, lower) || !(shown == lower || shown == upper)
        }) {
            return Err(row.error("a fifth number is one of two neighbouring ends between which the input lies"));
        }
        row.end()?;
        region.lower.push(lower);
        region.upper.push(upper);
        region.inner_lower.push(inner.0);
        region.inner_upper.push(inner.1);
        region.decimals.push(decimal);
    }
    lines.heading("end")?;
    Ok(region)
}
