"""Training: Stable-Baselines3 with fixed seeds, and checkpoints along the way."""

import numpy as np
import torch
from stable_baselines3 import DQN, PPO, TD3
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.noise import NormalActionNoise
from stable_baselines3.common.vec_env import VecNormalize
from torch import nn

from .export import flat

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid}


class Watch(BaseCallback):
    """Prints how far training is, saves checkpoints, shows candidates for the final policy, and lowers the bonus for entropy
    where there is one."""

    def __init__(self, entry, hooks, model, entropy=None):
        super().__init__()
        self.name, self.total, self.entropy = entry.name, entry.steps, entropy
        self.save, self.consider = (lambda at: hooks.checkpoint(model, at)), (lambda: hooks.consider(model))
        self.at = [entry.steps * k // entry.checkpoints for k in range(entry.checkpoints)]
        # From the middle on; the last network of all is shown when training has ended.
        self.candidates = [entry.steps * (entry.candidates + k) // (2 * entry.candidates) for k in range(entry.candidates)]
        self.told = 0

    def _on_step(self):
        while self.at and self.num_timesteps >= self.at[0]:
            self.save(self.at.pop(0))
        while self.candidates and self.num_timesteps >= self.candidates[0]:
            self.candidates.pop(0)
            self.consider()
        return True

    def _on_training_start(self):
        # Before the first update: the untrained network.
        if self.at and self.at[0] == 0:
            self.save(self.at.pop(0))

    def _on_rollout_end(self):
        share = self.num_timesteps / self.total
        if self.entropy is not None:
            first, last = self.entropy
            self.model.ent_coef = first * (last / first) ** min(1.0, share * 1.25)
        if share >= self.told + 0.1 or (share >= 1 and self.told < 1):
            self.told = share
            recent = [info["r"] for info in self.model.ep_info_buffer]
            mean = np.mean(recent) if recent else float("nan")
            print(f"{self.name}: {self.num_timesteps} of {self.total} steps, return of late {mean:.4g}", flush=True)


def actor_parts(model, squashed=False):
    """The extractor if it is one of ours, and the layers of the actor, up to the output."""
    policy = model.policy
    if isinstance(model, PPO):
        layers = flat(policy.mlp_extractor.policy_net, policy.action_net)
        extractor = policy.pi_features_extractor
        return (extractor if hasattr(extractor, "onnx") else None), layers
    if isinstance(model, DQN):
        return None, flat(policy.q_net.q_net)
    layers = flat(policy.actor.mu)
    return None, layers[:-1] if squashed else layers


def linear_fall(start):
    return lambda left: start * max(left, 0.05)


def ppo(entry, env, hooks):
    options = dict(entry.options)
    entropy = options.pop("entropy", None)
    if options.pop("normal_reward", False):
        env = VecNormalize(env, norm_obs=False, norm_reward=True, gamma=options.get("gamma", 0.99), clip_reward=50.0)
    rate = options.pop("learning_rate", 5e-4)
    extractor = options.pop("extractor", None)
    kwargs = dict(
        net_arch=dict(pi=list(entry.hidden), vf=list(options.pop("critic", entry.hidden))),
        activation_fn=ACTIVATIONS[entry.activation],
        **({} if extractor is None else {"features_extractor_class": extractor, "share_features_extractor": False}),
    )
    if "log_std" in options:
        kwargs["log_std_init"] = options.pop("log_std")
    model = PPO(
        "MlpPolicy", env, seed=entry.seed, policy_kwargs=kwargs, learning_rate=linear_fall(rate), device="cpu",
        ent_coef=0.0 if entropy is None else entropy[0], **options,
    )
    model.learn(entry.steps, callback=Watch(entry, hooks, model, entropy))
    return model


def imitate(model, gain, scale, rounds=4000, batch=512):
    """Begins with the actions of a linear program: the actor is fitted to it on states of all sizes, near zero as well."""
    bound = torch.as_tensor(model.action_space.high)
    gain, scale = torch.as_tensor(gain), torch.as_tensor(scale)
    optimiser = torch.optim.Adam(model.actor.mu.parameters(), lr=1e-3)
    for step in range(rounds):
        for group in optimiser.param_groups:
            group["lr"] = 1e-3 * (1 - 0.95 * step / rounds)
        size = 10 ** (3 * torch.rand(batch, 1) - 2)
        seen = size * (2 * torch.rand(batch, len(scale)) - 1)
        wanted = ((seen * scale) @ gain.T / bound).clamp(-0.95, 0.95)
        loss = (((model.actor.mu(seen) - wanted) / (0.02 + size.clamp(max=1))) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.actor_target.load_state_dict(model.actor.state_dict())


def imitate_squashed(model, program, scale, box, rounds=4000, batch=512):
    """As `imitate`, for actions behind a tanh: the program, whose last column is a constant, stands before the tanh, and states
    are drawn uniformly from a box, because such a program is not about zero."""
    program, scale = torch.as_tensor(program), torch.as_tensor(scale)
    lower, upper = (torch.as_tensor(np.asarray(end, np.float32)) for end in box)
    optimiser = torch.optim.Adam(model.actor.mu.parameters(), lr=1e-2)
    fall = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.01, rounds)
    for _ in range(rounds):
        state = lower + (upper - lower) * torch.rand(batch, len(scale))
        wanted = torch.tanh(state @ program[:, :-1].T + program[:, -1])
        loss = ((model.actor.mu(state / scale) - wanted) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        fall.step()
    model.actor_target.load_state_dict(model.actor.state_dict())


class Careful(TD3):
    """TD3 whose actor waits until the critic knows it (`wait`: that share of the steps), and then moves slower than the critic
    (`pace`: that share of its rate): what an untrained critic says would undo what was imitated."""

    wait, pace = 0.0, 1.0

    def _update_learning_rate(self, optimisers):
        super()._update_learning_rate(optimisers)
        done = 1 - self._current_progress_remaining
        for group in self.actor.optimizer.param_groups:
            group["lr"] *= 0.0 if done < self.wait else self.pace


def td3(entry, env, hooks):
    options = dict(entry.options)
    noise = options.pop("noise", 0.1)
    final = options.pop("final", 0.1)
    rate = options.pop("learning_rate", 1e-3)
    expert, expert_box = options.pop("expert", None), options.pop("expert_box", None)
    actions = env.action_space.shape[0]
    wait, pace = options.pop("wait", 0.0), options.pop("pace", 1.0)
    model = Careful(
        "MlpPolicy", env, seed=entry.seed, device="cpu", learning_rate=linear_fall(rate),
        policy_kwargs=dict(net_arch=dict(pi=list(entry.hidden), qf=list(options.pop("critic", (128, 128))))),
        action_noise=NormalActionNoise(np.zeros(actions), np.full(actions, noise)),
        target_policy_noise=noise, target_noise_clip=2.5 * noise, learning_starts=options.pop("learning_starts", 0),
        train_freq=(1, "step"), gradient_steps=options.pop("gradient_steps", 1), batch_size=options.pop("batch_size", 256),
        buffer_size=options.pop("buffer_size", 200_000), **options,
    )
    model.wait, model.pace = wait, pace
    with torch.no_grad():
        for actor in (model.actor, model.actor_target):
            # Begin with small actions: large ones end most episodes at once.
            actor.mu[-2].weight *= final
            actor.mu[-2].bias *= final
            for index, layer in enumerate(actor.mu):
                if isinstance(layer, nn.ReLU):
                    actor.mu[index] = ACTIVATIONS[entry.activation]()
    if expert is not None:
        expert, scale = np.asarray(expert, np.float32), np.asarray(entry.adapt["scale"], np.float32)
        if expert_box is None:
            imitate(model, expert, scale)
        else:
            imitate_squashed(model, expert, scale, expert_box)
    model.learn(entry.steps, callback=Watch(entry, hooks, model))
    return model


def dqn(entry, env, hooks):
    model = DQN(
        "MlpPolicy", env, seed=entry.seed, device="cpu",
        policy_kwargs=dict(net_arch=list(entry.hidden), activation_fn=ACTIVATIONS[entry.activation]), **entry.options,
    )
    model.learn(entry.steps, callback=Watch(entry, hooks, model))
    return model


ALGORITHMS = {"ppo": ppo, "td3": td3, "dqn": dqn}
