// A batched matrix product, prepared once at start and then run without an allocation of ours: by oneDNN for f32 and
// bf16, by a CBLAS for f64, else by our own loops.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <variant>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/device/cpu/matmul_loops.hpp"
#include "meshtensor/device/cpu/onednn.hpp"

#if defined(MESHTENSOR_WITH_ONEDNN)
#  include <cblas.h>
#endif

namespace meshtensor::cpu {

/// C[batch…, m, n] (+)= A[batch…, m, k] · B[batch…, k, n]; see matmul_problem for types and strides.
///
/// Types: all floats, or all integers, whose sums are i64. Sums of f32 and bf16 are f32, of f64 f64.
///
/// A run repeats bit for bit with the same number of library threads. Our loops do so with any number; oneDNN and the
/// CBLAS may cut k between threads where m and n are small, and then differ from one number of threads to another by
/// rounding.
///
/// errors  R30 floats and integers mixed, a size below 0, a result whose elements overlap
class matmul_plan {
 public:
  /// `threads`: those of the team that will be given to execute, for our loops; the libraries' are those of the calling
  /// thread (set_library_threads), which must also be the one that executes.
  explicit matmul_plan(matmul_problem const& problem, int threads = 1) {
    check(problem);
    p_ = flattened(problem);
    if (p_.empty()) return;
    if (p_.k != 0 && (plan_onednn() || plan_cblas())) return;
    way_ = matmul_loops(p_, threads);
  }

  /// What execute needs besides its operands; at a multiple of 64.
  std::size_t workspace_bytes() const {
    if (auto const* loops = std::get_if<matmul_loops>(&way_)) return loops->workspace_bytes();
#if defined(MESHTENSOR_WITH_ONEDNN)
    if (auto const* library = std::get_if<by_onednn>(&way_)) return library->primitive.workspace_bytes();
#endif
    return 0;
  }

  /// Who makes the product: "onednn …", "cblas", "loops" or "nothing".
  std::string implementation() const {
#if defined(MESHTENSOR_WITH_ONEDNN)
    if (auto const* library = std::get_if<by_onednn>(&way_)) return "onednn " + library->primitive.name();
    if (std::holds_alternative<by_cblas>(way_)) return "cblas";
#endif
    return std::holds_alternative<matmul_loops>(way_) ? "loops" : "nothing";
  }

  /// Runs it. A and B may overlap each other, not C. One thread at a time; `team` speeds up our loops.
  void execute(void const* a, void const* b, void* c, void* workspace, thread_team* team = nullptr) {
    if (p_.swapped) std::swap(a, b);
    if (auto const* loops = std::get_if<matmul_loops>(&way_)) loops->execute(a, b, c, workspace, team);
#if defined(MESHTENSOR_WITH_ONEDNN)
    if (auto* library = std::get_if<by_onednn>(&way_)) execute_onednn(*library, a, b, c, workspace);
    if (std::holds_alternative<by_cblas>(way_)) execute_cblas(a, b, c);
#endif
  }

 private:
  static void check(matmul_problem const& p) {
    bool const floats = is_float(p.a.type);
    if (is_float(p.b.type) != floats || is_float(p.c.type) != floats)
      throw error("R30", {"a matrix product of ", text_of(p.a.type), " and ", text_of(p.b.type), " into ",
                          text_of(p.c.type), " mixes floats and integers: cast one operand"});
    bool bad = p.m < 0 || p.n < 0 || p.k < 0 || p.batch_dims < 0 || p.batch_dims > max_batch_dims;
    for (int i = 0; !bad && i < p.batch_dims; ++i) bad = p.batch[i] < 0 || (p.batch[i] > 1 && p.c.batch[i] == 0);
    bad = bad || (!p.empty() && ((p.m > 1 && p.c.row == 0) || (p.n > 1 && p.c.column == 0)));
    if (bad)
      throw error("R30",
                  "a matrix product has a size below 0, more than 6 batch dims, or results that share an element: "
                  "describe each element of the result once");
  }

#if defined(MESHTENSOR_WITH_ONEDNN)
  struct by_onednn {
    onednn::primitive primitive;
    int outer = 0;  // batch dims that we loop over, from the first
  };
  struct by_cblas {};

  /// The matrices of the batch dims from `outer` on as one array; a repeated one has extent 1 there.
  dnnl::memory::desc description(matmul_operand const& x, std::int64_t rows, std::int64_t columns, int outer) const {
    dnnl::memory::dims extents, strides;
    for (int i = outer; i < p_.batch_dims; ++i) {
      extents.push_back(x.batch[i] == 0 ? 1 : p_.batch[i]);
      strides.push_back(x.batch[i] == 0 ? 1 : x.batch[i]);
    }
    extents.insert(extents.end(), {rows, columns});
    strides.insert(strides.end(), {x.row, x.column});
    return {extents, onednn::type_of(x.type), strides};
  }

  /// With as many batch dims inside as the library is fast at.
  bool plan_onednn() {
    auto const undefined = dnnl::memory::data_type::undef;
    for (matmul_operand const* x : {&p_.a, &p_.b, &p_.c})
      if (onednn::type_of(x->type) == undefined || (x->row != 1 && x->column != 1) || x->row <= 0 || x->column <= 0)
        return false;
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (p_.accumulate) {
      dnnl::post_ops after;
      after.append_sum(1.0f);
      attributes.set_post_ops(after);
    }
    for (int outer = 0; outer <= p_.batch_dims; ++outer) try {
        auto const a = description(p_.a, p_.m, p_.k, outer), b = description(p_.b, p_.k, p_.n, outer);
        auto const c = description(p_.c, p_.m, p_.n, outer);
        auto const described = onednn::describe_matmul(a, b, c, attributes);
        if (onednn::is_reference(described)) continue;
        way_ = by_onednn{onednn::primitive::make<dnnl::matmul>(
                             described, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}}),
                         outer};
        return true;
      } catch (dnnl::error const&) {  // not for these strides, this type or this processor
      }
    return false;
  }

  void execute_onednn(by_onednn& way, void const* a, void const* b, void* c, void* workspace) const {
    std::int64_t calls = 1;
    for (int i = 0; i < way.outer; ++i) calls *= p_.batch[i];
    auto const at = [&](void const* block, matmul_operand const& x, std::int64_t call) {
      return static_cast<std::byte const*>(block) +
             p_.offset(x, call, way.outer) * static_cast<std::int64_t>(bytes_of(x.type));
    };
    for (std::int64_t call = 0; call < calls; ++call)
      way.primitive.execute({at(a, p_.a, call), at(b, p_.b, call), at(c, p_.c, call)}, workspace);
  }

  /// A matrix as BLAS has it: one direction contiguous, the other a leading dimension that fits an int.
  static bool fits_cblas(matmul_operand const& x, std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    bool const by_rows = x.column == 1 && x.row >= columns, by_columns = x.row == 1 && x.column >= rows;
    return x.type == dtype::f64 && (by_rows || by_columns) && std::max({rows, columns, x.row, x.column}) <= most;
  }

  bool plan_cblas() {
    if (p_.c.column != 1 || !fits_cblas(p_.a, p_.m, p_.k) || !fits_cblas(p_.b, p_.k, p_.n) ||
        !fits_cblas(p_.c, p_.m, p_.n) || p_.c.row < p_.n)
      return false;
    way_ = by_cblas{};
    return true;
  }

  void execute_cblas(void const* a, void const* b, void* c) const {
    auto const order = [](matmul_operand const& x, std::int64_t columns) {
      return x.column == 1 && x.row >= columns ? CblasNoTrans : CblasTrans;
    };
    auto const leading = [&](matmul_operand const& x, std::int64_t columns) {
      return static_cast<int>(order(x, columns) == CblasNoTrans ? x.row : x.column);
    };
    for (std::int64_t i = 0; i < p_.batch_count(); ++i)
      cblas_dgemm(CblasRowMajor, order(p_.a, p_.k), order(p_.b, p_.n), static_cast<int>(p_.m), static_cast<int>(p_.n),
                  static_cast<int>(p_.k), 1.0, static_cast<double const*>(a) + p_.offset(p_.a, i, p_.batch_dims),
                  leading(p_.a, p_.k), static_cast<double const*>(b) + p_.offset(p_.b, i, p_.batch_dims),
                  leading(p_.b, p_.n), p_.accumulate ? 1.0 : 0.0,
                  static_cast<double*>(c) + p_.offset(p_.c, i, p_.batch_dims), static_cast<int>(p_.c.row));
  }

  std::variant<std::monostate, matmul_loops, by_onednn, by_cblas> way_;
#else
  static constexpr bool plan_onednn() { return false; }
  static constexpr bool plan_cblas() { return false; }

  std::variant<std::monostate, matmul_loops> way_;
#endif
  matmul_problem p_;
};

}  // namespace meshtensor::cpu
