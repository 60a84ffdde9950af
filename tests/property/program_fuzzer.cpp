// SPDX-License-Identifier: Apache-2.0
// Compiled once for all tests of random programs.
#include "property/program_fuzzer.hpp"

#include <string>
#include <tuple>
#include <utility>

#include "meshtensor/meshtensor.hpp"
#include "support/layouts.hpp"

namespace property {

namespace {

namespace dims {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct peer : mt::dim<"peer", batch + 0> {} peer;
inline constexpr struct time : mt::dim<"time"> {} time;
inline constexpr struct memory : mt::dim<"memory", time + 0> {} memory;
inline constexpr struct model : mt::dim<"model"> {} model;
inline constexpr struct next_model : mt::dim<"next_model", model + 0> {} next_model;
inline constexpr struct hidden : mt::dim<"hidden"> {} hidden;
inline constexpr struct heads : mt::dim<"heads"> {} heads;
inline constexpr struct head : mt::dim<"head"> {} head;
inline constexpr struct joined : mt::dim<"joined", heads * head> {} joined;
inline constexpr struct vocab : mt::dim<"vocab"> {} vocab;
inline constexpr struct layers : mt::dim<"layers"> {} layers;
inline constexpr struct inner : mt::dim<"inner"> {} inner;
inline constexpr struct parts : mt::dim<"parts"> {} parts;
inline constexpr struct ax : mt::axis<"ax"> {} ax;  // the first one of every mesh
}  // namespace dims

constexpr auto real = mt::dtype::f64;
using any = mt::any_tensor<real>;
using index = mt::any_tensor<mt::dtype::i32>;
using scope = mt::trace_scope<real>;
using meshtensor_test::rng;

/// What a program is fed beside the tensor that its network begins with.
struct fed {
  index token;                    // numbers of the vocabulary
  mt::value_id seen = mt::no_id;  // state
};

/// Writes the network of one program; with the same seed the same one.
class network {
 public:
  network(mt::builder& b, mt::region_id entry, std::uint64_t seed, bool training, may_end_early loops)
      : b_(b), entry_(entry), c_{seed}, unneeded_{~seed}, training_(training), loops_(loops) {}

  template <class F>
  static auto inside(scope const& s, F const& f) {
    auto const here = s.enter();
    return f(s);
  }

  any run(scope const& s, any const& x, fed const& f) {
    bool const in_scope = c_.one_in(2);
    auto const body = [&](scope const& t) {
      any const y = blocks(t, x, f, 1 + c_.below(3), 0);
      return has_parameter() ? y : y * parameter(t, "gain", shape(dims::model), mt::constant(0.8));
    };
    return in_scope ? inside(s / "net", body) : body(s);
  }

 private:
  // ---- words ----

  bool has_parameter() const {
    for (int i = 0; i < b_.m.node_count; ++i) {
      mt::node const& n = b_.m.nodes[i];
      if (n.region == entry_ && n.kind == mt::primitive::read && b_.m.variables[n.attribute[0]].trainable) return true;
    }
    return false;
  }
  template <class D>
  mt::dim_id dim(D d) const {
    return mt::detail::dim_of(b_, d);
  }
  template <class... D>
  mt::shape shape(D...) const {
    return mt::detail::shape_of(b_, mt::dims<D...>{});
  }
  mt::shape const& of(any const& x) const { return b_.m.values[x.id].dims; }
  template <class D>
  bool has(any const& x, D d) const {
    return of(x).has(dim(d));
  }
  template <class... D>
  mt::shape but(any const& x, D... d) const {
    return mt::without(of(x), shape(d...));
  }
  mt::shape shuffled(mt::shape s) {
    for (int i = s.count; i-- > 1;) std::swap(s.at[i], s.at[c_.below(i + 1)]);
    return s;
  }
  any value(mt::value_id v) const { return any(&b_, v); }
  any einsum(std::initializer_list<any> xs, mt::shape const& to) const {
    mt::id_list<> operands{};
    for (any const& x : xs) operands.add(x.id);
    return value(mt::einsum(b_, operands, to));
  }
  any parameter(scope const& s, mt::named_here const& label, mt::shape const& own, mt::initializer const& start) const {
    mt::path_id const path = b_.add_path(s.path(), label.label);
    return value(mt::detail::read(b_, mt::detail::declare(b_, path, real, own, start, true)));
  }
  any weight(scope const& s, mt::named_here const& label, mt::shape const& own) {
    return parameter(s, label, shuffled(own), mt::normal(0.3));
  }
  any mean(any const& x, mt::shape const& along) const { return value(mt::mean(b_, x.id, along)); }
  any bent(any const& x) {
    switch (c_.below(5)) {
      case 0: return mt::sigmoid(x);
      case 1: return mt::gelu(x);
      case 2: return mt::silu(x);
      case 3: return mt::sin(x);
      default: return mt::tanh(x);
    }
  }

  // ---- blocks: x -> something with the dims of x ----

  any blocks(scope const& s, any x, fed const& f, int count, int depth) {
    for (int i = 0; i < count; ++i) {
      scope const part = i == 0 ? s / "first" : i == 1 ? s / "second" : s / "third";
      x = c_.one_in(5) ? block(s, x, f, depth, i)
                       : inside(part, [&](scope const& t) { return block(t, x, f, depth, 0); });
    }
    return x;
  }
  any block(scope const& s, any const& x, fed const& f, int depth, int place) {
    if (loops_ == may_end_early::yes && place == 0 && depth < 2 && c_.one_in(3)) return early(s, x, f, depth);
    if (place == 0 && depth < 2 && c_.below(4) < (depth == 0 ? 3 : 1)) return loop(s, x, f, depth);
    if (place != 0) return x + value(mt::scale(b_, bent(x).id, 0.25));  // no names of its own
    switch (c_.below(20)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 17: return perceptron(s, x);
      case 4: return by_heads(s, x);
      case 5: return normed(s, x);
      case 6: return attended(s, x);
      case 7: return looked_up(s, x, f);
      case 8: return scattered(s, x, f);
      case 9: return put_back(s, x, f);
      case 10: return composed(s, x);
      case 11: return noisy(s, x);
      case 12: return x + (x - mean(x, shape(dims::batch))) * 0.25;
      case 13: return compared(x);
      case 14: return x * parameter(s, "gain", shape(dims::model), mt::constant(0.8));
      case 15: return softened(x);
      case 16: return squared(s, x);
      case 18: return placed(x);
      default: return remembered(x, f);
    }
  }

  any perceptron(scope const& s, any const& x) {
    any const up = weight(s, "up", shape(dims::model, dims::hidden));
    any const down = weight(s, "down", shape(dims::hidden, dims::model));
    mt::shape const wide = mt::replaced(of(x), dim(dims::model), dim(dims::hidden));
    any h = einsum({x, up}, c_.one_in(3) ? shuffled(wide) : wide);
    if (c_.one_in(3)) h = h + parameter(s, "bias", shape(dims::hidden), mt::normal(0.1));
    any g = bent(h);
    if (c_.one_in(12) && !in_branch_) s.watch("bent", g);
    if (c_.one_in(12) && !in_branch_) s.watch_gradient("slope", g);
    if (c_.one_in(4)) {
      any const gate = weight(s, "gate", shape(dims::model, dims::hidden));
      g = g * einsum({x, gate}, wide);
    }
    if (c_.one_in(6)) g = mt::softmax(g, dims::hidden);
    bool const keeps = !c_.one_in(4);
    any const y = einsum({g, down}, c_.one_in(3) ? shuffled(of(x)) : of(x));
    return keeps ? x + y * 0.5 : y;
  }
  any by_heads(scope const& s, any const& x) {
    any const into = weight(s, "into", shape(dims::model, dims::heads, dims::head));
    mt::shape const wide = mt::expanded(of(x), dim(dims::model), shape(dims::heads, dims::head));
    any const h = bent(einsum({x, into}, wide));
    if (c_.one_in(2)) {
      any const out = weight(s, "out", shape(dims::heads, dims::head, dims::model));
      return x + einsum({h, out}, of(x)) * 0.5;
    }
    any const flat = value(mt::merge(b_, h.id, shape(dims::heads, dims::head), dim(dims::joined)));
    any const out = weight(s, "joint", shape(dims::joined, dims::model));
    return x + einsum({flat, out}, of(x)) * 0.5;
  }
  any normed(scope const& s, any const& x) {
    if (c_.one_in(2)) return mt::nn::layer_norm(s / "norm", x, dims::model);
    return mt::nn::rms_norm(s / "norm", x, dims::model);
  }
  any attended(scope const& s, any const& x) {
    if (!has(x, dims::time)) return perceptron(s, x);
    any const y =
        c_.one_in(2)
            ? any(mt::nn::attention(s / "attention", x, dims::time, dims::memory, dims::model, dims::heads, dims::head))
            : any(mt::nn::causal_attention(s / "attention", x, dims::time, dims::memory, dims::model, dims::heads,
                                           dims::head));
    return x + y * 0.5;
  }
  any looked_up(scope const& s, any const& x, fed const& f) {
    if (!of(x).includes(b_.m.values[f.token.id].dims)) return perceptron(s, x);
    any const table = weight(s, "table", shape(dims::vocab, dims::model));
    return x + mt::gather(table, f.token, dims::vocab);
  }
  any scattered(scope const& s, any const& x, fed const& f) {
    if (!of(x).includes(b_.m.values[f.token.id].dims)) return perceptron(s, x);
    any const rows = value(mt::scatter_add(b_, x.id, f.token.id, dim(dims::vocab), shape(dims::vocab, dims::model)));
    any const changed = c_.one_in(2) ? rows : rows * weight(s, "table", shape(dims::vocab, dims::model));
    return x + mt::gather(changed, f.token, dims::vocab) * 0.25;
  }
  any put_back(scope const& s, any const& x, fed const& f) {
    mt::dim_id const along = has(x, dims::time) && c_.one_in(2) ? dim(dims::time) : dim(dims::batch);
    mt::shape one{};
    one.add(along);
    any const part = mean(x, one);
    mt::shape const& by = b_.m.values[f.token.id].dims;
    if (c_.one_in(2) && !by.has(along) && of(x).includes(by) && by.count != 0)
      return value(mt::put_rows(b_, x.id, part.id, f.token.id, along));
    return value(mt::put(b_, x.id, part.id, along, b_.literal(0))) +
           parameter(s, "after", shape(dims::model), mt::zeros);
  }
  any composed(scope const& s, any const& x) {
    any const gain = parameter(s, "gain", shape(dims::model), mt::constant(0.9));
    auto const body = [](any const& a, any const& g) { return any(mt::tanh(a) * g); };
    if (c_.one_in(2)) return mt::composite("plain", body, x, gain);
    return mt::composite_with_gradient(
        "own", body,
        [](any const& a, any const& g, any const&, any const& dy) {
          any const t = mt::tanh(a);
          any const da = dy * g * (1 - t * t);
          return std::tuple(any(mt::sum_like(da, a)), any(mt::sum_like(dy * t, g)));
        },
        x, gain);
  }
  any noisy(scope const& s, any const& x) {
    bool const drops = c_.one_in(2), has_own_path = !drops && c_.one_in(2);
    if (!training_) return x;
    if (drops) return mt::nn::dropout(s / "drop", x, 0.25);
    // Half of the draws have the same path, in whatever loop or branch they are.
    return inside(
        has_own_path ? s / "noise" : scope(&b_, mt::no_id, mt::line(std::source_location())) / "noise",
        [&](scope const&) { return any(x + value(mt::random(b_, mt::distribution::normal, real, of(x))) * 0.1); });
  }
  any compared(any const& x) {  // each with all others of the batch
    any const others = value(mt::rename(b_, x.id, dim(dims::batch), dim(dims::peer)));
    mt::shape both = but(x, dims::model);
    any const scores = einsum({x, others}, both.add(dim(dims::peer)));
    return x + einsum({mt::softmax(scores, dims::peer), others}, of(x)) * 0.25;
  }
  any softened(any const& x) {
    switch (c_.below(3)) {
      case 0: return mt::softmax(x, dims::model) + x * 0.5;
      case 1: return mt::log_softmax(x, dims::model) * 0.25;
      default: return x - mt::logsumexp(x, dims::model) * 0.25;
    }
  }
  any squared(scope const& s, any const& x) {
    any const square = weight(s, "square", shape(dims::model, dims::next_model));
    mt::shape const to = mt::replaced(of(x), dim(dims::model), dim(dims::next_model));
    any const y = value(mt::rename(b_, einsum({x, square}, to).id, dim(dims::next_model), dim(dims::model)));
    return c_.one_in(2) ? mt::tanh(y) : x + y * 0.25;
  }
  any placed(any const& x) {  // by hand
    if (c_.one_in(2)) return mt::tanh(mt::reshard(x, mt::shard<dims::model, dims::ax>{}, mt::replicate<dims::batch>{}));
    return mt::reshard(mt::tanh(x), mt::replicate<dims::batch>{});
  }
  any remembered(any const& x, fed const& f) {
    if (f.seen == mt::no_id) return mt::stop_gradient(x) * 0.1 + x;
    return x + value(f.seen) * 0.5;
  }

  // ---- loops ----

  any loop(scope const& s, any const& x, fed const& f, int depth) {
    int const count = 1 + c_.below(2), form = c_.below(has(x, dims::time) ? 6 : 5);
    if (form == 5) return along_time(s, x);
    if (depth == 0) return over_layers(s / "blocks", dims::layers, x, f, count, form, depth);
    return over_layers(s / "deep", dims::inner, x, f, count, form, depth);
  }
  template <class D>
  any over_layers(scope const& s, D over, any const& x, fed const& f, int count, int form, int depth) {
    if (of(x).has(dim(over))) return x;
    auto const body = [&](scope const& t, any const& h) -> any {
      any const y = blocks(t, h, f, count, depth + 1);
      return any(y * 0.9);
    };
    if (form == 1) return mt::repeat(s, over, x, mt::rematerialize(body));
    if (form == 2) {  // two streams, which trade places
      bool const trade = c_.one_in(2);
      auto const [a, b] = mt::repeat(s, over, std::tuple(x, x), [&](scope const& t, any const& h, any const& g) {
        any const next = g + body(t, h) * 0.5;
        return trade ? std::tuple(next, h) : std::tuple(h, next);
      });
      return a * 0.5 + b * 0.5;
    }
    if (form == 3) {  // along a table of its own, and giving out what each iteration has made
      any const rows = parameter(s, "rows", shape(over, dims::model), mt::normal(0.3));
      auto const [last, all] = mt::repeat(s, over, x, rows, [&](scope const& t, any const& h, any const& row) {
        any const next = body(t, h) + row;
        return std::tuple(next, c_.one_in(2) ? any(next * row) : next);
      });
      return last + mean(all, shape(over)) * 0.5;
    }
    if (!unneeded_.one_in(2)) return mt::repeat(s, over, x, body);
    return std::get<0>(
        mt::repeat(s, over, std::tuple(x, without_derivative(x)), [&](scope const& t, any const& h, any const& zero) {
          return std::tuple(body(t, h), without_derivative(zero + h));
        }));
  }
  /// Zeros, whose derivative by `x` is not finite: they take no part in the gradient of a loss that does not need them.
  any without_derivative(any const& x) { return mt::sqrt(any(x * 0)); }
  /// A branch, or a loop that may end before its first iteration, before its last one, or not.
  any early(scope const& s, any const& x, fed const& f, int depth) {
    bool const is_cond = c_.one_in(2), by_count = c_.one_in(3), in_two = c_.one_in(3);
    int const count = 1 + c_.below(2), most = 1 + c_.below(4), known = c_.below(4);
    double const bound = c_.one_in(5) ? -1 : c_.one_in(4) ? 1e9 : 0.3 + 0.1 * c_.below(20);
    auto const size = [&](any const& h) { return mean(h * h, of(h)); };
    any const start = value(mt::constant(b_, 0, real));
    auto const body = [&](scope const& t, any const& h) -> any {
      return any(blocks(t, h, f, count, depth + 1) * (is_cond ? 0.9 : 1.4));
    };
    if (is_cond) {
      bool const in_other = std::exchange(in_branch_, true);
      auto const go = by_count ? size(x) < bound : size(x) >= bound;
      any y = x;
      if (in_two) {
        auto const [a, b] = mt::cond(
            s / "either", go, [&](scope const& t) { return std::tuple(body(t / "yes", x), x); },
            [&](scope const& t) { return std::tuple(x, any(body(t / "no", x) * x)); });
        y = a * 0.5 + b * 0.25;
      } else {
        auto const no = [&](scope const& t) { return c_.one_in(3) ? x : body(t / "no", x); };
        if (unneeded_.one_in(2)) {
          y = std::get<0>(mt::cond(
              s / "either", go, [&](scope const& t) { return std::tuple(body(t / "yes", x), without_derivative(x)); },
              [&](scope const& t) { return std::tuple(no(t), without_derivative(x)); }));
        } else {
          y = mt::cond(s / "either", go, [&](scope const& t) { return body(t / "yes", x); }, no);
        }
      }
      in_branch_ = in_other;
      return y;
    }
    if (in_two) {
      auto const [trips, counted, h, g] = mt::while_loop(
          s / "settle", mt::at_most(most),
          [&](scope const&, any const& n, any const& u, any const&) { return by_count ? n < known : size(u) < bound; },
          [&](scope const& t, any const& n, any const& u, any const& v) {
            any const next = v * 0.5 + body(t, u);
            return std::tuple(any(n + 1.0), next, u);
          },
          start, x, x);
      return h * 0.5 + g * (mt::cast<real>(trips) * 0.1) + counted * 0.1;
    }
    if (unneeded_.one_in(2)) {  // a carry that the condition alone reads
      auto const [trips, h, zero] = mt::while_loop(
          s / "settle", mt::at_most(most),
          [&](scope const&, any const& u, any const& w) { return size(u + w) < bound; },
          [&](scope const& t, any const& u, any const& w) { return std::tuple(body(t, u), without_derivative(w * u)); },
          x, without_derivative(x));
      return h + mt::cast<real>(trips) * 0.1;
    }
    auto const [trips, h] = mt::while_loop(
        s / "settle", mt::at_most(most), [&](scope const&, any const& u) { return size(u) < bound; },
        [&](scope const& t, any const& u) { return body(t, u); }, x);
    return h + mt::cast<real>(trips) * 0.1;
  }
  any along_time(scope const& s, any const& x) {
    any const start = mean(x, shape(dims::time));
    mt::shape const to = mt::replaced(but(x, dims::time), dim(dims::model), dim(dims::next_model));
    bool const shared = c_.one_in(2);
    auto const [last, all] =
        mt::scan(s / "cell", dims::time, start, x, [&](scope const& t, any const& h, any const& now) {
          any const square = weight(t, "square", shape(dims::model, dims::next_model));
          any const mixed = value(mt::rename(b_, einsum({h, square}, to).id, dim(dims::next_model), dim(dims::model)));
          any const next = mt::tanh(mixed + now);
          return std::tuple(next, shared ? next : any(next * now));
        });
    return all * 0.5 + last + x * 0.25;
  }

  mt::builder& b_;
  mt::region_id entry_;
  rng c_;
  rng unneeded_;  // by itself, so that all else is the same without
  bool training_;
  may_end_early loops_;
  bool in_branch_ = false;
};

/// Writes one program around a network.
class program {
 public:
  program(mt::builder& b, std::uint64_t seed, std::uint64_t which, may_end_early loops)
      : b_(b), entry_(b.region), shared_{seed}, c_{seed * 31 + which}, loops_(loops) {
    with_time_ = shared_.one_in(2), token_by_time_ = with_time_ && shared_.one_in(2);
    token_by_batch_ = !token_by_time_ || shared_.one_in(2);
    has_state_ = shared_.one_in(3), embeds_ = shared_.one_in(4);
    keeps_ = !with_time_ && shared_.one_in(2), trades_ = shared_.one_in(4);
    network_ = shared_.next();
  }

  void train(char const* other) {
    scope const s(&b_, mt::no_id, mt::line(std::source_location()));
    bool const first = other == nullptr;
    if (first && c_.one_in(5)) return train_in_parts(s);
    index const token = token_input(s);
    fed const f{token, state(s)};
    any const x = start(s, token);
    any const y = keeping(s, network(b_, entry_, network_, true, loops_).run(s, x, f), token);
    any const lost = loss(s, y, token);
    s.output("loss", lost);
    trade(s, y);
    if (c_.one_in(3)) s.output("y", y);
    if (c_.one_in(8)) s.watch("seen_y", y);
    if (c_.one_in(6)) s.watch_gradient("gradient_y", y);
    if (first) optimize(s, s / "optimizer", lost);
    else optimize(s, s / "tuner", lost);
    if (f.seen != mt::no_id) {
      any const now(&b_, mt::mean(b_, y.id, mt::without(b_.m.values[y.id].dims, b_.m.values[f.seen].dims)));
      s.update(any(&b_, f.seen), any(&b_, f.seen) * 0.5 + now);
    }
    if (first && c_.one_in(6) && reads_parameters(s / "net"))
      mt::moving_average{.decay = 0.9}.follow(s / "average", s / "net");
  }
  bool reads_parameters(scope const& part) const {
    for (int i = 0; i < b_.m.node_count; ++i) {
      mt::node const& n = b_.m.nodes[i];
      if (n.kind == mt::primitive::read && n.region == b_.region &&
          mt::detail::is_parameter(b_.m, b_.m.result(n), mt::detail::parameters_of<scope>::value, part.path()))
        return true;
    }
    return false;
  }
  void evaluate() {
    scope const s(&b_, mt::no_id, mt::line(std::source_location()));
    index const token = token_input(s);
    any const x = start(s, token);
    fed const f{token, state(s)};
    any const y = keeping(s, network(b_, entry_, network_, false, loops_).run(s, x, f), token);
    s.output("y", y);
    s.output("loss", loss(s, y, token));
  }

 private:
  template <class... D>
  mt::shape shape(D...) const {
    return mt::detail::shape_of(b_, mt::dims<D...>{});
  }
  any input(scope const& s, mt::named_here const& label, mt::shape const& of) const {
    mt::name_id const called = b_.intern(label.label);
    (void)s;
    return {&b_, b_.add(mt::primitive::input, {}, real, of, {{called}})};
  }
  index token_input(scope const& s) const {
    if (token_by_time_ && token_by_batch_) return s.input("token", mt::i32, dims::batch, dims::time);
    if (token_by_time_) return s.input("token", mt::i32, dims::time);
    return s.input("token", mt::i32, dims::batch);
  }
  mt::shape dims_of_x() const {
    return with_time_ ? shape(dims::batch, dims::time, dims::model) : shape(dims::batch, dims::model);
  }
  any start(scope const& s, index const& token) const {
    any const x = input(s, "x", dims_of_x());
    if (!embeds_) return x;
    return x * 0.1 + mt::nn::embed(s / "tokens", token, dims::vocab, dims::model);
  }
  mt::value_id state(scope const& s) const {
    return has_state_ ? any(s.state("seen", mt::f64, dims::model)).id : mt::no_id;
  }
  /// A loop along a state, of which each iteration writes a place.
  any keeping(scope const& s, any const& x, index const& token) {
    if (!keeps_) return x;
    any const kept = s.state("kept", mt::f64, dims::layers, dims::time, dims::batch, dims::model);
    bool const by_index = c_.one_in(2), adds = c_.one_in(4), inside = c_.one_in(2);
    auto const [y, all] =
        mt::repeat(s / "past", dims::layers, x, kept, [&](scope const& r, any const& h, any const& past) {
          any const now =
              by_index ? any(mt::put(past, h, dims::time, token)) : any(mt::put(past, h, dims::time, mt::number(0)));
          any const next = h * 0.5 + mt::mean(now, dims::time);
          any const then = adds ? any(now + past * 0.5) : now;
          if (inside) r.update(past, then);
          return std::tuple(next, then);
        });
    if (!inside) s.update(kept, all);
    if (c_.one_in(4)) s.output("kept_before", any(mt::mean(kept, dims::layers, dims::time)));
    return y;
  }
  /// Two states of which each becomes the other.
  void trade(scope const& s, any const& y) {
    if (!trades_) return;
    any const left = s.state("left", mt::f64, dims::model), right = s.state("right", mt::f64, dims::model, mt::ones);
    s.update(left, right);
    any const more(&b_, mt::mean(b_, y.id, mt::without(b_.m.values[y.id].dims, shape(dims::model))));
    s.update(right, c_.one_in(2) ? left : any(left * 0.5 + more));
  }
  any loss(scope const& s, any const& y, index const& token) {
    any const own = [&]() -> any {
      switch (c_.below(4)) {
        case 0: return mt::mean(y * y);
        case 1: {
          any const off = y - input(s, "target", b_.m.values[y.id].dims);
          return mt::mean(off * off);
        }
        case 2: return mt::mean(mt::logsumexp(y, dims::model)) + mt::mean(y * y);
        default: {
          any const scores = mt::nn::linear(s / "scores", y, dims::model, dims::vocab);
          return mt::mean(mt::nn::cross_entropy(scores, token, dims::vocab));
        }
      }
    }();
    return own;
  }
  void train_in_parts(scope const& s) {
    index const token = token_input(s);
    fed const f{token, state(s)};
    mt::shape in_parts = shape(dims::parts);
    in_parts = mt::united(in_parts, dims_of_x());
    any const x = input(s, "x", in_parts);
    bool const inside = f.seen != mt::no_id && c_.one_in(2);
    auto const [lost, gradients] =
        mt::accumulate(s / "model", dims::parts, std::tuple(x), [&](scope const& t, any const& now) {
          any const y = network(b_, entry_, network_, true, loops_).run(t, now, f);
          if (inside) t.update(any(&b_, f.seen), any(&b_, f.seen) * 0.5 + mt::mean(y));
          return any(mt::mean(y * y) * 0.5);
        });
    s.output("loss", lost);
    optimize(s, s / "optimizer", gradients);
    if (f.seen != mt::no_id && !inside) s.update(any(&b_, f.seen), any(&b_, f.seen) * 0.5 + lost);
  }

  template <class What>
  void optimize(scope const& s, scope const& under, What const& what) {
    mt::number rate = 0.05;
    if (c_.one_in(4)) rate = mt::nn::warmup_cosine(s, s.number("rate", 0.05), 2, 10);
    mt::number const clip = c_.one_in(2) ? mt::number(0.5) : mt::number{};
    switch (c_.below(7)) {
      case 0: return by_hand(s, what, rate);
      case 1: return mt::momentum{rate, 0.9, clip, c_.one_in(2)}.minimize(under, what);
      case 2: return mt::adam{rate, 0.9, 0.99, 1e-3, clip}.minimize(under, what);
      case 3: return mt::adamw{rate, 0.9, 0.99, 1e-3, 0.01, clip}.minimize(under, what);
      case 4: return mt::adafactor{rate, 0.8, 1, 1e-6, 1e-2, clip}.minimize(under, what);
      default: return mt::sgd{rate, clip}.minimize(under, what);
    }
  }
  template <class What>
  void by_hand(scope const& s, What const& what, mt::number const& rate) {
    auto const gradients = [&] {
      if constexpr (mt::handle<What>) return mt::gradient_by_parameters<real>(what);
      else return what;
    }();
    any changes = mt::any_tensor<real>(&b_, mt::constant(b_, 0, real));
    bool const looks = c_.one_in(3);
    for (int i = 0; i < gradients.size(); ++i) {
      auto const [p, g] = gradients[i];
      any const change = g * rate;
      if (looks) changes = changes + mt::sum(change);
      s.update(p, p - change);
    }
    if (looks) s.output("changes", changes);
  }

  mt::builder& b_;
  mt::region_id entry_;
  rng shared_, c_;  // of what the programs have in common, of this one
  bool with_time_ = false, token_by_time_ = false, token_by_batch_ = false, has_state_ = false, embeds_ = false;
  bool keeps_ = false, trades_ = false;
  std::uint64_t network_ = 0;
  may_end_early loops_;
};

/// The same module in f32.
void make_single(mt::module& m) {
  auto const single = [](mt::dtype& t) {
    if (t == mt::dtype::f64) t = mt::dtype::f32;
  };
  for (int v = 0; v < m.value_count; ++v) single(m.values[v].type);
  for (int v = 0; v < m.variable_count; ++v) single(m.variables[v].type);
}

}  // namespace

random_programs write_programs(std::uint64_t seed, may_end_early loops) {
  random_programs all{std::make_unique<mt::module>(), {}, nullptr};
  rng c{seed};
  std::uint64_t const shared = c.next();
  auto const entry = [&](mt::name const& label, auto f) {
    mt::builder b(*all.traced);
    b.begin_region(mt::region_kind::entry, b.intern(label));
    f(b);
    all.entries.push_back(label);
  };
  entry(mt::name("train"), [&](mt::builder& b) { program(b, shared, 1, loops).train(nullptr); });
  if (c.one_in(2)) entry(mt::name("evaluate"), [&](mt::builder& b) { program(b, shared, 2, loops).evaluate(); });
  if (c.one_in(3)) entry(mt::name("tune"), [&](mt::builder& b) { program(b, shared, 3, loops).train("train"); });
  mt::raise(all.traced->report);
  if (c.one_in(4)) {
    all.in_f64 = std::make_unique<mt::module>(*all.traced);
    make_single(*all.traced);
  }
  return all;
}

}  // namespace property
