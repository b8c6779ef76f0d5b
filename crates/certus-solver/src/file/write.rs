//! A query to text.

use std::io::Write;

use certus_graph::store::{StoreError, write_graph, write_number};

use super::VERSION;
use super::formula::write_formula;
use crate::Query;

/// Writes a query as text. What has no text (NaN) is refused.
pub fn print_query(out: &mut dyn Write, query: &Query) -> Result<(), StoreError> {
    writeln!(out, "{VERSION}")?;
    writeln!(out, "graph")?;
    write_graph(out, query.original())?;
    writeln!(out, "region")?;
    let region = query.region();
    let outer = region.lower.iter().zip(&region.upper);
    let inner = region.inner_lower.iter().zip(&region.inner_upper);
    for (((&lower, &upper), (&inner_lower, &inner_upper)), decimal) in outer.zip(inner).zip(&region.decimals) {
        let same = [(lower, inner_lower), (upper, inner_upper)].iter().all(|(a, b)| a.to_bits() == b.to_bits());
        let ends = [lower, upper, inner_lower, inner_upper];
        write!(out, ":")?;
        for &end in if same { &ends[..2] } else { &ends[..] }.iter().chain(decimal) {
            write!(out, " ")?;
            write_number(out, end)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "end")?;
    writeln!(out, "formula")?;
    write_formula(out, query.formula(), 0)
}
