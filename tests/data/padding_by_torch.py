# SPDX-License-Identifier: Apache-2.0
"""Convolutions along one dim by PyTorch under each rule of padding, and records their results and the gradients by operand
and kernel: python3 tests/data/padding_by_torch.py > tests/data/padding_by_torch.txt

PyTorch has "same" for stride 1 alone; for other strides the padding is what TensorFlow's documentation says of SAME."""

import torch
import torch.nn.functional as F


def numbers(count, by):
    return torch.tensor([(by * i + 3) % 11 - 5 for i in range(count)], dtype=torch.float64)


def same(x, k, stride, dilation):
    if stride == 1:
        return F.conv1d(x, k, padding="same", dilation=dilation)
    span = dilation * (k.numel() - 1) + 1
    places = -(-x.numel() // stride)
    padding = max((places - 1) * stride + span - x.numel(), 0)
    return F.conv1d(F.pad(x, (padding // 2, padding - padding // 2)), k, stride=stride, dilation=dilation)


def centred(x, k, stride, dilation):
    return F.conv1d(x, k, padding=dilation * (k.numel() - 1) // 2, stride=stride, dilation=dilation)


def circular(x, k, stride, dilation):
    padding = dilation * (k.numel() - 1) // 2
    return F.conv1d(F.pad(x, (padding, padding), mode="circular"), k, stride=stride, dilation=dilation)


CASES = [
    (same, 1, 1, 2), (same, 1, 2, 3), (same, 2, 1, 3), (same, 2, 1, 5), (same, 3, 1, 2), (same, 2, 2, 3),
    (centred, 1, 2, 3), (centred, 2, 1, 3), (centred, 2, 2, 5), (centred, 3, 1, 5),
    (circular, 1, 1, 5), (circular, 1, 2, 3), (circular, 2, 1, 3), (circular, 2, 2, 3),
]
print("#", "PyTorch", torch.__version__)
for extent in (6, 7, 8, 9, 10):
    for rule, stride, dilation, size in CASES:
        x = numbers(extent, 7).reshape(1, 1, -1).requires_grad_()
        k = numbers(size, 4).reshape(1, 1, -1).requires_grad_()
        y = rule(x, k, stride, dilation)
        assert y.numel() == -(-extent // stride)
        gradients = torch.autograd.grad((y * numbers(y.numel(), 5).reshape(y.shape)).sum(), (x, k))
        for name, value in zip(("y", "dx", "dk"), (y, *gradients)):
            print(f"{rule.__name__}_{stride}_{dilation}_{size}/{name}/{extent}", *map(int, value.flatten().tolist()))
