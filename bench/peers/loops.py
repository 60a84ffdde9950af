# SPDX-License-Identifier: Apache-2.0
"""PyTorch and JAX: the loops of bench/run/loop_step.cpp, in turn with it, `loops.py PROGRAM [--rounds N]`.

JAX differentiates a scan of a fixed length: its while_loop has no gradient backwards. PyTorch unrolls the loop as it
runs, and counts on the host."""

import argparse
import statistics
import subprocess
import time

steps, batch, hidden, empty_steps = 200, 64, 512, 20000
operations = 3 * 2 * steps * batch * hidden * hidden


def median_of(step, calls=7):
    for _ in range(2):
        step()
    took = []
    for _ in range(calls):
        begin = time.time()
        step()
        took.append(time.time() - begin)
    return statistics.median(took)


def torch_loops():
    import torch
    weights = (torch.randn(hidden, hidden) / hidden**0.5).requires_grad_()
    inputs, start = torch.randn(steps, batch, hidden) * 0.1, torch.zeros(batch, hidden)

    def step():
        weights.grad = None
        state = start
        for i in range(steps):
            state = torch.tanh(state @ weights + inputs[i])
        (state * state).mean().backward()

    def count():
        i = torch.zeros(())
        while i < empty_steps:
            i = i + 1

    return f"PyTorch {torch.__version__.split('+')[0]}", step, count


def jax_loops():
    import jax
    import jax.numpy as jnp
    keys = jax.random.split(jax.random.PRNGKey(0))
    weights = jax.random.normal(keys[0], (hidden, hidden)) / hidden**0.5
    inputs = jax.random.normal(keys[1], (steps, batch, hidden)) * 0.1

    def loss(w, x):
        cell = lambda state, now: (jnp.tanh(state @ w + now), None)
        last, _ = jax.lax.scan(cell, jnp.zeros((batch, hidden)), x)
        return (last * last).mean()

    both = jax.jit(jax.value_and_grad(loss))
    counter = jax.jit(lambda n: jax.lax.while_loop(lambda i: i < n, lambda i: i + 1.0, 0.0))
    return (f"JAX {jax.__version__}", lambda: jax.block_until_ready(both(weights, inputs)),
            lambda: counter(float(empty_steps)).block_until_ready())


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("program")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--peers", default="torch,jax")
given = parser.parse_args()
peers = [{"torch": torch_loops, "jax": jax_loops}[name]() for name in given.peers.split(",")]
for _ in range(given.rounds):
    print("ours:", subprocess.run([given.program], check=True, capture_output=True, text=True).stdout.strip())
    for name, step, count in peers:
        seconds, empty = median_of(step), median_of(count, 3)
        print(f"{name}: step {seconds * 1e3:.1f} ms, {operations / seconds * 1e-9:.1f} GFLOP/s; "
              f"an empty iteration {empty / empty_steps * 1e6:.3f} us")
