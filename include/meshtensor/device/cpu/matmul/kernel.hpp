// SPDX-License-Identifier: Apache-2.0
// Prepares a batched matrix product on one thread once, and then runs it without our allocating memory. It uses oneDNN
// or a CBLAS if they support the product, and our own loops otherwise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <variant>

#include "meshtensor/device/cpu/library_threads.hpp"
#include "meshtensor/device/cpu/matmul/loops.hpp"
#include "meshtensor/device/cpu/matmul/small_batch.hpp"
#include "meshtensor/device/cpu/onednn.hpp"

#if MESHTENSOR_WITH_ONEDNN
#  include <cblas.h>
#endif

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Computes C[batch…, m, n] (+)= A[batch…, m, k] · B[batch…, k, n] of a flat problem that is not empty. If a library
/// computes it, construct and run it under a `libraries_on_one_thread`.
class matmul_kernel {
 public:
  explicit matmul_kernel(matmul_problem const& flat) : p_(flat) {
    if (p_.k != 0 && (plan_onednn() || plan_cblas())) return;
    if (p_.k == 0 || !plan_small_batch()) way_ = matmul_loops(p_);
  }

  /// The bytes of workspace that execute needs. The workspace must start at a multiple of 64 bytes.
  std::size_t workspace_bytes() const {
    if (auto const* loops = std::get_if<matmul_loops>(&way_)) return loops->workspace_bytes();
    if (auto const* batch = std::get_if<small_batch>(&way_)) return batch->workspace_bytes();
#if MESHTENSOR_WITH_ONEDNN
    if (auto const* library = std::get_if<by_onednn>(&way_)) return library->primitive.workspace_bytes();
#endif
    return 0;
  }

  /// The name of the implementation: "onednn …", "cblas", "small batch" or "loops".
  std::string implementation() const {
#if MESHTENSOR_WITH_ONEDNN
    if (auto const* library = std::get_if<by_onednn>(&way_)) return "onednn " + library->primitive.name();
    if (std::holds_alternative<by_cblas>(way_)) return "cblas";
#endif
    return std::holds_alternative<small_batch>(way_) ? "small batch" : "loops";
  }

  template <class Any = lazy>
  void execute(void const* a, void const* b, void* c, void* workspace) {
    if (auto const* loops = std::get_if<matmul_loops>(&way_)) loops->template execute<Any>(a, b, c, workspace);
    if (auto const* batch = std::get_if<small_batch>(&way_)) batch->template execute<Any>(a, b, c, workspace);
#if MESHTENSOR_WITH_ONEDNN
    if (auto* library = std::get_if<by_onednn>(&way_)) execute_onednn(*library, a, b, c, workspace);
    if (std::holds_alternative<by_cblas>(way_)) execute_cblas(a, b, c);
#endif
  }

 private:
  bool plan_small_batch() {
    if (!small_batch::takes(p_)) return false;
    way_ = small_batch(p_);
    return true;
  }

#if MESHTENSOR_WITH_ONEDNN
  struct by_onednn {
    onednn::primitive primitive;
    int outer = 0;  // the outermost batch dims, which we loop over
  };
  struct by_cblas {};

  /// The matrices of the batch dims from `outer` on as one array. A dim along which they repeat has extent 1.
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

  /// Gives the library as many batch dims as it computes without its reference implementation.
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
        if (onednn::is_gemm(described) && (plan_cblas() || plan_small_batch())) return true;
        way_ = by_onednn{onednn::primitive::make<dnnl::matmul>(
                             described, {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}}),
                         outer};
        return true;
      } catch (dnnl::error const&) {  // not supported for these strides, this type or this CPU
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

  /// Whether BLAS can express a matrix. One direction must be contiguous, and the other must be a leading dimension
  /// that fits an int.
  static bool fits_cblas(matmul_operand const& x, std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    bool const by_rows = x.column == 1 && x.row >= columns, by_columns = x.row == 1 && x.column >= rows;
    return (by_rows || by_columns) && std::max({rows, columns, x.row, x.column}) <= most;
  }

  /// Uses a CBLAS for f64, and for f32 in matrices so large that packing is cheap. On older CPUs, oneDNN has its own
  /// gemm in place of its batched kernels, and this gemm falls to half its rate for some shapes. However, it computes
  /// small products without packing. With AVX-512 it is twice as fast as an OpenBLAS without AVX-512 kernels. For
  /// example, OpenBLAS 0.3.21 has no such kernels on AMD processors.
  bool plan_cblas() {
    constexpr std::int64_t large = 256;
    bool const f64 = p_.c.type == dtype::f64;
    if (!f64 && (p_.c.type != dtype::f32 || std::min({p_.m, p_.n, p_.k}) < large || !is_openblas_fast())) return false;
    if (p_.a.type != p_.c.type || p_.b.type != p_.c.type || p_.c.column != 1 || !fits_cblas(p_.a, p_.m, p_.k) ||
        !fits_cblas(p_.b, p_.k, p_.n) || !fits_cblas(p_.c, p_.m, p_.n) || p_.c.row < p_.n)
      return false;
    way_ = by_cblas{};
    return true;
  }
  static bool is_openblas_fast() {
    static bool const wide = [] {
      constexpr std::string_view with_avx512[] = {"SkylakeX", "Cooperlake", "SapphireRapids"};
      auto const core = libraries_on_one_thread::openblas_core();
      return std::find(std::begin(with_avx512), std::end(with_avx512), core) != std::end(with_avx512);
    }();
    return libraries_on_one_thread::has_openblas() && (wide || !onednn::has_avx512());
  }

  void execute_cblas(void const* a, void const* b, void* c) const {
    if (p_.c.type == dtype::f64) call_cblas<double>(cblas_dgemm, a, b, c);
    else call_cblas<float>(cblas_sgemm, a, b, c);
  }
  template <class E, class Gemm>
  void call_cblas(Gemm* gemm, void const* a, void const* b, void* c) const {
    auto const order = [](matmul_operand const& x, std::int64_t columns) {
      return x.column == 1 && x.row >= columns ? CblasNoTrans : CblasTrans;
    };
    auto const leading = [&](matmul_operand const& x, std::int64_t columns) {
      return static_cast<int>(order(x, columns) == CblasNoTrans ? x.row : x.column);
    };
    for (std::int64_t i = 0; i < p_.batch_count(); ++i)
      gemm(CblasRowMajor, order(p_.a, p_.k), order(p_.b, p_.n), static_cast<int>(p_.m), static_cast<int>(p_.n),
           static_cast<int>(p_.k), E(1), static_cast<E const*>(a) + p_.offset(p_.a, i, p_.batch_dims),
           leading(p_.a, p_.k), static_cast<E const*>(b) + p_.offset(p_.b, i, p_.batch_dims), leading(p_.b, p_.n),
           E(p_.accumulate ? 1 : 0), static_cast<E*>(c) + p_.offset(p_.c, i, p_.batch_dims),
           static_cast<int>(p_.c.row));
  }

  std::variant<std::monostate, matmul_loops, small_batch, by_onednn, by_cblas> way_;
#else
  static constexpr bool plan_onednn() { return false; }
  static constexpr bool plan_cblas() { return false; }

  std::variant<std::monostate, matmul_loops, small_batch> way_;
#endif
  matmul_problem p_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
