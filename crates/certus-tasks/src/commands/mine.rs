//! `mine`.

use certus_documents::Schema;
use certus_documents::mine::MineSql;
use certus_mine::sql::Dialect;
use serde_json::json;

use super::shared::{EFFORT, MEMORY};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::mine::write::{cache, sql, touched, write};
use crate::mine::{Mine, Mining, Step, document, mine};

pub(super) const MINE: Command = Command {
    about: "Mine specifications from observations of reference algorithms",
    details: "Reads tables (CSV, Parquet) of what reference algorithms observed and decided, as a configuration file \
              describes them. Finds boxes in the input space in which all of them agree on a few decisions, and \
              measures how well these specifications fit each algorithm on the tables they were mined from and on \
              others. With ⟨verify⟩, every specification is then decided for every network.",
    command_line: "Exit code 0: no network violates a specification. 1: some network does. 3: some query is open.",
    examples: &[
        "certus mine zoo/pensieve/mining/video.toml",
        "certus mine video.toml --verify small.onnx big.onnx --attack",
        "certus mine video.toml --write specifications",
        "Compute the statistics in the database that holds the logs:",
        "  certus mine video.toml --emit-sql duckdb > regions.sql",
        "  certus mine video.toml --regions stats.parquet",
    ],
    options: &[
        &[
            Opt::needed("config", Kind::File, "Configuration that describes the tables (TOML)"),
            Opt::named("verify", Kind::Files, "[]", "Networks to verify every specification against").value("NET"),
            Opt::switch("attack", "Find the most extreme violations of violated specifications").needs("verify"),
            Opt::file("cache", "Reuse the verdicts in this file, and add new ones to it")
                .details("With ⟨write⟩, defaults to `verdicts.json` in that folder.")
                .needs("verify"),
            Opt::switch("search", "Search for the best settings first, as `[search]` in the configuration says")
                .excludes(&["regions"]),
            Opt::file("specifications", "Evaluate and verify these specifications (JSON) instead of mining"),
            Opt::file("baseline", "Specifications (JSON) to compare with those that were mined").excludes(&["regions"]),
            Opt::file("regions", "Start from statistics that the queries of ⟨emit_sql⟩ computed (Parquet, CSV)"),
            Opt::named(
                "emit_sql",
                Kind::Choice(&["duckdb", "spark", "trino"]),
                "null",
                "Only generate the SQL queries that compute the statistics in a database, in this dialect",
            )
            .value("DIALECT"),
            Opt::file("write", "Write the specifications to a folder: JSON, VNN-LIB, a `.certus` file and a plot")
                .value("FOLDER"),
        ],
        EFFORT,
        MEMORY,
    ],
    ..Command::new("mine", run)
};

/// What is asked, with its files ready.
pub fn task(request: &Request) -> Result<Mine, Failure> {
    let (folder, named) = (request.path("write"), request.path("cache"));
    let networks = request.paths("verify");
    let task = Mine {
        config: request.file("config"),
        regions: request.path("regions"),
        specifications: request.path("specifications"),
        baseline: request.path("baseline"),
        search: request.flag("search"),
        attack: request.flag("attack"),
        cache: cache(named.as_ref(), folder.as_ref(), !networks.is_empty()),
        networks,
        effort: request.effort()?,
    };
    touched(request.files(), &task, named.as_ref(), folder.as_ref()).ready()?;
    Ok(task)
}

/// The statements that compute the statistics, if these are asked for and nothing else.
pub fn emitted(request: &Request, task: &Mine) -> Result<Option<String>, Failure> {
    let dialect = match request.text("emit_sql") {
        None => return Ok(None),
        Some("spark") => Dialect::Spark,
        Some("trino") => Dialect::Trino,
        Some(_) => Dialect::DuckDb,
    };
    sql(&task.config, dialect).map(Some)
}

/// Mines, and writes the specifications if that is asked for; nothing if there was no time for any.
pub fn work(request: &Request, task: &Mine, session: &mut Session<'_>) -> Result<Option<Mining>, Failure> {
    let folder = request.path("write");
    if let Some(folder) = &folder {
        std::fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, &error))?;
    }
    let stop = session.stop.clone();
    let mining = mine(task, &stop, |step| {
        session.tell(|| json!({"text": standing(step), "doing": step.doing, "done": step.done, "of": step.of}));
    })?;
    if let (Some(folder), Some(mining)) = (&folder, &mining) {
        write(folder, mining, task.networks.first())?;
    }
    Ok(mining)
}

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
    let task = task(request)?;
    if let Some(sql) = emitted(request, &task)? {
        return Ok(MineSql { schema: Schema::default(), sql }.into());
    }
    match work(request, &task, session)? {
        Some(mining) => Ok(document(&task.networks, &mining).into()),
        None => Err(Failure::message("out of time before there was anything to show")),
    }
}

fn standing(Step { doing, done, of }: Step) -> String {
    if of == 0 { doing.to_owned() } else { format!("{doing}: {done} of {of}") }
}
