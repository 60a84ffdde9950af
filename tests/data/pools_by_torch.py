# SPDX-License-Identifier: Apache-2.0
"""Records what PyTorch's pools give, with gradients: python3 tests/data/pools_by_torch.py > tests/data/pools_by_torch.txt"""

import torch
import torch.nn.functional as F

x = torch.tensor([(i * 7 + 3) % 11 - 5 for i in range(30)], dtype=torch.float64).reshape(1, 1, 6, 5).requires_grad_()
with_nan = x.detach().clone()
with_nan[0, 0, 2, 1] = float("nan")


def show(name, y, by=x):
    print(name, *y.flatten().tolist())
    if by is x:
        weights = torch.arange(1, y.numel() + 1, dtype=y.dtype).reshape(y.shape)
        print(name + "_gradient", *torch.autograd.grad((y * weights).sum(), x)[0].flatten().tolist())


print("#", "PyTorch", torch.__version__)
show("max", F.max_pool2d(x, 3, 2, 1))
show("max_ceil", F.max_pool2d(x, (3, 2), 2, 0, ceil_mode=True))
show("max_dilated", F.max_pool2d(x, 2, 1, 1, 2))
ties = torch.tensor([(i // 5 + i % 5) % 4 for i in range(30)], dtype=x.dtype).reshape(1, 1, 6, 5).requires_grad_()
y = F.max_pool2d(ties, (3, 2), (2, 1), (1, 0))
print("max_of_equals_gradient", *torch.autograd.grad((y * torch.arange(1.0, 13).reshape(y.shape)).sum(), ties)[0].flatten().tolist())
show("max_nan", F.max_pool2d(with_nan, 3, 2, 1), with_nan)
show("mean", F.avg_pool2d(x, 3, 2, 1))
show("mean_of_elements", F.avg_pool2d(x, 3, 2, 1, count_include_pad=False))
show("mean_ceil", F.avg_pool2d(x, 2, 2, 0, ceil_mode=True))
