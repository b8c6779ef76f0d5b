"""Systems: what a ``.certus`` file describes, and runs of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import _certus
from ._outcomes import _html_table, _pandas
from ._pickling import reduce_system
from ._types import NetworkLike, PathLike, path_of


@dataclass(frozen=True)
class Variable:
    """A state variable or an input."""

    name: str
    size: int
    is_vector: bool
    lower: np.ndarray
    upper: np.ndarray
    doc: str


@dataclass(frozen=True)
class Chance:
    """A random choice with known probabilities."""

    name: str
    labels: List[str]
    probabilities: List[float]
    doc: str


@dataclass(frozen=True)
class Policy:
    """A policy output, with the networks it applies."""

    name: str
    size: int
    networks: List[str]
    doc: str


@dataclass(frozen=True)
class Action:
    """A discrete action, with the networks it applies itself."""

    name: str
    labels: List[str]
    is_random: bool
    networks: List[str]
    doc: str


@dataclass(frozen=True)
class Parameter:
    """A constant that ``set`` can change, within its range."""

    name: str
    value: float
    lower: float
    upper: float
    doc: str


@dataclass(frozen=True)
class Property:
    """What must hold, or what is asked."""

    name: str
    text: str
    doc: str
    is_probability: bool
    #: The verdict that the file expects: ``holds``, ``violated`` or nothing.
    expect: Optional[str]


_VERDICTS = np.array(["open", "violated", "satisfied"])


class Simulation:
    """Runs of a system, as arrays with one row per run."""

    def __init__(self, system: "System", found: Dict[str, Any], first_run: int) -> None:
        names = list(system.properties)
        #: Whether time ran out, or somebody stopped it, before all runs were made.
        self.interrupted: bool = found["interrupted"]
        #: The number of each run; with the seed, it names the run.
        self.runs: np.ndarray = first_run + np.arange(len(found["lengths"]), dtype=np.int64)
        #: How many steps each run made.
        self.lengths: np.ndarray = found["lengths"]
        #: How each run ended: ``completed``, ``terminal``, ``left range``, ``blocked`` or ``not a number``.
        self.ends: np.ndarray = np.array(found["ends"], dtype=object)
        #: For runs that left the model: what happened, else ``None``.
        self.faults: List[Optional[str]] = found["faults"]
        #: The sum of each run's rewards; ``None`` if the system has no reward.
        self.total_rewards: Optional[np.ndarray] = found["total_rewards"]
        #: By property: what each run says of it, ``violated``, ``satisfied`` or ``open``.
        self.verdicts: Dict[str, np.ndarray] = {
            name: _VERDICTS[found["verdicts"][:, index]] for index, name in enumerate(names)
        }
        #: By property: how far each run is from the other verdict.
        self.margins: Dict[str, np.ndarray] = {
            name: found["margins"][:, index] for index, name in enumerate(names)
        }
        #: By property: the step at which each run broke it, or -1.
        self.broken_at: Dict[str, np.ndarray] = {
            name: found["broken_at"][:, index] for index, name in enumerate(names)
        }
        #: With ``record``: the flattened state at each position, NaN after the end; [runs, steps + 1, n].
        self.states: Optional[np.ndarray] = found.get("states")
        #: With ``record``: the environment's choices at each position; [runs, steps + 1, m].
        self.inputs: Optional[np.ndarray] = found.get("inputs")
        #: With ``record``: the policies at each position; [runs, steps + 1, p].
        self.policies: Optional[np.ndarray] = found.get("policies")
        #: With ``record``: the label of each action at each position, -1 after the end.
        self.actions: Optional[np.ndarray] = found.get("actions")
        #: With ``record``: the label of each chance variable at each position.
        self.chances: Optional[np.ndarray] = found.get("chances")
        #: With ``record``: the reward of each step, NaN where none was made; [runs, steps].
        self.rewards: Optional[np.ndarray] = found.get("rewards") if system.has_reward else None

    def __len__(self) -> int:
        return len(self.lengths)

    def violations(self, property: str) -> np.ndarray:
        """The numbers of the runs that violate a property."""
        return self.runs[self.verdicts[property] == "violated"]

    def to_dataframe(self) -> Any:
        """The runs as a `pandas.DataFrame`, one row each: how it ended, its reward, and by property the verdict and the margin."""
        columns: Dict[str, Any] = {"steps": self.lengths, "end": self.ends}
        if self.total_rewards is not None:
            columns["reward"] = self.total_rewards
        for name, verdicts in self.verdicts.items():
            columns.update({f"{name}.verdict": verdicts, f"{name}.margin": self.margins[name]})
        return _pandas().DataFrame(columns, index=_pandas().Index(self.runs, name="run"))

    def _repr_html_(self) -> str:
        counts = [
            {"property": name, **{word: int((verdicts == word).sum()) for word in ("violated", "satisfied", "open")}}
            for name, verdicts in self.verdicts.items()
        ]
        return _html_table(counts)

    def __repr__(self) -> str:
        broken = {name: int((verdicts == "violated").sum()) for name, verdicts in self.verdicts.items()}
        return f"<certus.Simulation of {len(self)} runs, broken: {broken}>"


@dataclass(frozen=True)
class Violation:
    """A run that violates a property."""

    property: str
    #: The number of the run; with the seed, it names the run.
    run: int
    #: The step at which it is certain.
    step: int
    #: How far beyond the property it goes.
    margin: float
    #: The flattened states, up to and including that step; [step + 1, n].
    states: np.ndarray
    #: The environment's choices at these states.
    inputs: np.ndarray
    #: The policies at these states.
    policies: np.ndarray
    #: The labels of the actions at these states.
    actions: np.ndarray


class System:
    """A closed loop: a plant, the networks that steer it, its environment, and what must hold."""

    def __init__(
        self,
        path: PathLike,
        set: Optional[Mapping[str, float]] = None,
        networks: Optional[Mapping[str, NetworkLike]] = None,
    ) -> None:
        #: The file.
        self.path: str = os.fspath(path)
        #: The values that parameters were set to, by name.
        self.settings: Dict[str, float] = {name: float(value) for name, value in (set or {}).items()}
        #: Files in place of networks, by the name that was given for each.
        self.replacements: Dict[str, str] = {name: path_of(file) for name, file in (networks or {}).items()}
        self._raw = _certus.RawSystem(self.path, list(self.settings.items()), list(self.replacements.items()))
        about = self._raw.describe()
        self.name: str = about["name"]
        self.doc: str = about["doc"]
        #: The time of one step, if the file says so.
        self.dt: Optional[float] = about["dt"]

        def variables(items: List[Dict[str, Any]]) -> Dict[str, Variable]:
            arrays = [{**item, "lower": np.array(item["lower"]), "upper": np.array(item["upper"])} for item in items]
            return {item["name"]: Variable(**item) for item in arrays}

        self.states: Dict[str, Variable] = variables(about["states"])
        self.inputs: Dict[str, Variable] = variables(about["inputs"])
        self.chances: Dict[str, Chance] = {item["name"]: Chance(**item) for item in about["chances"]}
        self.policies: Dict[str, Policy] = {item["name"]: Policy(**item) for item in about["policies"]}
        self.actions: Dict[str, Action] = {item["name"]: Action(**item) for item in about["actions"]}
        self.params: Dict[str, Parameter] = {item["name"]: Parameter(**item) for item in about["params"]}
        self.properties: Dict[str, Property] = {item["name"]: Property(**item) for item in about["properties"]}
        #: A box that contains every initial state, over the flattened state.
        self.init_lower: np.ndarray = np.array(about["init"][0])
        self.init_upper: np.ndarray = np.array(about["init"][1])
        self.has_reward: bool = about["has_reward"]
        self.has_terminal: bool = about["has_terminal"]
        #: What looks odd in the file but is not wrong.
        self.warnings: Optional[str] = about["warnings"]

    @property
    def sources(self) -> List[Tuple[str, Optional[str], str, Optional[str]]]:
        """The files that it was read from: role, name as the file writes it, path, SHA-256 digest."""
        return [(role, name, os.fspath(path), digest) for role, name, path, digest in self._raw.sources]

    def _identity(self) -> Any:
        files = [(role, name, digest) for role, name, _, digest in self.sources]
        return files, sorted((name, own.value) for name, own in self.params.items())

    def __eq__(self, other: object) -> bool:
        """Systems are equal if their files and networks have the same contents, and their parameters the same values."""
        return isinstance(other, System) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self.name, tuple(digest for *_, digest in self.sources)))

    def __reduce__(self) -> Any:
        return reduce_system(self)

    @property
    def networks(self) -> List[str]:
        """The networks that the file applies, as it names them."""
        every = [*(own.networks for own in self.policies.values()), *(own.networks for own in self.actions.values())]
        return sorted({network for networks in every for network in networks})

    @property
    def state_names(self) -> List[str]:
        """The names of the elements of the flattened state."""
        names: List[str] = []
        for variable in self.states.values():
            vector = [f"{variable.name}[{index}]" for index in range(variable.size)]
            names += vector if variable.is_vector else [variable.name]
        return names

    def replaced(self, networks: Mapping[str, NetworkLike]) -> "System":
        """The same system with other files in place of some networks, which are named as the file names them, or by the
        policy or action that applies them."""
        return System(self.path, self.settings, networks)

    def simulate(
        self,
        runs: int = 100,
        steps: int = 100,
        seed: int = 0,
        *,
        first_run: int = 0,
        inputs: Union[str, PathLike] = "uniform",
        property: Optional[str] = None,
        candidates: int = 16,
        sampled: bool = True,
        record: bool = True,
        threads: int = 0,
        timeout: Optional[float] = None,
        progress: Optional[Callable[[Dict[str, Any]], object]] = None,
    ) -> Simulation:
        """Runs the closed loop, and watches every property.

        ``inputs`` says where the environment's choices come from: ``"uniform"``, ``"adversary"`` (the choice of several
        ``candidates`` that leaves the margin of ``property`` smallest), or a table as `certus simulate --inputs` reads it.
        Random actions are ``sampled``, or else the most likely one is taken. Runs are named by the seed and their number,
        whatever the threads.
        """
        found = _certus.simulate(
            self._raw,
            runs,
            steps,
            seed,
            first_run,
            os.fspath(inputs),
            property,
            candidates,
            sampled,
            record,
            threads,
            timeout,
            progress,
        )
        return Simulation(self, found, first_run)

    def falsify(
        self,
        property: str,
        *,
        runs: int = 1000,
        steps: int = 200,
        seed: int = 0,
        inputs: Optional[str] = None,
        timeout: Optional[float] = None,
        threads: int = 0,
        progress: Optional[Callable[[Dict[str, Any]], object]] = None,
    ) -> Optional[Violation]:
        """Looks for a run that violates a property, by simulation: the run that goes furthest beyond it, or ``None``.

        ``None`` says only that none was found. The environment is an adversary if there is one, unless ``inputs`` says
        otherwise.
        """
        if inputs is None:
            inputs = "adversary" if self.inputs else "uniform"
        self._property(property)
        options: Dict[str, Any] = {"steps": steps, "seed": seed, "inputs": inputs, "property": property}
        many = self.simulate(
            runs, record=False, threads=threads, timeout=timeout, progress=progress, **options
        )
        broken = np.flatnonzero(many.verdicts[property] == "violated")
        if len(broken) == 0:
            return None
        worst = int(broken[np.argmin(many.margins[property][broken])])
        run = int(many.runs[worst])
        again = self.simulate(1, first_run=run, record=True, **options)
        step = int(again.broken_at[property][0])
        assert again.states is not None and again.inputs is not None
        assert again.policies is not None and again.actions is not None
        return Violation(
            property=property,
            run=run,
            step=step,
            margin=float(again.margins[property][0]),
            states=again.states[0, : step + 1],
            inputs=again.inputs[0, : step + 1],
            policies=again.policies[0, : step + 1],
            actions=again.actions[0, : step + 1],
        )

    def _property(self, name: str) -> Property:
        if name not in self.properties:
            there = ", ".join(self.properties)
            raise _certus.CertusError(f"{self.name} has no property '{name}'; there are {there}")
        return self.properties[name]

    def __repr__(self) -> str:
        settings = "".join(f", {name} = {value:g}" for name, value in self.settings.items())
        about = f"{len(self.state_names)} states, properties {', '.join(self.properties)}"
        return f"<certus.System {self.name} from {self.path}: {about}{settings}>"

    def _repr_html_(self) -> str:
        return _html_table([{"property": own.name, "formula": own.text, "about": own.doc} for own in self.properties.values()])


def load(
    path: PathLike,
    set: Optional[Mapping[str, float]] = None,
    networks: Optional[Mapping[str, NetworkLike]] = None,
) -> System:
    """Loads a ``.certus`` file.

    ``set`` gives values to parameters. ``networks`` puts other files in place of networks, which are named as the file
    names them, or by the policy or action that applies them.
    """
    return System(path, set, networks)
