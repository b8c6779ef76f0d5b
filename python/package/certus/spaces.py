"""The spaces of a Gymnasium environment, for ``certus new --spaces``.

    python -m certus.spaces CartPole-v1 > spaces.json
    certus new policy.onnx --spaces spaces.json -o cartpole.certus
"""

from __future__ import annotations

import json
import math
import sys
from typing import Any


def spaces(environment: Any) -> dict[str, Any]:
    """What an environment shows and takes, as ``certus new --spaces`` reads it.

    Observations must be a box; actions a box or a discrete choice. Ends that are infinite become ``None``.
    """
    from gymnasium import spaces as kinds

    def box(space: Any) -> dict[str, list[float | None]]:
        def ends(values: Any) -> list[float | None]:
            numbers = [float(value) for value in values.reshape(-1)]
            return [number if math.isfinite(number) else None for number in numbers]

        return {"low": ends(space.low), "high": ends(space.high)}

    observation, action = environment.observation_space, environment.action_space
    if not isinstance(observation, kinds.Box):
        raise ValueError(f"observations must be a box of numbers, and are {observation}")
    if isinstance(action, kinds.Discrete):
        taken: dict[str, Any] = {"n": int(action.n)}
    elif isinstance(action, kinds.Box):
        taken = box(action)
    else:
        raise ValueError(f"actions must be a box or a discrete choice, and are {action}")
    name = environment.spec.id if getattr(environment, "spec", None) else type(environment).__name__
    return {"name": name, "observation": box(observation), "action": taken}


def main() -> None:
    """Prints the spaces of the environment that is named on the command line."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: python -m certus.spaces ENVIRONMENT")
    import gymnasium

    try:
        environment = gymnasium.make(sys.argv[1])
        print(json.dumps(spaces(environment)))
    except (gymnasium.error.Error, ValueError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
