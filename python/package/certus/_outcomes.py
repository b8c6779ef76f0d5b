"""Outcomes: objects around the JSON documents that the commands give."""

from __future__ import annotations

import builtins
import html
import json
from typing import Any, Dict, Iterator, List, Optional, Sequence

import numpy as np

_NUMBERS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def with_numbers(value: Any) -> Any:
    """A document whose texts for numbers that JSON cannot write are numbers."""
    if isinstance(value, dict):
        return {name: with_numbers(own) for name, own in value.items()}
    if isinstance(value, list):
        return [with_numbers(own) for own in value]
    return _NUMBERS.get(value, value) if isinstance(value, str) else value


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f"to_dataframe needs pandas ({error}): pip install pandas") from error
    return pandas


def _is_plain(value: Any) -> bool:
    return not isinstance(value, (dict, list))


def _flat(row: Dict[str, Any]) -> Dict[str, Any]:
    """The plain members of an object but ``schema``, which says nothing of the outcome, and those of the objects in it, as ``outer.inner``."""
    cells: Dict[str, Any] = {}
    for name, value in row.items():
        if name == "schema":
            continue
        if _is_plain(value):
            cells[name] = value
        elif isinstance(value, dict) and value and all(map(_is_plain, value.values())):
            cells.update({f"{name}.{inner}": own for inner, own in value.items()})
    return cells


_GOOD = {"holds", "accepted", "verified", "safe", "canonical"}
_BAD = {"violated", "rejected", "unsafe", "model error", "failed"}


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    text = html.escape(str(value))
    colour = "#1a7f37" if value in _GOOD else "#b42318" if value in _BAD else None
    return text if colour is None else f'<span style="color:{colour};font-weight:600">{text}</span>'


def _html_table(rows: Sequence[Dict[str, Any]]) -> str:
    columns = [name for name in dict.fromkeys(name for row in rows for name in row) if any(row.get(name) is not None for row in rows)]
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{'' if row.get(name) is None else _cell(row[name])}</td>" for name in columns) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Document:
    """An object around a JSON document: its members are attributes, and ``document`` is all of it.

    Members that a document may leave out, and that a class names, are ``None`` then.
    """

    #: The document, as Python has it.
    document: Dict[str, Any]

    def __init__(self, document: Dict[str, Any]) -> None:
        self.document = document

    @classmethod
    def _members(cls) -> List[str]:
        return [name for base in cls.__mro__ for name in getattr(base, "__annotations__", ())]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "document":
            raise AttributeError(name)
        if name in self.document:
            return self.document[name]
        if name in self._members():
            return None
        raise AttributeError(f"{type(self).__name__} has no member '{name}'; there are {', '.join(self.document)}")

    def __getitem__(self, name: Any) -> Any:
        return self.document[name]

    def __contains__(self, name: object) -> bool:
        return name in self.document

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self.document})

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.document == self.document  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    @property
    def holds(self) -> Optional[bool]:
        """Whether the verdict is what one wishes for: ``None`` if it is neither that nor the opposite."""
        own = self.document.get("holds")
        verdict = self.verdict
        if own is not None or verdict is None:
            return own
        return True if verdict in _GOOD else False if verdict in _BAD else None

    @property
    def verdict(self) -> Optional[str]:
        """The verdict, in a word; ``None`` where there is none."""
        return self.document.get("verdict")

    def to_json(self, indent: Optional[int] = None) -> str:
        """The document as JSON."""

        def plain(value: Any) -> Any:
            if isinstance(value, dict):
                return {name: plain(own) for name, own in value.items()}
            if isinstance(value, list):
                return [plain(own) for own in value]
            if isinstance(value, float) and not np.isfinite(value):
                return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
            return value

        return json.dumps(plain(self.document), indent=indent, ensure_ascii=False)

    def __repr__(self) -> str:
        shown = {name: own for name, own in self.document.items() if own is not None and name != "schema" and _is_plain(own)}
        texts = [f"{name}={own!r}" for name, own in shown.items() if not (isinstance(own, str) and len(own) > 60)]
        return f"<certus.{type(self).__name__} {', '.join(texts[:6])}>"

    def _repr_html_(self) -> str:
        cells = {name: own for name, own in _flat(self.document).items() if own is not None and not _long(own)}
        return _html_table([cells])


def _long(value: Any) -> bool:
    return isinstance(value, str) and len(value) > 400


class Outcome(Document):
    """What a command gave: its document, and what somebody should know beside it."""

    #: Which command it was.
    command: str
    #: The kind and version of the document, as ``certus/check/1``.
    schema: str
    #: What somebody should know beside the document, a sentence each.
    messages: List[str]
    #: How long it took, in seconds.
    seconds: Any
    #: What it is about: the network over the reals, a run of doubles, sampled runs, discretised time.
    relative_to: Optional[str]
    #: Where it comes from: version, files with digests, settings, engine, seed, budget.
    provenance: Optional[Dict[str, Any]]
    #: Why nothing was decided.
    reason: Optional[str]

    def __init__(self, command: str, document: Dict[str, Any], messages: Sequence[str] = (), beside: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(document)
        self.command = command
        self.messages = list(messages)
        for name, value in (beside or {}).items():
            setattr(self, name, value)

    def to_dataframe(self) -> Any:
        """The plain members of the document as a `pandas.DataFrame` with one row."""
        return _pandas().DataFrame([_flat(self.document)])


class Rows(Outcome, Sequence):  # type: ignore[type-arg]
    """An outcome with a result for each of several things; it is a sequence of these results."""

    _rows = "results"
    _row: type = Document

    @property
    def rows(self) -> List[Any]:
        """The results."""
        return [self._row(row) for row in self.document.get(self._rows) or []]

    def __len__(self) -> int:
        return len(self.document.get(self._rows) or [])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __getitem__(self, which: Any) -> Any:
        return self.document[which] if isinstance(which, str) else self.rows[which]

    def __contains__(self, name: object) -> bool:
        return name in self.document

    @property
    def verdict(self) -> Optional[str]:
        """The worst verdict of all results: ``violated``, ``model error``, ``unknown``, ``open``, ``holds``; ``None`` without verdicts."""
        found = {row.get("verdict") for row in self._cells()}
        for verdict in ("violated", "model error", "failed", "unknown", "open", "holds", "bounded"):
            if verdict in found:
                return verdict
        return None

    def _cells(self) -> List[Dict[str, Any]]:
        return list(self.document.get(self._rows) or [])

    def to_dataframe(self) -> Any:
        """The results as a `pandas.DataFrame`, one row each; members that are objects become columns ``outer.inner``."""
        return _pandas().DataFrame([_flat(row) for row in self._cells()])

    def __repr__(self) -> str:
        return f"<certus.{type(self).__name__} of {len(self)}: {self.verdict}>"

    def _repr_html_(self) -> str:
        return _html_table([{name: own for name, own in _flat(row).items() if not _long(own)} for row in self._cells()])


class Checked(Document):
    """What is said of a property."""

    property: str
    #: The property as the file has it.
    formula: Optional[str]
    engine: Optional[str]
    #: How far the verdict reaches: ``unbounded``; ``{"horizon": n}`` where the property's own bounds end at step n; ``{"bounded": k}``.
    scope: Any
    #: After ``violated`` and ``model error``: at each step the state, the environment's choices, the policies' outputs, actions and atoms.
    trace: Optional[List[Dict[str, Any]]]
    #: The step to which the trace returns, if it goes on for ever.
    loop: Optional[int]
    #: After ``holds``: what that rests on, an invariant or a ranking function for instance.
    proof: Optional[Dict[str, Any]]
    #: Where the certificate is, if one was wanted and there is one.
    certificate: Optional[str]
    #: Why nothing was shown; after ``model error``, what the error is.
    reason: Optional[str]
    #: What a reader must know about the verdict.
    notes: List[str]
    seconds: float
    #: Of a property about a probability: the ends of an interval that it is in.
    probability: Optional[Dict[str, float]]
    #: Of such a property: the start state that reaches the lower end.
    start: Optional[Dict[str, float]]
    #: After ``unknown``: what would have to be shown for ``holds``.
    holds_if: Optional[List[str]]
    #: After ``holds``: whether what the property speaks of never happens.
    vacuous: Optional[bool]
    #: After ``holds``: a run that exercises the property, if one was found.
    exercised_by: Optional[List[Dict[str, Any]]]
    #: Of a property about a probability: an upper bound of the probability of a model error.
    model_error_probability: Optional[float]
    #: What the verdict is about.
    relative_to: Optional[str]
    #: Of the grid engine: what its exploration looked like.
    grid: Optional[Dict[str, Any]]
    #: With ``expect``: the verdict that the file expects, and whether it came.
    expected: Optional[str]
    as_expected: Optional[bool]
    #: Where the verdict comes from: version, files with digests, settings, engine, seed, budget.
    provenance: Optional[Dict[str, Any]]

    @builtins.property
    def converges(self) -> bool:
        """After ``violated``: whether the run converges, and so violates the property for ever."""
        return bool(self.document.get("converges"))

    @builtins.property
    def states(self) -> List[Dict[str, float]]:
        """The states of the trace."""
        return [step["state"] for step in self.trace or []]

    def to_dataframe(self) -> Any:
        """The trace as a `pandas.DataFrame`, one row per step."""
        parts = ("state", "input", "chance", "policy", "action", "atoms")
        rows = [{name: own for part in parts for name, own in step.get(part, {}).items()} for step in self.trace or []]
        frame = _pandas().DataFrame(rows)
        frame.index.name = "step"
        return frame

    def _repr_html_(self) -> str:
        parts = ("state", "input", "chance", "policy", "action")
        about = {name: self.document.get(name) for name in ("property", "verdict", "engine", "reason", "seconds")}
        steps = [{"step": index, **{name: own for part in parts for name, own in step.get(part, {}).items()}} for index, step in enumerate(self.trace or [])]
        return _html_table([about]) + (_html_table(steps) if steps else "")


class Checks(Rows):
    """What `check` and `prob` say: one `Checked` per property."""

    _row = Checked

    @property
    def rows(self) -> List[Checked]:
        """One `Checked` per property."""
        own = {"provenance": self.document.get("provenance")}
        return [Checked({**row, **own}) for row in self.document["results"]]


class Mapped(Rows):
    """What `region` says: one map per property."""

    _rows = "regions"

    def _cells(self) -> List[Dict[str, Any]]:
        cells = []
        for region in self.document["regions"]:
            names = [axis["name"] for axis in region.get("parameters", [])]
            for cell in region.get("cells", []):
                ends = {f"{name}.{end}": value for end in ("lower", "upper") for name, value in zip(names, cell[end])}
                cells.append({"property": region["property"], **ends, "verdict": cell["verdict"].replace("violated at a value", "violated")})
        return cells


class Gated(Rows):
    """What `gate` says: one row per checkpoint, and in it one result per property."""

    _rows = "checkpoints"

    def _cells(self) -> List[Dict[str, Any]]:
        rows = self.document["checkpoints"]
        return [{"checkpoint": row["network"], "accepted": row["accepted"], **cell} for row in rows for cell in row["results"]]


class Simulated(Rows):
    """What `simulate` says: how the runs ended, and one row per property."""

    _rows = "properties"

    @property
    def verdict(self) -> Optional[str]:
        """``violated`` if some run violates some property, else ``open``: a simulation proves nothing."""
        return "violated" if any(row["violated"] and "estimate" not in row for row in self._cells()) else "open"


class Formatted(Rows):
    """What `fmt` did: one row per file."""

    _rows = "files"

    @property
    def verdict(self) -> Optional[str]:
        """``canonical``, ``rewritten``, ``not canonical`` or ``failed``: the worst of all files."""
        found = {row["status"] for row in self._cells()}
        return next((word for word in ("failed", "not canonical", "rewritten", "canonical") if word in found), None)


class Extracted(Rows):
    """What `extract` gave: one row per cell, with its action."""

    _rows = "cells"

    def _cells(self) -> List[Dict[str, Any]]:
        names = [axis["name"] for axis in self.document["axes"]]
        return [{**{f"from.{name}": own for name, own in zip(names, cell["from"])}, **cell["action"], "samples": cell["samples"]} for cell in self.document["cells"]]

    def __repr__(self) -> str:
        return f"<certus.Extracted {self.document['system']}: {len(self)} cells, {self.document['episodes']} episodes>"


class _WithPoint(Outcome):
    """An outcome with a point."""

    #: The point as arrays, inputs in double and outputs in single precision.
    inputs: Optional[np.ndarray]
    outputs: Optional[np.ndarray]

    def __init__(self, command: str, document: Dict[str, Any], messages: Sequence[str] = (), beside: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(command, document, messages)
        beside = beside or {}
        self.inputs = np.asarray(beside["inputs"], dtype=np.float64) if "inputs" in beside else None
        self.outputs = np.asarray(beside["outputs"], dtype=np.float32) if "outputs" in beside else None


class Verified(_WithPoint):
    """The answer to a query about networks: ``sat``, ``unsat``, ``unknown`` or ``timeout``."""

    #: After ``sat``: the value of each variable, by name; a list for each tensor that VNN-LIB 2.0 declares.
    witness: Optional[Dict[str, Any]]
    #: Boxes of inputs that the query is about.
    cases: int
    #: Subproblems that were verified, and that were left open.
    verified: int
    open: int
    #: The share of the region that is verified.
    done: float
    #: The lowest bound over the open subproblems, where there is one.
    bound: Optional[float]
    #: The certificate that was written.
    certificate: Optional[str]


class Optimum(_WithPoint):
    """An interval that contains a maximum or minimum."""

    #: Whether a point satisfies the assertion; ``None`` if none was found and none can be excluded.
    feasible: Optional[bool]
    #: The interval; ``None`` where nothing is feasible.
    lower: Optional[float]
    upper: Optional[float]
    #: Whether it is as narrow as ``gap`` asked.
    reached: bool
    #: The best point that was found: the value of each variable, by name.
    point: Optional[Dict[str, Any]]
    verified: int
    open: int


class Audited(Outcome):
    """What a certificate turned out to be: ``accepted``, ``rejected``, or ``unknown`` if it ran out of time."""

    #: Where it is rejected.
    line: Optional[int]
    #: What an accepted certificate shows, in words.
    claim: Optional[str]
    #: The files that it is about: ``role``, ``path``, ``sha256``.
    files: Optional[List[Dict[str, Any]]]
    #: What it is relative to: property, scope, settings and the like.
    about: Optional[Dict[str, str]]
    cases: Optional[int]
    leaves: Optional[int]


class Specification(Document):
    """In this box of the inputs, only these outputs."""

    id: int
    #: The range of each column of the precondition; ``None`` is no end.
    when: Dict[str, List[Optional[float]]]
    allowed: List[str]
    #: What the other columns ranged over where the precondition held.
    observed: Dict[str, List[Optional[float]]]
    #: The same in words, in the features' own units.
    sentence: str
    #: The share of the interesting bins in it; ``None`` if it was not mined here.
    representation: Optional[float]
    #: The share of the ranges that its box takes.
    volume: Optional[float]
    #: Per reference and network: ``rows``, ``support`` and ``confidence`` of this one alone.
    quality: Dict[str, Dict[str, Any]]


class Mined(Rows):
    """What came out of a mining: a sequence of `Specification`."""

    _rows = "specifications"
    _row = Specification

    name: str
    #: Bins, clusters, coverage; ``None`` if specifications were given.
    mined: Optional[Dict[str, Any]]
    #: What a search tried, the best first.
    trials: List[Dict[str, Any]]
    #: Per reference and network: rows, faults, support and confidence on what was mined and on what was held out.
    observations: List[Dict[str, Any]]
    #: Per verified network: a verdict for each specification, with inputs that violate it and attacks.
    networks: List[Dict[str, Any]]
    #: With ``emit_sql``: the statements, and nothing else.
    sql: Optional[str]

    @property
    def specifications(self) -> List[Specification]:
        """The specifications."""
        return self.rows

    @property
    def verdict(self) -> Optional[str]:
        """The worst verdict over all networks and specifications; ``None`` if no network was verified."""
        found = {result["verdict"] for network in self.document.get("networks", []) for result in network["results"]}
        return next((word for word in ("violated", "open", "holds") if word in found), None)

    def verdicts(self, network: int = 0) -> List[str]:
        """For each specification what is known of a network: ``holds``, ``violated`` or ``open``."""
        return [result["verdict"] for result in self.networks[network]["results"]]


class Inspected(Outcome):
    """What a network or a system is."""


class Shield(Outcome):
    """What a synthesis gave: ``verified``, or ``unknown`` if no shield was found."""

    #: The shield with its certificate, as its file has it.
    shield: Optional[Dict[str, Any]]
    #: The program, for readers.
    text: Optional[str]
    branches: Optional[List[Dict[str, Any]]]


#: What each command gives, where that is more than an `Outcome`.
CLASSES = {
    "audit": Audited,
    "check": Checks,
    "extract": Extracted,
    "fmt": Formatted,
    "gate": Gated,
    "inspect": Inspected,
    "mine": Mined,
    "optimise": Optimum,
    "prob": Checks,
    "region": Mapped,
    "shield": Shield,
    "simulate": Simulated,
    "verify": Verified,
}
