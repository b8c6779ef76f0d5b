"""Stable-Baselines3: export, environments, acceptance."""

import warnings

import numpy as np
import pytest
import torch
from stable_baselines3 import A2C, DDPG, DQN, PPO, SAC, TD3
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import certus
import certus.gym
from certus.sb3 import AcceptanceCallback, BoundedEngine, CertusVecEnv, Checked, ExportError, SimulationEngine, export

torch.set_num_threads(1)

PENDULUM = "zoo/gym_pendulum/gym_pendulum.certus"
CARTPOLE = "zoo/cartpole_gym/cartpole_gym.certus"
SMALL = dict(net_arch=[16, 16])

MODELS = [
    (PPO, PENDULUM, dict(n_steps=32, batch_size=32)),
    (PPO, CARTPOLE, dict(n_steps=32, batch_size=32)),
    (PPO, PENDULUM, dict(n_steps=32, batch_size=32, use_sde=True, policy_kwargs=dict(squash_output=True))),
    (A2C, PENDULUM, {}),
    (A2C, CARTPOLE, dict(policy_kwargs=dict(activation_fn=torch.nn.ReLU, net_arch=[16]))),
    (DQN, CARTPOLE, dict(learning_starts=20)),
    (DDPG, PENDULUM, dict(learning_starts=60, policy_kwargs=SMALL)),
    (TD3, PENDULUM, dict(learning_starts=60, policy_kwargs=SMALL)),
    (SAC, PENDULUM, dict(learning_starts=60, policy_kwargs=SMALL)),
    (SAC, PENDULUM, dict(learning_starts=60, policy_kwargs=SMALL, use_sde=True)),
]


def model_of(algorithm, path, options, normalised=False):
    environment = CertusVecEnv(path, 2, max_steps=30)
    if normalised:
        environment = VecNormalize(environment, clip_obs=2.0)
    return algorithm("MlpPolicy", environment, seed=0, device="cpu", **options)


@pytest.mark.parametrize("normalised", [False, True], ids=["plain", "VecNormalize"])
@pytest.mark.parametrize("algorithm, path, options", MODELS, ids=lambda value: getattr(value, "__name__", None))
def test_exported_policies_act_as_the_model(algorithm, path, options, normalised, tmp_path):
    import onnxruntime

    model = model_of(algorithm, path, options, normalised)
    model.learn(100)
    file = tmp_path / "policy.onnx"
    difference = export(model, file)
    assert 0 <= difference < 1e-5
    # What the environment returns goes in, what it takes comes out: compared with a runtime that is not ours.
    session = onnxruntime.InferenceSession(str(file))
    copies = CertusVecEnv(path, 2, max_steps=30)
    observations = copies.reset()
    for _ in range(50):
        (acted,) = session.run(None, {"observation": observations})
        normal = model.get_vec_normalize_env().normalize_obs(observations) if normalised else observations
        predicted, _ = model.predict(normal, deterministic=True)
        if path == CARTPOLE:
            assert (acted.argmax(1) == predicted).all()
        else:
            np.testing.assert_allclose(acted, predicted, atol=1e-5)
        observations, *_ = copies.step(predicted)
    # And it closes the loop.
    name = "u" if path == PENDULUM else "push"
    assert len(certus.load(path, networks={name: file}).simulate(3, 20)) == 3


def test_an_untrained_model_can_be_exported(tmp_path):
    assert export(model_of(PPO, PENDULUM, dict(n_steps=32, batch_size=32)), tmp_path / "p.onnx") < 1e-5


def test_a_file_that_differs_is_refused(tmp_path, monkeypatch):
    model = model_of(PPO, PENDULUM, dict(n_steps=32, batch_size=32))
    predict = model.predict

    def off(observation, **options):
        actions, state = predict(observation, **options)
        return np.clip(actions + 0.01, -2, 2), state

    monkeypatch.setattr(model, "predict", off)
    with pytest.raises(ExportError, match="differs from the model"):
        export(model, tmp_path / "p.onnx")


def test_what_is_not_understood_is_refused(tmp_path):
    class Odd(torch.nn.Module):
        def forward(self, x):
            return x

    model = model_of(PPO, PENDULUM, dict(n_steps=32, batch_size=32, policy_kwargs=dict(activation_fn=Odd)))
    with pytest.raises(ExportError, match="a layer Odd"):
        export(model, tmp_path / "p.onnx")


def test_episodes_are_reported_as_monitor_does():
    copies = CertusVecEnv(PENDULUM, 3, max_steps=10)
    copies.seed(1)
    copies.reset()
    total = 0.0
    for _ in range(10):
        _, rewards, dones, infos = copies.step(np.zeros((3, 1), np.float32))
        total += rewards[0]
    assert dones.all() and infos[0]["TimeLimit.truncated"] and infos[0]["end"] == "completed"
    assert infos[0]["episode"]["l"] == 10 and infos[0]["episode"]["r"] == pytest.approx(total, rel=1e-5)
    assert infos[0]["terminal_observation"].shape == (3,)


@pytest.mark.parametrize("wrapped", ["own", "normalised", "gymnasium"])
def test_acceptance_records_and_feeds_back(wrapped):
    copies = CertusVecEnv(PENDULUM, 2, max_steps=50)
    if wrapped == "normalised":
        copies = VecNormalize(copies)
    if wrapped == "gymnasium":
        copies = DummyVecEnv([lambda: certus.gym.make(PENDULUM, max_steps=50)] * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        accept = AcceptanceCallback(PENDULUM, ["stays_up"], every=64, engine=SimulationEngine(runs=20, steps=100))
    queued = []
    feed = accept._feed_back

    def watch():
        feed()
        queued.append(sum(len(own) for own in copies.get_attr("start_states", indices=[0])))

    accept._feed_back = watch
    model = PPO("MlpPolicy", copies, n_steps=32, batch_size=32, seed=0, device="cpu")
    model.learn(256, callback=accept)
    assert [row["step"] for row in accept.table] == [64, 128, 192, 256]
    assert {row["stays_up"] for row in accept.table} <= {"violated", "unknown"}
    assert accept.table[0]["stays_up"] == "violated" and queued[0] >= 1 and not accept.accepted


def test_training_stops_when_everything_holds():
    calls = []

    def engine(system, property):
        calls.append((system.name, property))
        return Checked("holds" if len(calls) > 2 else "unknown")

    accept = AcceptanceCallback(PENDULUM, every=64, engine=engine, stop=True)
    model = PPO("MlpPolicy", CertusVecEnv(PENDULUM, 2, max_steps=50), n_steps=32, batch_size=32, seed=0, device="cpu")
    model.learn(10_000, callback=accept)
    assert accept.accepted and model.num_timesteps == 128
    assert accept.table[-1] == {"step": 128, "stays_up": "holds", "returns": "holds"}


def test_simulation_says_that_it_proves_nothing():
    with pytest.warns(UserWarning, match="cannot show that a property holds"):
        AcceptanceCallback(PENDULUM)
    checked = SimulationEngine(runs=5, steps=5)(certus.load("zoo/toy/toy.certus"), "below_ten")
    assert checked.verdict == "unknown" and "no violation in 5 runs" in checked.reason
    with pytest.raises(certus.CertusError, match="applies 9 networks"):
        AcceptanceCallback("zoo/vcas/vcas.certus", stop=False)


def test_bounded_model_checking_proves_and_refutes():
    toy = certus.load("zoo/toy/toy.certus", set={"push": 0.25})
    engine = BoundedEngine(steps=2)
    assert engine(toy, "below_ten").verdict == "holds"
    refuted = engine(toy, "below_five")
    assert refuted.verdict == "violated" and refuted.states.shape == (1, 2)
