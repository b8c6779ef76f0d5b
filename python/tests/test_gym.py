"""Environments."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import certus
import certus.gym


def path(name):
    return f"zoo/{name}/{name}.certus"


@pytest.mark.parametrize(
    "name", ["gym_pendulum", "cartpole_gym", "ball", "lanekeeping", "docking", "fishing", "mountain_car_continuous", "acc_arch"]
)
def test_environments_pass_gymnasiums_checks(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        environment = certus.gym.make(path(name), max_steps=100)
        check_env(environment, skip_render_check=True)
        observation, _ = environment.reset(seed=1)
        for _ in range(300):
            assert environment.observation_space.contains(observation)
            observation, reward, terminated, truncated, info = environment.step(environment.action_space.sample())
            assert np.isfinite(reward)
            if terminated or truncated:
                assert info["end"] == "terminal" if terminated else info["end"] != "terminal"
                observation, _ = environment.reset()


def test_the_pendulum_is_gymnasiums():
    ours = certus.gym.make(path("gym_pendulum"))
    theirs = gymnasium.make("Pendulum-v1").unwrapped
    state = [2.0, -1.0]
    ours.reset(seed=0, options={"state": state})
    theirs.reset(seed=0)
    theirs.state = np.array(state)
    random = np.random.default_rng(0)
    for _ in range(100):
        action = random.uniform(-3, 3, 1).astype(np.float32)
        a, b = ours.step(action), theirs.step(action)
        np.testing.assert_allclose(a[0], b[0], atol=2e-5)
        assert a[1] == pytest.approx(b[1], abs=1e-4)


def test_spaces():
    pendulum = certus.gym.make(path("gym_pendulum"))
    np.testing.assert_array_equal(pendulum.observation_space.high, np.array([1, 1, 8], np.float32))
    np.testing.assert_array_equal(pendulum.action_space.high, np.array([2], np.float32))
    assert certus.gym.make(path("gym_pendulum"), set={"torque_bound": 3}).action_space.high[0] == 3
    cartpole = certus.gym.make(path("cartpole_gym"))
    assert cartpole.action_space.n == 2 and cartpole.labels == ["left", "right"]
    with pytest.warns(UserWarning, match=r"\[-3, 3\]"):
        assert certus.gym.make(path("b1")).action_space.high[0] == 3
    with pytest.warns(UserWarning, match=r"\[-1, 1\]"):
        assert certus.gym.make(path("duffing")).action_space.high[0] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert certus.gym.make(path("duffing"), action_bounds=(-5, 4)).action_space.low[0] == -5


def test_what_is_wrong_is_said():
    with pytest.raises(certus.SimulationError, match="toy has no reward to learn from"):
        certus.gym.make(path("toy"))
    with pytest.raises(certus.SimulationError, match="one can be trained at a time"):
        certus.gym.make(path("vcas"))
    with pytest.raises(certus.SystemError, match="no parameter `mas`"):
        certus.gym.make(path("pendulum"), set={"mas": 1})
    with pytest.raises(certus.CertusError, match="'random' or 'adversary', not 'x'"):
        certus.gym.make(path("pendulum"), inputs="x")
    with pytest.raises(certus.SimulationError, match="no `input`"):
        certus.gym.make(path("pendulum"), inputs="adversary")


def test_training_can_begin_without_a_network(tmp_path):
    text = "system s\nstate x in [-5, 5]\npolicy u = clamp(net(\"none.onnx\", x), -1, 1)\nnext x = clamp(x + u, -5, 5)\nreward -x^2\nproperty p = G x < 9\n"
    (tmp_path / "s.certus").write_text(text)
    with pytest.raises(certus.SystemError, match="how many results `none.onnx` has is not known"):
        certus.gym.make(tmp_path / "s.certus")
    environment = certus.gym.make(tmp_path / "s.certus", outputs={"none.onnx": 1})
    assert environment.action_space.shape == (1,)
    (tmp_path / "d.certus").write_text(
        "system d\nstate x in [-5, 5]\naction a = argmax(net(\"none.onnx\", x)) of { l, r }\n"
        "next x = clamp(x + (match a { l: -1, r: 1 }), -5, 5)\nreward -x^2\nproperty p = G x < 9\n"
    )
    assert certus.gym.make(tmp_path / "d.certus").action_space.n == 2


def test_copies_are_those_of_single_environments():
    many = certus.gym.make_vec(path("cartpole_gym"), 5, max_steps=40)
    one = certus.gym.make(path("cartpole_gym"), max_steps=40)
    observations, _ = many.reset(seed=3)
    observation, _ = one.reset(seed=3)
    np.testing.assert_array_equal(observations[0], observation)
    many.action_space.seed(0)
    ended = 0
    for _ in range(200):
        actions = many.action_space.sample()
        observations, rewards, terminated, truncated, infos = many.step(actions)
        observation, reward, *ends, info = one.step(actions[0])
        assert rewards[0] == reward and [bool(terminated[0]), bool(truncated[0])] == ends
        if any(ends):
            ended += 1
            assert infos["_final_obs"][0]
            np.testing.assert_array_equal(infos["final_obs"][0], observation)
            observation, _ = one.reset()
        np.testing.assert_array_equal(observations[0], observation)
    assert ended > 2


def test_threads_change_nothing():
    made = []
    for threads in [1, 3]:
        copies = certus.gym.make_vec(path("gym_pendulum"), 500, max_steps=20, threads=threads)
        copies.reset(seed=1)
        copies.action_space.seed(1)
        actions = copies.action_space.sample()
        made.append(np.concatenate([copies.step(actions)[0] for _ in range(50)]))
    np.testing.assert_array_equal(*made)


def test_start_states():
    environment = certus.gym.make(path("gym_pendulum"))
    environment.unwrapped.start_states.extend([[1.0, 2.0], [0.5, 0.0]])
    assert environment.reset(seed=0)[1]["state"].tolist() == [1.0, 2.0]
    assert environment.reset()[1]["state"].tolist() == [0.5, 0.0]
    assert len(environment.start_states) == 0 and abs(environment.reset()[1]["state"][0]) <= 0.01
    environment.start_states.append([0.25, 0.0])
    assert environment.reset(options={"state": [0.75, 0.0]})[1]["state"].tolist() == [0.75, 0.0]
    assert environment.reset()[1]["state"].tolist() == [0.25, 0.0]
    with pytest.raises(certus.SimulationError, match="omega = 9, outside of"):
        environment.start_states.append([0, 9])


def test_an_adversary_is_worse_than_chance(tmp_path):
    (tmp_path / "s.certus").write_text(
        "system s\nstate x in [-500, 500]\ninput d in [-1, 1]\npolicy u = clamp(net(\"n\", x), -1, 1)\n"
        "next x = x + 0.5 * u + d\ninit x == 0\nreward -x\nproperty low = G x < 40\n"
    )
    worst = {}
    for inputs in ["random", "adversary"]:
        copies = certus.gym.make_vec(tmp_path / "s.certus", 20, outputs={"n": 1}, inputs=inputs, property="low")
        copies.reset(seed=0)
        for _ in range(100):
            copies.step(np.zeros((20, 1), np.float32))
        worst[inputs] = copies.states[:, 0].min()
    assert worst["adversary"] > 40 > worst["random"]
