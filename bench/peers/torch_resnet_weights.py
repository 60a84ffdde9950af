# SPDX-License-Identifier: Apache-2.0
"""Weights between examples/resnet and torchvision, both ways, and one step's loss and gradients beside torchvision's.

    python3 torch_resnet_weights.py [--ours build/quickstart/bench/run/resnet_step] [--depths 18,50]

Needs torch, torchvision and safetensors. Gains, biases and running statistics are drawn at random. The exit code is 1 where
logits differ by more than 1e-4, or an element of a gradient by more than 1e-3 of the gradient's largest. Where an
activation is zero but for rounding, its ReLU turns by chance, and gradients in f32 are others: seeds are tried until
torchvision's own in f32 are within 1e-4 of those in f64.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torchvision
from safetensors.torch import load_file, save_file
from torch.nn import functional

RATE = 1e6  # of the step whose change of the weights is the gradient: so large that rounding of the weights does not matter


def drawn(depth, seed):
    """A network of torchvision's whose norms are not those of a beginning; the last ones of blocks are small, as in use."""
    torch.manual_seed(seed)
    model = torchvision.models.get_model(f"resnet{depth}")
    last = "bn3" if depth >= 50 else "bn2"
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, *((0.0, 0.4) if name.endswith(last) else (0.5, 1.5)))
            torch.nn.init.normal_(module.bias, 0, 0.2)
            module.running_mean.normal_(0, 0.2)
            module.running_var.uniform_(0.5, 1.5)
    return model


def state(model):
    return {name: value.contiguous() for name, value in model.state_dict().items() if not name.endswith("num_batches_tracked")}


def write_inputs(path, images, labels):
    path.write_bytes(images.permute(0, 2, 3, 1).contiguous().numpy().tobytes() + labels.to(torch.int32).numpy().tobytes())


def worst(got, wanted):
    return ((got.double() - wanted.double()).abs().max() / wanted.double().abs().max()).item()


def check(given, depth, folder):
    def ours(*words):
        command = [given.ours, "--depth", depth, "--batch", given.batch, "--size", given.size, "--inputs", inputs, *words]
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise SystemExit(f"{command} failed")
        return json.loads(done.stdout.splitlines()[-1])

    def logits():
        return torch.from_numpy(np.fromfile(folder / "logits", np.float32).reshape(given.batch, -1))

    inputs = folder / "inputs"
    model = drawn(depth, given.seed)
    save_file(state(model), folder / "theirs.safetensors", metadata={"format": "pt"})
    images = torch.randn(given.batch, 3, given.size, given.size)
    labels = torch.randint(0, 1000, (given.batch,))
    write_inputs(inputs, images, labels)

    with torch.no_grad():
        wanted = model.eval()(images)
    ours("--evaluate", "--steps", 1, "--load", folder / "theirs.safetensors", "--logits", folder / "logits")
    imported = worst(logits(), wanted)
    print(f"ResNet-{depth}: torchvision's weights in ours: logits of size {wanted.abs().max():.2f} differ by "
          f"{(logits() - wanted).abs().max():.1e}, {imported:.1e} of the largest", flush=True)

    # Weights that a training here has left, running statistics included.
    ours("--steps", 3, "--learning-rate", 0.01, "--seed", 3, "--export", folder / "ours.safetensors")
    ours("--evaluate", "--steps", 1, "--load", folder / "ours.safetensors", "--logits", folder / "logits")
    fresh = torchvision.models.get_model(f"resnet{depth}")
    fresh.load_state_dict(load_file(folder / "ours.safetensors"), strict=True)
    with torch.no_grad():
        wanted = fresh.eval()(images)
    exported = worst(logits(), wanted)
    print(f"ResNet-{depth}: ours in torchvision, strictly: logits of size {wanted.abs().max():.2f} differ by "
          f"{(logits() - wanted).abs().max():.1e}, {exported:.1e} of the largest", flush=True)

    for seed in range(given.seed, given.seed + 20):
        single, whole = drawn(depth, seed).train(), drawn(depth, seed).double().train()
        loss = functional.cross_entropy(whole(images.double()), labels)
        loss.backward()
        functional.cross_entropy(single(images), labels).backward()
        doubles = dict(whole.named_parameters())
        theirs = max(worst(value.grad, doubles[name].grad) for name, value in single.named_parameters())
        print(f"ResNet-{depth}: seed {seed}: torchvision's gradients in f32 differ from those in f64 by {theirs:.1e}", flush=True)
        if theirs < 1e-4:
            break
    before = state(drawn(depth, seed))
    save_file(before, folder / "before.safetensors", metadata={"format": "pt"})
    result = ours("--steps", 1, "--load", folder / "before.safetensors", "--learning-rate", RATE, "--momentum", 0,
                  "--weight-decay", 0, "--smoothing", 0, "--export", folder / "after.safetensors")
    after = load_file(folder / "after.safetensors")
    of_loss = abs(result["loss_first"] - loss.item()) / loss.item()
    distances = {name: worst((before[name].double() - after[name].double()) / RATE, value.grad)
                 for name, value in whole.named_parameters()}
    statistics = max(worst(after[name], value) for name, value in whole.named_buffers() if "running" in name)
    name = max(distances, key=distances.get)
    print(f"ResNet-{depth}: a step beside torchvision's in f64: the loss differs by {of_loss:.1e}, running statistics by "
          f"{statistics:.1e}, of {len(distances)} gradients most that of {name}, by {distances[name]:.1e} of its largest element",
          flush=True)
    return max(imported, exported, of_loss) <= 1e-4 and max(statistics, distances[name]) <= 1e-3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", default="build/quickstart/bench/run/resnet_step")
    parser.add_argument("--depths", type=lambda text: [int(n) for n in text.split(",")], default=[18, 50])
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        agree = [check(given, depth, pathlib.Path(folder)) for depth in given.depths]
    return 0 if all(agree) else 1


sys.exit(main())
