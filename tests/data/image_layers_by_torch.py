# SPDX-License-Identifier: Apache-2.0
"""Trains a small network of every layer for images in PyTorch, from weights that a formula gives, and records what
tests/data/image_layers_by_torch.cpp must find: losses, then all parameters and running averages, then an evaluation.

    python3 image_layers_by_torch.py > image_layers_by_torch.txt        # PyTorch 2.15
"""

import math

import torch
from torch.nn import functional
from torch.nn.utils.parametrizations import spectral_norm

BATCH, ROWS, COLS, C_IN, MIDDLE, GROUPS, OUT, LAST = 4, 7, 5, 3, 6, 2, 4, 5
SHAPES = {  # as meshtensor declares them: windows, groups, inputs, outputs
    "first/kernel": (3, 3, C_IN, MIDDLE),
    "group_norm/bias": (OUT,),
    "group_norm/gain": (OUT,),
    "groups/bias": (GROUPS, OUT // GROUPS),
    "groups/kernel": (3, 3, GROUPS, MIDDLE // GROUPS, OUT // GROUPS),
    "instance_norm/bias": (OUT,),
    "instance_norm/gain": (OUT,),
    "norm/bias": (MIDDLE,),
    "norm/gain": (MIDDLE,),
    "norm/mean": (MIDDLE,),
    "norm/variance": (MIDDLE,),
    "spectral/left": (LAST,),
    "spectral/right": (OUT,),
    "up/bias": (C_IN,),
    "up/kernel": (3, LAST, C_IN),
    "weight": (OUT, LAST),
}
STATES = ("norm/mean", "norm/variance", "spectral/left", "spectral/right")


def values(place, shape, around=0.0):
    """Element i of the value that is `place`th by name."""
    all = [around + 0.2 * math.sin(0.7 * (place + 1) + 1.3 * i + 0.01 * (i % 97) * (i % 89)) for i in range(math.prod(shape))]
    return torch.tensor(all, dtype=torch.float64).reshape(shape)


def first_values():
    return {
        name: values(i, shape, 1.0 if name.endswith(("gain", "variance")) else 0.0)
        for i, (name, shape) in enumerate(SHAPES.items())
    }


def kernel_of(weight, windows):
    """[windows, groups?, inputs, outputs] as PyTorch's [groups · outputs, inputs, windows]."""
    if weight.dim() == windows + 3:
        return weight.permute(windows, windows + 2, windows + 1, *range(windows)).flatten(0, 1)
    return weight.permute(windows + 1, windows, *range(windows))


class Network:
    def __init__(self):
        self.p = first_values()
        for name, value in self.p.items():
            if name not in STATES:
                value.requires_grad_()
        self.norm = torch.nn.BatchNorm2d(MIDDLE, affine=False, dtype=torch.float64)
        self.norm.running_mean.copy_(self.p["norm/mean"])
        self.norm.running_var.copy_(self.p["norm/variance"])
        holder = torch.nn.Linear(OUT, LAST, bias=False, dtype=torch.float64)  # its weight is [outputs, inputs]
        self.spectral = spectral_norm(holder).parametrizations.weight[0]
        self.spectral._u.copy_(self.p["spectral/left"])
        self.spectral._v.copy_(self.p["spectral/right"])

    def loss(self, x, training):
        p = self.p
        self.norm.train(training)
        self.spectral.train(training)
        y = functional.conv2d(x, kernel_of(p["first/kernel"], 2), stride=(2, 1), padding=(1, 1))
        y = self.norm(y) * p["norm/gain"][:, None, None] + p["norm/bias"][:, None, None]
        y = torch.relu(y)
        y = functional.conv2d(y, kernel_of(p["groups/kernel"], 2), p["groups/bias"].flatten(), padding=1, groups=GROUPS)
        y = torch.tanh(functional.group_norm(y, GROUPS, p["group_norm/gain"], p["group_norm/bias"]))
        y = y + functional.instance_norm(y * y, weight=p["instance_norm/gain"], bias=p["instance_norm/bias"])
        y = torch.einsum("bcij,oc->boij", y, self.spectral(p["weight"].T))
        y = functional.conv_transpose2d(y, p["up/kernel"].permute(1, 2, 0).unsqueeze(-1), p["up/bias"], stride=(2, 1),
                                        padding=(1, 0))
        return (y * (y * 0.5 + 0.3)).mean()

    def state(self, name):
        return {
            "norm/mean": self.norm.running_mean,
            "norm/variance": self.norm.running_var,
            "spectral/left": self.spectral._u,
            "spectral/right": self.spectral._v,
        }[name]


def image(step):
    return values(step, (BATCH, ROWS, COLS, C_IN), 0.1 * step).mul(5).permute(0, 3, 1, 2)


network = Network()
trained = [value for name, value in network.p.items() if name not in STATES]
optimizer = torch.optim.SGD(trained, lr=0.5)
for step in range(4):
    optimizer.zero_grad()
    loss = network.loss(image(step), True)
    loss.backward()
    optimizer.step()
    print(f"loss {step} {loss.item():.17g}")
for name in SHAPES:
    final = network.state(name) if name in STATES else network.p[name].detach()
    for i, value in enumerate(final.flatten().tolist()):
        print(f"{name} {i} {value:.17g}")
x = image(7).clone().requires_grad_()
optimizer.zero_grad()
loss = network.loss(x, False)
loss.backward()
print(f"evaluated 0 {loss.item():.17g}")
for i, value in enumerate(x.grad.permute(0, 2, 3, 1).flatten().tolist()):
    print(f"dx {i} {value:.17g}")
optimizer.step()
for name in ("norm/gain", "norm/bias"):
    for i, value in enumerate(network.p[name].detach().tolist()):
        print(f"evaluated/{name} {i} {value:.17g}")
