// SPDX-License-Identifier: Apache-2.0
// Plans and runs products of matrices by cuBLASLt.
#pragma once

#include <cstdint>
#include <memory>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/device/cuda/api.hpp"
#include "meshtensor/device/cuda/gpu.hpp"
#include "meshtensor/device/cuda/loaded_gpu/find_functions.hpp"

namespace meshtensor::cuda::detail {

/// The library of products. Each call needs the context of its GPU on the calling thread.
class product_library {
 public:
  /// errors R80
  void find() { find_functions(products_); }
  /// errors R81
  void begin() { check_product(products_.cublasLtCreate(&blas_), "cublasLtCreate"); }

  std::unique_ptr<product_plan> plan(gemm const& g, std::size_t workspace_bytes) const {
    auto made = std::make_unique<planned>(*this);
    bool const is_double = g.type == dtype::f64;
    int const type = is_double ? api::real_f64 : g.type == dtype::f32 ? api::real_f32 : api::real_bf16;
    check_product(products_.cublasLtMatmulDescCreate(&made->what, is_double ? api::compute_f64 : api::compute_f32,
                                                     is_double ? api::real_f64 : api::real_f32),
                  "cublasLtMatmulDescCreate");
    int const turned_a = g.transposed_a ? 1 : 0, turned_b = g.transposed_b ? 1 : 0;
    products_.cublasLtMatmulDescSetAttribute(made->what, api::transpose_a, &turned_a, sizeof turned_a);
    products_.cublasLtMatmulDescSetAttribute(made->what, api::transpose_b, &turned_b, sizeof turned_b);
    int refused = 0;
    if (g.adds_offset) {
      // Until the product runs, only the alignment of this address counts.
      auto const aligned_so = static_cast<std::uintptr_t>(g.offset_alignment);
      refused |=
          products_.cublasLtMatmulDescSetAttribute(made->what, api::epilogue, &api::epilogue_bias,
                                                   sizeof api::epilogue_bias) |
          products_.cublasLtMatmulDescSetAttribute(made->what, api::bias_pointer, &aligned_so, sizeof aligned_so);
    }
    auto const lay = [&](api::layout& l, std::int64_t rows, std::int64_t columns, std::int64_t line,
                         std::int64_t step) {
      check_product(products_.cublasLtMatrixLayoutCreate(&l, type, static_cast<std::uint64_t>(rows),
                                                         static_cast<std::uint64_t>(columns), line),
                    "cublasLtMatrixLayoutCreate");
      auto const batch = static_cast<std::int32_t>(g.batch);
      products_.cublasLtMatrixLayoutSetAttribute(l, api::batch_count, &batch, sizeof batch);
      std::uint32_t const by_address = 1;
      refused |= g.by_address
                     ? products_.cublasLtMatrixLayoutSetAttribute(l, api::batch_mode, &by_address, sizeof by_address)
                     : products_.cublasLtMatrixLayoutSetAttribute(l, api::batch_step, &step, sizeof step);
    };
    lay(made->a, g.transposed_a ? g.k : g.m, g.transposed_a ? g.m : g.k, g.lda, g.step_a);
    lay(made->b, g.transposed_b ? g.n : g.k, g.transposed_b ? g.k : g.n, g.ldb, g.step_b);
    lay(made->c, g.m, g.n, g.ldc, g.step_c);
    // C and D share one layout if their columns have the same distance, because only then cuBLASLt accepts one address
    // for both.
    if (g.adds_matrix && g.ld_added != g.ldc) lay(made->added, g.m, g.n, g.ld_added, g.step_c);
    if (refused != 0) return nullptr;
    api::preference wish = nullptr;
    check_product(products_.cublasLtMatmulPreferenceCreate(&wish), "cublasLtMatmulPreferenceCreate");
    auto const most = static_cast<std::uint64_t>(workspace_bytes);
    products_.cublasLtMatmulPreferenceSetAttribute(wish, api::most_workspace, &most, sizeof most);
    auto const aligned = static_cast<std::uint32_t>(g.alignment);
    for (int const which : {api::alignment_a, api::alignment_b, api::alignment_c, api::alignment_d})
      products_.cublasLtMatmulPreferenceSetAttribute(wish, which, &aligned, sizeof aligned);
    api::choice found{};
    int count = 0;
    int const state = products_.cublasLtMatmulAlgoGetHeuristic(
        blas_, made->what, made->a, made->b, made->layout_of_added(), made->c, wish, 1, &found, &count);
    products_.cublasLtMatmulPreferenceDestroy(wish);
    if (state != 0 || count == 0) return nullptr;
    made->how = found.how, made->is_double = is_double;
    made->adds_offset = g.adds_offset, made->adds_matrix = g.adds_matrix;
    return made;
  }
  void run(product_plan const& how, product_addresses const& at, address workspace, std::size_t workspace_bytes,
           api::stream stream) const {
    auto const& p = static_cast<planned const&>(how);
    static constexpr double f64_of[] = {0, 1};
    static constexpr float f32_of[] = {0, 1};
    auto const factor = [&](int n) { return p.is_double ? static_cast<void const*>(&f64_of[n]) : &f32_of[n]; };
    if (p.adds_offset)
      check_product(products_.cublasLtMatmulDescSetAttribute(p.what, api::bias_pointer, &at.offset, sizeof at.offset),
                    "cublasLtMatmulDescSetAttribute");
    bool const adds = p.adds_matrix;
    check_product(
        products_.cublasLtMatmul(blas_, p.what, factor(1), at.a, p.a, at.b, p.b, factor(adds), adds ? at.added : at.c,
                                 p.layout_of_added(), at.c, p.c, &p.how, workspace, workspace_bytes, stream),
        "cublasLtMatmul");
  }

 private:
  struct planned final : product_plan {
    explicit planned(product_library const& g) : from(g) {}
    ~planned() override {
      if (what != nullptr) from.products_.cublasLtMatmulDescDestroy(what);
      for (api::layout l : {a, b, c, added})
        if (l != nullptr) from.products_.cublasLtMatrixLayoutDestroy(l);
    }
    product_library const& from;
    api::product what = nullptr;
    api::layout layout_of_added() const { return added == nullptr ? c : added; }
    api::layout a = nullptr, b = nullptr, c = nullptr, added = nullptr;
    api::algorithm how{};
    bool is_double = false, adds_offset = false, adds_matrix = false;
  };

  static void check_product(int wrong, char const* call) {
    if (wrong != 0) throw error("R81", {"cuBLAS says in ", call, ": status ", wrong});
  }

  api::products products_{};
  api::blas blas_ = nullptr;
};

}  // namespace meshtensor::cuda::detail
