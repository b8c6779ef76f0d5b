"""Shields around environments."""

import numpy as np
import pytest

import certus.gym
from conftest import ROOT


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The satellite's shield as a Python module."""
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.chdir(ROOT)
    folder = tmp_path_factory.mktemp("shield")
    shield, module = folder / "shield.json", folder / "satellite_shield.py"
    assert certus.shield("zoo/satellite/satellite.certus", output=shield).verdict == "verified"
    certus.shield_export(shield, "python", output=module)
    monkeypatch.undo()
    return module


def unsafe(state):
    return bool(np.any(np.abs(np.asarray(state)) >= 1.5))


def test_no_action_leads_to_an_unsafe_state(exported):
    environment = certus.gym.Shield(certus.gym.make("zoo/satellite/satellite.certus", max_steps=200), exported)
    random = np.random.default_rng(0)
    overridden = passed = 0
    for episode in range(5):
        _, info = environment.reset(seed=episode)
        assert environment.monitor.interventions == 0
        for step in range(200):
            # Anything, within the limits and far beyond them.
            action = random.uniform(-40, 40, 1).astype(np.float32) if step % 2 else random.uniform(-1, 1, 1).astype(np.float32)
            _, _, terminated, truncated, info = environment.step(action)
            assert not unsafe(info["state"]) and not terminated
            about = info["shield"]
            overridden += about["overridden"]
            passed += not about["overridden"]
            assert about["interventions"] == environment.monitor.interventions
            assert not about["alarm"]
            if truncated:
                break
    assert overridden > 50 and passed > 50


def test_without_the_shield_the_same_actions_are_unsafe():
    environment = certus.gym.make("zoo/satellite/satellite.certus", max_steps=200)
    environment.reset(seed=0)
    _, _, terminated, _, info = environment.step(np.array([10], np.float32))
    assert terminated or unsafe(info["state"])


def test_what_does_not_fit_is_refused(exported, tmp_path):
    with pytest.raises(ValueError, match="2 states"):
        certus.gym.Shield(certus.gym.make("zoo/lanekeeping/lanekeeping.certus"), exported).reset(seed=0)
    with pytest.raises((ValueError, FileNotFoundError)):
        certus.gym.Shield(certus.gym.make("zoo/satellite/satellite.certus"), tmp_path / "none.py")
