//! Verdicts of earlier runs, so that only what is new has to be asked.
//!
//! A question is named by a digest of the network's graph, of the ranges of its inputs, of what is allowed and of the
//! version that answers. Points at which a network breaks a specification are replayed before they count again; that a
//! specification holds is taken from the file as it stands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use certus_audit::digest;
use certus_graph::store::write_graph;
use certus_mine::attack::{Attack, Extreme};
use certus_mine::layout::Layout;
use certus_mine::query::{Network, Verdict};
use certus_mine::{MineError, Specification};
use serde_json::{Map, Value, json};

use super::Checked;
use crate::failure::Failure;
use crate::output::write_atomically;

/// How the file is called in a folder of specifications.
pub const FILE_NAME: &str = "verdicts.json";

/// The version of the file.
const FORMAT: u64 = 1;

/// The file is written at most so often while questions are answered.
const INTERVAL: Duration = Duration::from_secs(5);

/// A file of verdicts.
pub struct Verdicts {
    path: PathBuf,
    entries: BTreeMap<String, Value>,
    written: Instant,
    changed: bool,
}

impl Verdicts {
    /// Reads a file; one that is not there holds nothing yet.
    pub fn read(path: &Path) -> Result<Verdicts, Failure> {
        let mut verdicts =
            Verdicts { path: path.to_owned(), entries: BTreeMap::new(), written: Instant::now(), changed: false };
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(verdicts),
            Err(error) => return Err(Failure::reading(path, &error)),
        };
        let wrong = || {
            let path = path.display();
            Failure::message(format!("{path}: this is no file of verdicts; name another one, or remove it"))
        };
        let document: Value = serde_json::from_str(&text).map_err(|_| wrong())?;
        if document.get("format").and_then(Value::as_u64) != Some(FORMAT) {
            return Err(wrong());
        }
        let entries = document.get("verdicts").and_then(Value::as_object).ok_or_else(wrong)?;
        verdicts.entries = entries.iter().map(|(key, entry)| (key.clone(), entry.clone())).collect();
        Ok(verdicts)
    }

    /// What is known of a question, replayed. Attacks that were made with another seed are not taken; `attacked` tells
    /// whether there are any.
    pub fn find(
        &self,
        key: &str,
        network: &Network,
        layout: &Layout,
        specification: &Specification,
        seed: u64,
    ) -> Result<Option<Remembered>, MineError> {
        let Some(entry) = self.entries.get(key) else { return Ok(None) };
        let point = |value: &Value| -> Option<Vec<f64>> { value.as_array()?.iter().map(Value::as_f64).collect() };
        let verdict = match entry.get("verdict").and_then(Value::as_str) {
            Some("holds") => Verdict::Holds,
            Some("violated") => {
                let inputs = entry.get("input").and_then(point).unwrap_or_default();
                match network.replay(layout, specification, &inputs)? {
                    Some(witness) => Verdict::Violated(witness),
                    None => return Ok(None),
                }
            }
            Some("crossed") => {
                let end = |place: usize| entry.get("between")?.get(place).and_then(point);
                let (Some(below), Some(above)) = (end(0), end(1)) else { return Ok(None) };
                if !network.is_crossed(layout, specification, &below, &above)? {
                    return Ok(None);
                }
                Verdict::Crossed(below, above)
            }
            _ => return Ok(None),
        };
        let mut attacks = None;
        if let Some(found) = entry.get("attacks").filter(|own| own.get("seed").and_then(Value::as_u64) == Some(seed)) {
            let mut replayed = Vec::new();
            for own in found.get("found").and_then(Value::as_array).into_iter().flatten() {
                let inputs = own.get("input").and_then(point).unwrap_or_default();
                let extreme = match own.get("extreme").and_then(Value::as_str) {
                    Some("lowest") => Extreme::Lowest,
                    _ => Extreme::Highest,
                };
                let Some(witness) = network.replay(layout, specification, &inputs)? else { return Ok(None) };
                let outputs: Vec<f64> = witness.outputs.iter().map(|&output| f64::from(output)).collect();
                let Some(label) = layout.outputs.decided(&outputs) else { return Ok(None) };
                replayed.push(Attack { extreme, witness, label });
            }
            attacks = Some(replayed);
        }
        let seconds = entry.get("seconds").and_then(Value::as_f64).unwrap_or(0.0);
        Ok(Some(Remembered { verdict, seconds, attacks }))
    }

    /// Keeps an answer; one that is open is not kept. Attacks belong to a seed, where some were looked for.
    pub fn keep(&mut self, key: &str, checked: &Checked, attacked: Option<u64>) -> Result<(), Failure> {
        let mut entry = Map::new();
        match &checked.verdict {
            Verdict::Open(_) => return Ok(()),
            Verdict::Holds => {
                entry.insert("verdict".to_owned(), "holds".into());
            }
            Verdict::Violated(witness) => {
                entry.insert("verdict".to_owned(), "violated".into());
                entry.insert("input".to_owned(), json!(witness.inputs));
            }
            Verdict::Crossed(below, above) => {
                entry.insert("verdict".to_owned(), "crossed".into());
                entry.insert("between".to_owned(), json!([below, above]));
            }
        }
        entry.insert("seconds".to_owned(), json!(checked.seconds));
        if let Some(seed) = attacked {
            let found: Vec<Value> = checked
                .attacks
                .iter()
                .map(|(attack, _)| {
                    let extreme = if attack.extreme == Extreme::Lowest { "lowest" } else { "highest" };
                    json!({ "extreme": extreme, "input": attack.witness.inputs })
                })
                .collect();
            entry.insert("attacks".to_owned(), json!({ "seed": seed, "found": found }));
        }
        self.entries.insert(key.to_owned(), entry.into());
        self.changed = true;
        if self.written.elapsed() >= INTERVAL { self.write() } else { Ok(()) }
    }

    /// Writes the file if there is anything new.
    pub fn write(&mut self) -> Result<(), Failure> {
        if self.changed {
            let document = json!({ "format": FORMAT, "verdicts": self.entries });
            write_atomically(&self.path, &format!("{document:#}\n"))?;
            (self.changed, self.written) = (false, Instant::now());
        }
        Ok(())
    }
}

/// What an earlier run found out.
pub struct Remembered {
    /// The verdict.
    pub verdict: Verdict,
    /// How long it took then.
    pub seconds: f64,
    /// The attacks, if they were looked for.
    pub attacks: Option<Vec<Attack>>,
}

/// A digest of a network as it was read, wherever its weights stand.
pub fn digest_of(network: &Network) -> Result<String, Failure> {
    let mut text = Vec::new();
    write_graph(&mut text, network.graph()).map_err(|error| Failure::message(error.to_string()))?;
    Ok(digest(&text))
}

/// The name of a question about the network with this digest.
pub fn key(
    network: &Network,
    digest_of_network: &str,
    layout: &Layout,
    specification: &Specification,
) -> Result<String, MineError> {
    let mut text = format!("{} {digest_of_network}\n", env!("CARGO_PKG_VERSION"));
    for (low, high) in network.region(layout, specification)? {
        text += &format!("{:016x} {:016x}\n", low.to_bits(), high.to_bits());
    }
    let outputs = &layout.outputs;
    text += &format!("{:?} {} {:x}\n", outputs.meaning, outputs.labels.len(), specification.allowed.0);
    Ok(digest(text.as_bytes()))
}
