"""Worlds as environments."""

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

import certus
from certus import worlds

TRACES = worlds.Traces.cellular(4, seed=1) + worlds.Traces.broadband(2, seed=9)


def single(name):
    if name == "aurora":
        return worlds.Aurora(steps=30)
    if name == "pensieve":
        return worlds.Pensieve(traces=TRACES)
    return worlds.DeepRM()


SETTINGS = {"aurora": {"steps": 30}, "pensieve": {"traces": TRACES}, "deeprm": {}}


@pytest.mark.parametrize("name", sorted(SETTINGS))
@pytest.mark.filterwarnings("ignore")
def test_environments_pass_the_checkers(name):
    from gymnasium.utils.env_checker import check_env

    check_env(single(name), skip_render_check=True)
    sb3 = pytest.importorskip("stable_baselines3.common.env_checker")
    sb3.check_env(single(name))


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_a_copy_lives_the_same_life_in_any_batch(name):
    many = worlds.make_vec(name, 5, **SETTINGS[name])
    one = worlds.make_vec(name, 1, first=3, **SETTINGS[name])
    seen, _ = many.reset(seed=7)
    alone, _ = one.reset(seed=7)
    assert np.array_equal(seen[3:4], alone)
    random = np.random.default_rng(0)
    ends = 0
    for _ in range(120):
        if name == "aurora":
            actions = random.normal(size=(5, 1)).astype(np.float32)
        else:
            actions = random.integers(many.single_action_space.n, size=5)
        seen, rewards, terminated, truncated, infos = many.step(actions)
        alone, reward, done, cut, info = one.step(actions[3:4])
        assert np.array_equal(seen[3:4], alone) and rewards[3] == reward[0]
        assert (terminated[3], truncated[3]) == (done[0], cut[0])
        if done[0] or cut[0]:
            ends += 1
            assert np.array_equal(infos["final_obs"][3], info["final_obs"][0])
    assert ends > 0


def test_an_episode_ends_with_its_last_observation_and_reset_goes_on():
    env = worlds.Aurora(steps=3)
    first, _ = env.reset(seed=1)
    for step in range(3):
        last, _, terminated, truncated, _ = env.step(np.array([0.5], np.float32))
    assert truncated and not terminated
    with pytest.raises(certus.SimulationError, match="call reset"):
        env.step(np.array([0.5], np.float32))
    second, _ = env.reset()
    assert np.array_equal(second[:3], [0, 1, 1]) and not np.array_equal(last, second)
    again, _ = env.reset(seed=1)
    assert np.array_equal(first, again)


def test_traces(tmp_path):
    assert len(TRACES) == 6 and TRACES.durations == [320.0] * 6
    assert all(0.1 < rate < 20 for rate in TRACES.mean_rates)
    assert worlds.Traces.cellular(2, seed=1).mean_rates == TRACES.mean_rates[:2]
    path = tmp_path / "line.log"
    path.write_text("0\t4\n10\t4\n")
    read = worlds.Traces.read(path)
    assert (read.names, read.mean_rates) == (["line.log"], [4.0])
    env = worlds.Pensieve(traces=read, order="in turn", chunks=3)
    env.reset(seed=1)
    # A line of 4 Mbit/s carries the second best quality without stalling.
    _, reward, over, _, _ = env.step(0)
    assert reward == pytest.approx(0.3 - 0.45) and not over
    assert env.step(0)[2]
    path.write_text("0\t4\n0\t4\n")
    with pytest.raises(certus.SimulationError, match="line.log:2: time 0 does not come after 0"):
        worlds.Traces.read(path)


def test_wrong_settings_are_named():
    with pytest.raises(certus.SimulationError, match="loss"):
        worlds.Aurora(loss=(0.5, 0.1))
    with pytest.raises(certus.CertusError, match="qoe is"):
        worlds.Pensieve(traces=TRACES, qoe="quadratic")
    with pytest.raises(certus.CertusError, match="there is no world 'mars'"):
        worlds.make_vec("mars", 2)
    with pytest.raises(certus.SimulationError, match="copy 1"):
        env = worlds.make_vec("deeprm", 2)
        env.reset(seed=0)
        env.step(np.array([0, 6]))


def test_stable_baselines_learns_from_it():
    sb3 = pytest.importorskip("stable_baselines3")
    env = worlds.sb3_vec_env("aurora", 4, steps=20)
    model = sb3.PPO("MlpPolicy", env, n_steps=32, batch_size=64, n_epochs=1, seed=0)
    model.learn(256)
    assert len(model.ep_info_buffer) > 0 and all(info["l"] == 20 for info in model.ep_info_buffer)
