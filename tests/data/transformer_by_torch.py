# SPDX-License-Identifier: Apache-2.0
"""Trains the Transformer of examples/transformer.hpp in PyTorch, from weights that a formula gives, and records what
tests/data/transformer_by_torch.cpp must find: twenty losses, and the norm of the first gradient of every parameter.

    python3 transformer_by_torch.py > transformer_by_torch.txt        # PyTorch 2.15
"""

import math

import torch

BATCH, LENGTH, LAYERS, D_MODEL, HEADS, D_HEAD, D_FF, VOCAB = 4, 16, 2, 32, 4, 8, 64, 256
RATE, WARMUP, STEPS, LAST, DECAY, CLIP = 3e-3, 5, 40, 0.1, 0.01, 1.0
SHAPES = {
    "decoder/layers/attention/key": (LAYERS, D_MODEL, HEADS, D_HEAD),
    "decoder/layers/attention/out": (LAYERS, HEADS, D_HEAD, D_MODEL),
    "decoder/layers/attention/query": (LAYERS, D_MODEL, HEADS, D_HEAD),
    "decoder/layers/attention/value": (LAYERS, D_MODEL, HEADS, D_HEAD),
    "decoder/layers/feed_forward/down/bias": (LAYERS, D_MODEL),
    "decoder/layers/feed_forward/down/weight": (LAYERS, D_FF, D_MODEL),
    "decoder/layers/feed_forward/up/bias": (LAYERS, D_FF),
    "decoder/layers/feed_forward/up/weight": (LAYERS, D_MODEL, D_FF),
    "decoder/layers/norm_1/bias": (LAYERS, D_MODEL),
    "decoder/layers/norm_1/gain": (LAYERS, D_MODEL),
    "decoder/layers/norm_2/bias": (LAYERS, D_MODEL),
    "decoder/layers/norm_2/gain": (LAYERS, D_MODEL),
    "decoder/norm/bias": (D_MODEL,),
    "decoder/norm/gain": (D_MODEL,),
    "decoder/positions": (LENGTH, D_MODEL),
    "decoder/tokens/table": (VOCAB, D_MODEL),
    "logits/bias": (VOCAB,),
    "logits/weight": (D_MODEL, VOCAB),
}


def first_values(place, name, shape):
    """Element i of the parameter that is `place`th by name."""
    values = [0.2 * math.sin(0.7 * (place + 1) + 1.3 * i + 0.01 * (i % 97) * (i % 89)) for i in range(math.prod(shape))]
    if name.endswith("gain"):
        values = [1 + v for v in values]
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def loss_of(p, text, following):
    norm = lambda x, name, l=None: torch.nn.functional.layer_norm(
        x, (D_MODEL,), *(p[f"{name}/{part}"] if l is None else p[f"{name}/{part}"][l] for part in ("gain", "bias")))
    x = p["decoder/tokens/table"][text] + p["decoder/positions"]
    for l in range(LAYERS):
        a = "decoder/layers/attention/"
        asked = norm(x, "decoder/layers/norm_1", l)
        q, k, v = (torch.einsum("blm,mhd->bhld", asked, p[a + name][l]) for name in ("query", "key", "value"))
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + torch.einsum("bhld,hdm->blm", mixed, p[a + "out"][l])
        f = "decoder/layers/feed_forward/"
        up = norm(x, "decoder/layers/norm_2", l) @ p[f + "up/weight"][l] + p[f + "up/bias"][l]
        x = x + torch.nn.functional.gelu(up) @ p[f + "down/weight"][l] + p[f + "down/bias"][l]
    logits = norm(x, "decoder/norm") @ p["logits/weight"] + p["logits/bias"]
    return torch.nn.functional.cross_entropy(logits.reshape(-1, VOCAB), following.reshape(-1))


def rate_of(step):
    along = min(1, max(0, (step - WARMUP) / max(STEPS - WARMUP, 1)))
    return RATE * min(1, (step + 1) / max(WARMUP, 1)) * (LAST + (1 - LAST) * (1 + math.cos(math.pi * along)) / 2)


def record(kind, dtype):
    p = {name: first_values(i, name, shape).to(dtype).requires_grad_() for i, (name, shape) in enumerate(SHAPES.items())}
    positions = torch.arange(BATCH * LENGTH).reshape(BATCH, LENGTH)
    text, following = (positions * 7 + 3 * positions * positions) % VOCAB, (positions * 5 + 1) % VOCAB
    optimizer = torch.optim.AdamW(p.values(), lr=RATE, betas=(0.9, 0.999), eps=1e-8, weight_decay=DECAY)
    for step in range(20):
        optimizer.zero_grad()
        loss = loss_of(p, text, following)
        loss.backward()
        if step == 0:
            for name, value in p.items():
                print(f"{kind} norm {name} {value.grad.double().norm().item():.17g}")
        print(f"{kind} loss {step} {loss.item():.17g}")
        length = torch.sqrt(sum((value.grad * value.grad).sum() for value in p.values()))
        factor = CLIP / torch.clamp(length, min=CLIP)
        for value in p.values():
            value.grad *= factor
        optimizer.param_groups[0]["lr"] = rate_of(step)
        optimizer.step()


if __name__ == "__main__":
    torch.manual_seed(0)
    record("f32", torch.float32)
    record("f64", torch.float64)
