// SPDX-License-Identifier: Apache-2.0
// The kernels of every program of the catalogue, in f64, f32 and bf16, with small and large extents, compile for three
// generations of GPUs, where there is NVRTC; and their code is read: each kernel stores, keeps its arrays in registers,
// loads neighbours at once where its text says so, divides by no extent that is known, and computes in f64 only where
// its elements are f64.
// passes: start-up
// sanitize: no
// timeout: 300
// part: cuda
#include <set>

#include "meshtensor/device/cuda/device.hpp"
#include "meshtensor/meshtensor.hpp"
#include "meshtensor/run/recorded/prepared_nodes.hpp"
#include "property/program.hpp"
#include "support/gpu_compiler.hpp"
#include "support/skip.hpp"
#include "support/text_gpu.hpp"

using namespace property;
using meshtensor_test::gpu_code;
using meshtensor_test::gpu_kernel;

namespace {

/// A program with elements of another type in the place of f64, and all fixed extents so many times as large.
std::unique_ptr<mt::module> variant(mt::module const& traced, mt::dtype type, int times) {
  auto made = mt::on_heap([&] { return traced; });
  auto const change = [type](mt::dtype& t) {
    if (t == mt::dtype::f64) t = type;
  };
  for (int i = 0; i < made->value_count; ++i) change(made->values[i].type);
  for (int i = 0; i < made->variable_count; ++i) change(made->variables[i].type);
  for (int i = 0; i < made->dim_count; ++i)
    if (made->dims[i].kind == mt::dim_row::fixed && made->dims[i].value > 1) made->dims[i].value *= times;
  return made;
}

/// The text of the kernels of a lowered program on a GPU.
std::string text_of_kernels(meshtensor_test::text_gpu& gpu, mt::lowering const& low, mt::mesh_shape const& mesh) {
  gpu.text.clear();
  std::vector<mt::rank_context> ranks;
  for (std::int64_t k = 0; k < mesh.size(); ++k) ranks.emplace_back(low.graph, low.planned, mesh, static_cast<int>(k));
  mt::cuda::program_kernels kernels(gpu, low.graph, low.planned);
  mt::prepared_nodes<mt::cuda_device> const prepared(low.graph, low.instructions, ranks, kernels, false);
  return gpu.text.empty() ? "" : mt::cuda::whole_text(gpu.text);
}

/// A text without the kernels that were compiled before; empty, if nothing is left.
std::string without_known(std::string const& text, std::set<std::string>& known) {
  std::string left;
  std::size_t from = 0;
  bool any = false;
  for (meshtensor_test::kernel_text const& k : meshtensor_test::kernels_in(text)) {
    std::string kernel = text.substr(k.from, k.end - k.from);
    left += text.substr(from, k.from - from), from = k.end;
    std::string nameless = kernel;
    nameless.erase(nameless.find(" " + k.name + "("), k.name.size() + 1);
    if (known.insert(nameless).second) left += kernel, any = true;
  }
  return any ? left + text.substr(from) : "";
}

bool has(std::string const& text, char const* part) { return text.find(part) != std::string::npos; }
int bytes_of_type(std::string const& name) {
  for (mt::dtype t : {mt::dtype::f64, mt::dtype::f32, mt::dtype::bf16, mt::dtype::i32, mt::dtype::i64, mt::dtype::u8,
                      mt::dtype::boolean})
    if (name == mt::cuda::type_text(t)) return static_cast<int>(mt::bytes_of(t));
  return 0;
}
/// The most bytes that a kernel's text loads, or stores, at once: `load<4>(…, ((const float*)a.p[0])…`,
/// `store<4, float>(…`; one instruction moves 16 at most.
int bytes_at_once(std::string const& text, bool loads) {
  int most = has(text, "pack<u64, 2>") ? 16 : 0;
  std::string const call = loads ? "load<" : "store<";
  for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) {
    int const lanes = std::atoi(text.c_str() + at + call.size());
    std::size_t const from = loads ? text.find("((const ", at) + 8 : text.find(", ", at) + 2;
    std::string const type = text.substr(from, text.find(loads ? '*' : '>', from) - from);
    most = std::max(most, std::min(16, lanes * bytes_of_type(type)));
  }
  return most;
}
/// Whether a kernel divides integers by numbers that only a step knows, or elements by elements.
bool may_divide(std::string const& text) {
  return has(text, "(u64)a.n[2 + d]") || has(text, "i / a.n[1]") || has(text, "do_divide<reg<i") ||
         has(text, "do_modulo<reg<i") || has(text, "do_divide<reg<unsigned") || has(text, "do_modulo<reg<unsigned");
}
/// Whether its elements are f64; numbers of the module, which are, become elements when they are read. A power of f32
/// is made in f64, and so is what is left of a great angle.
bool may_compute_in_f64(std::string const& text) {
  for (char const* part : {"double>", "double*)a.p[", "<double,", "do_power", "do_sin", "do_cos"})
    if (has(text, part)) return true;
  return false;
}

/// What is wrong with a kernel's code; empty: nothing.
std::string fault_in(gpu_kernel const& k) {
  // What a sine of great numbers needs, and a few elements; the gradient to keys of heads of 256 spills more.
  constexpr long few_bytes = 128, most_spilt = 640;
  bool const is_wide = has(k.text, "attend_back_to_keys<G, 256");
  if (k.text.empty()) return "it has no text";
  if (k.stores == 0) return "it stores nothing";
  if (k.local_bytes > few_bytes) return "its arrays are not in registers: " + std::to_string(k.local_bytes) + " bytes";
  if (k.spilt_bytes > (is_wide ? most_spilt : few_bytes))
    return "it spills " + std::to_string(k.spilt_bytes) + " bytes";
  if (k.arithmetic_in_f64 != 0 && !may_compute_in_f64(k.text)) return "it computes in f64";
  if (k.divisions != 0 && !may_divide(k.text)) return "it divides by extents that are known";
  if (int const n = bytes_at_once(k.text, true); n > k.widest_load)
    return "it loads " + std::to_string(k.widest_load) + " bytes at once, not " + std::to_string(n);
  if (int const n = bytes_at_once(k.text, false); n > k.widest_store)
    return "it stores " + std::to_string(k.widest_store) + " bytes at once, not " + std::to_string(n);
  return "";
}

struct counts {
  long kernels = 0, wide_loads = 0, wide_stores = 0, divisions = 0;
};
void read(gpu_code const& code, counts& all) {
  CHECK(code.said == "");
  CHECK(code.kernels.size() > 0);
  CHECK(code.functions.empty());
  for (auto const& [name, k] : code.kernels) {
    std::string const fault = fault_in(k);
    CHECK(fault == "");
    if (!fault.empty()) MESSAGE(name << ": " << k.text.substr(0, 3000));
    ++all.kernels, all.wide_loads += k.widest_load == 16, all.wide_stores += k.widest_store == 16;
    all.divisions += k.divisions != 0;
  }
}
void say(counts const& all) {
  MESSAGE(all.kernels << " kernels, " << all.wide_loads << " load 16 bytes at once, " << all.wide_stores
                      << " store 16, " << all.divisions << " divide");
}

constexpr char const* no_compiler = "NVRTC, libnvrtc.so of CUDA, is not installed";

inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct length_dim : mt::dim<"length"> {} length;
inline constexpr struct memory_dim : mt::dim<"memory"> {} memory;
inline constexpr struct heads_dim : mt::dim<"heads"> {} heads;
inline constexpr struct head_dim : mt::dim<"head"> {} head;

template <mt::dtype Type, bool Causal>
struct attention {
  constexpr void operator()(mt::scope auto s) const {
    constexpr mt::dtype_constant<Type> type;
    auto const q = s.input("q", type, batch, length, heads, head);
    auto const k = s.input("k", type, batch, memory, heads, head), v = s.input("v", type, batch, memory, heads, head);
    auto const y = [&] {
      if constexpr (Causal) return mt::nn::causal_dot_product_attention(q, k, v, length, memory, head);
      else return mt::nn::dot_product_attention(q, k, v, length, memory, head);
    }();
    auto const [dq, dk, dv] = mt::gradient(mt::sum(mt::cast<mt::dtype::f32>(y * y)), q, k, v);
    s.output("y", y), s.output("dq", dq), s.output("dk", dk), s.output("dv", dv);
  }
};
template <mt::dtype Type>
struct elements {
  constexpr void operator()(mt::scope auto s) const {
    constexpr mt::dtype_constant<Type> type;
    s.output("y", s.input("x", type, length, head) * 2 + s.input("z", type, length, head));
  }
};

/// Compiles the kernels of a program with these extents for each generation.
template <class Program>
void read_all(meshtensor_test::gpu_compiler const& compiler, std::vector<mt::dim_extent> const& extents, counts& all) {
  auto const traced = mt::on_heap([] { return mt::trace<Program>(); });
  auto const low = mt::lower(*traced, mt::entry_name<Program>(), {}, {}, extents, mt::capabilities_of<mt::cuda_device>);
  for (meshtensor_test::gpu_generation const& g : meshtensor_test::gpu_generations) {
    CAPTURE(std::string(g.target));
    meshtensor_test::text_gpu gpu(g);
    read(compiler.compile(text_of_kernels(gpu, *low, {}), g.target), all);
  }
}

}  // namespace

TEST_CASE("attention with heads of 64 to 256 elements") {
  meshtensor_test::gpu_compiler const compiler;
  if (!compiler.is_here()) return meshtensor_test::skip(no_compiler);
  counts all;
  long tried = 0;
  for (std::int64_t const width : {64, 80, 128, 256}) {
    CAPTURE(width);
    std::vector<mt::dim_extent> const extents{
        {"batch", 2}, {"length", 512}, {"memory", 512}, {"heads", 4}, {"head", width}};
    auto const mine = static_cast<std::uint64_t>(width);
    if (is_in_sample(mine)) read_all<attention<mt::dtype::bf16, true>>(compiler, extents, all), ++tried;
    if (is_in_sample(mine + 1)) read_all<attention<mt::dtype::bf16, false>>(compiler, extents, all), ++tried;
    if (is_in_sample(mine + 2)) read_all<attention<mt::dtype::f32, true>>(compiler, extents, all), ++tried;
    if (is_in_sample(mine + 3)) read_all<attention<mt::dtype::f64, false>>(compiler, extents, all), ++tried;
  }
  say(all);
  at_least(16, tried);
}

TEST_CASE("neighbours are moved at once where rows are multiples of 16 bytes") {
  meshtensor_test::gpu_compiler const compiler;
  if (!compiler.is_here()) return meshtensor_test::skip(no_compiler);
  long const generations = std::size(meshtensor_test::gpu_generations);
  for (std::int64_t const width : {4096, 4095}) {
    counts all;
    std::vector<mt::dim_extent> const extents{{"length", 511}, {"head", width}};
    read_all<elements<mt::dtype::f32>>(compiler, extents, all);
    read_all<elements<mt::dtype::bf16>>(compiler, extents, all);
    read_all<elements<mt::dtype::f64>>(compiler, extents, all);
    // One of the kernels that copy boxes does so, too, in each program.
    long const wanted = 3 * generations * (width == 4096 ? 2 : 1);
    CHECK(all.wide_loads == wanted);
    CHECK(all.wide_stores == wanted);
  }
}

TEST_CASE("the kernels of the catalogue") {
  meshtensor_test::gpu_compiler const compiler;
  if (!compiler.is_here()) return meshtensor_test::skip(no_compiler);
  char const* const only = std::getenv("MESHTENSOR_PROGRAM");
  mt::mesh_shape const one_axis = mt::mesh_shape{}.add("ax", 2);
  counts all;
  std::set<std::string> known[std::size(meshtensor_test::gpu_generations)];
  long texts = 0;
  std::uint64_t number = 0;
  for (listed const& program : catalogue()) {
    if (only != nullptr && std::string(only) != program.label) continue;
    std::unique_ptr<mt::module> traced;
    for (mt::dtype const type : {mt::dtype::f64, mt::dtype::f32, mt::dtype::bf16})
      for (int const times : {1, 16})
        for (bool const has_products : {true, false}) {
          if (type != mt::dtype::f64 && std::string(program.label).find(" in f32") != std::string::npos) continue;
          if (times != 1 && !has_products) continue;  // the same loops but for their lengths
          // A case of a sample is compiled for one generation; without a sample, each for all.
          std::uint64_t const mine = number++;
          bool const has_its_turn = one_in() == 1 || detail::mixed(mine + sample_number()) % 2 == 0;
          if (only == nullptr && !(is_in_sample(mine) && has_its_turn)) continue;
          CAPTURE(std::string(program.label));
          CAPTURE(std::string(mt::text_of(type)));
          CAPTURE(times);
          CAPTURE(has_products);
          if (traced == nullptr) traced = program.trace();
          std::unique_ptr<mt::lowering> low;
          bool const spread = times == 1;
          try {
            low = mt::lower(*variant(*traced, type, times), program.entry, one_axis,
                            spread ? mt::layout_rules{}.shard("batch", {"ax"}) : mt::layout_rules{}, {},
                            mt::capabilities_of<mt::cuda_device>);
          } catch (mt::error const& e) {
            bool const is_too_large = times != 1 && e.code() == "S03";  // a dim that is a product of others
            CHECK_MESSAGE(is_too_large, e.what());
            continue;
          }
          std::size_t const generations = std::size(meshtensor_test::gpu_generations);
          for (std::size_t g = 0; g < generations; ++g) {
            if (one_in() != 1 && mine % generations != g) continue;
            CAPTURE(std::string(meshtensor_test::gpu_generations[g].target));
            meshtensor_test::text_gpu gpu(meshtensor_test::gpu_generations[g]);
            gpu.has_products = has_products;
            std::string text;
            try {
              text = text_of_kernels(gpu, *low, one_axis);
            } catch (mt::error const& e) { CHECK(e.code() == "R84"); }
            text = without_known(text, known[g]);
            if (text.empty()) continue;
            read(compiler.compile(text, meshtensor_test::gpu_generations[g].target), all), ++texts;
          }
        }
  }
  say(all);
  if (only != nullptr) return;
  at_least(300, texts);
  at_least(100, all.wide_loads);
}
