//! Compares engines with the reference interpreter, as many times as wanted.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use std::{env, fs};

use certus_conformance::campaign::{Campaign, Disagreement, Folder, Tally};
use certus_conformance::rows::Row;
use certus_conformance::shrink::shrunk;
use certus_conformance::{dump, systems};

const USAGE: &str = "\
Usage: certus-conformance [--count TRIPLES] [--seed S] [--first SYSTEM] [--properties N]
                          [--engines auto,bmc-1,…] [--threads N] [--out FOLDER] [--binary CERTUS]
       certus-conformance [--seed S] [--properties N] --show SYSTEM
       certus-conformance [--seed S] [--properties N] [--first SYSTEM] --dump SYSTEMS";

/// What is shown of each class.
const SHOWN: usize = 2;

fn main() -> ExitCode {
    match run(env::args().skip(1).collect()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Vec<String>) -> Result<bool, String> {
    let (mut count, mut out) = (6000, None::<PathBuf>);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut campaign =
        Campaign { first: 0, systems: 0, properties: 4, seed: 0, rows: Row::all(), binary: None, threads };
    let mut arguments = arguments.into_iter();
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        let number = || value.parse::<usize>().map_err(|_| format!("{name} {value}: expected a number\n{USAGE}"));
        match name.as_str() {
            "--count" => count = number()?,
            "--seed" => campaign.seed = number()? as u64,
            "--first" => campaign.first = number()?,
            "--properties" => campaign.properties = number()?,
            "--threads" => campaign.threads = number()?,
            "--show" => {
                let case = systems::case(campaign.seed, number()?, campaign.properties);
                println!("{}// {:?}, --set {:?}, {:?}", case.text, case.features, case.settings, case.networks);
                return Ok(true);
            }
            "--binary" => campaign.binary = Some(PathBuf::from(&value)),
            "--dump" => {
                let folder = Folder::new(0)?;
                let (seed, first, properties) = (campaign.seed, campaign.first, campaign.properties);
                for line in dump::lines(seed, first, number()?, properties, &folder.0)? {
                    println!("{line}");
                }
                return Ok(true);
            }
            "--out" => out = Some(PathBuf::from(&value)),
            "--engines" => {
                let wanted: Option<Vec<Row>> = value.split(',').map(Row::named).collect();
                campaign.rows = wanted.ok_or_else(|| format!("--engines {value}: there are {}", names()))?;
            }
            _ => return Err(USAGE.to_owned()),
        }
    }
    if campaign.binary.is_none() {
        campaign.binary = beside();
    }
    let asked: usize = campaign.rows.iter().map(|row| row.triples()).sum();
    campaign.systems = count.div_ceil(campaign.properties.max(1) * asked.max(1));
    let started = Instant::now();
    let every = (campaign.systems / 20).max(1);
    let tally = campaign.run(&|done, wrong| {
        if let Some(Err(message)) = out.as_ref().map(|folder| save(folder, wrong)) {
            eprintln!("{message}");
        }
        if done % every == 0 {
            eprintln!("{done} of {} systems, {:.0} s", campaign.systems, started.elapsed().as_secs_f64());
        }
    })?;
    print!("{}", report(&campaign, &tally, started.elapsed().as_secs_f64())?);
    Ok(tally.disagreements.is_empty())
}

fn names() -> String {
    Row::all().iter().map(|row| row.name()).collect::<Vec<_>>().join(", ")
}

/// The binary that was built beside this one.
fn beside() -> Option<PathBuf> {
    let own = env::current_exe().ok()?.with_file_name(format!("certus{}", env::consts::EXE_SUFFIX));
    own.exists().then_some(own)
}

fn report(campaign: &Campaign, tally: &Tally, seconds: f64) -> Result<String, String> {
    let mut text = String::new();
    let mut shown: Vec<(&Disagreement, usize)> = Vec::new();
    for own in &tally.disagreements {
        let before = shown.iter().filter(|(other, _)| (other.class, other.engine) == (own.class, own.engine)).count();
        if before < SHOWN {
            shown.push((own, before));
        }
    }
    let folder = Folder::new(0)?;
    for (own, _) in shown {
        let _ = writeln!(text, "{}", described(&shrunk(campaign, own, &folder.0)));
    }
    let _ =
        writeln!(text, "triples {} in {seconds:.0} s, {:.1} per second", tally.triples, tally.triples as f64 / seconds);
    for ((engine, word), count) in &tally.verdicts {
        let _ = writeln!(text, "  {engine:10} {word:24} {count}");
    }
    for ((engine, message), count) in &tally.refused {
        let _ = writeln!(text, "  {engine:10} refused {count}: {}", message.lines().next().unwrap_or_default());
    }
    for (reason, count) in &tally.undecided {
        let _ =
            writeln!(text, "  interpreter: {count} properties left out: {}", reason.lines().next().unwrap_or_default());
    }
    for (feature, (asked, decided)) in &tally.decided {
        let share = 100.0 * *decided as f64 / (*asked).max(1) as f64;
        let _ = writeln!(text, "  auto decides {share:5.1} % of {asked:6} with {feature}");
    }
    let _ = writeln!(text, "disagreements {}", tally.disagreements.len());
    Ok(text)
}

fn described(own: &Disagreement) -> String {
    let settings: String = own.settings.iter().map(|(name, value)| format!(" --set {name}={value}")).collect();
    let networks = own.networks.iter().map(|(name, text)| {
        let lines: Vec<&str> = text.lines().collect();
        format!("// {name}: {}\n", lines.join(" / "))
    });
    format!(
        "// {:?}: {} on {} of system {}{settings}\n// says: {}\n// truth: {}\n{}{}",
        own.class,
        own.engine,
        own.property,
        own.number,
        own.said,
        own.truth,
        networks.collect::<String>(),
        own.text
    )
}

fn save(folder: &Path, disagreements: &[Disagreement]) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    for own in disagreements {
        let path = folder.join(format!("{:?}-{}-{:06}-{}.certus", own.class, own.engine, own.number, own.property));
        fs::write(path, described(own)).map_err(|error| error.to_string())?;
    }
    Ok(())
}
