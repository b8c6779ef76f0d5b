//! `certus mine`: specifications from observations.

use std::io::Write;

use certus_mine::observations::Faults;
use certus_mine::quality::Quality;
use certus_mine::write::sentence;
use certus_model::short;
use certus_tasks::commands::mine::{emitted, task, work};
use certus_tasks::mine::{Checked, Mine, Mining, document, verdict_word};

use crate::Finding;
use crate::call::Call;
use crate::failure::Failure;
use crate::output::Output;

/// Mines, judges, verifies and writes.
pub fn run(call: &Call) -> Result<Finding, Failure> {
    let task = task(&call.request)?;
    if let Some(sql) = emitted(&call.request, &task)? {
        let mut output = Output::open(call.request.output().as_deref())?;
        output.write_all(sql.as_bytes())?;
        output.finish()?;
        return Ok(Finding::Good);
    }
    let Some(mining) = call.live(|session| work(&call.request, &task, session))? else {
        call.note("stopped before there was anything to show");
        return Ok(Finding::Undecided);
    };
    call.print(|| document(&task.networks, &mining), |output| table(&task, &mining, output))?;
    Ok(if mining.is_violated() {
        Finding::Violated
    } else if mining.is_decided() {
        Finding::Good
    } else {
        Finding::Undecided
    })
}

fn shown(quality: &Quality) -> String {
    if quality.rows == 0 {
        return format!("{:>8} {:>11}", "–", "–");
    }
    let confidence = quality.confidence().map_or("–".to_owned(), |confidence| format!("{confidence:.4}"));
    format!("{:>8.4} {confidence:>11}", quality.support())
}

fn table(task: &Mine, mining: &Mining, output: &mut Output) -> Result<(), Failure> {
    let config = &mining.config;
    let count = match mining.specifications.len() {
        1 => "1 specification".to_owned(),
        count => format!("{count} specifications"),
    };
    let [reading, time] = mining.seconds;
    writeln!(output, "{}: {count}, reading {reading:.2} s mining {time:.2} s", config.name)?;
    if let Some(mined) = &mining.mined {
        let settings = &config.settings;
        writeln!(
            output,
            "  {} parts of each of {} columns; {} bins seen by all references, {} of them interesting; clusters of {} bins within {}; coverage {:.4}",
            settings.parts,
            config.layout.mined().len(),
            mined.common,
            mined.interesting,
            mined.least,
            mined.radius,
            mined.coverage,
        )?;
        if settings.refine {
            let (redundant, merged) = mining.refined;
            writeln!(output, "  {redundant} redundant specifications removed, {merged} merged into others")?;
        }
    }
    faults(mining, output)?;
    trials(mining, output)?;
    quality(mining, output)?;
    writeln!(output)?;
    for (index, specification) in mining.specifications.iter().enumerate() {
        writeln!(output, "  {:>3}. {}", index + 1, sentence(&config.layout, specification))?;
    }
    verdicts(task, mining, output)
}

/// What was wrong in the tables; nothing if nothing was.
fn faults(mining: &Mining, output: &mut Output) -> Result<(), Failure> {
    let layout = &mining.config.layout;
    for judged in &mining.judged {
        for (tally, which) in judged.tallies.iter().zip(["mined", "test"]) {
            let left = tally.rows - tally.used;
            if left == 0 {
                continue;
            }
            writeln!(output, "\n  {} ({which}): {left} of {} rows left out", judged.name, tally.rows)?;
            // One line per feature, however long its history is.
            let features = layout.series.iter().map(|series| {
                let own = series.first..series.first + series.length;
                (layout.columns[series.first].column.as_str(), series.length, &tally.faults[own])
            });
            let label = (layout.outputs.column.as_str(), 1, &tally.faults[layout.columns.len()..]);
            for (name, length, faults) in features.chain([label]) {
                if faults.iter().all(|own| own.total() == 0) {
                    continue;
                }
                let sum = |of: fn(&Faults) -> u64| faults.iter().map(of).sum::<u64>();
                let rest = if length > 1 { format!(" and its history of {length}") } else { String::new() };
                writeln!(
                    output,
                    "    {name}{rest}: {} missing, {} not a number, {} out of range",
                    sum(|own| own.missing),
                    sum(|own| own.not_a_number),
                    sum(|own| own.out_of_range)
                )?;
            }
        }
    }
    for (outside, source) in mining.outside.iter().zip(&mining.config.references) {
        if *outside > 0 {
            writeln!(output, "\n  {}: {outside} rows outside of the ranges that are cut", source.name)?;
        }
    }
    Ok(())
}

fn trials(mining: &Mining, output: &mut Output) -> Result<(), Failure> {
    if mining.trials.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = mining.config.references.iter().map(|source| source.name.as_str()).collect();
    writeln!(output, "\n  held-out support and confidence of {}", names.join(", "))?;
    writeln!(output, "  history  parts  representation  outputs  specifications  coverage   score")?;
    for trial in &mining.trials {
        let history = trial.history.map_or("–".to_owned(), |history| history.to_string());
        let qualities: Vec<String> = trial.held_out.iter().map(shown).collect();
        writeln!(
            output,
            "  {history:>7}  {:>5}  {:>14}  {:>7}  {:>14}  {:>8.4}  {:.4}  {}",
            trial.settings.parts,
            trial.settings.representation,
            trial.settings.most_outputs,
            trial.specifications,
            trial.coverage,
            trial.score(),
            qualities.join("  ")
        )?;
    }
    Ok(())
}

fn quality(mining: &Mining, output: &mut Output) -> Result<(), Failure> {
    let Some(widest) = mining.judged.iter().map(|judged| judged.name.chars().count()).max() else { return Ok(()) };
    let line = |output: &mut Output, name: &str, rows: u64, qualities: &[Quality; 2]| -> Result<(), Failure> {
        writeln!(output, "  {name:<widest$}  {rows:>9}  {}  {}", shown(&qualities[0]), shown(&qualities[1]))?;
        Ok(())
    };
    let head = |output: &mut Output, title: &str| -> Result<(), Failure> {
        writeln!(output, "\n  {title}")?;
        writeln!(output, "  {:<widest$}       rows   support  confidence      test  confidence", "")?;
        Ok(())
    };
    head(output, "mined")?;
    for judged in &mining.judged {
        line(output, &judged.name, judged.quality[0].rows, &judged.quality)?;
    }
    if mining.judged.iter().any(|judged| judged.baseline.is_some()) {
        head(output, "baseline")?;
        for (judged, baseline) in mining.judged.iter().filter_map(|judged| Some((judged, judged.baseline.as_ref()?))) {
            line(output, &judged.name, baseline[0].rows, baseline)?;
        }
    }
    Ok(())
}

fn verdicts(task: &Mine, mining: &Mining, output: &mut Output) -> Result<(), Failure> {
    if mining.checked.is_empty() {
        return Ok(());
    }
    let seconds = mining.verify_seconds;
    let remembered = mining.checked.iter().flatten().flatten().filter(|own| own.remembered).count();
    let earlier = match remembered {
        0 => String::new(),
        count => format!(", {count} verdicts of earlier runs"),
    };
    writeln!(output, "\n  verification, {seconds:.2} s{earlier}")?;
    for (path, checked) in task.networks.iter().zip(&mining.checked) {
        let count = |word: &str| {
            checked.iter().filter(|own| own.as_ref().map_or("open", |own| verdict_word(&own.verdict)) == word).count()
        };
        writeln!(
            output,
            "  {}: {} hold, {} violated, {} open",
            path.display(),
            count("holds"),
            count("violated"),
            count("open")
        )?;
        for word in ["holds", "violated", "open"] {
            let which: Vec<String> = checked
                .iter()
                .enumerate()
                .filter(|(_, own)| own.as_ref().map_or("open", |own| verdict_word(&own.verdict)) == word)
                .map(|(index, _)| (index + 1).to_string())
                .collect();
            if !which.is_empty() {
                writeln!(output, "    {word}: {}", which.join(" "))?;
            }
        }
        for (index, own) in checked.iter().enumerate() {
            if let Some(own) = own {
                attacks(mining, index, own, output)?;
            }
        }
    }
    Ok(())
}

fn attacks(mining: &Mining, index: usize, checked: &Checked, output: &mut Output) -> Result<(), Failure> {
    let layout = &mining.config.layout;
    let specification = &mining.specifications[index];
    for (attack, nearest) in &checked.attacks {
        let decided = &layout.outputs.labels[attack.label];
        let allowed = layout.outputs.show(specification.allowed);
        writeln!(output, "\n    {}. decides {decided}, allowed {allowed}", index + 1)?;
        let values: Vec<String> = specification
            .bounds
            .iter()
            .filter_map(|bound| {
                let column = &layout.columns[bound.column];
                let value = attack.witness.inputs.get(column.input?)? * column.scale;
                let unit = if column.unit.is_empty() { String::new() } else { format!(" {}", column.unit) };
                Some(format!("{} {}{unit}", column.name, short(value)))
            })
            .collect();
        writeln!(output, "       at {}", values.join(", "))?;
        let references: Vec<String> = mining
            .config
            .references
            .iter()
            .zip(nearest)
            .map(|(source, nearest)| match nearest {
                Some(nearest) => format!("{} decided {}", source.name, layout.outputs.labels[nearest.label]),
                None => format!("{} was not seen", source.name),
            })
            .collect();
        writeln!(output, "       in the observation most like it, {}", references.join(", "))?;
    }
    Ok(())
}
