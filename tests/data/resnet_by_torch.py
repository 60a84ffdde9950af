# SPDX-License-Identifier: Apache-2.0
"""ResNet-18 of width 8 on images of 33 x 33 and of 32 x 32 by torchvision, from weights that a formula gives, and records
what tests/data/resnet_by_torch.cpp must find: a loss, the norm of every gradient and its product with a pattern, the running
averages after that step likewise, and logits of an evaluation. Where the size is even, windows with a stride of 2 do not
reach the padding behind: TensorFlow's SAME would be another network.

    python3 resnet_by_torch.py > resnet_by_torch.txt        # PyTorch 2.15, torchvision 0.29
"""

import math

import torch
from torch.nn import functional
from torchvision.models.resnet import BasicBlock, ResNet

BATCH, SIZES, WIDTH, CLASSES = 4, (33, 32), 8, 10


def pattern(place, count):
    return torch.tensor([math.sin(0.7 * place + 1.3 * i + 0.01 * (i % 97) * (i % 89)) for i in range(count)], dtype=torch.float64)


def place_of(name):
    return sum(name.encode()) % 101


def narrow(model):
    """The same network with WIDTH channels where torchvision has 64."""
    for name, module in list(model.named_modules()):
        parent = model.get_submodule(name.rpartition(".")[0])
        last = name.rpartition(".")[2]
        scaled = lambda n: n if n == 3 else n * WIDTH // 64
        if isinstance(module, torch.nn.Conv2d):
            new = torch.nn.Conv2d(scaled(module.in_channels), scaled(module.out_channels), module.kernel_size, module.stride,
                                  module.padding, bias=False)
        elif isinstance(module, torch.nn.BatchNorm2d):
            new = torch.nn.BatchNorm2d(scaled(module.num_features))
        elif isinstance(module, torch.nn.Linear):
            new = torch.nn.Linear(scaled(module.in_features), CLASSES)
        else:
            continue
        setattr(parent, last, new)
    return model.double()


def record(size, kind, name, values):
    values = values.detach().flatten()
    print(size, kind, name, repr(values.norm().item()), repr((values @ pattern(place_of(name) + 1, len(values))).item()))


def set_weights(model):
    with torch.no_grad():
        for name, value in model.state_dict().items():
            if name.endswith("num_batches_tracked"):
                continue
            kernel = value.dim() == 4
            around = 1.0 if not kernel and name.endswith((".weight", "running_var")) and not name.startswith("fc") else 0.0
            scale = 2 / math.sqrt(value[0].numel()) if kernel else 0.2
            value.copy_((around + scale * pattern(place_of(name), value.numel())).reshape(value.shape))


model = narrow(ResNet(BasicBlock, [2, 2, 2, 2]))
labels = torch.tensor([3 * i % CLASSES for i in range(BATCH)])
for size in SIZES:
    set_weights(model)
    model.zero_grad()
    pixels = pattern(3, BATCH * size * size * 3).float().double().reshape(BATCH, size, size, 3).permute(0, 3, 1, 2)
    with torch.no_grad():
        record(size, "logits", "logits", model.eval()(pixels))
    loss = functional.cross_entropy(model.train()(pixels), labels, label_smoothing=0.1)
    loss.backward()
    record(size, "loss", "loss", loss)
    for name, value in model.named_parameters():
        record(size, "gradient", name, value.grad)
    for name, value in model.named_buffers():
        if "running" in name:
            record(size, "running", name, value)
