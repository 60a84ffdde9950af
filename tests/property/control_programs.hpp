// SPDX-License-Identifier: Apache-2.0
// Programs with while_loop and cond, each also written without them: iterations and branches one by one, chosen among
// by select.
//
// Every program takes `x` [batch, model] or [batch, time, model], and gives `y`, `dx` = the gradient of weighed(y) by
// x, and the numbers of iterations, as count*.
#pragma once

#include "meshtensor/meshtensor.hpp"

namespace control {

namespace mt = meshtensor;
using mt::to;

inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct model_dim : mt::dim<"model"> {} model;
inline constexpr struct next_model_dim : mt::dim<"next_model", model + 0> {} next_model;
inline constexpr struct inner_dim : mt::dim<"inner"> {} inner;
inline constexpr struct time_dim : mt::dim<"time", 3> {} time;
inline constexpr struct layers_dim : mt::dim<"layers", 5> {} layers;

/// by_hand: without loops and branches. recomputed: a loop whose gradient saves some of the iterations alone.
enum class written { as_loop, by_hand, recomputed };

/// A sum in which every element has another weight.
constexpr auto weighed(auto const& y) { return mt::mean(y * (y * 0.5 + 0.3)); }

/// The carries after another iteration, if `go` and all conditions from here on hold.
template <int Left, class S, class Condition, class Body, class Go, class Count, class... H>
constexpr auto iterations(S const& s, Condition const& condition, Body const& body, Go const& so_far,
                          Count const& count, H const&... carries) {
  if constexpr (Left == 0) {
    return std::tuple{count, carries...};
  } else {
    auto const go = so_far && condition(s, carries...);
    auto const next = mt::detail::as_tuple(body(s, carries...));
    auto const chosen = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple{select(go, std::get<I>(next), carries)...};
    }(std::index_sequence_for<H...>{});
    return std::apply(
        [&](auto const&... h) {
          return iterations<Left - 1>(s, condition, body, go, count + mt::cast<mt::dtype::i64>(go), h...);
        },
        chosen);
  }
}

/// while_loop, or the same by hand.
template <written How, int Limit, class S, class Condition, class Body, class... H>
constexpr auto as_long_as(S const& s, Condition const& condition, Body const& body, H const&... start) {
  if constexpr (How == written::as_loop) {
    return while_loop(s, mt::at_most(Limit), condition, body, start...);
  } else if constexpr (How == written::recomputed) {
    constexpr int together = Limit % 3 == 0 ? 3 : Limit % 2 == 0 ? 2 : Limit;
    return while_loop(s, mt::at_most(Limit).recomputing(together), condition, body, start...);
  } else {
    auto const here = s.enter();
    auto const count = full(s, 0, mt::i64, to());
    return iterations<Limit>(s, condition, body, count == 0, count, start...);
  }
}

/// cond, or both branches and select.
template <written How, class S, class P, class Then, class Otherwise>
constexpr auto either(S const& s, P const& predicate, Then const& then, Otherwise const& otherwise) {
  if constexpr (How != written::by_hand) {
    return cond(s, predicate, then, otherwise);
  } else {
    auto const here = s.enter();
    auto const yes = mt::detail::as_tuple(then(s)), no = mt::detail::as_tuple(otherwise(s));
    auto const chosen = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple{select(predicate, std::get<I>(yes), std::get<I>(no))...};
    }(std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(yes)>>>{});
    return mt::detail::as_given<std::remove_cvref_t<decltype(then(s))>>(chosen);
  }
}

// ---- elementwise, with exact reductions: the same bits under every layout ----

/// Square roots by Newton's method, until the greatest residual is small; or the norm of all of them.
template <written How, bool Greatest>
struct newton {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const square = x * x + 0.5;
    auto const is_far = [&](auto, auto const& h) {
      auto const residual = h * h - square;
      if constexpr (Greatest) return max(abs(residual)) > 1e-3;
      else return sqrt(sum(residual * residual)) > 1e-3;
    };
    auto const [count, root] =
        as_long_as<How, 9>(s / "newton", is_far, [&](auto, auto const& h) { return (h + square / h) * 0.5; }, square);
    s.output("count", count);
    s.output("y", root * x);
    s.output("dx", gradient(weighed(root * x), x));
  }
};

/// Loops of no iteration, of some, of as many as there may be, and of more than that.
template <written How>
struct counted {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const times = [&](auto const& r, int wanted) {
      auto const [count, last_k, last_h] = as_long_as<How, 4>(
          r, [&](auto, auto const& k, auto) { return k < wanted; },
          [&](auto, auto const& k, auto const& h) { return std::tuple(k + 1, h * x * 0.5 + 0.25); },
          full(s, 0, mt::i32), x);
      return std::tuple(last_h, count * 10 + mt::cast<mt::dtype::i64>(last_k));
    };
    auto const [none, count_none] = times(s / "none", -1);
    auto const [no, count_no] = times(s / "no", 0);
    auto const [one, count_one] = times(s / "one", 1);
    auto const [three, count_three] = times(s / "three", 3);
    auto const [all, count_all] = times(s / "all", 4);
    auto const [more, count_more] = times(s / "more", 7);
    s.output(
        "count",
        ((((count_none * 100 + count_no) * 100 + count_one) * 100 + count_three) * 100 + count_all) * 100 + count_more);
    auto const y = none + no * 2 + one * 3 + three * 4 + all * 5 + more * 6;
    s.output("y", y);
    s.output("dx", gradient(weighed(y), x));
  }
};

/// A loop in a loop, whose condition reads both carries.
template <written How>
struct in_each_other {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const [count, total, y] = as_long_as<How, 8>(
        s / "outer", [&](auto, auto, auto const& h) { return max(h) < 40; },
        [&](auto r, auto const& all, auto const& h) {
          auto const [inner_count, last_g] = as_long_as<How, 3>(
              r / "inner", [&](auto, auto const& g) { return max(g) < max(h) + 2.5; },
              [&](auto, auto const& g) { return g + abs(x) + 0.125; }, h);
          return std::tuple(all + inner_count, last_g * 1.5 - h * 0.25);
        },
        full(s, 0, mt::i64), x);
    s.output("count", count);
    s.output("count_within", total);
    s.output("y", y * 0.1);
    s.output("dx", gradient(weighed(y * 0.1), x));
  }
};

/// Branches that return several tensors, in other orders of dims, with integers and bools; also within a loop that ends
/// early, and one branch within another.
template <written How>
struct branching {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const whether = [&](auto const& r, auto const& h, double least) {
      return either<How>(
          r, max(h) > least, [&](auto) { return std::tuple(h * x, mt::cast<mt::dtype::i32>(h * 4), h > x); },
          [&](auto q) {
            auto const lower =
                either<How>(q / "lower", min(h) > -100, [&](auto) { return h - x * 2; }, [&](auto) { return h * 100; });
            return std::tuple(lower, mt::cast<mt::dtype::i32>(x * 9), x > 0.25);
          });
    };
    auto const [a, i, p] = whether(s / "above", x, 0.5);
    auto const [b, j, q] = whether(s / "below", x, 10);
    auto const [count, grown] = as_long_as<How, 8>(
        s / "grow", [&](auto, auto const& h) { return max(abs(h)) < 8; },
        [&](auto r, auto const& h) {
          return either<How>(
              r / "sign", max(h) > 3, [&](auto) { return h * -1.5; }, [&](auto) { return h * 1.25 + abs(x); });
        },
        a);
    s.output("count", count);
    s.output("integers", i * 1000 + j);
    s.output("bools", p != q);
    auto const y = a + b * 0.5 + grown * 0.1;
    s.output("y", y);
    s.output("dx", gradient(weighed(y), x));
  }
};

// ---- with sums and products ----

/// The greatest eigenvalue of a parameter's square, by power iteration from what x says, until the vector stays.
template <written How>
struct power_iteration {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const w = s.parameter("w", model, next_model, mt::normal(0.5));
    auto const unit = [](auto const& v) { return v / sqrt(sum(v * v) + 1e-3); };
    auto const [count, top, last_move] = as_long_as<How, 12>(
        s / "power", [](auto, auto, auto const& moved) { return moved > 1e-3; },
        [&](auto, auto const& v, auto) {
          auto const next = unit(einsum(w, einsum(w, v, to(next_model)), to(model)));
          return std::tuple(next, sum((next - v) * (next - v)));
        },
        unit(mean(x, batch) + 0.25), full(s, 1, s.real()));
    auto const along = einsum(w, top, to(next_model));
    auto const y = x * top + sum(along * along);
    s.output("count", count);
    s.output("y", y);
    s.output("dx", gradient(weighed(y), x));
    mt::sgd{.learning_rate = 0.05}.minimize(s / "optimizer", weighed(y));
  }
};

/// A recurrent cell with parameters of its own, until its state settles.
template <written How>
struct settling {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const cell = s / "cell";
    auto const weight = [](auto const& r) {
      auto const here = r.enter();
      return r.parameter("w", model, inner, mt::normal(0.5));
    };
    auto const gain = [](auto const& r) {
      auto const here = r.enter();
      return r.parameter("gain", inner, mt::constant(0.75));
    };
    auto const step = [&](auto const& w, auto const& u, auto const& h) {
      auto const next = tanh(einsum(x, w, to(batch, inner)) + h * u * 0.5);
      return std::tuple(next, max(abs(next - h)));
    };
    auto const start = std::tuple(full(s, 0, s.real(), to(batch, inner)), full(s, 1, s.real()));
    auto const moves = [](auto, auto, auto const& moved) { return moved > 0.02; };
    auto const [count, settled, last_move] = [&] {
      if constexpr (How != written::by_hand)
        return as_long_as<How, 10>(
            cell, moves,
            [&](auto r, auto const& h, auto) {
              auto const w = weight(r);
              return step(w, gain(r), h);
            },
            std::get<0>(start), std::get<1>(start));
      else
        return as_long_as<How, 10>(
            cell, moves, [&, w = weight(cell), u = gain(cell)](auto, auto const& h, auto) { return step(w, u, h); },
            std::get<0>(start), std::get<1>(start));
    }();
    auto const y = einsum(settled, s.parameter("back", inner, model, mt::normal(0.5)), to(batch, model));
    s.output("count", count);
    s.output("y", y);
    s.output("dx", gradient(weighed(y), x));
    mt::momentum{.learning_rate = 0.1}.minimize(s / "optimizer", weighed(y));
  }
};

/// A stack of layers that is left as soon as its values are great enough.
template <written How>
struct left_early {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const w = s.parameter("w", layers, model, next_model, mt::normal(0.5));
    auto const [count, last_k, y] = as_long_as<How, 5>(
        s / "layers", [](auto, auto, auto const& h) { return mean(h * h) < 2.25; },
        [&](auto, auto const& k, auto const& h) {
          auto const to_next = einsum(h, gather(w, k, layers), to(batch, next_model));
          return std::tuple(k + 1, h * 1.125 + tanh(rename(to_next, next_model, model)) * 0.5);
        },
        full(s, 0, mt::i32), x);
    s.output("count", count);
    s.output("y", y);
    s.output("dx", gradient(weighed(y), x));
    mt::sgd{.learning_rate = 0.05}.minimize(s / "optimizer", weighed(y));
  }
};

/// A loop of unknown length for every word of a sequence.
template <written How>
struct in_scan {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, time, model);
    auto const u = s.parameter("u", model, mt::constant(0.8));
    auto const [last, all] = scan(s / "along", time, mean(x, time), x, [&](mt::scope auto r, auto h, auto now) {
      auto const [count, last_g] = as_long_as<How, 6>(
          r / "grow", [&](auto, auto const& g) { return mean(g * g) < 1.75; },
          [&](auto, auto const& g) { return g * u + tanh(now + g) * 1.25; }, h);
      return std::tuple(last_g * 0.5, std::tuple(last_g + mt::cast<mt::dtype::f64>(count), count));
    });
    auto const [ys, counts] = all;
    s.output("count", counts);
    auto const y = ys + last;
    s.output("y", y);
    s.output("dx", gradient(weighed(y), x));
    mt::sgd{.learning_rate = 0.05}.minimize(s / "optimizer", weighed(y));
  }
};

/// Goes along a sequence again and again until the sum of what comes out is great enough; each time also along layers.
template <written How>
struct around_scan {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, time, model);
    auto const u = s.parameter("u", model, mt::constant(0.8));
    auto const v = s.parameter("v", layers, model, mt::normal(0.2));
    auto const [count, last, ys] = as_long_as<How, 6>(
        s / "again", [&](auto, auto const& h, auto) { return mean(h * h) < 1.75; },
        [&](auto r, auto const& h, auto const& before) {
          auto const [end, all] = scan(r / "along", time, h, x, [&](mt::scope auto, auto g, auto now) {
            auto const next = tanh(g * u + now) * 1.5;
            return std::tuple(next, next * now);
          });
          auto const deep = repeat(r / "deep", layers, end, v, [](mt::scope auto, auto g, auto gain) {
            auto const next = g + sin(g * gain) * 0.5;
            return std::tuple(next, mean(next, batch));
          });
          return std::tuple(std::get<0>(deep) + mean(std::get<1>(deep), layers), before * 0.5 + all);
        },
        mean(x, time), x);
    auto const y = ys * last;
    s.output("count", count);
    s.output("y", y);
    s.output("dx", gradient(weighed(y), x));
    mt::adam{.learning_rate = 0.01}.minimize(s / "optimizer", weighed(y));
  }
};

/// Branches in loops, with parameters of each layer; and along a sequence.
template <written How>
struct in_loops {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, time, model);
    auto const deep = repeat(s / "layers", layers, mean(x, time), [&](mt::scope auto r, auto h) {
      auto const w = r.parameter("w", model, inner, mt::normal(0.5));
      auto const u = r.parameter("u", model, mt::normal(0.5));
      return either<How>(
          r / "which", sum(h * u) > 0.1,
          [&](auto) {
            auto const up = tanh(einsum(h, w, to(batch, inner)));
            return h + einsum(up, w, to(batch, model)) * 0.5;
          },
          [&](auto) { return h - u * mean(h, batch) * 1.5 + 0.25; });
    });
    auto const [last, ys] = scan(s / "along", time, deep, x, [&](mt::scope auto r, auto h, auto now) {
      auto const next = either<How>(
          r / "which", mean(now * h) > 0, [&](auto) { return tanh(now + h); }, [&](auto) { return now * h - 0.5; });
      return std::tuple(next, next - now);
    });
    auto const y = ys + last;
    s.output("y", y);
    s.output("dx", gradient(weighed(y), x));
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", weighed(y));
  }
};

/// Branches with parameters of their own: one multiplies by a matrix and normalizes, one gathers and adds up.
template <written How>
struct both_trained {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const chosen = [&](auto const& r, auto const& p) {
      return either<How>(
          r, p,
          [&](auto q) {
            auto const h = einsum(x, q.parameter("w", model, inner, mt::normal(0.5)), to(batch, inner));
            auto const back =
                einsum(softmax(h, inner), q.parameter("v", inner, model, mt::normal(0.5)), to(batch, model));
            return std::tuple(back, mt::nn::rms_norm(q / "norm", back + x, model));
          },
          [&](auto q) {
            auto const g = q.parameter("gain", model, mt::normal(0.5));
            return std::tuple(x * g + sum(x * g, model) * 0.1, x - mean(x, batch));
          });
    };
    auto const [a, b] = chosen(s / "holds", sum(x * x) > 0.5);
    auto const [c, d] = chosen(s / "fails", mean(x) > 5);
    auto const y = a * d + b * c;
    s.output("y", y);
    s.output("dx", gradient(weighed(y), x));
    mt::adamw{.learning_rate = 0.01}.minimize(s / "optimizer", weighed(y));
  }
};

/// Softmax and a composite with a gradient of its own, in a loop's body, its condition and its branches.
template <written How>
struct of_layers {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const w = s.parameter("w", model, inner, mt::normal(0.5));
    auto const gain = s.parameter("gain", model, mt::ones);
    auto const damped = [](auto const& h) {
      return mt::composite_with_gradient(
          "damped", [](auto const& a) { return a * sigmoid(a); },
          [](auto const& a, auto const&, auto const& dy) {
            auto const kept = sigmoid(a);
            return dy * (kept + a * kept * (1 - kept));
          },
          h);
    };
    auto const [count, y] = as_long_as<How, 6>(
        s / "layers", [&](auto, auto const& h) { return max(softmax(h, model)) < 0.8; },
        [&](auto r, auto const& h) {
          auto const inside = damped(einsum(h, w, to(batch, inner)));
          auto const back = einsum(inside, w, to(batch, model));
          return either<How>(
              r / "calm", mean(abs(back)) < 0.5,
              [&](auto) { return h * 1.25 + log_softmax(back, model) * gain * 0.125; },
              [&](auto) { return h + softmax(back, model) * gain * 2; });
        },
        x);
    s.output("count", count);
    s.output("y", y);
    s.output("dx", gradient(weighed(y), x));
    mt::adafactor{.learning_rate = 0.05}.minimize(s / "optimizer", weighed(y));
  }
};

/// A loss whose gradients are taken part by part, with a loop and a branch within.
template <written How>
struct in_parts {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), time, batch, model);
    auto const [loss, gradients] = mt::accumulate(s / "net", time, x, [](mt::scope auto r, auto part) {
      auto const w = r.parameter("w", model, mt::constant(0.75));
      auto const u = r.parameter("u", model, mt::normal(0.5));
      auto const [count, h] = as_long_as<How, 6>(
          r / "grow", [&](auto, auto const& g) { return mean(g * g) < 2; },
          [&](auto, auto const& g) { return g * w + tanh(g * u) + part * 0.25; }, part);
      return weighed(
          either<How>(r / "which", sum(h * u) > 0, [&](auto) { return h * w; }, [&](auto) { return h - u; }));
    });
    s.output("y", loss);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", gradients);
  }
};

/// What a random draw gives in the iterations of a loop: those of `repeat`, whose dim counts to the limit.
template <written How>
struct drawn {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const step = [](auto const& r, auto const& h) {
      return h * 0.5 + mt::nn::dropout(r / "drop", normal(r / "noise", r.real(), to(batch, model)), 0.25);
    };
    auto const y = [&] {
      if constexpr (How != written::by_hand)
        return std::get<2>(as_long_as<How, 9>(
            s / "walk", [](auto, auto const& k, auto) { return k < 5; },
            [&](auto r, auto const& k, auto const& h) { return std::tuple(k + 1, step(r, h)); }, full(s, 0, mt::i32),
            x));
      else return repeat(s / "walk", layers, x, [&](mt::scope auto r, auto h) { return step(r, h); });
    }();
    s.output("y", y);
    s.output("dx", gradient(weighed(y), x));
  }
};

/// A state that each iteration updates; one that the loop reads and the program updates with what comes out.
template <written How>
struct updating {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const total = s.state("total", s.real(), model);
    auto const before = s.state("before", s.real(), batch, model);
    auto const w = s.parameter("w", model, mt::constant(0.75));
    auto const next = [&](auto const& h, auto const& sums) { return h * w * 1.5 + sums * 0.25 + before * 0.125; };
    auto const is_small = [](auto const& h) { return mean(h * h) < 2; };
    auto const y = [&] {
      if constexpr (How != written::by_hand) {
        auto const [count, last] = as_long_as<How, 6>(
            s / "walk", [&](auto, auto const& h) { return is_small(h); },
            [&](auto r, auto const& h) {
              r.update(total, total + mean(h, batch));
              return next(h, total);
            },
            x);
        s.output("count", count);
        return last;
      } else {
        auto const [count, last, sums] = as_long_as<How, 6>(
            s / "walk", [&](auto, auto const& h, auto const&) { return is_small(h); },
            [&](auto, auto const& h, auto const& seen) {
              return std::tuple(next(h, seen), stop_gradient(seen + mean(h, batch)));
            },
            x, total);
        s.output("count", count);
        s.update(total, sums);
        return last;
      }
    }();
    s.update(before, y * 0.5);
    s.output("y", y);
    s.output("dx", gradient(weighed(y), x));
    mt::sgd{.learning_rate = 0.05}.minimize(s / "optimizer", weighed(y));
  }
};

/// `scan` that stops when a condition holds, or a scan that goes on and chooses by select.
template <written How, class S, class D, class Start, class Xs, class Body, class Condition, class Rest>
constexpr auto stopped(S const& s, D dim, Start const& start, Xs const& xs, Body const& body,
                       Condition const& condition, Rest const& rest) {
  if constexpr (How == written::as_loop) {
    return scan(s, dim, start, xs, body, mt::until{condition, rest});
  } else if constexpr (How == written::recomputed) {
    return scan(s, dim, start, xs, mt::rematerialize(body), mt::until{condition, rest});
  } else {
    return scan(s, dim, start, xs, [&](auto r, auto... all) {
      auto const chosen = [&]<std::size_t... I>(std::index_sequence<I...>, auto const& given) {
        auto const before = std::tuple{all...};
        auto const stops = condition(r, std::get<I>(before)...);
        auto const [next, y] = given;
        return std::tuple(std::tuple{select(stops, std::get<I>(before), std::get<I>(next))...}, select(stops, rest, y));
      };
      return chosen(std::make_index_sequence<std::tuple_size_v<Start>>(), body(r, all...));
    });
  }
}

/// Scans that stop at once, after some iterations, or not at all, with random numbers and a state.
template <written How>
struct stopping {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const v = s.parameter("v", layers, model, mt::normal(0.5));
    auto const along = [&](auto const& r, double least) {
      auto const [last, ys] = stopped<How>(
          r, layers, std::tuple(x, full(s, 0, mt::i64)), v,
          [&](auto q, auto const& h, auto const& k, auto const& gain) {
            auto const noise = uniform(q / "noise", q.real(), to(model));
            auto const next = h * 1.25 + abs(x * gain) + noise * 0.25;
            return std::tuple(std::tuple(next, k + 1), next - h * gain);
          },
          [&](auto, auto const& h, auto) { return max(abs(h)) > least; }, x * 0.5);
      return std::tuple(std::get<0>(last) + mean(ys, layers), std::get<1>(last));
    };
    auto const [none, count_none] = along(s / "none", -1);
    auto const [some, count_some] = along(s / "some", 2.75);
    auto const [all, count_all] = along(s / "all", 1e9);
    s.output("count", (count_none * 10 + count_some) * 10 + count_all);
    auto const y = none + some * 0.5 + all * 0.125;
    s.output("y", y);
    s.output("dx", gradient(weighed(y), x));
    mt::sgd{.learning_rate = 0.05}.minimize(s / "optimizer", weighed(y));
  }
};

/// A scan that stops, whose iterations update a state that they share, and their own slices of another one.
template <written How>
struct stopping_with_states {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const slices = s.state("slices", s.real(), layers, model, mt::constant(0.25));
    auto const total = s.state("total", s.real(), model);
    auto const u = s.parameter("u", model, mt::constant(0.8));
    auto const [last, ys] = stopped<How>(
        s / "walk", layers, std::tuple(x), slices,
        [&](auto r, auto const& h, auto const& slice) {
          auto const next = h * u + slice + total * 0.125;
          if constexpr (How != written::by_hand) {
            r.update(slice, mean(next, batch) * 0.5);
            r.update(total, total + mean(h, batch));
          } else {
            auto const stops = ends(h);
            r.update(slice, select(stops, slice, mean(next, batch) * 0.5));
            r.update(total, select(stops, total, total + mean(h, batch)));
          }
          return std::tuple(std::tuple(next), mean(next, batch));
        },
        [](auto, auto const& h) { return ends(h); }, 2);
    auto const given = mean(std::get<0>(last), batch) + mean(ys, layers);
    s.output("y", given);
    s.output("dx", gradient(weighed(given), x));
    mt::sgd{.learning_rate = 0.05}.minimize(s / "optimizer", weighed(given));
  }
  static constexpr auto ends(auto const& h) { return mean(h * h) > 0.5; }
};

/// The branch that is not taken would give infinities, and the gradient of select NaN.
struct guarded {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const y =
        cond(s / "positive", min(x) > 0, [&](auto) { return log(x) + 1 / (x - x); }, [&](auto) { return x * 2; });
    auto const [count, h] = while_loop(
        s / "never", mt::at_most(3), [](auto, auto const& g) { return min(g) > 0; },
        [](auto, auto const& g) { return sqrt(g) / (g - g); }, y);
    s.output("count", count);
    s.output("y", h);
    s.output("dx", gradient(sum(h), x));
  }
};

}  // namespace control
