//! Options that several commands share.

use super::{Kind, Opt};

/// The file of a system.
pub(super) const SYSTEM: Opt = Opt::needed("system", Kind::System, "System file (`.certus`)").value("FILE");

/// Properties of a system.
pub(super) const PROPERTIES: Opt =
    Opt::rest("properties", Kind::Texts, "Properties to check; all of them by default").value("PROPERTY");

/// How far bounded model checking goes.
pub(super) const STEPS: Opt = Opt::named(
    "steps",
    Kind::Count(0),
    "null",
    "Number of steps to unroll; defaults to 10, or to the bounds in the property if these reach further",
)
.short('k');

/// Values of parameters.
pub(super) const SET: Opt = Opt::named("set", Kind::Settings, "{}", "Set parameters of the system, by name");

/// Networks in place of others.
pub(super) const NETWORKS: Opt = Opt::named(
    "networks",
    Kind::Networks,
    "{}",
    "Replace networks of the system, each named by the policy or action that uses it or by its path in the file",
)
.flag("network");

/// Changes to a system that is loaded.
pub(super) const CHANGES: &[Opt] = &[SET, NETWORKS];

/// Where time runs out.
pub(super) const TIMEOUT: Opt =
    Opt::named("timeout", Kind::Number, "null", "Stop after this many seconds and report what was found so far")
        .value("SECONDS");

/// The budget of long work.
pub(super) const EFFORT: &[Opt] = &[
    TIMEOUT,
    Opt::named("threads", Kind::Count(0), "0", "Number of threads; 0 means one per core. Results do not depend on it"),
    Opt::named("seed", Kind::Count(0), "0", "Seed of the random number generator; the same seed gives the same result"),
];

/// The budget of a search that may grow.
pub(super) const MEMORY: &[Opt] =
    &[Opt::named("memory", Kind::Count(0), "4096", "Memory limit for open subproblems, in megabytes").value("MB")];

/// What a query about networks is read from.
pub(super) const QUERY: &[Opt] = &[
    Opt::needed(
        "file",
        Kind::File,
        "Network (`.onnx`, `.nnet`), or a `.query` file, or with ⟨networks⟩ the specification",
    ),
    Opt::first("specification", Kind::File, "Specification (`.vnnlib` or `.vnnlib.gz`)"),
    Opt::named(
        "networks",
        Kind::Networks,
        "{}",
        "Files of the networks that the specification declares, by name (VNN-LIB 2.0)",
    )
    .flag("network"),
];

/// How actions are extracted from a network.
pub(super) const SAMPLING: &[Opt] = &[
    Opt::named(
        "samples",
        Kind::Within(1, 65_535),
        "null",
        "Number of states to sample per cell when extracting its action; 5 by default",
    ),
    Opt::named(
        "significance",
        Kind::Number,
        "null",
        "Significance level of the binomial test for the label of a cell; more states are sampled until it is met; 0.2 \
         by default",
    )
    .value("P"),
];

/// The cells of a grid.
pub(super) const WIDTHS: Opt =
    Opt::named("widths", Kind::Widths, "{}", "Cell widths by state variable; without a name, for all others")
        .flag("width");
