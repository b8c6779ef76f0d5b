"""Certus: what a trained network will do in the system around it.

A system is described in a ``.certus`` file: its state, the network that steers it, its environment, and what must hold.
This package loads such files (`load`), runs them (`System.simulate`), checks their properties (`check`), decides questions
about networks (`verify`, `optimise`, `audit`), learns specifications from reference algorithms (`observe`, `mine`), and offers systems as environments for training (`certus.gym`, `certus.sb3`;
`certus.worlds` has more). Outcomes and messages are those of the command ``certus``.
"""

from ._certus import (
    CertusError,
    Network,
    NetworkError,
    SimulationError,
    SystemError,
    __version__,
)
from ._check import Checked, check
from ._mining import Mined, Specification, mine, observe
from ._questions import Audit, Optimum, Outcome, audit, optimise, verify
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
    "Audit",
    "CertusError",
    "Chance",
    "Checked",
    "Mined",
    "Network",
    "NetworkError",
    "Optimum",
    "Outcome",
    "Parameter",
    "Policy",
    "Property",
    "Simulation",
    "SimulationError",
    "Specification",
    "System",
    "SystemError",
    "Variable",
    "Violation",
    "__version__",
    "audit",
    "check",
    "load",
    "mine",
    "observe",
    "optimise",
    "verify",
]
