"""Questions about networks: `verify`, `optimise`, `audit`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import _certus

PathLike = Union[str, "os.PathLike[str]"]
#: A file, or a network that was loaded from one.
NetworkLike = Union[PathLike, _certus.Network]
Progress = Callable[[Dict[str, Any]], object]


def _path(file: NetworkLike) -> str:
    return os.fspath(file.path if isinstance(file, _certus.Network) else file)


def _optional(file: Optional[NetworkLike]) -> Optional[str]:
    return None if file is None else _path(file)


def _named(networks: Optional[Mapping[str, NetworkLike]]) -> List[Tuple[str, str]]:
    return [(name, _path(file)) for name, file in (networks or {}).items()]


@dataclass(frozen=True)
class Outcome:
    """The answer to a question about networks."""

    #: ``sat``, ``unsat``, ``unknown`` or ``timeout``.
    verdict: str
    #: After ``sat``: the value of each variable, by name; a list for each tensor that VNN-LIB 2.0 declares.
    witness: Optional[Dict[str, Any]]
    #: After ``sat``: the same point as arrays, inputs in double and outputs in single precision.
    inputs: Optional[np.ndarray]
    outputs: Optional[np.ndarray]
    #: Why the question stayed open: ``deadline``, ``stopped``, ``memory``, ``boxes``, ``numerics`` or ``precision``.
    reason: Optional[str]
    #: The same in a sentence, with how far the search came.
    note: Optional[str]
    #: Boxes of inputs that the question is about.
    cases: int
    #: Subproblems that were verified, and that were left open.
    verified: int
    open: int
    #: The share of the region that is verified.
    done: float
    #: The lowest bound over the open parts, where there is one.
    bound: Optional[float]
    #: The certificate that was written.
    certificate: Optional[str]
    #: What went wrong beside the search.
    warnings: List[str]
    seconds: float
    #: What the answer is about: the network over the reals, or a point evaluated in both precisions.
    relative_to: Optional[str] = None
    #: Where the answer comes from: version, files with digests, engine, seed, budget.
    provenance: Optional[Dict[str, Any]] = None


@dataclass(frozen=True)
class Optimum:
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
    inputs: Optional[np.ndarray]
    outputs: Optional[np.ndarray]
    #: Why it is wider than was asked.
    reason: Optional[str]
    verified: int
    open: int
    seconds: float
    #: What the interval is about.
    relative_to: Optional[str] = None
    #: Where the interval comes from: version, files with digests, engine, seed, budget.
    provenance: Optional[Dict[str, Any]] = None


@dataclass(frozen=True)
class Audit:
    """What a certificate turned out to be."""

    #: ``accepted``, ``rejected``, or ``unknown`` if the time was over.
    verdict: str
    #: Where and why it is rejected.
    line: Optional[int]
    reason: Optional[str]
    #: The files that it is about: role, path, digest.
    files: List[Tuple[str, str, Optional[str]]]
    cases: int
    leaves: int
    refinements: int
    records: int
    #: What an accepted certificate shows, in words.
    claim: Optional[str] = None
    #: What it is relative to: property, scope, settings and the like, as ``certus audit`` prints them.
    about: Optional[Dict[str, str]] = None


def _array(values: Optional[List[float]], dtype: type) -> Optional[np.ndarray]:
    return None if values is None else np.asarray(values, dtype=dtype)


def verify(
    network: NetworkLike,
    specification: Optional[PathLike] = None,
    *,
    networks: Optional[Mapping[str, NetworkLike]] = None,
    timeout: Optional[float] = None,
    memory: int = 4096,
    threads: int = 0,
    seed: int = 0,
    certificate: Optional[PathLike] = None,
    resume: Optional[PathLike] = None,
    save_query: Optional[PathLike] = None,
    progress: Optional[Progress] = None,
) -> Outcome:
    """Decides whether a point of a region exists at which an assertion about networks holds.

    ``network`` and ``specification`` are an ONNX or NNet file and a VNN-LIB file; or a ``.query`` file stands alone; or,
    with ``networks``, a specification of VNN-LIB 2.0 stands alone. ``memory`` is in megabytes, ``timeout`` in seconds.
    ``certificate`` names the file for a proof of ``unsat``. ``progress`` is called a few times per second with how far the
    search is.
    """
    found = _certus.verify(
        _path(network),
        _optional(specification),
        _named(networks),
        _optional(certificate),
        _optional(resume),
        _optional(save_query),
        timeout,
        memory,
        threads,
        seed,
        progress,
    )
    return Outcome(
        verdict=found["verdict"],
        witness=found.get("witness"),
        inputs=_array(found.get("inputs"), np.float64),
        outputs=_array(found.get("outputs"), np.float32),
        reason=found["reason"],
        note=found["note"],
        cases=found["cases"],
        verified=found["verified"],
        open=found["open"],
        done=found["done"],
        bound=found["bound"],
        certificate=None if found["certificate"] is None else os.fspath(found["certificate"]),
        warnings=found["warnings"],
        seconds=found["seconds"],
        relative_to=found["relative_to"],
        provenance=found["provenance"],
    )


def optimise(
    network: NetworkLike,
    specification: Optional[PathLike] = None,
    *,
    maximise: Optional[str] = None,
    minimise: Optional[str] = None,
    gap: float = 0.001,
    networks: Optional[Mapping[str, NetworkLike]] = None,
    timeout: Optional[float] = None,
    memory: int = 4096,
    threads: int = 0,
    seed: int = 0,
    progress: Optional[Progress] = None,
) -> Optimum:
    """Bounds the maximum or minimum of a linear expression over the points at which an assertion holds.

    The expression is a sum of numbers, variables and products of a number and a variable: ``"Y_0 - 0.5*X_1"``.
    """
    if (maximise is None) == (minimise is None):
        raise _certus.CertusError("give one of maximise and minimise: the expression to make large or small")
    found = _certus.optimise(
        _path(network),
        _optional(specification),
        _named(networks),
        maximise if minimise is None else minimise,
        minimise is not None,
        gap,
        timeout,
        memory,
        threads,
        seed,
        progress,
    )
    return Optimum(
        feasible=found["feasible"],
        lower=found["lower"],
        upper=found["upper"],
        reached=found["reached"],
        point=found.get("point"),
        inputs=_array(found.get("inputs"), np.float64),
        outputs=_array(found.get("outputs"), np.float32),
        reason=found["reason"],
        verified=found["verified"],
        open=found["open"],
        seconds=found["seconds"],
        relative_to=found["relative_to"],
        provenance=found["provenance"],
    )


def audit(
    certificate: PathLike,
    *,
    network: Optional[NetworkLike] = None,
    specification: Optional[PathLike] = None,
    query: Optional[PathLike] = None,
    timeout: Optional[float] = None,
    progress: Optional[Callable[[int], object]] = None,
) -> Audit:
    """Checks a certificate that ``verify(…, certificate=…)`` wrote, with code that shares nothing with the search.

    Files that have moved since are named by ``network`` and ``specification``, or ``query``.
    """
    found = _certus.audit(
        os.fspath(certificate), _optional(network), _optional(specification), _optional(query), timeout, progress
    )
    return Audit(
        verdict=found["verdict"],
        line=found.get("line"),
        reason=found.get("reason"),
        files=[(role, os.fspath(path), digest) for role, path, digest in found.get("files", [])],
        cases=found.get("cases", 0),
        leaves=found["leaves"],
        refinements=found.get("refinements", 0),
        records=found.get("records", 0),
        claim=found.get("claim"),
        about=found.get("about"),
    )
