"""The spaces of environments."""

import gymnasium
import pytest

from certus.spaces import spaces


def test_spaces_of_boxes_and_choices():
    cartpole = spaces(gymnasium.make("CartPole-v1"))
    assert cartpole["name"] == "CartPole-v1"
    assert cartpole["action"] == {"n": 2}
    assert len(cartpole["observation"]["low"]) == 4
    pendulum = spaces(gymnasium.make("Pendulum-v1"))
    assert pendulum["action"] == {"low": [-2.0], "high": [2.0]}
    assert pendulum["observation"]["high"] == [1.0, 1.0, 8.0]


def test_infinite_ends_are_none():
    class Open:
        observation_space = gymnasium.spaces.Box(float("-inf"), float("inf"), (2,))
        action_space = gymnasium.spaces.Discrete(3)

    assert spaces(Open())["observation"] == {"low": [None, None], "high": [None, None]}


def test_other_spaces_are_refused():
    class Odd:
        observation_space = gymnasium.spaces.Discrete(3)
        action_space = gymnasium.spaces.Discrete(3)

    with pytest.raises(ValueError, match="box of numbers"):
        spaces(Odd())
