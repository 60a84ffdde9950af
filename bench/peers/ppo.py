# SPDX-License-Identifier: Apache-2.0
"""JAX and PyTorch: PPO on cart-pole as the example ppo has it, in turn with it, `ppo.py PROGRAM [--rounds N]`.

Prints steps of environments a second, learning included, and our ratio to each peer. In JAX, a call is one jitted
function with scans over steps, epochs and minibatches. In PyTorch, a vector of environments of NumPy arrays has the same
dynamics. It takes the place of Gymnasium's, so that no object is made in a step. Networks, sizes and the order of the
work are those of the example. JAX uses the threads that it likes, the others `--threads`."""

import argparse
import re
import statistics
import subprocess
import time

gamma, lam, clip, value_weight, epsilon, clip_norm, limit = 0.99, 0.95, 0.2, 0.5, 1e-5, 0.5, 500


def cart_pole_step(np, state, action):
    """The next states and whether the episodes terminate, of arrays of NumPy or JAX with the variables last."""
    x, speed, angle, turn = (state[..., i] for i in range(4))
    force = 20.0 * action - 10.0
    sine, cosine = np.sin(angle), np.cos(angle)
    push = (force + 0.05 * turn * turn * sine) / 1.1
    turn_gain = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine * cosine / 1.1))
    speed_gain = push - 0.05 * turn_gain * cosine / 1.1
    x, speed = x + 0.02 * speed, speed + 0.02 * speed_gain
    angle, turn = angle + 0.02 * turn, turn + 0.02 * turn_gain
    falls = (np.abs(x) > 2.4) | (np.abs(angle) > 12 * np.pi / 180)
    return np.stack([x, speed, angle, turn], -1), falls


def jax_ppo(given):
    import jax
    import jax.numpy as jnp
    from jax import lax, random

    def init(key):
        def dense(k, n_in, n_out, scale=None):
            scale = n_in ** -0.5 if scale is None else scale
            return random.normal(k, (n_in, n_out), jnp.float32) * scale, jnp.zeros(n_out, jnp.float32)
        k = random.split(key, 6)
        return {"actor": [dense(k[0], 4, 64), dense(k[1], 64, 64), dense(k[2], 64, 2, 0.01)],
                "critic": [dense(k[3], 4, 64), dense(k[4], 64, 64), dense(k[5], 64, 1)]}

    def network(layers, x):
        for w, b in layers[:-1]:
            x = jnp.tanh(x @ w + b)
        return x @ layers[-1][0] + layers[-1][1]

    def act(params, carry, key):
        state, length, score = carry
        k_reset, k_act = random.split(key)
        fresh = random.uniform(k_reset, state.shape, jnp.float32, -0.05, 0.05)
        state = jnp.where((length == 0)[:, None], fresh, state)
        logits = network(params["actor"], state)
        action = random.categorical(k_act, logits)
        logp = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], -1)[:, 0]
        after, terminates = cart_pole_step(jnp, state, action.astype(jnp.float32))
        length, score = length + 1, score + 1.0
        ends = terminates | (length == limit)
        seen = (state, after, action, logp, jnp.ones_like(score), terminates, ends, score)
        return (after, jnp.where(ends, 0, length), jnp.where(ends, 0.0, score)), seen

    def loss_of(params, obs, action, old, adv, target):
        logp_all = jax.nn.log_softmax(network(params["actor"], obs))
        logp = jnp.take_along_axis(logp_all, action[..., None], -1)[..., 0]
        value = network(params["critic"], obs)[..., 0]
        centred = adv - adv.mean()
        adv = centred / (jnp.sqrt((centred * centred).mean()) + 1e-8)
        ratio = jnp.exp(logp - old)
        gain = jnp.minimum(ratio * adv, jnp.clip(ratio, 1 - clip, 1 + clip) * adv).mean()
        return -gain + value_weight * ((value - target) ** 2).mean()

    def adam(params, grads, m, v, t, rate):
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
        grads = jax.tree.map(lambda g: g * (clip_norm / jnp.maximum(clip_norm, norm)), grads)
        t = t + 1
        m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
        v = jax.tree.map(lambda a, g: 0.999 * a + 0.001 * g * g, v, grads)
        c1, c2 = 1 - 0.9 ** t, 1 - 0.999 ** t
        params = jax.tree.map(lambda p, a, b: p - rate * (a / c1) / (jnp.sqrt(b / c2) + epsilon), params, m, v)
        return params, m, v, t

    @jax.jit
    def update(learner, carry, key, rate):
        k_act, k_epochs = random.split(key)
        params = learner[0]
        carry, seen = lax.scan(lambda c, k: act(params, c, k), carry, random.split(k_act, given.steps))
        obs, after, action, logp, reward, terminates, ends, score = seen
        value, next_value = network(params["critic"], obs)[..., 0], network(params["critic"], after)[..., 0]
        error = reward + gamma * jnp.where(terminates, 0, next_value) - value
        kept = jnp.where(ends, 0.0, gamma * lam)

        def backwards(later, now):
            later = now[0] + now[1] * later
            return later, later
        _, adv = lax.scan(backwards, jnp.zeros(given.environments), (error, kept), reverse=True)
        data = (obs, action, logp, adv, adv + value)

        def epoch(learner, key):
            order = jnp.argsort(random.uniform(key, (given.steps, given.environments)), axis=0)
            order = order.reshape(given.minibatches, given.steps // given.minibatches, given.environments)

            def minibatch(learner, picked):
                take = lambda x: jnp.take_along_axis(x, picked.reshape(picked.shape + (1,) * (x.ndim - 2)), 0)
                params, m, v, t = learner
                loss, grads = jax.value_and_grad(loss_of)(params, *(take(x) for x in data))
                return adam(params, grads, m, v, t, rate), loss
            return lax.scan(minibatch, learner, order)
        learner, losses = lax.scan(epoch, learner, random.split(k_epochs, given.epochs))
        return learner, carry, jnp.sum(ends * score), jnp.sum(ends), losses.mean()

    params = init(random.PRNGKey(1))
    zeros = jax.tree.map(jnp.zeros_like, params)
    held = {"learner": (params, zeros, zeros, jnp.float32(0)),
            "carry": (jnp.zeros((given.environments, 4)), jnp.zeros(given.environments, jnp.int32),
                      jnp.zeros(given.environments)), "key": random.PRNGKey(2)}

    def call(rate):
        held["key"], now = random.split(held["key"])
        held["learner"], held["carry"], scores, count, loss = update(held["learner"], held["carry"], now, rate)
        return float(scores), float(count), float(loss)
    return f"JAX {jax.__version__}", call


def torch_ppo(given):
    import numpy as np
    import torch
    from torch import nn
    torch.manual_seed(1)
    torch.set_num_threads(given.threads)
    drawn = np.random.default_rng(1)

    def network(outputs):
        return nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))
    actor, critic = network(2), network(1)
    with torch.no_grad():
        actor[4].weight.mul_(0.1)
    parameters = [*actor.parameters(), *critic.parameters()]
    adam = torch.optim.Adam(parameters, eps=epsilon)
    n, steps = given.environments, given.steps
    held = {"state": np.zeros((n, 4), np.float32), "length": np.zeros(n, np.int64), "score": np.zeros(n, np.float32)}

    def call(rate):
        for group in adam.param_groups:
            group["lr"] = rate
        state, length, score = held["state"], held["length"], held["score"]
        obs, after = torch.empty(steps, n, 4), torch.empty(steps, n, 4)
        actions, logp = torch.empty(steps, n, dtype=torch.int64), torch.empty(steps, n)
        terminates, ends = torch.empty(steps, n, dtype=torch.bool), torch.empty(steps, n, dtype=torch.bool)
        scores = count = 0.0
        with torch.no_grad():
            for t in range(steps):
                fresh = drawn.uniform(-0.05, 0.05, (n, 4)).astype(np.float32)
                state = np.where((length == 0)[:, None], fresh, state)
                obs[t] = torch.from_numpy(state)
                policy = torch.distributions.Categorical(logits=actor(obs[t]))
                action = policy.sample()
                logp[t], actions[t] = policy.log_prob(action), action
                state, falls = cart_pole_step(np, state, action.numpy().astype(np.float32))
                length, score = length + 1, score + 1
                over = falls | (length == limit)
                after[t], terminates[t], ends[t] = map(torch.from_numpy, (state, falls, over))
                scores, count = scores + float(score[over].sum()), count + float(over.sum())
                length, score = np.where(over, 0, length), np.where(over, 0, score)
            held.update(state=state, length=length, score=score)
            value, next_value = critic(obs)[..., 0], critic(after)[..., 0]
            error = 1 + gamma * next_value * ~terminates - value
            kept, later, adv = gamma * lam * ~ends, torch.zeros(n), torch.empty(steps, n)
            for t in reversed(range(steps)):
                adv[t] = later = error[t] + kept[t] * later
            target = adv + value
        for _ in range(given.epochs):
            for picked in torch.argsort(torch.rand(steps, n), 0).chunk(given.minibatches):
                take = lambda x: torch.gather(x, 0, picked)
                x = torch.gather(obs, 0, picked[..., None].expand(-1, -1, 4))
                a = take(adv)
                a = (a - a.mean()) / (a.std(correction=0) + 1e-8)
                ratio = torch.exp(torch.gather(actor(x).log_softmax(-1), -1, take(actions)[..., None])[..., 0] - take(logp))
                gain = torch.minimum(ratio * a, ratio.clamp(1 - clip, 1 + clip) * a).mean()
                loss = -gain + value_weight * ((critic(x)[..., 0] - take(target)) ** 2).mean()
                adam.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(parameters, clip_norm)
                adam.step()
        return scores, count, float(loss.detach())
    return f"PyTorch {torch.__version__.split('+')[0]}", call


def timed(call, given):
    """Environment steps a second of some calls."""
    begin = time.time()
    for _ in range(given.updates):
        call(given.learning_rate)
    return given.updates * given.environments * given.steps / (time.time() - begin)


def ours(given):
    """What the example says of as many calls behind its first one."""
    sizes = [f"--{o}={getattr(given, o)}" for o in ("environments", "steps", "minibatches", "epochs", "threads")]
    run = subprocess.run([given.program, *sizes, f"--updates={given.updates + 1}", "--episodes=1"], check=True,
                         capture_output=True, text=True)
    return float(re.search(r"(\d+) steps of environments a second", run.stderr)[1])


def learns(name, call, given):
    """Prints how the scores rise, which shows that a peer does the same work."""
    for i in range(given.updates):
        scores, count, loss = call(given.learning_rate * (1 - i / given.updates))
        if (i + 1) % 10 == 0:
            print(f"{name}: update {i + 1}, score {scores / max(count, 1):.1f}, loss {loss:.2f}", flush=True)


def compare(peers, given):
    """Runs all in turn, and prints medians and the ratios of each round."""
    for _, call in peers:
        call(given.learning_rate)
    rounds = [(ours(given), [timed(call, given) for _, call in peers]) for _ in range(given.rounds)]
    print(f"ours: {statistics.median(mine for mine, _ in rounds):.0f} steps a second")
    for k, (name, _) in enumerate(peers):
        ratios = [mine / others[k] for mine, others in rounds]
        print(f"{name}: {statistics.median(others[k] for _, others in rounds):.0f} steps a second, ratio "
              f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="?", help="examples/ppo; without it the peers only learn")
    for option, default in (("rounds", 7), ("updates", 20), ("environments", 16), ("steps", 128), ("minibatches", 4),
                            ("epochs", 4), ("threads", 1)):
        parser.add_argument(f"--{option}", type=int, default=default)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--peers", default="jax,torch")
    given = parser.parse_args()
    peers = [{"torch": torch_ppo, "jax": jax_ppo}[name](given) for name in given.peers.split(",")]
    if given.program:
        compare(peers, given)
    else:
        for name, call in peers:
            learns(name, call, given)


if __name__ == "__main__":
    main()
