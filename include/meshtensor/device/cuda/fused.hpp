// SPDX-License-Identifier: Apache-2.0
// Writes a fused kernel as CUDA text from its descriptor and its extents: a group of threads for each row, neighbours
// on neighbouring elements; sums over rows in chunks, which a second kernel adds up in their order.
#pragma once

#include "meshtensor/device/cuda/loop_space.hpp"
#include "meshtensor/device/cuda/text.hpp"

namespace meshtensor::cuda {

/// A kernel's number in its library, and how it is launched.
struct prepared_kernel {
  std::size_t number = 0;
  launch_shape shape;
};

/// Of a fused kernel: one that does the work and, if sums were cut into chunks, others that add these up.
struct fused_text {
  std::vector<prepared_kernel> kernels;
  std::size_t workspace = 0;  // bytes, at pointer `workspace_pointer`
  std::int64_t base[max_kernel_steps] = {};
};
inline constexpr int workspace_pointer = max_kernel_operands + max_kernel_results;
/// The words of a launch: first indices and identities of steps, and rows of numbers.
inline constexpr int most_walking_steps = 16, first_identity = 16, first_number = 32;

namespace detail {

class fused_writer {
 public:
  fused_writer(module const& m, kernel_reading const& r, view const* operands, view const* results, view const* inside,
               int const* alignment, int block_threads, std::int64_t enough_blocks)
      : r_(r), d_(r.key), space_(m, r, operands, results, inside), block_(block_threads), enough_(enough_blocks) {
    for (int i = 0; i < d_.step_count; ++i)
      if (space_.walks(i)) slot_[i] = walking_++;
    choose_shape(alignment);
  }

  bool has_too_many_indices() const { return walking_ > most_walking_steps; }

  fused_text write(kernel_library& library) {
    fused_text made;
    for (int i = 0; i < d_.step_count; ++i)
      if (space_.walks(i)) made.base[slot_[i]] = space_.base[first_step + i];
    place_partials(made);
    bool const sums = space_.over || space_.total;
    std::int64_t const units = sums ? kept_ * chunks_ : (kept_ * reduced_ + rows_ - 1) / rows_;
    std::string const body = body_text();
    made.kernels.push_back({library.add(body, threads()), {units * tiles_, threads()}});
    for (bool const wide : {true, false}) {
      std::string const end = finish_text(wide);
      if (end.empty()) continue;
      std::int64_t const n = wide ? (kept_ * space_.width + block_ - 1) / block_ : kept_;
      made.kernels.push_back({library.add(end, block_), {n, block_}});
    }
    return made;
  }

 private:
  int threads() const { return across_ * rows_; }
  static std::int64_t rounded(std::int64_t n, std::int64_t to) { return (n + to - 1) / to; }

  /// How many elements a thread takes at once, how many threads a row, how many rows a block, and into how many chunks
  /// and tiles the space is cut.
  void choose_shape(int const* alignment) {
    kept_ = space_.kept(), reduced_ = space_.reduced();
    std::int64_t const width = std::max<std::int64_t>(1, space_.width);
    at_once_ = 8;
    bool any = false;
    int smallest = 8;
    auto const fits = [&](int s, dtype t, int bytes_aligned) {
      if (space_.across[s] != 1) return;
      any = true;
      auto const size = static_cast<int>(bytes_of(t));
      smallest = std::min(smallest, size);
      while (at_once_ > 1 && bytes_aligned % std::min(16, at_once_ * size) != 0) at_once_ /= 2;
      for (int l = 0; l < space_.loops; ++l)
        while (at_once_ > 1 && space_.stride[s][l] % at_once_ != 0) at_once_ /= 2;
    };
    for (int i = 0; i < d_.operand_count; ++i)
      if (d_.operand_class(i) >= extent_class::vector) fits(i, d_.operand_type(i), alignment[i]);
    for (int i = 0; i < d_.result_count; ++i)
      if (d_.result_class(i) >= extent_class::vector)
        fits(first_result + i, d_.type_of(d_.result(i)), alignment[first_result + i]);
    if (!any) at_once_ = 1;
    while (at_once_ > 1 && (width % at_once_ != 0 || at_once_ * smallest > 16)) at_once_ /= 2;
    bool const sums = space_.over || space_.total;
    std::int64_t const all = kept_ * reduced_ * width;
    while (at_once_ > 1 && !space_.along && all / at_once_ < enough_ * block_) at_once_ /= 2;
    std::int64_t const pieces = rounded(width, at_once_);
    across_ = 1;
    while (across_ < block_ && across_ < pieces) across_ *= 2;
    if (space_.along) {
      while (across_ >= 64 && across_ < 1024 && pieces > 8 * across_) across_ *= 2;
      times_ = rounded(pieces, across_);
    } else {
      tiles_ = rounded(pieces, across_);
    }
    keeps_ = space_.along && times_ * at_once_ <= 32;
    rows_ = across_ >= block_ || (space_.along && across_ > 32) ? 1 : block_ / across_;
    if (!sums) return;
    while (rows_ > 1 && rows_ >= 2 * reduced_) rows_ /= 2;
    std::int64_t const wanted = rounded(reduced_, std::int64_t{rows_} * 8);
    chunks_ =
        std::max<std::int64_t>(1, std::min(wanted, rounded(2 * enough_, std::max<std::int64_t>(1, kept_ * tiles_))));
  }
  bool is_sum(int step) const { return goes_over(d_.step(step).kind) || is_total(d_.step(step).kind); }
  bool is_wide(int step) const { return goes_over(d_.step(step).kind) && d_.step(step).level == extent_class::vector; }
  /// How many partial results a kept row has, for each element of a wide one.
  std::int64_t parts_of(int step) const { return is_total(d_.step(step).kind) ? chunks_ * tiles_ : chunks_; }
  void place_partials(fused_text& made) {
    for (int i = 0; i < d_.step_count; ++i) {
      if (!is_sum(i) || parts_of(i) == 1) continue;
      partial_[i] = static_cast<std::int64_t>(made.workspace);
      std::int64_t const bytes = kept_ * parts_of(i) * (is_wide(i) ? space_.width : 1) * 8;
      made.workspace += static_cast<std::size_t>((bytes + 255) / 256 * 256);
    }
  }

  // ---- text ----

  std::string step_type(int i) const { return type_text(d_.step(i).type); }
  static char const* kind_text(step_kind k) {
    constexpr char const* names[] = {"", "sums", "maxima", "minima"};
    return names[static_cast<int>(reduction_of(k))];
  }
  std::string name_of(source s, bool in_vector) const {
    std::string const number = std::to_string(s.index());
    if (s.is_number()) return "c" + number;
    std::string const lane = !in_vector ? "" : keeps_ ? "[c * " + std::to_string(at_once_) + " + w]" : "[w]";
    if (s.is_step()) return "s" + number + (keeps_ && is_of_vector(s.index()) ? lane : "");
    return "x" + number + (d_.operand_class(s.index()) >= extent_class::vector ? lane : "");
  }
  bool is_of_vector(int step) const {
    return d_.step(step).level == extent_class::vector && !is_reduction(d_.step(step).kind);
  }
  std::string expression(int i, bool in_vector) const {
    kernel_step const s = d_.step(i);
    std::string const type = step_type(i), slot = std::to_string(slot_[i]);
    bool const narrow = s.kind == step_kind::position && last_index(i) < (std::int64_t{1} << 31);
    std::string const place = in_vector ? (narrow ? "((int)at" : "(at") + std::to_string(i) + " + (pos + w) * " +
                                              std::to_string(space_.across[first_step + i]) + (narrow ? ")" : "ll)")
                                        : "at" + std::to_string(i);
    if (s.kind == step_kind::position) return "to<" + type + ">(" + place + ")";
    if (is_random(s.kind)) {
      std::string const number = s.type == dtype::f64 ? "double" : "float";
      return "to<" + type + ">(" + (s.kind == step_kind::uniform ? "uniform<" : "normal<") + number + ">(stream" +
             slot + ", " + place + "))";
    }
    auto const f = static_cast<meshtensor::function>(s.kind);
    std::string const a = name_of(s.from[0], in_vector);
    if (f == meshtensor::function::cast) return "to<" + type + ">(" + a + ")";
    std::string arguments = a;
    for (int k = 1; k < d_.arity_of(i); ++k) arguments += ", " + name_of(s.from[k], in_vector);
    // Rounded to bf16, the result of a faster function is the same but for one in thousands.
    bool const near = s.type == dtype::bf16 && (f == meshtensor::function::exp || f == meshtensor::function::sigmoid ||
                                                f == meshtensor::function::divide);
    // Operands of one function have one type, whatever the compiler would make of them.
    std::string const of = (near ? "near_" : "do_") + std::string(text_of(f));
    std::string const value =
        is_logical(f) ? of + "(" + arguments + ")"
                      : of + "<" + register_text(d_.type_of(s.from[f == meshtensor::function::select ? 1 : 0])) + ">(" +
                            arguments + ")";
    return is_comparison(f) || is_logical(f) ? value : "to<" + type + ">(" + value + ")";
  }
  /// The greatest index of a position.
  std::int64_t last_index(int step) const {
    int const s = first_step + step;
    std::int64_t last = space_.base[s] + space_.across[s] * (space_.width - 1);
    for (int l = 0; l < space_.loops; ++l) last += space_.stride[s][l] * (space_.extent[l] - 1);
    return last;
  }
  std::string offset(int s, int from, int end) const {
    std::string text;
    for (int l = from; l < end; ++l)
      if (space_.stride[s][l] != 0) add(text, {text.empty() ? "" : " + ", "i", l, " * ", space_.stride[s][l], "ll"});
    return text.empty() ? "0" : text;
  }
  std::string pointer(int s, dtype t, bool is_const) const {
    return joined({"((", is_const ? "const " : "", type_text(t), "*)a.p[", s, "])"});
  }
  /// Splits an index into those of loops [from, end).
  void decode(std::string& t, char const* index, int from, int end) const {
    for (int l = end; l-- > from;) {
      if (l == from) add(t, {"const i64 i", l, " = ", index, ";\n"});
      else
        add(t, {"const i64 i", l, " = ", index, " % ", space_.extent[l], "; ", index, " /= ", space_.extent[l], ";\n"});
    }
  }

  /// The steps of vectors that these need, operands of vectors marked in `reads`.
  void need(source s, std::vector<bool>& steps, std::vector<bool>& reads) const {
    if (s.is_operand() && d_.operand_class(s.index()) >= extent_class::vector)
      reads[static_cast<std::size_t>(s.index())] = true;
    if (!s.is_step()) return;
    auto const i = static_cast<std::size_t>(s.index());
    kernel_step const step = d_.step(s.index());
    if (step.level != extent_class::vector || is_reduction(step.kind) || steps[i]) return;
    steps[i] = true;
    for (int k = 0; k < d_.arity_of(s.index()); ++k) need(step.from[k], steps, reads);
  }
  /// What a row has of its vector already, where it is kept from pass to pass.
  struct kept_of_row {
    std::vector<bool> steps = std::vector<bool>(max_kernel_steps), operands = std::vector<bool>(max_kernel_operands);
  };
  /// One pass over a row's vector: computes what `reductions` and `results` need.
  void pass(std::string& t, std::vector<int> const& reductions, std::vector<int> const& results,
            kept_of_row& kept) const {
    std::vector<bool> steps(max_kernel_steps), reads(max_kernel_operands);
    for (int i : reductions) need(d_.step(i).from[0], steps, reads);
    for (int i : results) need(d_.result(i), steps, reads);
    std::int64_t const room = keeps_ ? times_ * at_once_ : at_once_;
    if (keeps_) {  // in registers: all loops over them are unrolled
      for (std::size_t i = 0; i < steps.size(); ++i) {
        if (kept.steps[i]) steps[i] = false;
        if (!steps[i]) continue;
        kept.steps[i] = true;
        add(t, {register_text(d_.step(static_cast<int>(i)).type), " s", i, "[", room, "];\n"});
      }
      for (std::size_t i = 0; i < reads.size(); ++i) {
        if (kept.operands[i]) reads[i] = false;
        if (!reads[i]) continue;
        kept.operands[i] = true;
        add(t, {register_text(d_.operand_type(static_cast<int>(i))), " x", i, "[", room, "];\n"});
      }
    }
    bool const narrow = space_.width < (std::int64_t{1} << 30);
    std::string const first = times_ > 1 ? "(c * " + std::to_string(across_) + " + tx) * " : "tx * ";
    if (times_ > 1)
      add(t, {times_ <= 8 || keeps_ ? "#pragma unroll\n" : "", "for (int c = 0; c < ", times_, "; ++c) {\n"});
    else t += "{\nconstexpr int c = 0; (void)c;\n";
    add(t, {narrow ? "const int pos = (int)(" : "const i64 pos = (",
            tiles_ > 1 ? joined({"tile * ", std::int64_t{across_} * at_once_, "ll + "}) : "", first, at_once_,
            ");\nif (pos < ", space_.width, narrow ? ") {\n" : "ll) {\n"});
    for (int i = 0; i < d_.operand_count; ++i) {
      if (!reads[static_cast<std::size_t>(i)]) continue;
      dtype const type = d_.operand_type(i);
      std::string const from = pointer(i, type, true) + " + o" + std::to_string(i) + " + pos";
      std::string const to = "x" + std::to_string(i) + (keeps_ ? " + c * " + std::to_string(at_once_) : "");
      if (!keeps_) add(t, {register_text(type), " x", i, "[", at_once_, "]; "});
      if (space_.across[i] == 1) add(t, {"load<", at_once_, ">(", to, ", ", from, ");\n"});
      else
        add(t, {"load_apart<", at_once_, ">(", to, ", ", from, " * ", space_.across[i], "ll, ", space_.across[i],
                "ll);\n"});
    }
    for (int i : results) add(t, {register_text(d_.type_of(d_.result(i))), " y", i, "[", at_once_, "];\n"});
    add(t, {"#pragma unroll\nfor (int w = 0; w < ", at_once_, "; ++w) {\n"});
    for (int i = 0; i < d_.step_count; ++i)
      if (steps[static_cast<std::size_t>(i)])
        add(t, {keeps_ ? "" : "const " + register_text(d_.step(i).type) + " ",
                name_of({static_cast<std::uint8_t>(i)}, true), " = ", expression(i, true), ";\n"});
    for (int i : reductions) {
      std::string const to = "r" + std::to_string(i) + (is_wide(i) ? "[c * " + std::to_string(at_once_) + " + w]" : "");
      add(t, {to, " = ", kind_text(d_.step(i).kind), "::of(", to, ", (sum<", step_type(i), ">)",
              name_of(d_.step(i).from[0], true), ");\n"});
    }
    for (int i : results) add(t, {"y", i, "[w] = ", name_of(d_.result(i), true), ";\n"});
    t += "}\n";
    for (int i : results) {
      int const s = first_result + i;
      std::string const to = pointer(s, d_.type_of(d_.result(i)), false) + " + o" + std::to_string(s) + " + pos";
      char const* const type = type_text(d_.type_of(d_.result(i)));
      if (space_.across[s] == 1) add(t, {"store<", at_once_, ", ", type, ">(", to, ", y", i, ");\n"});
      else
        add(t, {"store_apart<", at_once_, ", ", type, ">(", to, " * ", space_.across[s], "ll, y", i, ", ",
                space_.across[s], "ll);\n"});
    }
    t += "}\n}\n";
  }
  /// Steps that are computed once for a row, or once at all.
  void scalars(std::string& t, extent_class level, int phase, std::vector<bool>& done) const {
    for (int i = 0; i < d_.step_count; ++i) {
      kernel_step const s = d_.step(i);
      if (done[static_cast<std::size_t>(i)] || is_reduction(s.kind) || s.level != level || s.phase > phase) continue;
      done[static_cast<std::size_t>(i)] = true;
      add(t, {"const ", register_text(s.type), " s", i, " = ", expression(i, false), ";\n"});
    }
  }
  void store_scalar(std::string& t, int result, std::string const& value, std::string const& at) const {
    dtype const type = d_.type_of(d_.result(result));
    add(t, {pointer(first_result + result, type, false), "[", at, "] = put<", type_text(type), ">(", value, ");\n"});
  }

  std::string body_text() const {
    bool const sums = space_.over || space_.total;
    std::string t;
    add(t, {"__shared__ __align__(16) unsigned char shared[", shared_bytes(), "];\n(void)shared;\n"});
    add(t, {"const int tx = threadIdx.x % ", across_, "u, ty = threadIdx.x / ", across_, "u;\n(void)tx; (void)ty;\n"});
    for (int i = 0; i < d_.number_count; ++i)
      add(t, {"const ", register_text(static_cast<dtype>(d_.numbers[i])), " c", i, " = number<",
              type_text(static_cast<dtype>(d_.numbers[i])), ">(((const double*)a.state)[2 + a.n[", first_number + i,
              "]]);\n"});
    for (int i = 0; i < d_.step_count; ++i)
      if (is_random(d_.step(i).kind))
        add(t, {"const stream stream", slot_[i], " = stream_of(a, a.n[", first_identity + slot_[i], "]);\n"});
    for (int i = 0; i < d_.operand_count; ++i)
      if (d_.operand_class(i) == extent_class::uniform)
        add(t, {"const ", register_text(d_.operand_type(i)), " x", i, " = get(*", pointer(i, d_.operand_type(i), true),
                ");\n"});
    std::vector<bool> done(max_kernel_steps);
    for (int i = 0; i < d_.step_count; ++i)  // a position or a random number of a tensor without dims
      if (space_.walks(i) && d_.step(i).level == extent_class::uniform)
        add(t, {"const i64 at", i, " = a.n[", slot_[i], "];\n"});
    scalars(t, extent_class::uniform, 0, done);
    t += "i64 unit = blockIdx.x;\n";
    if (tiles_ > 1) add(t, {"const i64 tile = unit % ", tiles_, "; unit /= ", tiles_, ";\n"});
    else t += "constexpr int tile = 0; (void)tile;\n";
    if (sums) {
      add(t,
          {"const i64 chunk = unit % ", chunks_, "; i64 k = unit / ", chunks_, "; const i64 kept = k; (void)kept;\n"});
      decode(t, "k", 0, space_.kept_loops);
      for (int i = 0; i < d_.step_count; ++i) {
        if (!is_sum(i)) continue;
        std::string const none = joined({kind_text(d_.step(i).kind), "::none<", step_type(i), ">()"});
        if (is_wide(i))
          add(t, {"sum<", step_type(i), "> r", i, "[", times_ * at_once_, "];\nfor (int i = 0; i < ", times_ * at_once_,
                  "; ++i) r", i, "[i] = ", none, ";\n"});
        else add(t, {"sum<", step_type(i), "> r", i, " = ", none, ";\n"});
      }
      add(t, {"const i64 end = ", reduced_, "ll * (chunk + 1) / ", chunks_, ";\nfor (i64 row = ", reduced_,
              "ll * chunk / ", chunks_, " + ty; row < end; row += ", rows_, ") {\ni64 m = row; (void)m;\n"});
      decode(t, "m", space_.kept_loops, space_.loops);
    } else {
      add(t,
          {"const i64 row = unit * ", rows_, " + ty;\nif (row < ", kept_ * reduced_, "ll) {\ni64 m = row; (void)m;\n"});
      decode(t, "m", 0, space_.loops);
    }
    row_text(t, done);
    t += "}\n";
    if (sums) end_text(t);
    return t;
  }
  std::int64_t shared_bytes() const {
    std::int64_t const lanes = std::int64_t{rows_} * across_ * at_once_ * 8;
    return std::max<std::int64_t>(256, rows_ > 1 && (space_.over || space_.total) ? lanes : 0);
  }

  /// What is done for one row.
  void row_text(std::string& t, std::vector<bool> done) const {
    for (int i = 0; i < d_.operand_count; ++i) {
      extent_class const c = d_.operand_class(i);
      if (c == extent_class::uniform) continue;
      add(t, {"const i64 o", i, " = ", offset(i, 0, space_.loops), "; (void)o", i, ";\n"});
      if (c == extent_class::row)
        add(t, {"const ", register_text(d_.operand_type(i)), " x", i, " = get(", pointer(i, d_.operand_type(i), true),
                "[o", i, "]);\n"});
    }
    for (int i = 0; i < d_.result_count; ++i)
      if (!d_.result(i).is_step() || !is_sum(d_.result(i).index()))
        add(t, {"const i64 o", first_result + i, " = ", offset(first_result + i, 0, space_.loops), "; (void)o",
                first_result + i, ";\n"});
    for (int i = 0; i < d_.step_count; ++i)
      if (space_.walks(i) && d_.step(i).level != extent_class::uniform)
        add(t, {"const i64 at", i, " = a.n[", slot_[i], "] + ", offset(first_step + i, 0, space_.loops), ";\n"});
    int const phases = d_.phases();
    kept_of_row kept;
    for (int p = 0; p < phases; ++p) {
      scalars(t, extent_class::row, p, done);
      std::vector<int> lines;
      for (int i = 0; i < d_.step_count; ++i)
        if (goes_along(d_.step(i).kind) && d_.step(i).phase == p) lines.push_back(i);
      if (lines.empty()) continue;
      for (int i : lines)
        add(t, {"sum<", step_type(i), "> r", i, " = ", kind_text(d_.step(i).kind), "::none<", step_type(i), ">();\n"});
      pass(t, lines, {}, kept);
      for (int i : lines)
        add(t, {"const ", register_text(d_.step(i).type), " s", i, " = to<", step_type(i), ">(over_group<", across_,
                ", ", kind_text(d_.step(i).kind), ">(r", i, ", shared));\n"});
    }
    std::vector<int> last, results;
    for (int i = 0; i < d_.step_count; ++i) {
      if (!is_sum(i)) continue;
      if (is_wide(i) || is_total(d_.step(i).kind)) last.push_back(i);
      else  // of one number for each row
        add(t, {"r", i, " = ", kind_text(d_.step(i).kind), "::of(r", i, ", (sum<", step_type(i), ">)",
                name_of(d_.step(i).from[0], false), ");\n"});
    }
    for (int i = 0; i < d_.result_count; ++i) {
      source const s = d_.result(i);
      if (s.is_step() && is_sum(s.index())) continue;
      if (d_.result_class(i) >= extent_class::vector) {
        results.push_back(i);
        continue;
      }
      t += "if (tx == 0 && tile == 0) ";
      store_scalar(t, i, name_of(s, false), "o" + std::to_string(first_result + i));
    }
    if (!last.empty() || !results.empty()) pass(t, last, results, kept);
  }

  /// Where a kept row's sum is stored: with its partial results, or in the results themselves.
  void give(std::string& t, int step, std::string const& value, std::string const& element) const {
    bool const wide = is_wide(step);
    if (parts_of(step) > 1) {
      std::string const part = is_total(d_.step(step).kind) && tiles_ > 1
                                   ? joined({"(kept * ", chunks_, " + chunk) * ", tiles_, " + tile"})
                                   : joined({"kept * ", chunks_, " + chunk"});
      add(t, {"((sum<", step_type(step), ">*)(a.p[", workspace_pointer, "] + ", partial_[step], "ll))[",
              wide ? joined({"(", part, ") * ", space_.width, "ll + ", element}) : part, "] = ", value, ";\n"});
      return;
    }
    store_sum(t, step, value, element);
  }
  void store_sum(std::string& t, int step, std::string const& value, std::string const& element) const {
    for (int i = 0; i < d_.result_count; ++i) {
      if (!(d_.result(i) == source{static_cast<std::uint8_t>(step)})) continue;
      int const s = first_result + i;
      std::string at = offset(s, 0, space_.kept_loops);
      if (is_wide(step)) add(at, {" + (", element, ") * ", space_.across[s], "ll"});
      store_scalar(t, i, joined({"to<", step_type(step), ">(", value, ")"}), at);
    }
  }
  /// Adds up the threads of a block that have taken rows of one unit.
  void end_text(std::string& t) const {
    for (int i = 0; i < d_.step_count; ++i) {
      if (!is_sum(i)) continue;
      std::string const r = "r" + std::to_string(i), sum = "sum<" + step_type(i) + ">",
                        kind = kind_text(d_.step(i).kind);
      if (is_total(d_.step(i).kind)) add(t, {r, " = over_group<", across_, ", ", kind, ">(", r, ", shared);\n"});
      t += "__syncthreads();\n";
      if (!is_wide(i)) {
        if (rows_ > 1) {
          add(t, {"if (tx == 0) ((", sum, "*)shared)[ty] = ", r,
                  ";\n__syncthreads();\nif (threadIdx.x == 0) for (int y = 1; "
                  "y < ",
                  rows_, "; ++y) ", r, " = ", kind, "::of(", r, ", ((", sum, "*)shared)[y]);\n"});
        }
        t += is_total(d_.step(i).kind) ? "if (threadIdx.x == 0) {\n" : "if (threadIdx.x == 0 && tile == 0) {\n";
        give(t, i, r, "");
        t += "}\n";
        continue;
      }
      if (rows_ > 1) {
        add(t, {"for (int w = 0; w < ",
                at_once_,
                "; ++w) ((",
                sum,
                "*)shared)[threadIdx.x * ",
                at_once_,
                " + w] = ",
                r,
                "[w];\n__syncthreads();\nif (ty == 0) for (int y = 1; y < ",
                rows_,
                "; ++y) for (int w = 0; w < ",
                at_once_,
                "; ++w) ",
                r,
                "[w] = ",
                kind,
                "::of(",
                r,
                "[w], ((",
                sum,
                "*)shared)[(y * ",
                across_,
                " + tx) * ",
                at_once_,
                " + w]);\n"});
      }
      add(t, {"if (ty == 0) for (int c = 0; c < ", times_, "; ++c) for (int w = 0; w < ", at_once_,
              "; ++w) {\nconst i64 pos = ",
              tiles_ > 1 ? joined({"tile * ", std::int64_t{across_} * at_once_, "ll + "}) : "", "(c * ", across_,
              " + tx) * ", at_once_, " + w;\nif (pos < ", space_.width, "ll) {\n"});
      give(t, i, joined({r, "[c * ", at_once_, " + w]"}), "pos");
      t += "}\n}\n";
    }
  }
  /// Adds up partial results: of wide sums, a thread for each element; of the others, a block for each kept row.
  std::string finish_text(bool wide) const {
    std::string t;
    for (int i = 0; i < d_.step_count; ++i) {
      if (!is_sum(i) || parts_of(i) == 1 || is_wide(i) != wide) continue;
      std::string const sum = "sum<" + step_type(i) + ">", kind = kind_text(d_.step(i).kind);
      std::string const from = joined({"((const ", sum, "*)(a.p[", workspace_pointer, "] + ", partial_[i], "ll))"});
      add(t, {"{\n", sum, " r = ", kind, "::none<", step_type(i), ">();\n"});
      if (wide) {
        add(t, {"for (int j = 0; j < ", chunks_, "; ++j) r = ", kind, "::of(r, ", from, "[(kept * ", chunks_,
                " + j) * ", space_.width, "ll + pos]);\n"});
        store_sum(t, i, "r", "pos");
      } else {
        add(t, {"for (int j = threadIdx.x; j < ", parts_of(i), "; j += ", block_, ") r = ", kind, "::of(r, ", from,
                "[kept * ", parts_of(i), " + j]);\nr = over_group<", block_, ", ", kind,
                ">(r, shared);\nif (threadIdx.x == 0) {\n"});
        store_sum(t, i, "r", "");
        t += "}\n__syncthreads();\n";
      }
      t += "}\n";
    }
    if (t.empty()) return t;
    std::string head;
    if (wide)
      add(head, {"i64 k = (i64)blockIdx.x * ", block_, " + threadIdx.x;\nif (k >= ", kept_ * space_.width,
                 "ll) return;\nconst i64 pos = k % ", std::max<std::int64_t>(1, space_.width),
                 "ll; k /= ", std::max<std::int64_t>(1, space_.width), "ll;\n"});
    else head += "__shared__ __align__(16) unsigned char shared[256];\ni64 k = blockIdx.x;\n";
    head += "const i64 kept = k; (void)kept;\n";
    decode(head, "k", 0, space_.kept_loops);
    return head + t;
  }

  kernel_reading const& r_;
  descriptor const& d_;
  loop_space space_;
  int block_;
  std::int64_t enough_;
  int at_once_ = 1;         // neighbours that a thread takes
  bool keeps_ = false;      // a row stays in registers from pass to pass
  int across_ = 1;          // threads of a row
  int rows_ = 1;            // that a block takes at the same time
  std::int64_t times_ = 1;  // that the threads of a row go on to its next part
  std::int64_t tiles_ = 1;  // into which a row is cut, one for each block
  std::int64_t kept_ = 1, reduced_ = 1, chunks_ = 1;
  int slot_[max_kernel_steps] = {};
  int walking_ = 0;
  std::int64_t partial_[max_kernel_steps] = {};
};

}  // namespace detail

}  // namespace meshtensor::cuda
