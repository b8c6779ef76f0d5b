"""The commands as functions. Written by ``python -m certus._stubs``."""

from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, Tuple, Union

from ._outcomes import Audited, Checks, Document, Extracted, Formatted, Gated, Inspected, Mapped, Mined, Optimum, Outcome, Shield, Simulated, Verified
from ._system import System
from ._types import NetworkLike, PathLike, Progress

TABLE: List[Dict[str, Any]]
__all__ = ['audit', 'check', 'extract', 'fmt', 'gate', 'inspect', 'mdp', 'mine', 'new', 'observe', 'optimise', 'prob', 'region', 'report', 'shield', 'shield_run', 'shield_export', 'simulate', 'verify']

def run(command: str, arguments: Dict[str, Any], progress: Optional[Progress] = None) -> Outcome: ...
def documentation(row: Dict[str, Any]) -> str: ...

def audit(
    certificate: NetworkLike,
    *,
    network: Optional[NetworkLike] = None,
    specification: Optional[NetworkLike] = None,
    query: Optional[NetworkLike] = None,
    timeout: Optional[float] = None,
    progress: Optional[Progress] = None,
) -> Audited:
    """Check a certificate.

    Takes a certificate that `verify` or `check` wrote, or a shield. Audit first compares the digests of the files that the certificate is about, then checks every step of the proof with code that is independent of the search. The verdict is `accepted`, `rejected`, or `unknown` if time ran out.

    Args:
        certificate: Certificate to check.
        network: Path of the network, if it has moved.
        specification: Path of the specification (for a shield: of the system), if it has moved.
        query: Path of the query, if it has moved; for certificates about a `.query` file.
        timeout: Stop after this many seconds and report what was found so far.
        progress: A function that is told a few times per second how far the work is.
    """

def check(
    system: Union[PathLike, System],
    *properties: str,
    engine: str = 'auto',
    steps: Optional[int] = None,
    assume_no_model_errors: bool = False,
    certificate: Optional[NetworkLike] = None,
    json_lines: bool = False,
    expect: bool = False,
    trace: Optional[NetworkLike] = None,
    widths: Union[float, Mapping[str, float]] = {},
    policy: Literal['network', 'extracted'] = 'network',
    refine: Optional[int] = None,
    cells: Optional[NetworkLike] = None,
    axes: Optional[Tuple[str, str]] = None,
    flowpipe: Optional[NetworkLike] = None,
    flowpipe_axes: Optional[Tuple[str, str]] = None,
    reachable_sets: bool = False,
    samples: Optional[int] = None,
    significance: Optional[float] = None,
    set: Mapping[str, float] = {},
    networks: Mapping[str, NetworkLike] = {},
    timeout: Optional[float] = None,
    threads: int = 0,
    seed: int = 0,
    memory: int = 4096,
    progress: Optional[Progress] = None,
) -> Checks:
    """Check properties of a closed loop.

    A violation comes with a counterexample that was replayed on the system itself. If only an infinite run can violate the property, the counterexample returns to an earlier state, or provably converges to an equilibrium over the reals. `holds` is a proof over the reals about all runs of the model: they start in initial states, stay in the declared ranges, and take transitions that `assume` allows. `holds up to k steps` says that no run of k steps, and no loop within k steps, is a counterexample.

    For a property about a probability, the result is an interval that contains the worst case over all initial states; `prob` has more options for these.

    Args:
        system: System file (`.certus`).
        properties: Properties to check; all of them by default.
        engine: Engine to use; `auto` lets all that apply take turns. `falsify` simulates runs to find violations, `bmc` searches for violations up to a number of steps, `induction` for an unbounded proof, `grid` decides on a finite abstraction of the state space, `explicit` enumerates the states of a finite system, `convergence` searches for runs that converge to an equilibrium, and `imdp` bounds probabilities.
        steps: Number of steps to unroll; defaults to 10, or to the bounds in the property if these reach further.
        assume_no_model_errors: Assume that no run leaves its declared ranges, deadlocks or evaluates an undefined operation; the result says so.
        certificate: Write a proof of the named property to a file for `audit`, if it holds. Proofs on a grid have no certificate, so `auto` does not use the grid then.
        json_lines: Print one JSON document per property, each on one line, as it is decided.
        expect: Compare with the verdicts that the file expects; a mismatch counts as a violation.
        trace: Write counterexamples to a file: a table for `.csv`, the JSON document for `.json`. The file is written only if a property is violated.
        widths: Cell widths by state variable; without a name, for all others.
        policy: Policy that the grid engine verifies: the network itself, or one action per cell extracted from it ('network', 'extracted').
        refine: Maximum number of refinements of the grid after spurious counterexamples; unlimited by default.
        cells: Plot the reachable cells of the grid (SVG).
        axes: Axes of the plot: two state variables, or `step` for the number of steps; the first two state variables by default.
        flowpipe: Plot the reachable sets of the first property that has some (SVG or PNG). The sets are those of the engine `reach`, whichever engine gave the verdict.
        flowpipe_axes: Axes of that plot: two state variables, or `time`; time and the first state variable by default.
        reachable_sets: Add the reachable sets of properties that `reach` decides to the JSON document; `report` draws them.
        samples: Number of states to sample per cell when extracting its action; 5 by default.
        significance: Significance level of the binomial test for the label of a cell; more states are sampled until it is met; 0.2 by default.
        set: Set parameters of the system, by name.
        networks: Replace networks of the system, each named by the policy or action that uses it or by its path in the file.
        timeout: Stop after this many seconds and report what was found so far.
        threads: Number of threads; 0 means one per core. Results do not depend on it.
        seed: Seed of the random number generator; the same seed gives the same result.
        memory: Memory limit for open subproblems, in megabytes.
        progress: A function that is told a few times per second how far the work is.
    """

def extract(
    system: Union[PathLike, System],
    *,
    widths: Union[float, Mapping[str, float]] = {},
    episodes: int = 500,
    steps: int = 200,
    picture: Optional[NetworkLike] = None,
    output: Optional[NetworkLike] = None,
    samples: Optional[int] = None,
    significance: Optional[float] = None,
    set: Mapping[str, float] = {},
    networks: Mapping[str, NetworkLike] = {},
    timeout: Optional[float] = None,
    threads: int = 0,
    seed: int = 0,
    progress: Optional[Progress] = None,
) -> Extracted:
    """Extract a policy from a network on a grid, and compare its return with the network's.

    Each cell of the state space gets one action: the mean of the network's outputs at sampled states of the cell, or the label chosen most often. Episodes of both policies start in the same states. The result lists every cell that an episode visited, with its action; `check` verifies the same policy with policy="extracted".

    Args:
        system: System file (`.certus`).
        widths: Cell widths by state variable; without a name, for all others.
        episodes: Number of episodes to compare on.
        steps: Maximum number of steps per episode.
        picture: Plot the returns as box plots (SVG).
        output: Write the policy to a file (JSON).
        samples: Number of states to sample per cell when extracting its action; 5 by default.
        significance: Significance level of the binomial test for the label of a cell; more states are sampled until it is met; 0.2 by default.
        set: Set parameters of the system, by name.
        networks: Replace networks of the system, each named by the policy or action that uses it or by its path in the file.
        timeout: Stop after this many seconds and report what was found so far.
        threads: Number of threads; 0 means one per core. Results do not depend on it.
        seed: Seed of the random number generator; the same seed gives the same result.
        progress: A function that is told a few times per second how far the work is.
    """

def fmt(
    *files: PathLike,
    check: bool = False,
    progress: Optional[Progress] = None,
) -> Formatted:
    """Format `.certus` files.

    Files are rewritten in place, atomically. Files with errors are left unchanged, and reported.

    Args:
        files: Files to format.
        check: Change nothing; report files that are not formatted.
        progress: A function that is told a few times per second how far the work is.
    """

def gate(
    system: Union[PathLike, System],
    checkpoints: Union[NetworkLike, Sequence[NetworkLike]],
    *,
    policy: Optional[str] = None,
    properties: Union[str, Sequence[str]] = [],
    engine: Literal['simulation', 'bmc'] = 'simulation',
    runs: int = 500,
    steps: int = 200,
    candidates: int = 16,
    depth: Optional[int] = None,
    cell_timeout: Optional[float] = None,
    picture: Optional[NetworkLike] = None,
    set: Mapping[str, float] = {},
    timeout: Optional[float] = None,
    threads: int = 0,
    seed: int = 0,
    memory: int = 4096,
    progress: Optional[Progress] = None,
) -> Gated:
    """Check every property with every checkpoint of a training run.

    Each checkpoint replaces the network of the system; the result has a row per checkpoint and a column per property. Simulation draws inputs at random first, then lets an adversary choose them against each property. It finds violations, each with the run and the step that show it, but proves nothing. Bounded model checking also shows that a property holds up to a number of steps.

    Args:
        system: System file (`.certus`).
        checkpoints: Networks (`.onnx`, `.nnet`), or folders of networks.
        policy: Network to replace: a policy, an action, or a path as in the system file; required if there are several.
        properties: Properties to check; all of them by default.
        engine: How to check: by simulation, or by bounded model checking ('simulation', 'bmc').
        runs: Number of simulated runs.
        steps: Maximum number of steps per simulated run.
        candidates: Number of inputs that the adversary tries at each step.
        depth: Number of steps to unroll; defaults to 10, or to the bounds in the property if these reach further.
        cell_timeout: Time limit of model checking for each checkpoint and property, in seconds.
        picture: Plot properties against checkpoints (SVG).
        set: Set parameters of the system, by name.
        timeout: Stop after this many seconds and report what was found so far.
        threads: Number of threads; 0 means one per core. Results do not depend on it.
        seed: Seed of the random number generator; the same seed gives the same result.
        memory: Memory limit for open subproblems, in megabytes.
        progress: A function that is told a few times per second how far the work is.
    """

def inspect(
    file: NetworkLike,
    *,
    eval: Optional[Sequence[float]] = None,
    set: Mapping[str, float] = {},
    progress: Optional[Progress] = None,
) -> Inspected:
    """Describe a network or a system.

    For a network: inputs, outputs, operators and the number of parameters, as read and in canonical form. For a system: variables with their ranges, policies, actions, parameters, and properties with their fragment of temporal logic.

    Args:
        file: Network (`.onnx`, `.nnet`) or system (`.certus`).
        eval: Evaluate the network at this point: all inputs in order.
        set: Set parameters of the system, by name.
        progress: A function that is told a few times per second how far the work is.
    """

def mdp(
    file: NetworkLike,
    property: Optional[str] = None,
    *,
    gap: float = 1e-09,
    write: Optional[NetworkLike] = None,
    values: Optional[NetworkLike] = None,
    set: Mapping[str, float] = {},
    timeout: Optional[float] = None,
    threads: int = 0,
    seed: int = 0,
    progress: Optional[Progress] = None,
) -> Outcome:
    """Compute a probability of an interval MDP.

    The property names both players: first the scheduler, which picks actions, then nature, which picks probabilities within their intervals, as in `Pmaxmin=? [ F "goal" ]`. Results are intervals that are guaranteed to contain the exact values.

    Args:
        file: Model: `.drn` (Storm), `.tra` with its `.lab` (PRISM, explicit), `.prism` or `.nm` (PRISM language).
        property: Property to compute; without one, the model is described or converted.
        gap: Maximum width of the interval, for properties without a step bound.
        write: Write the model to a file, in the format of its extension.
        values: Write the values of all states, with optimal actions, to a table (CSV).
        set: Set constants of the model, by name.
        timeout: Stop after this many seconds and report what was found so far.
        threads: Number of threads; 0 means one per core. Results do not depend on it.
        seed: Seed of the random number generator; the same seed gives the same result.
        progress: A function that is told a few times per second how far the work is.
    """

def mine(
    config: NetworkLike,
    *,
    verify: Union[NetworkLike, Sequence[NetworkLike]] = [],
    attack: bool = False,
    cache: Optional[NetworkLike] = None,
    search: bool = False,
    specifications: Optional[NetworkLike] = None,
    baseline: Optional[NetworkLike] = None,
    regions: Optional[NetworkLike] = None,
    emit_sql: Optional[Literal['duckdb', 'spark', 'trino']] = None,
    write: Optional[NetworkLike] = None,
    timeout: Optional[float] = None,
    threads: int = 0,
    seed: int = 0,
    memory: int = 4096,
    progress: Optional[Progress] = None,
) -> Mined:
    """Mine specifications from observations of reference algorithms.

    Reads tables (CSV, Parquet) of what reference algorithms observed and decided, as a configuration file describes them. Finds boxes in the input space in which all of them agree on a few decisions, and measures how well these specifications fit each algorithm on the tables they were mined from and on others. With verify, every specification is then decided for every network.

    Args:
        config: Configuration that describes the tables (TOML).
        verify: Networks to verify every specification against.
        attack: Find the most extreme violations of violated specifications.
        cache: Reuse the verdicts in this file, and add new ones to it. With write, defaults to `verdicts.json` in that folder.
        search: Search for the best settings first, as `[search]` in the configuration says.
        specifications: Evaluate and verify these specifications (JSON) instead of mining.
        baseline: Specifications (JSON) to compare with those that were mined.
        regions: Start from statistics that the queries of emit_sql computed (Parquet, CSV).
        emit_sql: Only generate the SQL queries that compute the statistics in a database, in this dialect ('duckdb', 'spark', 'trino').
        write: Write the specifications to a folder: JSON, VNN-LIB, a `.certus` file and a plot.
        timeout: Stop after this many seconds and report what was found so far.
        threads: Number of threads; 0 means one per core. Results do not depend on it.
        seed: Seed of the random number generator; the same seed gives the same result.
        memory: Memory limit for open subproblems, in megabytes.
        progress: A function that is told a few times per second how far the work is.
    """

def new(
    network: Optional[NetworkLike] = None,
    *,
    env: Optional[str] = None,
    spaces: Optional[Union[PathLike, Mapping[str, Any], Document]] = None,
    actions: Union[str, Sequence[str]] = [],
    name: Optional[str] = None,
    output: Optional[NetworkLike] = None,
    force: bool = False,
    progress: Optional[Progress] = None,
) -> Outcome:
    """Generate a system file from an environment, a network, or both.

    For the classic control tasks of Gymnasium, env writes the plant itself: `CartPole-v1`, `MountainCar-v0`, `MountainCarContinuous-v0`, `Pendulum-v1` and `Acrobot-v1`, with the network, or with a placeholder policy if you name none.

    From a network or the spaces of any other environment, the file can be loaded, simulated and checked as it is: observations change slowly and at random, and outputs stay in the range that interval arithmetic shows. Replace this with the plant and your requirements.

    Args:
        network: Network (`.onnx`, `.nnet`).
        env: Gymnasium environment whose plant is written, such as `CartPole-v1`.
        spaces: Observation and action space of an environment (JSON).
        actions: Names of the actions, if the network scores each and the highest score wins.
        name: Name of the system.
        output: Write the system to a file.
        force: Overwrite the file if it exists.
        progress: A function that is told a few times per second how far the work is.
    """

def observe(
    world: Literal['pensieve', 'aurora'],
    decider: NetworkLike,
    files: Union[NetworkLike, Sequence[NetworkLike]],
    output: NetworkLike,
    *,
    interval: float = 0.075,
    seconds: float = 60,
    seed: int = 0,
    progress: Optional[Progress] = None,
) -> Outcome:
    """Record the observations and decisions of a reference algorithm, or of a network.

    For video streaming (`pensieve`), the algorithms are `buffer-based` and `mpc` (robust model-predictive control) in Pensieve's simulator, and the files are bandwidth traces. For congestion control (`aurora`), they are `cubic` and `bbr` over Aurora's links, and the files are tables of links with the columns `trace`, `delay_ms`, `loss` and `queue`.

    The result is a table that `mine` reads, with a row per decision: CSV, or Parquet if the output is named so.

    Args:
        world: Simulator ('pensieve', 'aurora').
        decider: Algorithm: `buffer-based`, `mpc`, `cubic`, `bbr`, or a network (`.onnx`, `.nnet`).
        files: Bandwidth traces (`pensieve`), or tables of links (`aurora`).
        output: Write the table to a file.
        interval: Length of a monitor interval, in seconds (`aurora`).
        seconds: Observation time per link, in seconds; traces repeat when they end (`aurora`).
        seed: Seed of the random losses.
        progress: A function that is told a few times per second how far the work is.
    """

def optimise(
    file: NetworkLike,
    specification: Optional[NetworkLike] = None,
    *,
    networks: Mapping[str, NetworkLike] = {},
    maximise: Optional[str] = None,
    minimise: Optional[str] = None,
    gap: float = 0.001,
    timeout: Optional[float] = None,
    threads: int = 0,
    seed: int = 0,
    memory: int = 4096,
    progress: Optional[Progress] = None,
) -> Optimum:
    """Bound the maximum or minimum of a linear expression.

    The expression is optimised over the inputs of the region at which the assertion holds. The result is an interval that is guaranteed to contain the optimum over the reals, and the best point that was found.

    Args:
        file: Network (`.onnx`, `.nnet`), or a `.query` file, or with networks the specification.
        specification: Specification (`.vnnlib` or `.vnnlib.gz`).
        networks: Files of the networks that the specification declares, by name (VNN-LIB 2.0).
        maximise: Expression to maximise, such as `Y_0 - 0.5*X_1`. Variables are the inputs `X_0`, `X_1`, … and the outputs `Y_0`, `Y_1`, …; for a specification in VNN-LIB 2.0, the elements of the declared tensors, such as `Y[0,1]`.
        minimise: Expression to minimise.
        gap: Stop once the interval is at most this wide.
        timeout: Stop after this many seconds and report what was found so far.
        threads: Number of threads; 0 means one per core. Results do not depend on it.
        seed: Seed of the random number generator; the same seed gives the same result.
        memory: Memory limit for open subproblems, in megabytes.
        progress: A function that is told a few times per second how far the work is.
    """

def prob(
    system: Union[PathLike, System],
    *properties: str,
    steps: Optional[int] = None,
    method: Literal['auto', 'unfold', 'search', 'partition'] = 'auto',
    domain: Literal['box', 'octagon', 'auto'] = 'box',
    directions: Sequence[Sequence[float]] = [],
    spread: Optional[float] = None,
    shortest: float = 0.1,
    samples: int = 40,
    merge: bool = False,
    grid: int = 1,
    pieces: int = 8,
    gap: float = 0.001,
    share: float = 0.05,
    most: int = 1000000,
    map: Optional[NetworkLike] = None,
    axes: Optional[Tuple[int, int]] = None,
    model: Optional[NetworkLike] = None,
    set: Mapping[str, float] = {},
    networks: Mapping[str, NetworkLike] = {},
    timeout: Optional[float] = None,
    threads: int = 0,
    seed: int = 0,
    progress: Optional[Progress] = None,
) -> Checks:
    """Bound probabilities of a closed loop with random choices.

    For `P<=p`, `P>=p`, `Pmax=?` and `Pmin=?` of `F φ`, `ψ U φ` and `G φ`, with or without a step bound, the result is an interval that is guaranteed to contain the worst probability over all initial states (over the reals, with rounding accounted for). The upper bound comes from an interval MDP over template polyhedra, the lower bound from a concrete initial state whose transitions were all followed. Leaving the declared ranges counts against the property.

    Args:
        system: System file (`.certus`).
        properties: Properties to bound; all probabilities by default.
        steps: Step bound, in place of those in the properties.
        method: How to compute the bound: unfold once, search over ever smaller initial cells, or partition the state space. `unfold` is one forward unfolding, `search` unfolds smaller and smaller cells of the initial set, `partition` iterates backwards over a partition of the state space. `auto` is `search` if the tree of transitions is small, otherwise `partition`. ('auto', 'unfold', 'search', 'partition').
        domain: Template polyhedra: boxes, octagons, or directions found from the network, the plant and sampled runs ('box', 'octagon', 'auto').
        directions: Further directions of the template, one number per state variable each; opposites are added.
        spread: Split regions where a transition probability varies by more than this.
        shortest: Do not split directions that are at most this wide.
        samples: Number of samples that decide where to split.
        merge: Merge regions that are contained in others while unfolding.
        grid: Split the initial set into this many slices per dimension first.
        pieces: Maximum number of pieces to split a region into where its linearised image is loose; 1 never splits.
        gap: Stop once the interval is at most this wide.
        share: Stop once the width is at most this share of the lower bound.
        most: Maximum number of regions or cells.
        map: Plot the cells of the initial set with their bounds, for one property (SVG, or PNG by extension).
        axes: Axes of the plot: indices of two state variables; 0,1 by default.
        model: Write the interval MDP of one unfolding, for one property: `.drn` (Storm), `.tra` with `.lab` (PRISM).
        set: Set parameters of the system, by name.
        networks: Replace networks of the system, each named by the policy or action that uses it or by its path in the file.
        timeout: Stop after this many seconds and report what was found so far.
        threads: Number of threads; 0 means one per core. Results do not depend on it.
        seed: Seed of the random number generator; the same seed gives the same result.
        progress: A function that is told a few times per second how far the work is.
    """

def region(
    system: Union[PathLike, System],
    *properties: str,
    region: Union[Sequence[str], Mapping[str, Optional[Tuple[float, float]]]] = {},
    resolution: int = 32,
    picture: Optional[NetworkLike] = None,
    steps: Optional[int] = None,
    set: Mapping[str, float] = {},
    networks: Mapping[str, NetworkLike] = {},
    timeout: Optional[float] = None,
    threads: int = 0,
    seed: int = 0,
    memory: int = 4096,
    progress: Optional[Progress] = None,
) -> Mapped:
    """Map where properties hold over ranges of parameters.

    Cells are refined from coarse to fine by bounded model checking. A cell is settled when a property holds for every value in it, or is violated for every value in it.

    Args:
        system: System file (`.certus`).
        properties: Properties to check; all of them by default.
        region: Map where properties hold over the ranges of these `param`s. You can narrow the range of each. Cells of a grid are settled from coarse to fine: a property holds for every value in a cell, is violated for every value, is violated at one value (in a cell of the finest size; nothing is known of its other values), or is open.
        resolution: Number of grid steps along each parameter.
        picture: Plot the map of one property over one or two parameters (SVG).
        steps: Number of steps to unroll; defaults to 10, or to the bounds in the property if these reach further.
        set: Set parameters of the system, by name.
        networks: Replace networks of the system, each named by the policy or action that uses it or by its path in the file.
        timeout: Stop after this many seconds and report what was found so far.
        threads: Number of threads; 0 means one per core. Results do not depend on it.
        seed: Seed of the random number generator; the same seed gives the same result.
        memory: Memory limit for open subproblems, in megabytes.
        progress: A function that is told a few times per second how far the work is.
    """

def report(
    *results: Union[PathLike, Mapping[str, Any], Document],
    output: Optional[NetworkLike] = None,
    figures: Optional[NetworkLike] = None,
    progress: Optional[Progress] = None,
) -> Outcome:
    """Render results of any command as an HTML page.

    The page is self-contained: a summary, counterexamples (over time, as phase portraits, step by step), invariants, maps, partitions, shields and specifications. It says where data was thinned out.

    Args:
        results: Results, or JSON files that contain them.
        output: Write the page to a file.
        figures: Also write each figure to this folder, as SVG and as PNG.
        progress: A function that is told a few times per second how far the work is.
    """

def shield(
    system: Union[PathLike, System],
    property: Optional[str] = None,
    *,
    invariant: Literal['auto', 'polynomial', 'polyhedron'] = 'auto',
    degree: Optional[int] = None,
    program_degree: int = 1,
    converge: Union[Sequence[str], Mapping[str, Optional[Tuple[float, float]]]] = {},
    monomials: Sequence[Sequence[float]] = [],
    output: Optional[NetworkLike] = None,
    set: Mapping[str, float] = {},
    networks: Mapping[str, NetworkLike] = {},
    timeout: Optional[float] = None,
    threads: int = 0,
    seed: int = 0,
    progress: Optional[Progress] = None,
) -> Shield:
    """Synthesise a verified shield for a network.

    For a property `G φ`, finds a small program and an invariant: whenever the network would leave the invariant, the program takes over and stays inside, which is proved in exact arithmetic. The result is one file with the program, the invariants and their certificate, which `audit` checks.

    Args:
        system: System file (`.certus`).
        property: Property of the form `G φ`; the first of that form by default.
        invariant: Kind of invariant: a polynomial sublevel set, or the maximal admissible set of a linear loop ('auto', 'polynomial', 'polyhedron').
        degree: Maximum degree of a polynomial invariant, even, from 2 to 12; by default 2, then 4.
        program_degree: Degree of the program, from 1 to 6; 1 is affine.
        converge: Also prove that the program reaches these ranges of state variables and stays there.
        monomials: Monomials of the program, as exponents of the state variables, in place of program_degree.
        output: Write the shield, with its certificate, to a file.
        set: Set parameters of the system, by name.
        networks: Replace networks of the system, each named by the policy or action that uses it or by its path in the file.
        timeout: Stop after this many seconds and report what was found so far.
        threads: Number of threads; 0 means one per core. Results do not depend on it.
        seed: Seed of the random number generator; the same seed gives the same result.
        progress: A function that is told a few times per second how far the work is.
    """

def shield_run(
    shield: NetworkLike,
    *,
    runs: int = 1000,
    steps: int = 5000,
    system: Optional[NetworkLike] = None,
    networks: Mapping[str, NetworkLike] = {},
    timeout: Optional[float] = None,
    threads: int = 0,
    seed: int = 0,
    progress: Optional[Progress] = None,
) -> Outcome:
    """Simulate the system with and without its shield.

    Each run starts in a random initial state.

    Args:
        shield: Shield to run.
        runs: Number of runs.
        steps: Number of steps per run.
        system: Path of the system, if it has moved.
        networks: Replace networks of the system, each named by the policy or action that uses it or by its path in the file.
        timeout: Stop after this many seconds and report what was found so far.
        threads: Number of threads; 0 means one per core. Results do not depend on it.
        seed: Seed of the random number generator; the same seed gives the same result.
        progress: A function that is told a few times per second how far the work is.
    """

def shield_export(
    shield: NetworkLike,
    lang: Literal['c', 'rust', 'python'],
    *,
    system: Optional[NetworkLike] = None,
    name: Optional[str] = None,
    output: Optional[NetworkLike] = None,
    progress: Optional[Progress] = None,
) -> Outcome:
    """Generate source code for a shield.

    C99 (a header and a source), Rust (a module that implements `certus_shield_rt::Guard`), or Python (a module without imports). All of them compute the same results, bit for bit.

    Args:
        shield: Shield to export.
        lang: Language ('c', 'rust', 'python').
        system: Path of the system, if it has moved.
        name: Name of the exported code; that of the system by default.
        output: Write to this file; for C, the path of both files without `.h` and `.c`.
        progress: A function that is told a few times per second how far the work is.
    """

def simulate(
    system: Union[PathLike, System],
    *,
    runs: int = 100,
    steps: int = 100,
    first_run: int = 0,
    inputs: str = 'uniform',
    property: Optional[str] = None,
    candidates: int = 16,
    actions: Literal['sample', 'argmax'] = 'sample',
    output: Optional[NetworkLike] = None,
    set: Mapping[str, float] = {},
    networks: Mapping[str, NetworkLike] = {},
    timeout: Optional[float] = None,
    threads: int = 0,
    seed: int = 0,
    progress: Optional[Progress] = None,
) -> Simulated:
    """Simulate the closed loop and monitor every property.

    Initial states, inputs and random choices are drawn at random. Each run reports how it ended (all steps made, a terminal state, a variable out of its declared range, no transition that `assume` allows), and for each property whether and when it was violated, and with what margin. A violation is a counterexample; no violation proves nothing.

    Runs are reproducible: they depend on the seed and their number only. To look at run 77 of a simulation, repeat it with first_run=77 and runs=1.

    Args:
        system: System file (`.certus`).
        runs: Number of runs.
        steps: Maximum number of steps per run.
        first_run: Number of the first run.
        inputs: Source of inputs: `uniform`, `adversary`, or a CSV file. `adversary` tries several inputs at each step and takes the one that leaves the smallest margin. A table has a column for each element of each input (`d`, `u[0]`), a row for each step, and optionally a column `run`; the tables that this command writes can be read back.
        property: Property that the adversary attacks; the first by default.
        candidates: Number of inputs that the adversary tries at each step.
        actions: Actions of a stochastic policy: sampled, or the most likely one ('sample', 'argmax').
        output: Write every step of every run to a file: a table, or for `.jsonl` a line of JSON per run.
        set: Set parameters of the system, by name.
        networks: Replace networks of the system, each named by the policy or action that uses it or by its path in the file.
        timeout: Stop after this many seconds and report what was found so far.
        threads: Number of threads; 0 means one per core. Results do not depend on it.
        seed: Seed of the random number generator; the same seed gives the same result.
        progress: A function that is told a few times per second how far the work is.
    """

def verify(
    file: NetworkLike,
    specification: Optional[NetworkLike] = None,
    *,
    networks: Mapping[str, NetworkLike] = {},
    certificate: Optional[NetworkLike] = None,
    resume: Optional[NetworkLike] = None,
    save_query: Optional[NetworkLike] = None,
    timeout: Optional[float] = None,
    threads: int = 0,
    seed: int = 0,
    memory: int = 4096,
    progress: Optional[Progress] = None,
) -> Verified:
    """Decide a query about networks.

    Decides whether the region contains an input whose output satisfies the assertion. The verdict is `sat`, `unsat`, `unknown` or `timeout`. `unsat` is a proof over the reals, with bounds that account for rounding. `sat` comes with a point that was replayed in single and in double precision, without tolerance on the assertion.

    Args:
        file: Network (`.onnx`, `.nnet`), or a `.query` file, or with networks the specification.
        specification: Specification (`.vnnlib` or `.vnnlib.gz`).
        networks: Files of the networks that the specification declares, by name (VNN-LIB 2.0).
        certificate: Write a proof of `unsat` to a file for `audit`; not written for other verdicts.
        resume: Keep the state of the search in this folder, and continue from it if there is one. The state is saved every few seconds and when the search ends undecided, and removed once the query is decided. A folder that belongs to another query is refused.
        save_query: Write the query to a `.query` file (or `.query.gz`), one for each box of inputs.
        timeout: Stop after this many seconds and report what was found so far.
        threads: Number of threads; 0 means one per core. Results do not depend on it.
        seed: Seed of the random number generator; the same seed gives the same result.
        memory: Memory limit for open subproblems, in megabytes.
        progress: A function that is told a few times per second how far the work is.
    """
