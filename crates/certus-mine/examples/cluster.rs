//! DBSCAN over cells, for comparison with others: `bench/mining.py` runs it beside scikit-learn.
//!
//!     cargo run -p certus-mine --release --example cluster -- POINTS.csv RADIUS LEAST THREADS
//!
//! POINTS.csv has one point per line, whole coordinates with commas between them and no header. The first line printed is
//! the time in seconds, without reading; then one line per point: its cluster, or -1.

use std::error::Error;
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::time::Instant;

use certus_mine::dbscan::dbscan;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, radius, least, threads] = &arguments[..] else {
        return Err("usage: cluster POINTS.csv RADIUS LEAST THREADS".into());
    };
    let text = std::fs::read_to_string(path)?;
    let first = text.lines().next().ok_or("there is no point")?;
    let dimensions = NonZeroUsize::new(first.split(',').count()).ok_or("a point without coordinates")?;
    let points: Vec<u16> = text.lines().flat_map(|line| line.split(',')).map(str::parse).collect::<Result<_, _>>()?;
    let started = Instant::now();
    let labels = dbscan(dimensions, &points, radius.parse()?, least.parse()?, threads.parse()?);
    let mut shown = format!("{}\n", started.elapsed().as_secs_f64());
    for label in labels {
        writeln!(shown, "{}", label.map_or(-1, i64::from))?;
    }
    print!("{shown}");
    Ok(())
}
