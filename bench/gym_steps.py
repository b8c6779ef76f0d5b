"""Environments beside Gymnasium's own: steps per second of the same pendulum.

    python bench/gym_steps.py             # needs the Python package (python/README.md) and gymnasium

Copies of zoo/gym_pendulum as `certus.gym.make_vec` steps them, on one thread, beside Gymnasium's Pendulum-v1 in a
SyncVectorEnv with the same number of environments and the same actions, in turns. Prints the best of all rounds of each,
and their ratio.
"""

import pathlib
import time

import gymnasium
import certus.gym

SYSTEM = pathlib.Path(__file__).resolve().parents[1] / "zoo" / "gym_pendulum" / "gym_pendulum.certus"
ROUNDS, SECONDS = 5, 0.6


def speed(environment, actions):
    """Steps per second, over all copies."""
    steps, started = 0, time.perf_counter()
    while time.perf_counter() - started < SECONDS:
        for _ in range(20):
            environment.step(actions)
        steps += 20
    return steps * len(actions) / (time.perf_counter() - started)


def main():
    print("| environments | Gymnasium, steps/s | Certus, steps/s | ratio |\n| --- | --- | --- | --- |")
    for count in [1, 8, 64, 256, 1024]:
        ours = certus.gym.make_vec(SYSTEM, count, max_steps=200)
        theirs = gymnasium.make_vec("Pendulum-v1", count, vectorization_mode="sync")
        ours.reset(seed=0)
        theirs.reset(seed=0)
        ours.action_space.seed(0)
        actions = ours.action_space.sample()
        best = [0.0, 0.0]
        for _ in range(ROUNDS):
            for place, environment in enumerate([theirs, ours]):
                best[place] = max(best[place], speed(environment, actions))
        print(f"| {count} | {best[0]:,.0f} | {best[1]:,.0f} | {best[1] / best[0]:.1f} |")


if __name__ == "__main__":
    main()
