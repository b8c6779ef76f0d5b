"""What engines did: time by phase, and counts."""

import contextlib
import json
from typing import Any, Dict, Iterator, List

from . import _certus


class Statistics:
    """Phases and counts; filled when the ``with`` block is left."""

    def __init__(self) -> None:
        #: What was done: ``name``, ``calls``, ``seconds`` (summed over threads), and ``own_seconds`` without the phases inside of it.
        self.phases: List[Dict[str, Any]] = []
        #: Queries, subproblems, splits, cells, runs, … by name.
        self.counts: Dict[str, int] = {}
        self._table = ""

    def to_dataframe(self) -> Any:
        """The phases as a data frame of pandas."""
        import pandas

        return pandas.DataFrame(self.phases)

    def __str__(self) -> str:
        return self._table

    def __repr__(self) -> str:
        return f"Statistics(phases={self.phases!r}, counts={self.counts!r})"


@contextlib.contextmanager
def statistics() -> Iterator[Statistics]:
    """Collects what engines do inside of a ``with`` block, in all threads of the process.

    >>> with certus.statistics() as seen:
    ...     certus.check("zoo/toy/toy.certus")
    >>> seen.counts["queries"]
    """
    seen = Statistics()
    _certus.collect()
    try:
        yield seen
    finally:
        document, seen._table = _certus.collected()
        own = json.loads(document)
        seen.phases, seen.counts = own["phases"], own["counts"]
