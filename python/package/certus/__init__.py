"""Certus: what a trained network will do in the system around it.

A system is described in a ``.certus`` file: its state, the network that steers it, its environment, and what must hold.
This package loads such files (`load`) and runs them (`System.simulate`), and has every command of the command line as a function:
`check`, `prob`, `region`, `gate`, `extract`, `simulate` and `shield` about systems; `verify` and `optimise` about networks; `mdp` about
interval MDPs; `audit` for certificates; `observe` and `mine` for specifications; `inspect`, `report`, `new` and `fmt` for files.
Outcomes are objects around the documents that the command line writes with ``--json``.

Systems are environments for training, too: see `certus.gym`, `certus.sb3` and `certus.worlds`.
"""

from . import _commands
from ._certus import (
    CertusError,
    Network,
    NetworkError,
    SimulationError,
    SystemError,
    __version__,
)
from ._commands import *  # noqa: F403
from ._outcomes import (
    Audited,
    Checked,
    Checks,
    Document,
    Extracted,
    Formatted,
    Gated,
    Inspected,
    Mapped,
    Mined,
    Optimum,
    Outcome,
    Rows,
    Shield,
    Simulated,
    Specification,
    Verified,
)
from ._statistics import Statistics, statistics
from ._system import (
    Action,
    Chance,
    Parameter,
    Policy,
    Property,
    Simulation,
    System,
    Variable,
    Violation,
    load,
)

__all__ = [
    "Action",
    "Audited",
    "CertusError",
    "Chance",
    "Checked",
    "Checks",
    "Document",
    "Extracted",
    "Formatted",
    "Gated",
    "Inspected",
    "Mapped",
    "Mined",
    "Network",
    "NetworkError",
    "Optimum",
    "Outcome",
    "Parameter",
    "Policy",
    "Property",
    "Rows",
    "Shield",
    "Simulated",
    "Simulation",
    "SimulationError",
    "Specification",
    "Statistics",
    "System",
    "SystemError",
    "Variable",
    "Verified",
    "Violation",
    "__version__",
    "load",
    "statistics",
]
__all__ += _commands.__all__
