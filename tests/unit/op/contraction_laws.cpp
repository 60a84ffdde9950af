// SPDX-License-Identifier: Apache-2.0
// The laws of contractions and reductions.
#include "unit/op/laws.hpp"

#include "meshtensor/op/argmax.hpp"
#include "meshtensor/op/grouped_einsum.hpp"
#include "meshtensor/op/softmax.hpp"

using namespace laws;
using mt::to;

namespace {
inline constexpr struct d_dim : mt::dim<"d", 3> {} d;

constexpr mt::shape last_of(mt::shape const&, mt::shape const&, mt::shape const& result) { return result; }
// -1, 1, 3 for b = 0, 1, 2: some of them out of range.
constexpr auto groups(auto s) { return iota(s, b, mt::i32) * 2 - 1; }
}  // namespace

TEST_CASE("einsum") {
  hold("matrix product", [](auto, auto x, auto y, auto... more) { return einsum(x, y, to(a, c, more...)); });
  hold("product without a sum", [](auto, auto x, auto y, auto... more) { return einsum(y, x, to(c, a, b, more...)); });
  hold("dims of one operand are summed, in an einsum that is not a program's own",
       [](auto, auto x, auto y, auto... more) {
         return mt::detail::einsum_by<last_of, mt::dims<std::remove_cv_t<decltype(b)>, decltype(more)...>>(x, y);
       });
  hold("three operands", [](auto, auto x, auto y, auto... more) { return einsum(x, y, x, to(c, more...)); });
  hold_for_one("one operand", [](auto, auto x, auto, auto... more) { return einsum(x, to(b, more...)); });
  hold_for_one("one operand twice", [](auto, auto x, auto, auto... more) { return einsum(x, x, to(a, more...)); });
}

TEST_CASE("grouped_einsum") {
  hold("a vector for each row", [](auto s, auto x, auto y, auto... more) {
    return grouped_einsum(x, y, iota(s, a, mt::i32) * 2, c, to(a, more...));
  });
  hold("a number for each row, behind it",
       [](auto s, auto x, auto y, auto... more) { return grouped_einsum(y, x, groups(s), a, to(c, more..., b)); });
  hold("rows that are summed",
       [](auto s, auto x, auto y, auto... more) { return grouped_einsum(y, x, groups(s), a, to(more..., c)); });
  hold("sums of groups",
       [](auto s, auto x, auto y, auto... more) { return grouped_einsum(x, y, groups(s), d, to(a, d, more..., c)); });
  hold("sums of groups over a dim that only one operand has",
       [](auto s, auto x, auto y, auto... more) { return grouped_einsum(x, y, groups(s), d, to(d, c, more...)); });
  hold("the index of another tensor, with a dim of its own", [](auto, auto x, auto y, auto... more) {
    return grouped_einsum(sum(x, b), y, argmax(x, b), b, to(a, more..., c));
  });
  hold("a dim that only the index has", [](auto s, auto x, auto y, auto... more) {
    return grouped_einsum(x, sum(y, b), iota(s, d, mt::i64) + 1, c, to(b, d, more...));
  });
}

TEST_CASE("reductions") {
  hold_for_one("sum", [](auto, auto x, auto, auto...) { return sum(x, a); });
  hold("sum along two", [](auto, auto x, auto y, auto...) { return sum(x * y, a, c); });
  hold_for_one("mean", [](auto, auto x, auto, auto...) { return mean(x, b); });
  hold_for_one("max", [](auto, auto x, auto, auto...) { return max(x, b); });
  hold_for_one("min", [](auto, auto x, auto, auto...) { return min(x, a, b); });
  hold_without_gradient<uses::x>("any", [](auto, auto x, auto, auto...) { return any(x < 0.6, b); });
  hold_without_gradient("all along two", [](auto, auto x, auto y, auto...) { return all(x * y < 1.6, a, c); });
  hold_without_gradient<uses::x>("argmax", [](auto, auto x, auto, auto...) { return argmax(x, b); });
  hold_without_gradient("argmax of a product", [](auto, auto x, auto y, auto...) { return argmax(x * y, a); });
}

TEST_CASE("softmax and its kin") {
  hold_for_one("softmax", [](auto, auto x, auto, auto...) { return softmax(x, b); });
  hold("softmax of a product", [](auto, auto x, auto y, auto...) { return softmax(4 * (x * y), c); });
  hold_for_one("log_softmax", [](auto, auto x, auto, auto...) { return log_softmax(3 * x, b); });
  hold_for_one("logsumexp", [](auto, auto x, auto, auto...) { return logsumexp(3 * x, b); });
  hold_for_one("causal, then softmax", [](auto, auto x, auto, auto...) { return softmax(causal(x, a, b), b); });
}
