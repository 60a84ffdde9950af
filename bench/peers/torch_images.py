# SPDX-License-Identifier: Apache-2.0
"""torchvision's DataLoader beside bench/micro/image_batches.cpp, in turn: images a second of the pipeline alone.

    python3 torch_images.py FOLDER [--make 1024] [--ours PROGRAM] [--workers 2] [--rounds 5] [--seconds 10] [--judge]

`--make` fills the folder with so many JPEG files of 500 x 375 first, about as large as ImageNet's.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import time

import numpy as np
import torch
import torchvision
from PIL import Image
from torchvision import transforms


def make(folder, count):
    """Smooth colours under noise, in ten classes."""
    rng = np.random.default_rng(0)
    sizes = []
    for i in range(count):
        path = folder / f"class_{i % 10}" / f"{i:06}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        coarse = Image.fromarray(rng.integers(0, 256, (24, 32, 3), np.uint8)).resize((500, 375), Image.BICUBIC)
        pixels = np.asarray(coarse) + rng.normal(0, 10, (375, 500, 1))
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(path, quality=90)
        sizes.append(path.stat().st_size)
    print(f"{count} files of {statistics.mean(sizes) / 1000:.0f} kB")


def loader(folder, workers, judge):
    seen = ([transforms.Resize(256), transforms.CenterCrop(224)] if judge else
            [transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip()])
    last = [transforms.ToTensor(), transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))]
    files = torchvision.datasets.ImageFolder(folder, transforms.Compose(seen + last))
    return torch.utils.data.DataLoader(files, 64, shuffle=not judge, num_workers=workers, persistent_workers=workers > 0)


def peer(batches, seconds):
    """Goes on over epochs; a new one begins while the workers still have nothing ahead, which is not counted."""
    images = taken = 0
    while taken < seconds:
        each = iter(batches)
        for _ in range(3):
            next(each)
        begin = time.perf_counter()
        for pixels, _ in each:
            images += len(pixels)
            if taken + time.perf_counter() - begin >= seconds:
                break
        taken += time.perf_counter() - begin
    return images / taken


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--make", type=int, default=0)
    parser.add_argument("--ours", default="build/quickstart/bench/micro/image_batches")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--judge", action="store_true")
    given = parser.parse_args()
    if given.make:
        make(given.folder, given.make)
    batches = loader(given.folder, given.workers, given.judge)
    rows = []
    for _ in range(given.rounds):
        command = [given.ours, given.folder, str(given.workers), str(given.seconds), "judge" if given.judge else "learn"]
        ours = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["images_per_second"]
        rows.append((ours, peer(batches, given.seconds)))
        print(f"ours {rows[-1][0]:.0f} images/s, torchvision {rows[-1][1]:.0f}: {rows[-1][0] / rows[-1][1]:.2f}", flush=True)
    ratios = sorted(a / b for a, b in rows)
    middle = [statistics.median(column) for column in zip(*rows)]
    print(f"medians: ours {middle[0]:.0f}, torchvision {middle[1]:.0f}, ratio {statistics.median(ratios):.2f} "
          f"({ratios[0]:.2f} to {ratios[-1]:.2f}); torch {torch.__version__}, torchvision {torchvision.__version__}")


main()
