"""Stable-Baselines3: environments, export of trained policies, and acceptance during training.

Needs ``stable-baselines3`` and, for `export`, ``onnx``.
"""

try:
    import stable_baselines3 as _
except ImportError as error:
    raise ImportError(f"certus.sb3 needs stable-baselines3 ({error}): pip install 'certus-verify[sb3]'") from error

from ._accept import AcceptanceCallback, BoundedEngine, Checked, SimulationEngine
from ._env import CertusVecEnv
from ._export import ExportError, export

__all__ = ["AcceptanceCallback", "BoundedEngine", "CertusVecEnv", "Checked", "ExportError", "SimulationEngine", "export"]
