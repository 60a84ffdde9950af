// SPDX-License-Identifier: Apache-2.0
// Small programs that together use every operation: for tests of layouts, transports and the compiler's plans.
//
// Extents divide by 2, 3, 4, 6 and 8 where that is cheap, so that most layouts are legal. Real numbers have the dtype
// of the scope: `mt::precision<programs::mlp, mt::f64>`.
#pragma once

#include "meshtensor/meshtensor.hpp"

namespace programs {

namespace mt = meshtensor;
using mt::to;

inline constexpr struct batch_dim : mt::dim<"batch", 24> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 6> {} length;
inline constexpr struct memory_dim : mt::dim<"memory", 6> {} memory;
inline constexpr struct model_dim : mt::dim<"model", 12> {} model;
inline constexpr struct inner_dim : mt::dim<"inner", 24> {} inner;
inline constexpr struct heads_dim : mt::dim<"heads", 6> {} heads;
inline constexpr struct head_dim : mt::dim<"head", 2> {} head;
inline constexpr struct vocab_dim : mt::dim<"vocab", 12> {} vocab;
inline constexpr struct layers_dim : mt::dim<"layers", 2> {} layers;
inline constexpr struct steps_dim : mt::dim<"steps", 3> {} steps;
inline constexpr struct ax_axis : mt::axis<"ax"> {} ax;

/// A loss in which every element has another weight.
constexpr auto weighed(auto const& y) { return mt::mean(y * (y * 0.5 + 0.3)); }

// ---- operations, one family a program ----

/// Every function of floats, with its gradient.
struct functions {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    auto y = s.input("y", s.real(), model);
    auto positive = abs(x) + 0.25;
    auto a = exp(x) + log(positive) - sqrt(positive) * rsqrt(positive + 1);
    auto b = sin(x) * cos(y) + tanh(x) / (sigmoid(y) + 1);
    auto c = erf(x) + relu(x - y) + sign(x) + floor(x * 3) + sqrt(positive) * y;
    auto d = power(positive, y) + maximum(x, y) - minimum(x, 0.5 * y) + x % 0.75;
    auto e =
        select((x < y || y < -1) && !(x == y), a, b) + mt::gelu(c) + mt::gelu_tanh(d) + mt::silu(-x) + mt::softsign(y);
    auto loss = weighed(e);
    s.output("e", e);
    s.output("dx", gradient(loss, x));
    s.output("dy", gradient(loss, y));
  }
};

/// Integers and bools: comparison, logic, casts, indices.
struct discrete {
  constexpr void operator()(mt::scope auto s) const {
    auto i = s.input("i", mt::i32, batch, model);
    auto x = s.input("x", s.real(), batch, model);
    auto odd = i % 2 == 1;
    auto high = mt::cast<mt::dtype::i32>(x * 4) >= i - 2;
    auto chosen = select(odd || high, i * i, -i) / 2;
    s.output("chosen", chosen);
    s.output("any", any(odd && !high, model));
    s.output("all", all(odd != high || i <= 4, batch));
    s.output("total", sum(chosen, batch, model));
    s.output("greatest", max(chosen, batch));
    s.output("where", argmax(x, model));
    s.output("positions", maximum(mt::iota(s, model, mt::i32), i));
    s.output("small", mt::cast<mt::dtype::u8>(abs(i)));
    s.output("wide", sign(mt::cast<mt::dtype::i64>(i)) * 3);
  }
};

/// The rule of an einsum that is not a program's own: it may sum dims that one operand alone has.
constexpr mt::shape last_of(mt::shape const&, mt::shape const&, mt::shape const& result) { return result; }

/// One to four operands: outer and batched products, dims of one operand only.
struct contractions {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    auto w = s.input("w", s.real(), model, inner);
    auto v = s.input("v", s.real(), inner);
    auto h = einsum(x, w, to(batch, inner));
    auto outer = mt::detail::einsum_by<last_of, mt::dims<inner_dim, model_dim>>(v, x);  // sums batch, of x alone
    auto scaled = einsum(x, w, v, to(inner, batch));
    auto all = einsum(x, w, v, x, to());
    auto batched = einsum(h, outer, w, to(batch, model));
    auto many = einsum(x, w, v, x, w, h, v, outer, x, to(batch));  // more operands than one node can have
    s.output("column", einsum(x, to(model)));
    s.output("scaled", scaled);
    s.output("batched", batched);
    auto loss = weighed(batched) + weighed(scaled) * 0.125 + all / (all * all + 1) + mean(tanh(many * 1e-3));
    s.output("dx", gradient(loss, x));
    s.output("dw", gradient(loss, w));
    s.output("dv", gradient(loss, v));
  }
};

struct reductions {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, length, model);
    auto highest = max(x, length) + min(x, length);
    auto spread = logsumexp(x, model);
    auto middle = x - mean(x, length, batch);
    auto loss = sum(highest * 0.25) + mean(spread * spread) + weighed(middle) + max(x) * min(x);
    s.output("loss", loss);
    s.output("sums", sum(x, batch, model));
    s.output("dx", gradient(loss, x));
  }
};

struct softmaxes {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, length, memory);
    auto p = softmax(x * 3, memory);
    auto q = log_softmax(x, length);
    auto hidden = softmax(causal(x, length, memory), memory);
    auto loss = weighed(p) + weighed(q) + sum(hidden * x, batch, length, memory);
    s.output("p", p);
    s.output("hidden", hidden);
    s.output("dx", gradient(loss, x));
  }
};

/// NaN and infinities, and fully masked rows: operations that pass them on, operations that drop them, finite
/// gradients.
struct not_finite {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, length, memory);
    auto label = s.input("label", mt::i32, batch, length);
    auto query = s.input("question", s.real(), batch, length, model);
    auto key = s.input("key", s.real(), batch, memory, model);
    auto row = mt::iota(s, batch, mt::i32) % 4;
    auto at = mt::iota(s, memory, mt::i32);
    auto nan = sqrt(stop_gradient(x) * 0 - 1), least = log(stop_gradient(x) * 0);
    auto y = select(row == 3 || (row == 2 && at > 2), least, x);
    auto z = select(row == 1 && at == 3, nan, y);
    s.output("relu", relu(z));
    s.output("greatest", max(z, batch));
    s.output("least", min(z, memory));
    s.output("where", argmax(z, memory));
    s.output("which", argmax(z, batch));
    s.output("greater", maximum(x * 0.5, z));
    s.output("lesser", minimum(z, x * 0.5));
    auto p = softmax(y, memory), q = log_softmax(y, memory);
    auto r = logsumexp(y, memory);
    auto each = mt::nn::cross_entropy(y, label, memory), smooth = mt::nn::cross_entropy(y, label, memory, 0.1);
    auto attended = mt::nn::dot_product_attention(query, key, key, length, memory, model, row != 3 && at < 5);
    s.output("p", p), s.output("q", q), s.output("r", r);
    s.output("each", each), s.output("smooth", smooth), s.output("seen", attended);
    auto loss = weighed(p) + sum(select(q > -1e9, q, 0)) * 0.3 + sum(select(r > -1e9, r, 0)) + sum(each - smooth * 0.7);
    s.output("dx", gradient(loss, x));
    auto [d_query, d_key] = gradient(weighed(attended), query, key);
    s.output("d_question", d_query), s.output("d_key", d_key);
  }
};

inline constexpr struct joined_dim : mt::dim<"joined", heads * head> {} joined;
inline constexpr struct past_dim : mt::dim<"past", length - 2> {} past;
inline constexpr struct longer_dim : mt::dim<"longer", length + 6> {} longer;
inline constexpr struct both_dim : mt::dim<"both", length + memory> {} both;

struct movements {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, length, joined);
    auto parts = split(x, joined, to(heads, head));
    auto transposed = merge(transpose(parts, to(head, heads, length, batch)) * 2, to(heads, head), joined);
    auto later = rename(x, length, memory);
    auto before = slice(x, length, past, 1);
    auto around = pad(transposed, length, longer, 4, 1);
    auto two = concat(transposed, length, later, memory, both);
    auto const step = (mt::extent(longer) - 1) / mt::extent(past);
    auto each = pad(slice(around, longer, past, mt::extent(longer) - 1, -1) * 3, past, longer, 0, 1, step);
    auto spread = broadcast(mean(before, joined), to(heads, past, batch));
    auto written = put(transposed, mean(before, past), length, 4);
    auto again = put(x, before * 2, length, mt::iota(s, past, mt::i32) / 2);  // of equal indices the last wins
    auto loss = weighed(again * again) * 0.1 + weighed(two) + weighed(around) * 0.5 + weighed(each * around) +
                weighed(spread * sum(parts, length)) + weighed(before) + weighed(written * written);
    s.output("two", two);
    s.output("around", around);
    s.output("each", each);
    s.output("written", written);
    s.output("again", again);
    s.output("dx", gradient(loss, x));
  }
};

/// Cumulative sums, sorted rows, elements shifted along a dim, tensors stacked and taken apart.
struct orders {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, length, model);
    auto w = s.parameter("w", model, mt::normal(1));
    auto y = x * w;
    auto sums = cumulative_sum(y, length);
    auto after = cumulative_sum(y * y, batch, {.exclusive = true, .reverse = true}) * 0.05;
    auto [sorted, position] = sort(y, model, mt::sort_order::descending);
    auto pair = stack(std::tuple(sums, sum(after, length)), head);
    auto [first, second] = unstack(pair * sum(sorted, length), head);
    auto moved = roll(y, length, 2) + shift(y * y, batch, -1, 0.5) * 0.1 - reverse(y, length);
    auto loss = weighed(first - second) + weighed(cumulative_sum(sorted, model, {.exclusive = true})) +
                0.1 * weighed(moved * moved);
    s.output("turned", moved);
    s.output("sums", sums);
    s.output("after", after);
    s.output("sorted", sorted);
    s.output("lowest", argsort(y, length) - position);
    s.output("dx", gradient(loss, x));
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
  }
};

/// Looks up rows of a table by integers, some of them out of range, and adds rows back into a table.
struct lookups {
  constexpr void operator()(mt::scope auto s) const {
    auto text = s.input("text", mt::i32, batch, length);
    auto table = s.parameter("table", vocab, model, mt::normal(1));
    auto rows = gather(table, text, vocab);
    auto by_product = einsum(one_hot(text, vocab, s.real()), table, to(batch, length, model));
    auto counted = scatter_add(rows, text, vocab, to(vocab, model));
    auto start = min(text, length);
    auto window = slice(rows, length, past, start);
    auto written = put(rows, window * window, length, past, start);
    auto loss = weighed(rows) + weighed(by_product * 2) + weighed(counted) * 0.01 + weighed(window) * 0.1 +
                weighed(written * written) * 0.1;
    s.output("rows", rows);
    s.output("difference", rows - by_product);
    s.output("written", written);
    mt::sgd{.learning_rate = 0.5}.minimize(s / "optimizer", loss);
  }
};

/// Random numbers, alone and in a loop: the same wherever an element lies.
struct noise {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    auto u = uniform(s / "u", s.real(), to(batch, model));
    auto n = normal(s / "n", s.real(), to(model, batch));
    auto coin = bernoulli(s / "coin", s.number("probability", 0.3), to(batch));
    auto walked = repeat(s / "walk", steps, x, [](mt::scope auto r, auto h) {
      return mt::nn::dropout(r / "drop", h + normal(r, r.real(), to(batch, model)), 0.25);
    });
    s.output("both", select(coin, u, n));
    s.output("walked", walked);
    s.output("dx", gradient(weighed(walked * u), x));
  }
};

/// Layout constraints on tensors.
struct asked {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    auto w = s.parameter("w", model, inner);
    auto y = mt::reshard(x * 2, mt::shard<model, ax>{}, mt::replicate<batch>{});
    auto h = mt::reshard(tanh(einsum(y, w, to(batch, inner))), mt::replicate<inner>{});
    auto loss = weighed(h);
    s.output("h", h);
    mt::sgd{}.minimize(s / "optimizer", loss);
  }
};

// ---- loops and composites ----

/// A residual network of equal layers, each with its own parameters.
struct mlp {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    auto y = repeat(s / "blocks", layers, x, [](mt::scope auto r, auto h) {
      return h + mt::nn::feed_forward(r, mt::nn::rms_norm(r / "norm", h, model), model, inner);
    });
    auto loss = mt::nn::mean_squared_error(y, sin(x));
    s.output("loss", loss);
    mt::adam{.learning_rate = 1e-2}.minimize(s / "optimizer", loss);
  }
};

/// A recurrent cell: shared parameters along a sequence; returns the last state and all states.
struct recurrent {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, length, model);
    auto start = s.input("start", s.real(), batch, inner);
    auto gain = s.parameter("gain", inner, mt::ones);
    auto [last, ys] = scan(s / "cell", length, start * gain, x, [&](mt::scope auto r, auto h, auto xt) {
      auto w = r.parameter("w", model, inner);
      auto u = r.parameter("u", inner, mt::constant(0.5));
      auto next = tanh(einsum(xt, w, to(batch, inner)) + h * u + gain);
      return std::tuple(next, einsum(next, w, to(batch, model)));
    });
    auto loss = weighed(last) + weighed(ys - x);
    s.output("ys", ys);
    s.output("loss", loss);
    s.output("dx", gradient(loss, x));
    mt::momentum{.learning_rate = 0.05}.minimize(s / "optimizer", loss);
  }
};

/// Two carries that are swapped, and one that counts.
struct trading {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    auto y = s.input("y", s.real(), batch, model);
    auto [a, b, n] = repeat(s / "trade", steps, std::tuple(x, y, mean(x, batch) * 0),
                            [](mt::scope auto, auto p, auto q, auto k) { return std::tuple(q, p, k + 1); });
    auto [c, d] = repeat(s / "mix", steps, std::tuple(a, b),
                         [](mt::scope auto, auto p, auto q) { return std::tuple(q * 0.5, p + q); });
    s.output("a", a);
    s.output("c", c);
    s.output("d", d + n);
    s.output("dx", gradient(weighed(c * d), x));
  }
};

/// Nested loops, each with parameters of its own, one of them along a sequence.
struct nested {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, length, model);
    auto scale = s.parameter("scale", model, mt::ones);
    auto y = repeat(s / "outer", layers, x, [&](mt::scope auto r, auto h) {
      auto w = r.parameter("w", model, mt::normal(0.5));
      auto inside = repeat(r / "inner", steps, h * scale, [&](mt::scope auto q, auto g) {
        return g + tanh(g * q.parameter("v", model, mt::normal(0.5)) + w) * 0.5;
      });
      auto [last, sums] =
          scan(r / "along", length, mean(inside, length), inside, [&](mt::scope auto q, auto total, auto part) {
            auto next = total * 0.5 + part * q.parameter("u", model, mt::normal(0.5)) * scale;
            return std::tuple(next, next - part);
          });
      return inside * 0.5 + sums * w + last;
    });
    auto loss = weighed(y);
    s.output("y", y);
    mt::sgd{.learning_rate = 0.1, .clip_norm = 0.5}.minimize(s / "optimizer", loss);
  }
};

/// A recurrent cell until its state settles, and for each word of a sequence a loop until a norm is great enough.
struct settled {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, length, model);
    auto gain = s.parameter("gain", inner, mt::constant(0.8));
    auto [count, h, last_change] = while_loop(
        s / "cell", mt::at_most(9), [](auto, auto, auto const& change) { return change > 1e-4; },
        [&](auto r, auto const& state, auto) {
          auto w = r.parameter("w", model, inner, mt::normal(0.3));
          auto next = tanh(einsum(mean(x, length), w, to(batch, inner)) + state * gain * 0.5);
          return std::tuple(next, mean((next - state) * (next - state)));
        },
        full(s, 0, s.real(), to(batch, inner)), full(s, 1, s.real()));
    auto start = einsum(h, s.parameter("back", inner, model, mt::normal(0.3)), to(batch, model));
    auto [last, ys] = scan(s / "along", length, start, x, [&](mt::scope auto r, auto g, auto now) {
      auto [times, grown] = while_loop(
          r / "grow", mt::at_most(5), [&](auto, auto const& f) { return mean(f * f) < 0.9 + 6 * mean(now); },
          [&](auto, auto const& f) { return f * 1.25 + tanh(now + f) * 0.25; }, g);
      return std::tuple(grown * 0.5, std::tuple(grown, times));
    });
    auto [all, times] = ys;
    auto loss = weighed(all) + weighed(last);
    s.output("count", count);
    s.output("times", times);
    s.output("y", all);
    s.output("dx", gradient(loss, x));
    mt::momentum{.learning_rate = 0.05}.minimize(s / "optimizer", loss);
  }
};

/// Branches: with parameters of each layer, in a loop that ends early, and one that a count chooses.
struct decided {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    auto deep = repeat(s / "layers", layers, x, [](mt::scope auto r, auto h) {
      auto w = r.parameter("w", model, inner, mt::normal(0.3));
      auto u = r.parameter("u", model, mt::normal(0.5));
      return cond(
          r / "which", sum(h * u) > 0,
          [&](auto) { return h + einsum(tanh(einsum(h, w, to(batch, inner))), w, to(batch, model)) * 0.5; },
          [&](auto) { return h * 0.75 - u * mean(h, batch); });
    });
    auto [count, y] = while_loop(
        s / "grow", mt::at_most(6), [](auto, auto const& h) { return mean(h * h) < 3; },
        [&](auto r, auto const& h) {
          auto [next, unused] = cond(
              r / "sign", max(h) > 2.5,
              [&](auto q) { return std::tuple(h * q.parameter("turn", model, mt::constant(-1.125)), max(h)); },
              [&](auto) { return std::tuple(h * 1.25 + softmax(h, model), min(h)); });
          return next;
        },
        deep);
    auto odd = cond(
        s / "odd", count % 2 == 1, [last = y](auto) { return mt::cast<mt::dtype::i32>(last * 8); },
        [&](auto) { return mt::iota(s, batch, mt::i32) + mt::cast<mt::dtype::i32>(x * 8); });
    auto loss = weighed(y * x);
    s.output("count", count);
    s.output("odd", odd);
    s.output("y", y);
    s.output("dx", gradient(loss, x));
    mt::adam{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
  }
};

/// Members with parameters of their own, which see the mean of all and their neighbour on a ring.
struct members {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    auto z = s.input("z", s.real(), length, model);
    auto y = mt::each(s / "members", length, z, [&](mt::scope auto m, auto z1) {
      auto h = tanh(z1 * m.parameter("w", model, mt::normal(0.5)) + mean(x, batch));
      auto centre = mean(mt::across(h, length), length);
      auto before = mt::own(roll(mt::across(h, length), length, 1), length);
      return (h - centre) * before * (1 + mt::cast<s.compute>(mt::index(m, length)) * 0.25);
    });
    auto loss = weighed(y);
    s.output("y", y);
    s.output("dx", gradient(loss, x));
    s.output("dz", gradient(loss, z));
    mt::adam{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
  }
};

/// User-defined composites: one returns its operands in another order, one has a gradient that differs from its body's;
/// in a loop and outside.
struct composites {
  static constexpr auto swapped(auto x, auto y) {
    return composite("swapped", [](auto a, auto b) { return std::tuple(b, a); }, x, y);
  }
  static constexpr auto steep(auto x, auto w) {
    return composite_with_gradient(
        "steep", [](auto a, auto b) { return tanh(a * b); },
        [](auto a, auto b, auto y, auto dy) {
          auto const da = dy * b * (1 - y * y * 0.5);
          return std::tuple(da, max(dy * a, batch));  // the maximum over the batch, not the sum
        },
        x, w);
  }
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    auto y = s.input("y", s.real(), batch, model);
    auto w = s.parameter("w", model, mt::normal(1));
    auto [a, b] = swapped(x, y);
    auto [c, d] = repeat(s / "loop", steps, std::tuple(a, b), [&](mt::scope auto, auto p, auto q) {
      auto [u, v] = swapped(p, q);
      return std::tuple(u, steep(v, w) + p * 0.25);
    });
    auto loss = weighed(steep(c, w)) + weighed(d) + sum(a * b) * 0.01 + mean(stop_gradient(c) * w);
    s.output("a", a);
    s.output("c", c);
    s.output("loss", loss);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
  }
};

// ---- networks and their training ----

/// Logits over sharded classes; all gradients are clipped by one global norm.
struct classifier {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    auto label = s.input("label", mt::i32, batch);
    auto h = gelu(mt::nn::linear(s / "first", mt::nn::layer_norm(s / "norm", x, model), model, inner));
    auto logits = mt::nn::linear(s / "last", mt::nn::dropout(s / "drop", h, s.number("rate", 0.2)), inner, vocab);
    auto loss = mean(mt::nn::cross_entropy(logits, label, vocab));
    s.output("loss", loss);
    s.output("guess", argmax(logits, vocab));
    mt::adamw{.learning_rate = 1e-2, .clip_norm = 0.5}.minimize(s / "optimizer", loss);
  }
};

struct attending {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, length, model);
    auto y = mt::nn::attention(s / "self", x, length, memory, model, heads, head);
    auto z = mt::nn::causal_attention(s / "causal", y, length, memory, model, heads, head);
    auto loss = weighed(z - x);
    s.output("z", z);
    s.output("loss", loss);
    mt::momentum{.learning_rate = 0.1, .nesterov = true}.minimize(s / "optimizer", loss);
  }
};

inline constexpr mt::layer decoder_block = [](mt::scope auto s, auto x) {
  auto a = x + mt::nn::causal_attention(s / "attention", mt::nn::layer_norm(s / "norm_1", x, model), length, memory,
                                        model, heads, head);
  return a + mt::nn::feed_forward(s / "feed_forward", mt::nn::layer_norm(s / "norm_2", a, model), model, inner);
};

/// A decoder Transformer with dropout and a schedule.
struct language_model {
  constexpr void operator()(mt::scope auto s) const {
    auto text = s.input("text", mt::i32, batch, length);
    auto next = s.input("next", mt::i32, batch, length);
    auto x = mt::nn::embed(s / "tokens", text, vocab, model) + s.parameter("positions", length, model);
    x = repeat(s / "decoder", layers, mt::nn::dropout(s / "drop", x, 0.1), decoder_block);
    auto loss = mean(mt::nn::cross_entropy(mt::nn::linear(s / "logits", x, model, vocab), next, vocab));
    s.output("loss", loss);
    mt::adam{.learning_rate = mt::nn::warmup_cosine(s, 1e-2, 2, 10)}.minimize(s / "optimizer", loss);
  }
};

inline constexpr struct best_dim : mt::dim<"best", 3> {} best;

/// Masked attention, top_k, a watched tensor and a watched gradient, and an optimizer with little state.
struct choosing {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, length, model);
    auto open = s.input("open", mt::i32, batch, memory) > 3;
    auto z = repeat(s / "layers", layers, x, [&](mt::scope auto r, auto h) {
      auto y = mt::nn::attention(r / "attention", h, length, memory, model, heads, head, open);
      r.watch("seen", y);
      r.watch_gradient("seen by the loss", y);
      return h + y;
    });
    auto [most, where] = top_k(z, model, best);
    auto loss = weighed(z) + mean(most * most);
    s.output("most", most);
    s.output("where", where);
    s.output("loss", loss);
    mt::adafactor{.learning_rate = 0.1, .clip_norm = 1}.minimize(s / "optimizer", loss);
  }
};

/// An encoder and a decoder with cross-attention in every layer. Token 0 is padding.
struct translator {
  constexpr void operator()(mt::scope auto s) const {
    auto source = s.input("source", mt::i32, batch, memory);
    auto target = s.input("target", mt::i32, batch, length);
    auto read = mt::nn::embed(s / "source", source, vocab, model);
    auto open = source != 0;
    auto keys = rename(open, memory, length);
    auto seen = repeat(s / "encoder", layers, read, [&](mt::scope auto r, auto x) {
      return x + mt::nn::attention(r / "attention", mt::nn::rms_norm(r / "norm", x, model), memory, length, model,
                                   heads, head, keys);
    });
    auto said = mt::nn::embed(s / "target", target, vocab, model);
    auto y = repeat(s / "decoder", layers, said, [&](mt::scope auto r, auto x) {
      auto a = x + mt::nn::causal_attention(r / "self", x, length, memory, model, heads, head);
      return a + mt::nn::cross_attention(r / "cross", mt::nn::layer_norm(r / "norm", a, model), seen, length, memory,
                                         model, heads, head, open);
    });
    auto loss = mean(mt::nn::cross_entropy(mt::nn::linear(s / "logits", y, model, vocab), target, vocab, 0.1));
    s.output("loss", loss);
    mt::adam{.learning_rate = mt::nn::inverse_square_root(s, 1e-2, 3)}.minimize(s / "optimizer", loss);
  }
};

/// A language model of single words whose loss is accumulated over microbatches, `steps`; its table embeds words and
/// gives the logits. Word 0 is padding.
struct in_parts {
  static constexpr mt::layer nats_of = [](mt::scope auto s, auto word, auto next) {
    auto table = s.parameter("table", vocab, model, mt::normal(0.5));
    auto y = repeat(s / "layers", layers, gather(table, word, vocab), [](mt::scope auto r, auto h) {
      auto a = tanh(mt::nn::linear(r / "up", mt::nn::rms_norm(r / "norm", h, model), model, inner));
      return h + mt::nn::dropout(r / "drop", mt::nn::linear(r / "down", a, inner, model), 0.25);
    });
    auto each = mt::nn::cross_entropy(einsum(y, table, to(batch, vocab)), next, vocab, 0.1);
    return sum(each * mt::cast<s.compute>(next != 0));
  };
  constexpr void operator()(mt::scope auto s) const {
    auto word = s.input("word", mt::i32, batch, steps);
    auto next = s.input("next", mt::i32, batch, steps);
    auto count = sum(mt::cast<s.compute>(next != 0)) + 1;
    auto const [loss, gradients] =
        mt::accumulate(s / "model", steps, std::tuple(word, next),
                       [&](mt::scope auto m, auto w, auto n) { return nats_of(m, w, n) / count; });
    s.output("loss", loss);
    mt::momentum{.learning_rate = 0.1, .clip_norm = 0.5}.minimize(s / "optimizer", gradients);
  }
};

/// Residual layers trained in microbatches: each layer keeps a running mean of its own, and a scan carries another one.
struct averaged {
  static constexpr auto layer = [](mt::scope auto r, auto h) {
    auto seen = r.state("mean", r.real(), model);
    r.update(seen, seen * 0.75 + mean(h, batch) * 0.25);
    return h + mt::nn::linear(r / "down", tanh(mt::nn::linear(r / "up", h - seen, model, inner)), inner, model);
  };
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), steps, batch, model);
    auto scale = s.state("scale", s.real(), model, mt::constant(0.5));
    auto const [loss, gradients] = mt::accumulate(s / "model", steps, x, [&](mt::scope auto m, auto part) {
      auto y = repeat(m / "layers", layers, part, layer);
      auto z = repeat(m / "lean", layers, y, mt::rematerialize(layer));
      m.update(scale, scale * 0.5 + mean(z * z, batch) * 0.1);
      return weighed(z * scale);
    });
    auto along = s.state("along", s.real(), batch);
    auto ends = mt::scan(s / "scan", steps, mean(x, steps), x, [&](mt::scope auto r, auto h, auto now) {
      r.update(along, along * 0.5 + mean(now * h, model));
      return std::tuple(tanh(h + along), along);
    });
    s.output("loss", loss);
    s.output("last", std::get<0>(ends));
    s.output("each", std::get<1>(ends));
    mt::momentum{.learning_rate = 0.1}.minimize(s / "optimizer", gradients);
  }
};

/// Two networks with two losses and two optimizers, and a moving average of one.
struct adversaries {
  static constexpr mt::layer network = [](mt::scope auto s, auto x) {
    return mt::nn::linear(s / "down", relu(mt::nn::linear(s / "up", x, model, inner)), inner, model);
  };
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    auto made = network(s / "maker", x);
    auto judged = sigmoid(network(s / "judge", made)), fair = sigmoid(network(s / "judge", x));
    auto gain = mean(log(judged + 0.01));
    auto loss = -mean(log(1.01 - judged)) - mean(log(fair + 0.01));
    mt::adam{.learning_rate = 1e-2}.minimize(s / "maker_optimizer", -gain, s / "maker");
    mt::sgd{.learning_rate = 1e-2}.minimize(s / "judge_optimizer", loss, s / "judge");
    mt::moving_average{.decay = 0.9}.follow(s / "average", s / "maker");
    s.output("gain", gain);
    s.output("loss", loss);
    s.output("followed", network(s / "average", x));
  }
};

// ---- gradients of gradients ----

/// Training with a loss that contains another gradient.
struct penalised {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    auto label = s.input("label", mt::i32, batch);
    auto y = repeat(s / "blocks", layers, x, [](mt::scope auto r, auto h) {
      auto up = mt::nn::linear(r / "up", mt::nn::layer_norm(r / "norm", h, model), model, inner);
      return h + mt::nn::linear(r / "down", softmax(up, inner), inner, model);
    });
    auto loss = mean(mt::nn::cross_entropy(mt::nn::linear(s / "logits", y, model, vocab), label, vocab, 0.1));
    auto dx = gradient(loss, x);
    s.output("dx", dx);
    s.output("loss", loss);
    mt::adam{.learning_rate = 1e-2}.minimize(s / "optimizer", loss + sum(dx * dx) * 4);
  }
};

/// A Hessian-vector product: attention, in recomputed layers and outside.
struct bent {
  /// Its gradient uses a value that the body saves for it.
  static constexpr auto damped(auto x, auto w) {
    return std::get<0>(composite_with_gradient(
        "damped",
        [](auto a, auto b) {
          auto kept = tanh(a * b);
          return std::tuple(kept * a, kept);
        },
        [](auto a, auto b, auto, auto kept, auto dy) {
          auto d_tanh = dy * a * (1 - kept * kept);
          return std::tuple(dy * kept + d_tanh * b, mt::sum_like(d_tanh * a, b));
        },
        x, w));
  }
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, length, model);
    auto v = s.input("v", s.real(), batch, length, model);
    auto open = s.input("open", mt::i32, batch, memory) > 3;
    auto y = repeat(s / "layers", layers, x, mt::rematerialize([](mt::scope auto r, auto h) {
                      auto normal = mt::nn::rms_norm(r / "norm", h, model);
                      auto a = mt::nn::causal_attention(r / "self", normal, length, memory, model, heads, head);
                      return h + damped(a, r.parameter("scale", model, mt::ones));
                    }));
    auto z = rename(y, length, memory);
    auto [seen, total] = mt::nn::attention_with_log_sum(y, z, z, length, memory, model, open);
    auto all = mt::nn::dot_product_attention(y, z, z, length, memory, model);
    auto before = mt::nn::causal_dot_product_attention(y, z, z, length, memory, model);
    auto dx = gradient(weighed(seen - before * all) + mean(total * logsumexp(y, model)), x);
    s.output("dx", dx);
    s.output("ddx", gradient(sum(dx * v), x));
  }
};

/// A composite whose body has a loop, and whose gradient has a loop and a composite with its own gradient.
struct powers {
  static constexpr auto eighth(mt::scope auto s, auto x) {
    return composite_with_gradient(
        "eighth", [&](auto a) { return repeat(s / "power", steps, a, [](mt::scope auto, auto h) { return h * h; }); },
        [&](auto a, auto, auto dy) {
          auto [derivative, power] = repeat(s / "slope", steps, std::tuple(sum(softmax(a, model), model), a),
                                            [](mt::scope auto, auto d, auto h) { return std::tuple(d * 2, h * h); });
          return dy * derivative * power / a;
        },
        x);
  }
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    auto y = eighth(s, sin(x) + 1.5);
    auto z = repeat(s / "outer", layers, x, [](mt::scope auto r, auto h) { return eighth(r, sin(h) * 0.25 + 1); });
    auto dx = gradient(weighed(log(y) + z), x);
    s.output("dx", dx);
    s.output("ddx", gradient(sum(dx * dx), x));
  }
};

inline constexpr struct experts_dim : mt::dim<"experts", 6> {} experts;
inline constexpr struct choices_dim : mt::dim<"choices", 2> {} choices;
inline constexpr struct slots_dim : mt::dim<"slots", 2> {} slots;

/// A mixture of experts whose experts drop tokens, and one whose experts are the program's own.
struct routed {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, length, model);
    auto [y, balance, dropped] =
        mt::nn::mixture_of_experts(s / "experts", x, length, model, experts, choices, slots, head);
    auto [token, weight, other, none] = mt::nn::route(s / "again", x + y, length, model, experts, choices, slots);
    auto sent = gather(y, token, length) * s.parameter("scale", experts, model);
    auto z = scatter_add(sent * weight, token, length, to(batch, length, model));
    auto loss = weighed(y + z) + 0.1 * balance + 0.2 * other;
    s.output("y", y);
    s.output("token", token);
    s.output("dropped", dropped);
    s.output("loss", loss);
    mt::adam{.learning_rate = 1e-2}.minimize(s / "optimizer", loss);
  }
};

/// A mixture of experts that drop nothing, the sums of each expert's tokens, and tokens sent to their experts and back.
struct grouped {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, length, model);
    auto [y, balance] = mt::nn::dropless_mixture_of_experts(s / "experts", x, length, model, experts, choices, head);
    auto [expert, weight, other] = mt::nn::choose_experts(s / "again", x + y, length, model, experts, choices);
    auto of_each = grouped_einsum(x + y, weight, expert, experts, to(experts, batch, model));
    auto z = grouped_einsum(of_each, weight, expert, experts, to(batch, length, model));
    auto sent = all_to_all_rows(x + y, expert, experts);
    auto back = einsum(return_rows(tanh(sent.rows), sent), weight, to(batch, length, model));
    auto backwards = permute(y, length, extent(length) - 1 - iota(s, length, mt::i32));
    auto loss = weighed(y + z) + weighed(back) + weighed(backwards * x) + 0.1 * balance + 0.2 * other;
    s.output("y", y);
    s.output("back", back);
    s.output("expert", expert);
    s.output("of_each", of_each);
    s.output("loss", loss);
    mt::adam{.learning_rate = 1e-2}.minimize(s / "optimizer", loss);
  }
};

// ---- windows ----

inline constexpr struct rows_dim : mt::dim<"rows", 9> {} rows;
inline constexpr struct rows_2_dim : mt::dim<"rows_2", mt::divided(rows, 2)> {} rows_2;
inline constexpr struct kernel_dim : mt::dim<"kernel", 3> {} kernel;
inline constexpr struct columns_kernel_dim : mt::dim<"columns_kernel", 2> {} columns_kernel;

/// A small network of convolutions: strided, over two dims, in groups, dilated, and back to the size that it had.
struct convolved {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, rows, length, head);
    auto down = mt::window(rows, rows_2, kernel, {.stride = 2, .padding = mt::same_padding});
    auto beside = mt::window(length, length, columns_kernel, {.padding = {0, 1}});
    auto h = tanh(conv(x, s.parameter("first", kernel, columns_kernel, head, model, mt::normal(0.3)),
                       to(batch, rows_2, length, model), down, beside));
    auto wide = mt::window(length, length, kernel, {.dilation = 2, .padding = mt::centred_padding});
    auto g = conv(h, s.parameter("groups", kernel, model, mt::normal(0.3)), to(batch, rows_2, length, model), wide);
    auto y = conv_transposed(g, s.parameter("last", kernel, model, head, mt::normal(0.3)),
                             to(batch, rows, length, head), down);
    auto loss = weighed(y + x);
    s.output("y", y);
    s.output("loss", loss);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
  }
};

/// A residual network of images: convolutions, batch norms, the mean over all positions, and classes.
struct images {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, rows, length, head);
    auto label = s.input("label", mt::i32, batch);
    auto down = mt::window(rows, rows_2, kernel, {.stride = 2, .padding = mt::centred_padding});
    auto beside = mt::window(length, length, columns_kernel, {.padding = mt::same_padding});
    auto first = mt::nn::convolution(s / "first", x, head, heads, down, beside, mt::nn::no_bias);
    auto y = relu(mt::nn::batch_norm(s / "norm_1", first, heads));
    auto second =
        mt::nn::convolution(s / "second", y, to(heads), to(heads),
                            mt::window(rows_2, rows_2, kernel, {.padding = mt::centred_padding}), mt::nn::no_bias);
    auto z = relu(y + mt::nn::batch_norm(s / "norm_2", second, heads));
    auto logits = mt::nn::linear(s / "last", mean(z, rows_2, length), heads, vocab);
    auto loss = mean(mt::nn::cross_entropy(logits, label, vocab));
    s.output("logits", logits);
    s.output("loss", loss);
    mt::momentum{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
  }
};

inline constexpr struct groups_dim : mt::dim<"groups", 2> {} groups;
inline constexpr struct in_group_dim : mt::dim<"in_group", 3> {} in_group;
inline constexpr struct fours_dim : mt::dim<"fours", groups * head> {} fours;

/// Every other norm of images, and a transposed convolution; channels in groups.
struct normed {
  constexpr void operator()(mt::scope auto s) const {
    namespace nn = mt::nn;
    auto x = s.input("x", s.real(), batch, rows_2, length, heads);
    auto along = mt::window(length, length, kernel, {.padding = mt::centred_padding});
    auto a = tanh(nn::group_norm(s / "group", x, heads, to(groups, in_group), rows_2, length));
    auto even = tanh(nn::batch_norm(s / "batch", a + x * a, heads));
    auto b = nn::convolution(s / "conv", split(even, heads, to(groups, in_group)), to(groups, in_group),
                             to(groups, head), along, mt::normal(0.4), nn::no_bias);
    auto c = nn::instance_norm(s / "instance", merge(b, to(groups, head), fours), fours, rows_2, length);
    auto d = nn::batch_norm(s / "running", c, fours, nn::batch_statistics::running);
    auto weight = s.parameter("weight", kernel, fours, heads, mt::normal(0.4));
    auto e = conv(d, nn::spectral_norm(s / "spectral", weight, heads), to(batch, rows_2, length, heads), along);
    auto up = mt::window(rows, rows_2, kernel, {.stride = 2, .padding = mt::centred_padding});
    auto f = nn::convolution_transposed(s / "up", e, heads, head, up);
    auto g = nn::batch_norm(s / "frozen", f, to(rows, head),
                            nn::batch_norm_options{.statistics = nn::batch_statistics::frozen, .epsilon = 0.1});
    auto loss = weighed(g) + weighed(a + e);
    s.output("g", g);
    s.output("loss", loss);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
  }
};

/// Pools: the greatest of windows that overlap, their mean with and without padding, a sum in dilated windows.
struct pooled {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, rows, length, head);
    auto gain = s.parameter("gain", head, mt::constant(1.5));
    auto down = mt::window(rows, rows_2, 3, {.stride = 2, .padding = mt::same_padding});
    auto beside = mt::window(length, length, 3, {.padding = mt::centred_padding});
    auto greatest = max_pool(tanh(x * gain), down, beside);
    auto h = sum_pool(greatest * greatest, mt::window(length, length, 2, {.dilation = 2, .padding = {0, 2}}));
    auto y = mean_pool(h, beside, mt::mean_over::elements) + mean_pool(x * gain, down);
    auto loss = weighed(y);
    s.output("y", y);
    s.output("loss", loss);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
  }
};

/// Stencils over two dims, with zeros and with the other end beyond them, and in a loop; a convolution along a ring;
/// resized tensors.
struct surrounded {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, rows, length, head);
    auto gain = s.parameter("gain", head, mt::constant(0.7));
    auto edges = mt::stencil(x * gain, [](auto at) {
      return at(rows(-1), length(1)) + 2 * at(length(1)) - at(rows(2)) * at() + 0.5 * at(rows(-1), length(-2));
    });
    auto smoother = repeat(s / "steps", past, tanh(edges), [](mt::scope auto, auto u) {
      return mt::stencil(
          u, [](auto at) { return at() + 0.2 * (at(rows(-1)) + at(rows(1)) - 2 * at()); }, mt::beyond::other_end);
    });
    auto along = mt::window(rows, rows, kernel, {.dilation = 2, .padding = mt::circular_padding});
    auto ring =
        conv(x, s.parameter("ring", kernel, head, model, mt::normal(0.3)), to(batch, rows, length, model), along);
    auto smaller = resize(resize(edges, rows, rows_2, mt::interpolation::linear), length, kernel);
    auto wider = resize(smaller, kernel, past, mt::interpolation::corners);
    auto loss = weighed(smoother * smoother) + weighed(ring * ring) + weighed(wider);
    s.output("wider", wider);
    s.output("ring", ring);
    s.output("edges", edges);
    s.output("smoother", smoother);
    s.output("dx", gradient(loss, x));
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
  }
};

// ---- state ----

/// Running statistics, values that are swapped, and one that keeps another's earlier value.
struct memories {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    auto middle = s.state("middle", s.real(), model);
    auto count = s.state("count", mt::i32);
    auto left = s.state("left", s.real(), model, mt::constant(1));
    auto right = s.state("right", s.real(), model, mt::constant(2));
    auto weight = s.parameter("weight", model, mt::ones);
    auto before = s.state("before", s.real(), model);
    auto kept = s.state("kept", s.real(), batch, length, model, mt::constant(3));
    auto copy = composite("same", [](auto a) { return a; }, weight);
    auto now = middle * 0.75 + mean(x, batch) * 0.25;
    auto loss = weighed((x - middle) * weight * left);
    s.update(middle, now);
    s.update(count, count + 1);
    s.update(left, right);
    s.update(right, left);
    s.update(before, weight);
    s.output("last", sum(slice(kept, length, past, 2), past));
    s.update(kept, put(kept, x * left, length, 4));
    mt::sgd{.learning_rate = 0.3}.minimize(s / "optimizer", loss);
    s.output("x", x);
    s.output("weight", weight);
    s.output("copy", copy + before);
    s.output("loss", loss);
    s.output("count", count);
    s.output("seen", stop_gradient(middle));
  }
};

/// Parameters of one dtype, arithmetic in another.
struct mixed {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    auto y = mt::nn::feed_forward(s / "network", x, model, inner);
    auto loss = mean(mt::cast<mt::dtype::f32>(y * y));
    s.output("y", y);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
  }
};

}  // namespace programs
