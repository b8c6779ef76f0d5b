//! Compares with what is published of SpecTRA's application to video streaming.
//!
//!     cargo run -p certus-mine --release --example published -- DATA
//!
//! DATA is a folder with `abr-traces/pensieve_train_traces.txt`, `abr-traces/pensieve_test_traces.txt` and
//! `pensieve/spectra_abr_specs.csv`; none of it is part of the repository. Prints how many observations there are, how the
//! thirty published specifications and the hand-written ones score on them, and what Algorithm 1 finds; exits with 1 if
//! a figure differs from the one that is known.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use certus_mine::bins::Partition;
use certus_mine::config::Config;
use certus_mine::mining::mine;
use certus_mine::observations::Rows;
use certus_mine::quality::measure;
use certus_mine::regions::{collect, ranges};
use certus_mine::{Bound, Specification};
use certus_traces::pensieve::Video;
use certus_traces::pensieve::observe::{BufferBased, Controller, observe};
use certus_traces::pensieve::reference::RobustMpc;
use certus_traces::traces::{Format, Trace, read_file};

type Fallible<T> = Result<T, Box<dyn Error>>;

const CONFIG: &str = r#"
    name = "video"
    inputs = 48
    unread = [0, 10]
    [output]
    column = "br"
    labels = [300, 750, 1200, 1850, 2850, 4300]
    [[feature]]
    columns = "last_bitrate"
    [[feature]]
    columns = "buffer"
    mined = 1
    [[feature]]
    columns = "throughput_{8..1}"
    [[feature]]
    columns = "download_time_{8..1}"
    [[feature]]
    columns = "next_size_{1..6}"
    [[feature]]
    columns = "chunks_left"
    [[reference]]
    name = "buffer-based"
    [[reference]]
    name = "robust MPC"
    [mine]
    decimals = 2
"#;

fn rows(name: &str, traces: &Arc<[Trace]>, controller: &mut dyn Controller, config: &Config) -> Fallible<Rows> {
    let mut rows = Vec::new();
    let labels = &config.layout.outputs.labels;
    observe::<Box<dyn Error>>(&Arc::new(Video::reference()), traces, controller, &mut |values, bitrate| {
        let label = labels.iter().position(|label| *label == bitrate.to_string()).ok_or("no such bitrate")?;
        rows.push((values.to_vec(), label));
        Ok(())
    })?;
    Ok(Rows::of(name, rows))
}

/// Columns of the rows: the buffer and the newest download times.
const BUFFER: usize = 1;
const NEWEST_TIMES: [usize; 3] = [17, 16, 15];

fn published(path: &Path, config: &Config) -> Fallible<Vec<Specification>> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut specifications = Vec::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |place: usize| -> Fallible<f64> { Ok(fields.get(place).ok_or("a field is missing")?.parse()?) };
        let columns = [BUFFER, NEWEST_TIMES[0], NEWEST_TIMES[1], NEWEST_TIMES[2]];
        let bounds: Fallible<Vec<Bound>> = columns
            .iter()
            .enumerate()
            .map(|(place, &column)| Ok(Bound { column, low: number(1 + 2 * place)?, high: number(2 + 2 * place)? }))
            .collect();
        let names: Vec<String> = fields.last().unwrap_or(&"").split_whitespace().map(str::to_owned).collect();
        let allowed = config.layout.outputs.set(&names)?;
        specifications.push(Specification { bounds: bounds?, allowed, observed: Vec::new() });
    }
    Ok(specifications)
}

fn hand_written(config: &Config) -> Fallible<Vec<Specification>> {
    let specification = |buffer: (f64, f64), times: (f64, f64), names: &[&str]| -> Fallible<Specification> {
        let mut bounds = vec![Bound { column: BUFFER, low: buffer.0, high: buffer.1 }];
        bounds.extend((10..18).map(|column| Bound { column, low: times.0, high: times.1 }));
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        Ok(Specification { bounds, allowed: config.layout.outputs.set(&names)?, observed: Vec::new() })
    };
    let all = f64::INFINITY;
    Ok(vec![
        specification((0.4, all), (-all, 0.4), &["750", "1200", "1850", "2850", "4300"])?,
        specification((-all, 0.4), (0.4, all), &["300"])?,
    ])
}

struct Known {
    wrong: usize,
}

impl Known {
    fn compare(&mut self, what: &str, found: String, known: &str) {
        let verdict = if found == known { "as known" } else { "DIFFERS" };
        self.wrong += usize::from(found != known);
        println!("  {what}: {found} (known {known}) {verdict}");
    }
}

fn run() -> Fallible<bool> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data] = &arguments[..] else { return Err("usage: published DATA".into()) };
    let data = Path::new(data);
    let config = Config::parse(CONFIG, Path::new(""))?;
    let mut known = Known { wrong: 0 };
    let specifications = published(&data.join("pensieve/spectra_abr_specs.csv"), &config)?;
    let prior = hand_written(&config)?;
    let figures = [
        (
            "pensieve_train_traces.txt",
            "77981",
            [["0.9467", "1.0000", "0.031", "0.998"], ["0.6445", "0.8661", "0.085", "0.866"]],
        ),
        ("pensieve_test_traces.txt", "27837", [["0.9601", "1.0000", "", ""], ["0.5930", "0.8722", "", ""]]),
    ];
    let mut training = Vec::new();
    for (file, count, figures) in figures {
        let mut traces = read_file(&data.join("abr-traces").join(file), Format::Packed)?;
        traces.sort_by(|a, b| a.name().cmp(b.name()));
        let traces: Arc<[Trace]> = traces.into();
        let mut references: [(&str, Box<dyn Controller>); 2] =
            [("buffer-based", Box::new(BufferBased)), ("robust MPC", Box::new(RobustMpc::default()))];
        for ((name, controller), figures) in references.iter_mut().zip(figures) {
            let mut rows = rows(name, &traces, controller.as_mut(), &config)?;
            println!("{name} on {file}");
            known.compare("observations", rows.tally.used.to_string(), count);
            let (quality, _) = measure(&specifications, &config.layout, &mut rows)?;
            known.compare("published, support", format!("{:.4}", quality.support()), figures[0]);
            known.compare("published, confidence", format!("{:.4}", quality.confidence().unwrap_or(0.0)), figures[1]);
            let (quality, _) = measure(&prior, &config.layout, &mut rows)?;
            let (support, confidence) = (quality.support(), quality.confidence().unwrap_or(0.0));
            if figures[2].is_empty() {
                println!("  hand-written: {support:.4} {confidence:.4}");
            } else {
                known.compare("hand-written, support", format!("{support:.3}"), figures[2]);
                known.compare("hand-written, confidence", format!("{confidence:.3}"), figures[3]);
            }
            if count == "77981" {
                training.push(rows);
            }
        }
    }
    // The newest download times are the last of their columns here.
    let mut layout = config.layout.clone();
    layout.series = vec![
        certus_mine::layout::Series { first: BUFFER, length: 1, mined: 1 },
        certus_mine::layout::Series { first: NEWEST_TIMES[2], length: 3, mined: 3 },
    ];
    for (what, given, figures) in [
        ("own bounds", None, ["10249", "10136", "101", "2", "51"]),
        // Its cell widths tell the bounds to three digits only, so there is no count to compare with exactly.
        ("bounds that the publication implies", Some((3.87, 0.02, 12.9)), [""; 5]),
    ] {
        println!("Algorithm 1, {what}");
        let started = Instant::now();
        let found = ranges(&layout, &mut training, 0.0)?;
        let found = match given {
            Some((buffer, least, greatest)) => {
                vec![(0.4, buffer), (least, greatest), (least, greatest), (least, greatest)]
            }
            None => found,
        };
        let regions = collect(&layout, &mut training, Partition::new(100, found)?)?;
        let mined = mine(&regions, &config.settings, 6, 2)?;
        let specifications = mined.specifications(&regions, &layout, &config.settings);
        println!("  {:.3} s", started.elapsed().as_secs_f64());
        let values = [mined.common, mined.interesting, mined.least as usize, mined.radius.into(), specifications.len()];
        for ((name, value), figure) in
            ["common bins", "interesting bins", "m", "ε", "specifications"].iter().zip(values).zip(figures)
        {
            match figure {
                "" => println!("  {name}: {value}"),
                figure => known.compare(name, value.to_string(), figure),
            }
        }
        for rows in &mut training {
            let (quality, _) = measure(&specifications, &layout, rows)?;
            println!("  {}: {:.4} {:.4}", rows.name, quality.support(), quality.confidence().unwrap_or(0.0));
        }
    }
    Ok(known.wrong == 0)
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("published: {error}");
            ExitCode::FAILURE
        }
    }
}
