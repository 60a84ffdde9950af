# SPDX-License-Identifier: Apache-2.0
"""PyTorch: the training step of bench/run/lm_step.cpp."""

import lm

given, size = lm.options(__doc__, ["eager", "compile"], ["f32", "bf16", "f64"])

import torch
from torch import nn
from torch.nn import functional

if given.threads:
    torch.set_num_threads(given.threads)
torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self, model, heads):
        super().__init__()
        self.heads = heads
        self.inward = nn.Linear(model, 3 * model, bias=False)
        self.outward = nn.Linear(model, model, bias=False)

    def forward(self, x):
        batch, length, model = x.shape
        parts = self.inward(x).view(batch, length, 3, self.heads, model // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.outward(attended.transpose(1, 2).reshape(batch, length, model))


class Layer(nn.Module):
    def __init__(self, model, heads, hidden):
        super().__init__()
        self.attention = nn.Sequential(nn.LayerNorm(model), Attention(model, heads))
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(model), nn.Linear(model, hidden), nn.ReLU(), nn.Linear(hidden, model))

    def forward(self, x):
        x = x + self.attention(x)
        return x + self.feed_forward(x)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        model = size["d_model"]
        self.tokens = nn.Embedding(size["vocab"], model)
        self.positions = nn.Parameter(torch.randn(size["length"], model) * 0.02)
        self.layers = nn.Sequential(*(Layer(model, size["heads"], size["d_ff"]) for _ in range(size["layers"])))
        self.logits = nn.Sequential(nn.LayerNorm(model), nn.Linear(model, size["vocab"]))

    def forward(self, text, next_text):
        logits = self.logits(self.layers(self.tokens(text) + self.positions))
        return functional.cross_entropy((logits if given.dtype == "f64" else logits.float()).flatten(0, 1), next_text.flatten())


model = Model().to(given.device, torch.float64 if given.dtype == "f64" else torch.float32)
loss_of = torch.compile(model) if given.mode == "compile" else model
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
data = lm.batches(size)


def step():
    text, next_text = (torch.from_numpy(part).to(given.device) for part in next(data))
    with torch.autocast(given.device, torch.bfloat16, enabled=given.dtype == "bf16"):
        loss = loss_of(text, next_text)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()


lm.measure(f"PyTorch {torch.__version__.split('+')[0]} {given.mode}", given, size, step)
