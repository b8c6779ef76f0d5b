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
    """Checks a certificate, or a shield with its certificate, with code that shares nothing with the search. The verdict is `accepted`, `rejected`, or `unknown` if it ran out of time.

    Args:
        certificate: The certificate.
        network: Where the network is now, if not where the certificate says.
        specification: Where the specification (of a shield: the system) is now, if not where the certificate says.
        query: Where the query is now, for a certificate about a `.query` file.
        timeout: Seconds after which the check stops.
        progress: A function that is told a few times per second how far the work is.
    """

def check(
    system: Union[PathLike, System],
    *properties: str,
    engine: str = 'auto',
    steps: Optional[int] = None,
    assume_no_model_errors: bool = False,
    certificate: Optional[NetworkLike] = None,
    expect: bool = False,
    trace: Optional[NetworkLike] = None,
    widths: Union[float, Mapping[str, float]] = {},
    policy: Literal['network', 'extracted'] = 'network',
    refine: Optional[int] = None,
    cells: Optional[NetworkLike] = None,
    axes: Optional[Tuple[str, str]] = None,
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
    """Checks properties of a closed loop; all of them if none is named. A violation comes with a run that was replayed, a proof with what it rests on.

    Args:
        system: The system: a `.certus` file.
        properties: The properties; all of them if none is named.
        engine: `bmc` looks for violations by so many steps, `induction` for an unbounded proof, `grid` decides on a finite abstraction, `explicit` visits every state of a finite system, `convergence` looks for runs that converge to an equilibrium, `imdp` bounds probabilities; `auto` takes turns.
        steps: Steps that are looked at; if not given, 10, or as far as a property's own bounds reach.
        assume_no_model_errors: Assumes that no run leaves its ranges, has a deadlock or evaluates something undefined; the outcome says so.
        certificate: Where the proof of the one named property is written, if it holds, for `audit`.
        expect: Compares with the verdicts that the file expects: results get `expected` and `as_expected`.
        trace: Where runs that violate properties are written: a table for `.csv`, the document for `.json`.
        widths: Widths of grid cells, by state variable; one number for all.
        policy: Whose actions the grid engine takes: all that the network can do in a cell, or one action per cell ('network', 'extracted').
        refine: How often the grid engine may split cells after a spurious counterexample; as the budget allows if not given.
        cells: Where the reachable cells are drawn, as SVG.
        axes: The two state variables that `cells` draws; `step` is the number of steps.
        samples: States of a cell at which the network is asked for an extracted policy; 5 if not given.
        significance: A label is taken for a cell when an accident is at most this likely, otherwise more states are asked; 0.2 if not given.
        set: Values of parameters of the system, by name.
        networks: Networks in place of the system's, by the policy or action that applies them, or as the file writes them.
        timeout: Seconds after which the work stops, with what was found so far.
        threads: How many threads; 0 for one per processor. Results do not depend on it.
        seed: Seed of the random numbers; the same seed gives the same result.
        memory: Megabytes that the open subproblems of a search may take.
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
    """Extracts a policy from a network on a grid, one action per cell, and compares the returns of both.

    Args:
        system: The system: a `.certus` file.
        widths: Widths of grid cells, by state variable; one number for all.
        episodes: In how many episodes both policies are compared; at most a hundred million.
        steps: Steps that an episode has at most.
        picture: Where box plots of the returns are drawn, as SVG.
        output: Where the policy is written, as JSON.
        samples: States of a cell at which the network is asked for an extracted policy; 5 if not given.
        significance: A label is taken for a cell when an accident is at most this likely, otherwise more states are asked; 0.2 if not given.
        set: Values of parameters of the system, by name.
        networks: Networks in place of the system's, by the policy or action that applies them, or as the file writes them.
        timeout: Seconds after which the work stops, with what was found so far.
        threads: How many threads; 0 for one per processor. Results do not depend on it.
        seed: Seed of the random numbers; the same seed gives the same result.
        progress: A function that is told a few times per second how far the work is.
    """

def fmt(
    *files: PathLike,
    check: bool = False,
    progress: Optional[Progress] = None,
) -> Formatted:
    """Puts `.certus` files into canonical form, each whole or not at all; a file with errors is left alone, and the document says so.

    Args:
        files: The files.
        check: Changes nothing, and says which files are not in canonical form.
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
    """Checks every property with every checkpoint of a training. Simulation finds violations and proves nothing; bounded model checking also shows that nothing is violated up to a number of steps.

    Args:
        system: The system: a `.certus` file.
        checkpoints: Networks, or folders of networks (`.onnx`, `.nnet`).
        policy: Whose network the checkpoints replace: a policy, an action, or a path as the system writes it; needed if there are several.
        properties: The properties; all of them if none is named.
        engine: What judges the checkpoints ('simulation', 'bmc').
        runs: How many runs simulation makes.
        steps: Steps that each run of a simulation makes at most.
        candidates: How many choices the adversary tries at each step.
        depth: Steps that model checking looks at; if not given, 10, or as far as a property's own bounds reach.
        cell_timeout: Seconds that model checking may take for each checkpoint and property.
        picture: Where properties × checkpoints are drawn, as SVG.
        set: Values of parameters of the system, by name.
        timeout: Seconds after which the work stops, with what was found so far.
        threads: How many threads; 0 for one per processor. Results do not depend on it.
        seed: Seed of the random numbers; the same seed gives the same result.
        memory: Megabytes that the open subproblems of a search may take.
        progress: A function that is told a few times per second how far the work is.
    """

def inspect(
    file: NetworkLike,
    *,
    eval: Optional[Sequence[float]] = None,
    set: Mapping[str, float] = {},
    progress: Optional[Progress] = None,
) -> Inspected:
    """Tells what a network or a system is: inputs, outputs and operators of a network; variables, policies, parameters and properties of a system.

    Args:
        file: A network (`.onnx`, `.nnet`) or a system (`.certus`).
        eval: A point at which the network is evaluated: all inputs one after the other.
        set: Values of parameters of the system, by name.
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
    """Computes a probability of an interval MDP. The property names both players, the scheduler first and nature second, as in `Pmaxmin=? [ F "goal" ]`; values are intervals that contain the exact ones.

    Args:
        file: The model: `.drn` (Storm), `.tra` with `.lab` beside it (PRISM, explicit), or `.prism`, `.nm` (PRISM's language).
        property: The property; without one the model is described.
        gap: How wide intervals may be for properties without a bound on the steps.
        write: Where the model is written, in the format that the name asks for.
        values: Where the values of all states are written, with the choices that attain them, as a table.
        set: Values of constants of the model, by name.
        timeout: Seconds after which the work stops, with what was found so far.
        threads: How many threads; 0 for one per processor. Results do not depend on it.
        seed: Seed of the random numbers; the same seed gives the same result.
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
    """Finds boxes of the inputs in which all reference algorithms decided within few outputs, and asks whether networks do.

    Args:
        config: The configuration: a TOML file that says what the columns of the tables mean.
        verify: Networks to verify every specification against.
        attack: Finds the most extreme violations of what `verify` found violated.
        cache: Verdicts of earlier runs: queries that the file answers are not asked again, new answers are added.
        search: Searches for settings first, as the configuration's `[search]` says, and mines with the best.
        specifications: Specifications (JSON) to judge and verify instead of mining.
        baseline: Specifications (JSON) to compare with.
        regions: Statistics that the statements of `emit_sql` gave (Parquet or CSV).
        emit_sql: Gives the statements that compute the statistics in a database as `sql`, and does nothing else ('duckdb', 'spark', 'trino').
        write: A folder for the specifications: JSON, VNN-LIB, a `.certus` file, a picture.
        timeout: Seconds after which the work stops, with what was found so far.
        threads: How many threads; 0 for one per processor. Results do not depend on it.
        seed: Seed of the random numbers; the same seed gives the same result.
        memory: Megabytes that the open subproblems of a search may take.
        progress: A function that is told a few times per second how far the work is.
    """

def new(
    network: Optional[NetworkLike] = None,
    *,
    spaces: Optional[Union[PathLike, Mapping[str, Any], Document]] = None,
    actions: Union[str, Sequence[str]] = [],
    name: Optional[str] = None,
    output: Optional[NetworkLike] = None,
    force: bool = False,
    progress: Optional[Progress] = None,
) -> Outcome:
    """Starts a system file from a network, the spaces of an environment, or both. The file loads, simulates and checks as it stands; its text is in the document as `text`.

    Args:
        network: The network (`.onnx`, `.nnet`).
        spaces: What an environment shows and takes, as JSON.
        actions: Names of actions, if the network scores them and the greatest score decides.
        name: What the system is called.
        output: Where the system is written.
        force: Writes over a file that exists.
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
    """Runs a reference algorithm, or a network in its place, over traces, and writes what it saw and decided: a CSV file, or a Parquet file if the name ends so.

    Args:
        world: The simulator ('pensieve', 'aurora').
        decider: Who decides: `buffer-based`, `mpc`, `cubic`, `bbr`, or a network (`.onnx`, `.nnet`).
        files: Traces (`pensieve`), or tables of links (`aurora`).
        output: Where the table is written.
        interval: Length of a monitor interval, in seconds (`aurora`).
        seconds: How long each link is observed; traces begin again where they end (`aurora`).
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
    """Bounds the maximum or minimum of a linear expression over the points at which an assertion about networks holds.

    Args:
        file: The network (`.onnx`, `.nnet`); or a `.query` file; or, with `networks`, the specification.
        specification: The specification: a `.vnnlib` file, also compressed as `.vnnlib.gz`.
        networks: Networks that the specification declares, by name (VNN-LIB 2.0).
        maximise: The expression to make large: a sum of numbers, variables and products of a number and a variable, as `Y_0 - 0.5*X_1`.
        minimise: The expression to make small.
        gap: How wide the interval may be in the end.
        timeout: Seconds after which the work stops, with what was found so far.
        threads: How many threads; 0 for one per processor. Results do not depend on it.
        seed: Seed of the random numbers; the same seed gives the same result.
        memory: Megabytes that the open subproblems of a search may take.
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
    """Bounds probabilities of a closed loop with random choices: for each property an interval that contains the worst probability over all initial states.

    Args:
        system: The system: a `.certus` file.
        properties: The properties; all probabilities if none is named.
        steps: How many steps, in place of the formulas' own bounds.
        method: How the bound is found: one forward unfolding, unfoldings of smaller and smaller initial cells, or a partition of the state space, backwards ('auto', 'unfold', 'search', 'partition').
        domain: Which template polyhedra ('box', 'octagon', 'auto').
        directions: Further directions of the template, one number per state variable each; their opposites are added.
        spread: While unfolding, splits regions in which some transition's probability varies by more than this.
        shortest: Such splits leave directions alone that are no wider than this.
        samples: How many samples choose such a split.
        merge: While unfolding, merges regions that are inside others.
        grid: Splits the initial set into so many slices per dimension first.
        pieces: Where the linearised image of a region is loose, splits the region into at most so many pieces for it; 1 for none.
        gap: An interval of this width is narrow enough.
        share: So is one whose width is this share of its lower end.
        most: Makes at most so many regions or cells.
        map: Where the cells of the initial set are drawn with their bounds, for one property: PNG if the name ends so, else SVG.
        axes: Which two state variables the map shows, by number; 0 and 1 if not given.
        model: Where the interval MDP of one unfolding is written, for one property, as `.drn` (Storm) or `.tra`, `.lab` (PRISM).
        set: Values of parameters of the system, by name.
        networks: Networks in place of the system's, by the policy or action that applies them, or as the file writes them.
        timeout: Seconds after which the work stops, with what was found so far.
        threads: How many threads; 0 for one per processor. Results do not depend on it.
        seed: Seed of the random numbers; the same seed gives the same result.
        progress: A function that is told a few times per second how far the work is.
    """

def region(
    system: Union[PathLike, System],
    *properties: str,
    region: Union[Sequence[str], Mapping[str, Optional[Tuple[float, float]]]] = {},
    resolution: int = 32,
    steps: Optional[int] = None,
    picture: Optional[NetworkLike] = None,
    set: Mapping[str, float] = {},
    networks: Mapping[str, NetworkLike] = {},
    timeout: Optional[float] = None,
    threads: int = 0,
    seed: int = 0,
    memory: int = 4096,
    progress: Optional[Progress] = None,
) -> Mapped:
    """Maps where properties hold over ranges of parameters. A cell is settled where a property holds, or is violated, for every value in it; cells are refined from coarse to fine by bounded model checking.

    Args:
        system: The system: a `.certus` file.
        properties: The properties; all of them if none is named.
        region: The parameters, by name, each with a range or without one for all of its own.
        resolution: How many steps the grid has along each parameter.
        steps: Steps that are looked at; if not given, 10, or as far as a property's own bounds reach.
        picture: Where the map of one property over one parameter or two is drawn, as SVG.
        set: Values of parameters of the system, by name.
        networks: Networks in place of the system's, by the policy or action that applies them, or as the file writes them.
        timeout: Seconds after which the work stops, with what was found so far.
        threads: How many threads; 0 for one per processor. Results do not depend on it.
        seed: Seed of the random numbers; the same seed gives the same result.
        memory: Megabytes that the open subproblems of a search may take.
        progress: A function that is told a few times per second how far the work is.
    """

def report(
    *results: Union[PathLike, Mapping[str, Any], Document],
    output: Optional[NetworkLike] = None,
    figures: Optional[NetworkLike] = None,
    progress: Optional[Progress] = None,
) -> Outcome:
    """Makes a page to look at from outcomes of any command: one HTML file that needs no other and no network. Without `output` the page is in the document as `html`.

    Args:
        results: The outcomes, or JSON files with their documents.
        output: Where the page is written.
        figures: A folder for each picture alone, as SVG and as PNG.
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
    """Synthesises a verified program beside a network for a property `G φ`: wherever the network would leave the invariant, the program takes over and stays inside, proved in exact arithmetic.

    Args:
        system: The system: a `.certus` file.
        property: The property, of the form `G φ`; the first one of that form if none is named.
        invariant: The kind of invariant ('auto', 'polynomial', 'polyhedron').
        degree: The highest degree of a polynomial invariant, even, from 2 to 12; 2 and then 4 if not given.
        program_degree: The degree of the program, from 1 to 6; 1 is affine.
        converge: Proves also that the program leads to these ranges of states and stays there, by name.
        monomials: Monomials of the program, as exponents of the states, in place of `program_degree`.
        output: Where the shield is written, with its certificate.
        set: Values of parameters of the system, by name.
        networks: Networks in place of the system's, by the policy or action that applies them, or as the file writes them.
        timeout: Seconds after which the work stops, with what was found so far.
        threads: How many threads; 0 for one per processor. Results do not depend on it.
        seed: Seed of the random numbers; the same seed gives the same result.
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
    """Replays the system with and without its shield, each run from a random initial state.

    Args:
        shield: The shield.
        runs: How many runs.
        steps: How many steps each run makes.
        system: Where the system is now, if not where the shield says.
        networks: Networks in place of the system's, by the policy or action that applies them, or as the file writes them.
        timeout: Seconds after which the work stops, with what was found so far.
        threads: How many threads; 0 for one per processor. Results do not depend on it.
        seed: Seed of the random numbers; the same seed gives the same result.
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
    """Writes a shield as source code: C99 (a header and a source), Rust, or a Python module without imports. The text is in the document as `text`.

    Args:
        shield: The shield.
        lang: The language ('c', 'rust', 'python').
        system: Where the system is now, if not where the shield says.
        name: The name of what is exported; the system's if not given.
        output: The file; for C, the two files without `.h` and `.c`.
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
    """Runs the closed loop and watches every property. A simulation without a violation proves nothing; one with a violation shows a run that breaks the property.

    Args:
        system: The system: a `.certus` file.
        runs: How many runs.
        steps: How many steps each run makes at most.
        first_run: The number of the first run; the seed and its number name a run.
        inputs: Where the environment's choices come from: `uniform`, `adversary`, or a table of comma-separated values.
        property: The property that the adversary wants to break; the first one if not given.
        candidates: How many choices the adversary tries at each step.
        actions: How the choices of a random policy are made ('sample', 'argmax').
        output: Where every step of every run is written: a table, or a line of JSON per run for `.jsonl`.
        set: Values of parameters of the system, by name.
        networks: Networks in place of the system's, by the policy or action that applies them, or as the file writes them.
        timeout: Seconds after which the work stops, with what was found so far.
        threads: How many threads; 0 for one per processor. Results do not depend on it.
        seed: Seed of the random numbers; the same seed gives the same result.
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
    """Decides whether an input of a region exists whose output satisfies an assertion about networks: `sat` with a point that was replayed, `unsat` proved over the reals, `unknown` or `timeout`.

    Args:
        file: The network (`.onnx`, `.nnet`); or a `.query` file; or, with `networks`, the specification.
        specification: The specification: a `.vnnlib` file, also compressed as `.vnnlib.gz`.
        networks: Networks that the specification declares, by name (VNN-LIB 2.0).
        certificate: Where a proof of `unsat` is written that `audit` can check.
        resume: A folder that keeps the state of the search, and from which it goes on.
        save_query: Where the question is written as a `.query` file (`.query.gz` to compress it).
        timeout: Seconds after which the work stops, with what was found so far.
        threads: How many threads; 0 for one per processor. Results do not depend on it.
        seed: Seed of the random numbers; the same seed gives the same result.
        memory: Megabytes that the open subproblems of a search may take.
        progress: A function that is told a few times per second how far the work is.
    """
