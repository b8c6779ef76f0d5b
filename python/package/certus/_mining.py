"""Specifications from reference algorithms: `observe` and `mine`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _certus
from ._questions import NetworkLike, PathLike, Progress, _optional, _path


@dataclass(frozen=True)
class Specification:
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


@dataclass(frozen=True)
class Mined:
    """What came out of a mining, as ``certus mine --json`` tells it."""

    name: str
    specifications: List[Specification]
    #: Cells, clusters, coverage; ``None`` if specifications were given.
    mined: Optional[Dict[str, Any]]
    #: What a search tried, the best first.
    trials: List[Dict[str, Any]]
    #: Per reference and network: rows, faults, support and confidence on what was mined and on what was held out.
    observations: List[Dict[str, Any]]
    #: Per verified network: a verdict for each specification, with inputs that violate it and attacks.
    networks: List[Dict[str, Any]]
    seconds: Dict[str, float]
    #: Where it comes from: version, files with digests, seed, budget.
    provenance: Optional[Dict[str, Any]] = None

    def verdicts(self, network: int = 0) -> List[str]:
        """For each specification what is known of a network: ``holds``, ``violated`` or ``open``."""
        return [result["verdict"] for result in self.networks[network]["results"]]


def observe(
    world: str,
    decider: NetworkLike,
    files: Union[PathLike, Sequence[PathLike]],
    output: PathLike,
    *,
    interval: float = 0.075,
    seconds: float = 60.0,
    seed: int = 0,
) -> int:
    """Writes what a reference algorithm, or a network, sees and decides; returns how many rows that are.

    ``world`` is ``"pensieve"`` (``decider`` is ``"buffer-based"``, ``"mpc"`` or a network, ``files`` are traces) or ``"aurora"``
    (``"cubic"``, ``"bbr"`` or a network; ``files`` are tables of links). ``output`` is a CSV file, or a Parquet file if its name
    ends in ``.parquet``. ``interval`` and ``seconds`` are for links: how long an interval is, and how long each is observed.
    """
    if isinstance(files, (str, os.PathLike)):
        files = [files]
    paths = [os.fspath(file) for file in files]
    return _certus.observe(world, _path(decider), paths, os.fspath(output), interval, seconds, seed)


def mine(
    config: PathLike,
    *,
    verify: Union[NetworkLike, Sequence[NetworkLike]] = (),
    attack: bool = False,
    search: bool = False,
    specifications: Optional[PathLike] = None,
    baseline: Optional[PathLike] = None,
    regions: Optional[PathLike] = None,
    cache: Optional[PathLike] = None,
    timeout: Optional[float] = None,
    memory: int = 4096,
    threads: int = 0,
    seed: int = 0,
    progress: Optional[Progress] = None,
) -> Mined:
    """Finds boxes of the inputs in which all references decided within few outputs, and asks whether networks do.

    ``config`` is a TOML file that says what the columns of the tables mean. ``verify`` are networks that every specification is
    verified against, ``attack`` looks for the most extreme violations. ``specifications`` (JSON) are judged instead of mining,
    ``baseline`` beside it; ``regions`` are statistics of a database; ``cache`` is a file of verdicts that later runs know again.
    """
    if isinstance(verify, (str, os.PathLike, _certus.Network)):
        verify = [verify]
    document = _certus.mine(
        os.fspath(config),
        _optional(regions),
        _optional(specifications),
        _optional(baseline),
        search,
        [_path(network) for network in verify],
        attack,
        _optional(cache),
        timeout,
        memory,
        threads,
        seed,
        progress,
    )
    known = Specification.__dataclass_fields__
    found = [Specification(**{name: own.get(name) for name in known}) for own in document["specifications"]]
    rest = {name: document[name] for name in ("name", "mined", "trials", "observations", "networks", "seconds", "provenance")}
    return Mined(specifications=found, **rest)
