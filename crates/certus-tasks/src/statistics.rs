//! What happened inside of a command: time by phase, and counts.
//!
//! Engines say what they do with `tracing`: a span for each phase, and events of the target `certus::count` whose fields are counts. This file
//! adds them up. Where nobody asks, nothing is installed, and a span or an event costs the engines one load from memory.
//!
//! Times are of the clock, summed over threads, so they depend on the machine; counts do not, as long as no deadline interferes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::Id;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::filter::{FilterExt, LevelFilter, dynamic_filter_fn, filter_fn};
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

/// The target of events whose fields are counts.
const COUNTED: &str = "certus::count";

/// Whether anybody wants to know at present.
static COLLECTING: AtomicBool = AtomicBool::new(false);

static TABLES: Mutex<Tables> = Mutex::new(Tables { phases: BTreeMap::new(), counts: BTreeMap::new() });

struct Tables {
    phases: BTreeMap<&'static str, Times>,
    counts: BTreeMap<&'static str, u64>,
}

#[derive(Clone, Copy, Default)]
struct Times {
    calls: u64,
    whole: Duration,
    /// Of this, what was spent in phases inside of it.
    inside: Duration,
}

/// A phase of the work.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// What is done.
    pub name: &'static str,
    /// How often.
    pub calls: u64,
    /// How long, summed over threads, phases inside of it included.
    pub seconds: f64,
    /// How long without those.
    pub own_seconds: f64,
}

/// Phases and counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// The phases, the one with the most time of its own first.
    pub phases: Vec<Phase>,
    /// The counts, by name.
    pub counts: Vec<(&'static str, u64)>,
}

/// Begins to collect.
pub fn collect() {
    install(0);
    *tables() = Tables { phases: BTreeMap::new(), counts: BTreeMap::new() };
    COLLECTING.store(true, Ordering::Relaxed);
    tracing::callsite::rebuild_interest_cache();
}

/// What happened since [`collect`] was called. Ends the collection.
pub fn collected() -> Statistics {
    COLLECTING.store(false, Ordering::Relaxed);
    let tables = std::mem::replace(&mut *tables(), Tables { phases: BTreeMap::new(), counts: BTreeMap::new() });
    let phase = |(name, times): (&'static str, Times)| Phase {
        name,
        calls: times.calls,
        seconds: times.whole.as_secs_f64(),
        own_seconds: times.whole.saturating_sub(times.inside).as_secs_f64(),
    };
    let mut phases: Vec<Phase> = tables.phases.into_iter().map(phase).collect();
    phases.sort_by(|a, b| b.own_seconds.total_cmp(&a.own_seconds).then(a.name.cmp(b.name)));
    Statistics { phases, counts: tables.counts.into_iter().collect() }
}

/// Installs what listens, once in the life of the process. With a verbosity of 1, what engines decide about their work is told on standard
/// error; from 2 on, what they do as well.
pub fn install(verbosity: u8) {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let wanted = dynamic_filter_fn(|of: &Metadata<'_>, _| {
            COLLECTING.load(Ordering::Relaxed) && (of.is_span() || of.target() == COUNTED)
        });
        let level = match verbosity {
            0 => LevelFilter::OFF,
            1 => LevelFilter::INFO,
            _ => LevelFilter::DEBUG,
        };
        let told = tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_timer(tracing_subscriber::fmt::time::uptime())
            .with_ansi(false)
            .with_target(false)
            .with_filter(level.and(filter_fn(|of| of.target().starts_with("certus"))));
        let listening = Registry::default().with(Collector.with_filter(wanted)).with(told);
        // Where a program that embeds Certus listens already, it has the same spans and events.
        let _ = tracing::subscriber::set_global_default(listening);
    });
}

fn tables() -> MutexGuard<'static, Tables> {
    TABLES.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Collector;

/// When a span was entered.
struct Entered(Instant);

/// Adds the fields of an event to the counts.
struct Counts<'t>(&'t mut BTreeMap<&'static str, u64>);

impl Visit for Counts<'_> {
    fn record_u64(&mut self, field: &Field, value: u64) {
        *self.0.entry(field.name()).or_default() += value;
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Collector {
    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            span.extensions_mut().replace(Entered(Instant::now()));
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let Some(Entered(begun)) = span.extensions_mut().remove() else { return };
        let passed = begun.elapsed();
        let mut tables = tables();
        let own = tables.phases.entry(span.name()).or_default();
        own.calls += 1;
        own.whole += passed;
        if let Some(around) = span.parent() {
            tables.phases.entry(around.name()).or_default().inside += passed;
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == COUNTED {
            event.record(&mut Counts(&mut tables().counts));
        }
    }
}

impl Statistics {
    /// As a JSON value.
    pub fn to_json(&self) -> Value {
        let phase = |own: &Phase| json!({"name": own.name, "calls": own.calls, "seconds": own.seconds, "own_seconds": own.own_seconds});
        let counts: serde_json::Map<String, Value> =
            self.counts.iter().map(|&(name, count)| (name.to_owned(), count.into())).collect();
        json!({"phases": self.phases.iter().map(phase).collect::<Vec<_>>(), "counts": counts})
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<28} {:>10} {:>11} {:>11}", "phase", "calls", "seconds", "own")?;
        for phase in &self.phases {
            let Phase { name, calls, seconds, own_seconds } = phase;
            writeln!(f, "{name:<28} {calls:>10} {seconds:>11.3} {own_seconds:>11.3}")?;
        }
        if !self.counts.is_empty() {
            writeln!(f, "\n{:<28} {:>10}", "count", "")?;
        }
        for (name, count) in &self.counts {
            writeln!(f, "{:<28} {count:>10}", name.replace('_', " "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_have_time_of_their_own_and_counts_add_up() {
        collect();
        {
            let _outer = tracing::debug_span!("outer").entered();
            for count in [2_u64, 3] {
                let _inner = tracing::debug_span!("inner").entered();
                tracing::trace!(target: COUNTED, found = count);
            }
            // What is no count is none, and other events are not counted.
            tracing::trace!(target: COUNTED, named = "x");
            tracing::trace!(found = 100_u64);
        }
        let statistics = collected();
        assert_eq!(statistics.counts, [("found", 5)]);
        let of = |name: &str| statistics.phases.iter().find(|phase| phase.name == name).unwrap();
        assert_eq!((of("outer").calls, of("inner").calls), (1, 2));
        assert!(of("outer").seconds >= of("inner").seconds);
        assert!((of("outer").own_seconds + of("inner").seconds - of("outer").seconds).abs() < 1e-6);
        assert_eq!(statistics.to_json()["counts"]["found"], 5);
        assert!(statistics.to_string().contains("found"), "{statistics}");
        // Nobody asks any more.
        tracing::trace!(target: COUNTED, found = 1_u64);
        collect();
        assert_eq!(collected(), Statistics { phases: Vec::new(), counts: Vec::new() });
    }
}
