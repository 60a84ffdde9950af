// SPDX-License-Identifier: Apache-2.0
// A guest whose values have other dims and dtypes than those of examples/in_fortran_solver: tokens, images, flags.
#include <vector>

#include <meshtensor/device/reference.hpp>
#include <meshtensor/meshtensor.hpp>
#include <meshtensor/run/guest.hpp>

namespace {
namespace mt = meshtensor;

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct length : mt::dim<"length", 3> {} length;
inline constexpr struct height : mt::dim<"height", 2> {} height;
inline constexpr struct width : mt::dim<"width", 4> {} width;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct by_batch : mt::layout<mt::shard<batch, data>> {};

struct tokens {
  constexpr void operator()(mt::scope auto s) const {
    auto text = s.input("text", mt::i32, batch, length);
    auto pixels = s.input("pixels", mt::u8, batch, height, width);
    auto count = s.state("count", mt::i64);
    s.update(count, count + 1);
    s.output("next", text + 1);
    s.output("is_long", text > 5);
    s.output("wide", cast(text, mt::i64) * 1000000007);
    s.output("small", cast(text, mt::bf16));
    s.output("rows", cast(sum(cast(pixels, mt::f32), width), mt::f32) * s.number("brightness", 1));
    s.output("inverted", cast(255 - cast(pixels, mt::i32), mt::u8));
    s.output("steps", count);
  }
};
using model = mt::guest<mt::executable<tokens, mesh, by_batch, mt::reference_device>>;

}  // namespace

extern "C" mt::guest_functions const* token_model_functions() { return model::functions(); }
extern "C" int token_model_forget(std::int64_t guest) {  // a function of the program's own
  return model::use(guest, [](mt::store& values) { values.set("count", std::vector<std::int64_t>{0}); });
}
