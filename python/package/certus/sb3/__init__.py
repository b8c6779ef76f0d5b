"""Stable-Baselines3: environments, export of trained policies, and acceptance during training.

Needs ``stable-baselines3`` and, for `export`, ``onnx``.
"""

from ._accept import AcceptanceCallback, Checked, SimulationEngine
from ._env import CertusVecEnv
from ._export import ExportError, export

__all__ = ["AcceptanceCallback", "CertusVecEnv", "Checked", "ExportError", "SimulationEngine", "export"]
