//! Many cases, on several threads, and what came of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{fs, process, thread};

use crate::compare::{Class, Judged};
use crate::rows::{Row, Study};
use crate::systems::{Case, case};
use crate::truth::Truth;

/// What is to be compared.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The first system.
    pub first: usize,
    /// How many systems.
    pub systems: usize,
    /// Properties of each.
    pub properties: usize,
    /// Names the properties.
    pub seed: u64,
    /// Who is asked.
    pub rows: Vec<Row>,
    /// The binary that is asked for documents and exit codes.
    pub binary: Option<PathBuf>,
    /// How many threads.
    pub threads: usize,
}

/// A verdict that is wrong.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// The system's number.
    pub number: usize,
    /// The property.
    pub property: String,
    /// Who said it.
    pub engine: &'static str,
    /// How it is wrong.
    pub class: Class,
    /// What was said.
    pub said: String,
    /// What is true.
    pub truth: String,
    /// The file.
    pub text: String,
    /// `--set`.
    pub settings: Vec<(String, f64)>,
    /// The networks beside the file.
    pub networks: Vec<(String, String)>,
}

/// How often what was said.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Triples of a system, a property and an engine.
    pub triples: usize,
    /// Properties that the interpreter could not decide, with its reasons.
    pub undecided: BTreeMap<String, usize>,
    /// Verdicts by engine and word.
    pub verdicts: BTreeMap<(&'static str, String), usize>,
    /// What engines refused, by engine and message.
    pub refused: BTreeMap<(&'static str, String), usize>,
    /// For each feature, how many properties `auto` was asked about and how many it decided.
    pub decided: BTreeMap<&'static str, (usize, usize)>,
    /// What was wrong.
    pub disagreements: Vec<Disagreement>,
}

impl Tally {
    /// Counts a triple: a system by its number and text, a property, and who was asked.
    pub fn note(&mut self, asked: (usize, &Case, &str, &'static str), judged: Judged, truth: impl Fn() -> String) {
        let (number, case, property, engine) = asked;
        self.triples += 1;
        let word = match &judged {
            Judged::Right(word) => (*word).to_owned(),
            Judged::Unknown => "unknown".to_owned(),
            Judged::Wrong(class, _) => format!("{class:?}"),
        };
        *self.verdicts.entry((engine, word)).or_default() += 1;
        if engine == "auto" {
            for feature in case.features.iter().copied().chain(["all"]) {
                let own = self.decided.entry(feature).or_default();
                *own = (own.0 + 1, own.1 + usize::from(judged != Judged::Unknown));
            }
        }
        if let Judged::Wrong(class, said) = judged {
            self.disagreements.push(Disagreement {
                number,
                property: property.to_owned(),
                engine,
                class,
                said,
                truth: truth(),
                text: case.alone(property).text,
                settings: case.settings.clone(),
                networks: case.networks.clone(),
            });
        }
    }

    /// Counts what was not answered.
    pub fn refuse(&mut self, engine: &'static str, message: String) {
        *self.refused.entry((engine, message)).or_default() += 1;
    }

    /// Counts what the interpreter does not know.
    pub fn leave(&mut self, reason: String) {
        *self.undecided.entry(reason).or_default() += 1;
    }

    fn add(&mut self, other: Tally) {
        self.triples += other.triples;
        for (reason, count) in other.undecided {
            *self.undecided.entry(reason).or_default() += count;
        }
        for (key, count) in other.verdicts {
            *self.verdicts.entry(key).or_default() += count;
        }
        for (key, count) in other.refused {
            *self.refused.entry(key).or_default() += count;
        }
        for (feature, (asked, decided)) in other.decided {
            let own = self.decided.entry(feature).or_default();
            *own = (own.0 + asked, own.1 + decided);
        }
        self.disagreements.extend(other.disagreements);
    }
}

impl Campaign {
    /// Compares all; the result does not depend on the number of threads. `watch` hears of each system, and of what was
    /// wrong with it.
    pub fn run(&self, watch: &(dyn Fn(usize, &[Disagreement]) + Sync)) -> Result<Tally, String> {
        let next = AtomicUsize::new(0);
        let total = Mutex::new(Tally::default());
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.threads.max(1))
                .map(|worker| {
                    let (next, total) = (&next, &total);
                    scope.spawn(move || -> Result<(), String> {
                        let folder = Folder::new(worker)?;
                        loop {
                            let place = next.fetch_add(1, Ordering::Relaxed);
                            if place >= self.systems {
                                return Ok(());
                            }
                            let number = self.first + place;
                            let own = self.compare(number, &case(self.seed, number, self.properties), &folder.0);
                            watch(place + 1, &own.disagreements);
                            total.lock().unwrap_or_else(PoisonError::into_inner).add(own);
                        }
                    })
                })
                .collect();
            for worker in workers {
                worker.join().map_err(|_| "an engine has panicked".to_owned())??;
            }
            Ok::<(), String>(())
        })?;
        let mut tally = total.into_inner().unwrap_or_else(PoisonError::into_inner);
        tally.disagreements.sort_by(|a, b| {
            (a.class, a.engine, a.text.len(), a.number).cmp(&(b.class, b.engine, b.text.len(), b.number))
        });
        Ok(tally)
    }

    /// Compares one system.
    pub fn compare(&self, number: usize, case: &Case, folder: &Path) -> Tally {
        let mut tally = Tally::default();
        let truths: Vec<Option<Truth>> = case
            .properties
            .iter()
            .map(|property| {
                Truth::of(case, property).map_err(|reason| *tally.undecided.entry(reason).or_default() += 1).ok()
            })
            .collect();
        let study = Study {
            number,
            seed: self.seed,
            properties: self.properties,
            case,
            truths: &truths,
            folder,
            binary: self.binary.as_deref(),
        };
        for &row in &self.rows {
            if let Err(message) = row.compare(&study, &mut tally) {
                tally.refuse(row.name(), message);
            }
        }
        tally
    }
}

/// A folder for one thread's files, gone at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    /// A new one.
    pub fn new(worker: usize) -> Result<Folder, String> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("certus-conformance-{}-{worker}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).map_err(|error| error.to_string())?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = fs::remove_dir_all(&self.0);
    }
}
