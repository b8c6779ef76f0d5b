//! `mine`.

use certus_documents::Schema;
use certus_documents::mine::MineSql;
use certus_mine::sql::Dialect;
use serde_json::json;

use super::options::{EFFORT, MEMORY};
use super::{Answer, Command, Kind, Opt, Request, Session};
use crate::failure::Failure;
use crate::mine::write::{cache, sql, touched, write};
use crate::mine::{Mine, Step, document, mine};

pub(super) const MINE: Command = Command {
    name: "mine",
    about: "Finds boxes of the inputs in which all reference algorithms decided within few outputs, and asks whether networks do.",
    example: "certus mine zoo/pensieve/mining/video.toml",
    options: &[
        &[
            Opt::needed("config", Kind::File, "The configuration: a TOML file that says what the columns of the tables mean"),
            Opt::named("verify", Kind::Files, "[]", "Networks to verify every specification against"),
            Opt::named("attack", Kind::Flag, "false", "Finds the most extreme violations of what `verify` found violated"),
            Opt::named("cache", Kind::File, "null", "Verdicts of earlier runs: queries that the file answers are not asked again, new answers are added"),
            Opt::named("search", Kind::Flag, "false", "Searches for settings first, as the configuration's `[search]` says, and mines with the best"),
            Opt::named("specifications", Kind::File, "null", "Specifications (JSON) to judge and verify instead of mining"),
            Opt::named("baseline", Kind::File, "null", "Specifications (JSON) to compare with"),
            Opt::named("regions", Kind::File, "null", "Statistics that the statements of `emit_sql` gave (Parquet or CSV)"),
            Opt::named("emit_sql", Kind::Choice(&["duckdb", "spark", "trino"]), "null", "Gives the statements that compute the statistics in a database as `sql`, and does nothing else"),
            Opt::named("write", Kind::File, "null", "A folder for the specifications: JSON, VNN-LIB, a `.certus` file, a picture"),
        ],
        EFFORT,
        MEMORY,
    ],
    run,
};

fn run(request: &Request, session: &mut Session<'_>) -> Result<Answer, Failure> {
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
    touched(&task, named.as_ref(), folder.as_ref()).ready()?;
    if let Some(dialect) = request.text("emit_sql") {
        let dialect = match dialect {
            "spark" => Dialect::Spark,
            "trino" => Dialect::Trino,
            _ => Dialect::DuckDb,
        };
        return Ok(MineSql { schema: Schema::default(), sql: sql(&task.config, dialect)? }.into());
    }
    if let Some(folder) = &folder {
        std::fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, &error))?;
    }
    let stop = session.stop.clone();
    let mining = mine(&task, &stop, |step| {
        session.tell(|| json!({"text": standing(step), "doing": step.doing, "done": step.done, "of": step.of}));
    })?;
    let Some(mining) = mining else {
        return Err(Failure::message("out of time before there was anything to show"));
    };
    if let Some(folder) = &folder {
        write(folder, &mining, task.networks.first())?;
    }
    Ok(document(&task.networks, &mining).into())
}

/// How far a mining is, in words.
pub fn standing(Step { doing, done, of }: Step) -> String {
    if of == 0 { doing.to_owned() } else { format!("{doing}: {done} of {of}") }
}
