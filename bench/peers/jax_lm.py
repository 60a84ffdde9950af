# SPDX-License-Identifier: Apache-2.0
"""JAX: the training step of bench/run/lm_step.cpp, compiled as a whole."""

import lm

given, size = lm.options(__doc__, ["jit"], ["f32", "bf16"])

import functools
import os

os.environ["JAX_PLATFORMS"] = given.device
import jax
import numpy
from jax import numpy as jnp

if given.dtype == "f32":  # not rounded to TF32 before products, which a GPU would do
    jax.config.update("jax_default_matmul_precision", "highest")
TYPE = jnp.bfloat16 if given.dtype == "bf16" else jnp.float32
HEADS, MODEL, HIDDEN = size["heads"], size["d_model"], size["d_ff"]


def start():
    random = numpy.random.default_rng(0)
    normal = lambda scale, *shape: jnp.asarray(random.normal(0, scale, shape), jnp.float32)
    norm = lambda: {"scale": jnp.ones(MODEL), "shift": jnp.zeros(MODEL)}
    layer = lambda: {
        "norm_1": norm(), "norm_2": norm(),
        "inward": normal(MODEL**-0.5, MODEL, 3, HEADS, MODEL // HEADS),
        "outward": normal(MODEL**-0.5, HEADS, MODEL // HEADS, MODEL),
        "up": normal(MODEL**-0.5, MODEL, HIDDEN), "up_bias": jnp.zeros(HIDDEN),
        "down": normal(HIDDEN**-0.5, HIDDEN, MODEL), "down_bias": jnp.zeros(MODEL)}
    layers = [layer() for _ in range(size["layers"])]
    return {
        "tokens": normal(MODEL**-0.5, size["vocab"], MODEL), "positions": normal(0.02, size["length"], MODEL),
        "layers": jax.tree_util.tree_map(lambda *all: jnp.stack(all), *layers), "norm": norm(),
        "logits": normal(MODEL**-0.5, MODEL, size["vocab"]), "bias": jnp.zeros(size["vocab"])}


def normalized(x, p):
    x = x.astype(jnp.float32)
    centred = x - x.mean(-1, keepdims=True)
    return (centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * p["scale"] + p["shift"]).astype(TYPE)


def layer(x, p):
    query, key, value = jnp.einsum("blm,mthd->tblhd", normalized(x, p["norm_1"]), p["inward"].astype(TYPE))
    attended = jax.nn.dot_product_attention(query, key, value, is_causal=True)
    x = x + jnp.einsum("blhd,hdm->blm", attended, p["outward"].astype(TYPE))
    hidden = jax.nn.relu(normalized(x, p["norm_2"]) @ p["up"].astype(TYPE) + p["up_bias"].astype(TYPE))
    return x + hidden @ p["down"].astype(TYPE) + p["down_bias"].astype(TYPE), None


def loss_of(p, text, next_text):
    x = (p["tokens"][text] + p["positions"]).astype(TYPE)
    x, _ = jax.lax.scan(layer, x, p["layers"])
    logits = (normalized(x, p["norm"]) @ p["logits"].astype(TYPE)).astype(jnp.float32) + p["bias"]
    chosen = jnp.take_along_axis(logits, next_text[..., None], -1)[..., 0]
    return (jax.nn.logsumexp(logits, -1) - chosen).mean()


@functools.partial(jax.jit, donate_argnums=(0, 1, 2))
def train(p, first, second, count, text, next_text):
    loss, gradient = jax.value_and_grad(loss_of)(p, text, next_text)
    each = jax.tree_util.tree_map
    first = each(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = each(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)
    rate = 1e-3 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    p = each(lambda w, m, v: w - rate * m / (jnp.sqrt(v) + 1e-8), p, first, second)
    return p, first, second, loss


zeros = lambda tree: jax.tree_util.tree_map(jnp.zeros_like, tree)
weights = start()
state = [weights, zeros(weights), zeros(weights)]
data = lm.batches(size)
done = 0


def step():
    global done
    done += 1
    text, next_text = next(data)
    *state[:], loss = train(*state, float(done), text, next_text)
    return loss.block_until_ready()


lm.measure(f"JAX {jax.__version__}", given, size, step)
