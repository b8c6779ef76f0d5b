"""The return of a policy: the file's own rewards, or the environment's, in runs determined by a seed."""

import warnings

import numpy as np


def numbers(returns):
    return {"mean": float(np.mean(returns)), "std": float(np.std(returns)), "runs": len(returns)}


def simulated(path, network, file, runs, steps, seed, properties, set=None):
    """Runs of a `.certus` system with a network, and how often each property was broken."""
    import certus

    system = certus.load(path, networks={file: network}, set=set)
    ran = system.simulate(runs, steps, seed, record=False, threads=1)
    result = {**numbers(ran.total_rewards), "steps": steps, "seed": seed} if ran.total_rewards is not None else None
    # For a probability, what counts is that the event happens.
    broken = {}
    for name in properties:
        verdict = "satisfied" if system.properties[name].is_probability else "violated"
        broken[name] = int((ran.verdicts[name] == verdict).sum())
    return result, broken


def random_in_system(path, runs, steps, seed, set=None, bounds=None):
    """Runs of a `.certus` system with actions that are drawn uniformly."""
    from certus.gym import make_vec

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = make_vec(path, runs, max_steps=steps, set=set, **({} if bounds is None else {"action_bounds": bounds}))
    env.reset(seed=seed)
    random = np.random.default_rng(seed)
    space, totals, going = env.single_action_space, np.zeros(runs), np.ones(runs, dtype=bool)
    while going.any():
        if hasattr(space, "n"):
            actions = random.integers(space.n, size=runs)
        else:
            actions = random.uniform(space.low, space.high, (runs, *space.shape)).astype(np.float32)
        _, rewards, terminated, truncated, _ = env.step(actions)
        totals[going] += rewards[going]
        going &= ~(terminated | truncated)
    return numbers(totals)


def in_world(name, settings, policy, runs, seed):
    """The returns of the first episode of each of `runs` copies; `policy` maps observations to actions."""
    from certus import worlds

    env = worlds.make_vec(name, runs, **settings)
    seen, _ = env.reset(seed=seed)
    totals, going = np.zeros(runs), np.ones(runs, dtype=bool)
    while going.any():
        seen, rewards, terminated, truncated, _ = env.step(policy(seen))
        totals[going] += rewards[going]
        going &= ~(terminated | truncated)
    return totals


def acting(network, discrete):
    """A network as a policy: the greatest score, or the result itself."""
    import certus

    file = certus.Network(network)
    if discrete:
        return lambda seen: file(seen).argmax(axis=1)
    return file


def random_policy(name, seed):
    """Uniform over discrete actions; for Aurora, uniform in [-1, 1]."""
    random = np.random.default_rng(seed)
    if name == "aurora":
        return lambda seen: random.uniform(-1.0, 1.0, (len(seen), 1))
    return lambda seen: random.integers(6, size=len(seen))


def buffer_based(seen):
    """Pensieve's simplest rival: the more seconds in the buffer, the better the quality."""
    buffer = 10.0 * seen[:, 15]
    index = np.floor(5.0 * (buffer - 5.0) / 10.0)
    return np.where(buffer < 5.0, 0, np.where(buffer >= 15.0, 5, index)).astype(np.int64)
