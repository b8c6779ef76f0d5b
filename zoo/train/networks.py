"""Pensieve's actors: branches over the parts of its 6 x 8 input, joined."""

import numpy as np
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

WIDTH = 128
#: Parts of the input: the newest of rows 0, 1 and 5, the histories of rows 2 and 3, the sizes in row 4.
SMALL = [(7, 8), (15, 16), (16, 24), (24, 32), (32, 38), (47, 48)]


class Branches(BaseFeaturesExtractor):
    """One dense layer per part: what the original network amounts to."""

    def __init__(self, space):
        super().__init__(space, WIDTH * len(SMALL))
        self.branches = nn.ModuleList(nn.Linear(end - begin, WIDTH) for begin, end in SMALL)

    def forward(self, x):
        parts = [torch.relu(layer(x[:, begin:end])) for layer, (begin, end) in zip(self.branches, SMALL)]
        return torch.cat(parts, dim=1)

    def onnx(self, writer, x):
        cuts = [writer.part(x, begin, end) for begin, end in SMALL]
        parts = [writer.apply("Relu", writer.linear(cut, layer)) for layer, cut in zip(self.branches, cuts)]
        return writer.apply("Concat", *parts, axis=1)


class Convolved(BaseFeaturesExtractor):
    """Dense layers on the single values, one shared convolution over the histories and the sizes."""

    def __init__(self, space):
        super().__init__(space, 3 * WIDTH + (5 + 5 + 3) * WIDTH)
        self.bitrate, self.buffer, self.left = (nn.Linear(1, WIDTH) for _ in range(3))
        self.filters = nn.Conv1d(1, WIDTH, 4)

    def forward(self, x):
        def convolved(begin, end):
            return torch.relu(self.filters(x[:, None, begin:end])).flatten(1)

        parts = [torch.relu(self.bitrate(x[:, 7:8])), torch.relu(self.buffer(x[:, 15:16]))]
        parts += [convolved(16, 24), convolved(24, 32), convolved(32, 38)]
        parts.append(torch.relu(self.left(x[:, 47:48])))
        return torch.cat(parts, dim=1)

    def onnx(self, writer, x):
        weight = writer.constant(self.filters.weight.detach().numpy())
        bias = writer.constant(self.filters.bias.detach().numpy())

        def dense(layer, begin, end):
            return writer.apply("Relu", writer.linear(writer.part(x, begin, end), layer))

        def convolved(begin, end):
            axis = writer.constant([1], np.int64)
            row = writer.apply("Unsqueeze", writer.part(x, begin, end), axis)
            return writer.apply("Flatten", writer.apply("Relu", writer.apply("Conv", row, weight, bias)), axis=1)

        parts = [dense(self.bitrate, 7, 8), dense(self.buffer, 15, 16)]
        parts += [convolved(16, 24), convolved(24, 32), convolved(32, 38), dense(self.left, 47, 48)]
        return writer.apply("Concat", *parts, axis=1)

