"""Environments for training: those of the package, and around them what training wants otherwise."""

import warnings

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnvWrapper

#: How far a network's result before a tanh is taken to go.
SQUASH = 6.0


class Adapted(VecEnvWrapper):
    """Scales observations and rewards, and may change the rewards, hold actions and choose first states.

    `scale`: what observations are divided by. `reward`: what rewards are multiplied by, after being cut at `floor` from below.
    `failure`: the extra reward of a step that ends an episode for good. `hold`: how many steps an action is kept. `squashed`:
    actions are what comes after the tanh that the file applies. `starts`: (lower, upper, share): that share of the episodes
    begins uniformly in this box of states. `ends`: a reward as low as this ends the episode for the learner, as a failure.
    """

    def __init__(self, env, *, scale=None, reward=1.0, floor=None, failure=0.0, hold=1, squashed=False, starts=None,
                 ends=None, seed=0):
        super().__init__(env)
        self.scale = None if scale is None else np.asarray(scale, dtype=np.float32)
        self.factor, self.floor, self.failure, self.hold, self.squashed = reward, floor, failure, hold, squashed
        self.starts, self.ends, self.random = starts, ends, np.random.default_rng(seed)
        if squashed:
            self.action_space = spaces.Box(-1.0, 1.0, env.action_space.shape, dtype=np.float32)
        if scale is not None:
            old = env.observation_space
            self.observation_space = spaces.Box(old.low / self.scale, old.high / self.scale, dtype=np.float32)

    def begin(self, count):
        if self.starts is not None:
            lower, upper, share = self.starts
            for _ in range(self.random.binomial(count, share)):
                self.venv.start_states.append(self.random.uniform(lower, upper))

    def seen(self, observations):
        return observations if self.scale is None else observations / self.scale

    def reset(self):
        self.begin(self.num_envs)
        return self.seen(self.venv.reset())

    def step_async(self, actions):
        if self.squashed:
            limit = np.tanh(SQUASH)
            actions = np.arctanh(np.clip(actions, -limit, limit)).astype(np.float32)
        self.actions = actions

    def step_wait(self):
        total = 0.0
        for _ in range(self.hold):
            observations, rewards, dones, infos = self.venv.step(self.actions)
            total = total + rewards
            if dones.any():
                break
        if dones.any():
            self.begin(int(dones.sum()))
        if self.ends is not None:
            for copy in np.flatnonzero((total <= self.ends) & ~dones):
                # The system goes on; what comes is the learner's next episode.
                infos[copy] = {"terminal_observation": observations[copy], "TimeLimit.truncated": False}
                dones[copy] = True
        rewards = total if self.floor is None else np.maximum(total, self.floor)
        for copy in np.flatnonzero(dones):
            info = infos[copy]
            # A run that leaves the model failed, too.
            if info.get("end", "completed") not in ("completed", "terminal"):
                info["TimeLimit.truncated"] = False
            if not info["TimeLimit.truncated"]:
                rewards[copy] += self.failure
            info["terminal_observation"] = self.seen(info["terminal_observation"])
        return self.seen(observations), (rewards * self.factor).astype(np.float32), dones, infos


def system_env(path, count, *, max_steps, set=None, squashed=False, bound=None, **options):
    """Copies of a `.certus` system without its network; `bound` is a smaller one than the file's on the actions."""
    from certus.sb3 import CertusVecEnv

    limit = SQUASH + 1.0 if squashed else bound
    bounds = {} if limit is None else {"action_bounds": (-limit, limit)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = CertusVecEnv(path, count, max_steps=max_steps, set=set, **bounds)
    return Adapted(env, squashed=squashed, **options)


def world_env(name, count, settings, **options):
    """Copies of a world."""
    from certus import worlds

    return Adapted(worlds.sb3_vec_env(name, count, **settings), **options)
