// SPDX-License-Identifier: Apache-2.0
// Convolutions for tests: tensors between guard zones in any order of memory, and the straightforward loops.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "meshtensor/base/memory.hpp"
#include "meshtensor/device/cpu/convolution/problem.hpp"

namespace convolutions {

namespace mt = meshtensor;
using mt::dtype;
using mt::cpu::convolution_dim;
using mt::cpu::convolution_direction;
using mt::cpu::convolution_problem;
using mt::cpu::convolution_strides;

constexpr convolution_direction directions[] = {convolution_direction::forward, convolution_direction::data,
                                                convolution_direction::weights};
inline char const* name_of(convolution_direction d) {
  return d == convolution_direction::forward ? "forward" : d == convolution_direction::data ? "data" : "weights";
}

/// Extents of one tensor by letter: n image, g group, c and k channels, x y z spatial dims.
inline std::int64_t& stride_of(convolution_strides& s, char letter) {
  switch (letter) {
    case 'n': return s.image;
    case 'g': return s.group;
    case 'c': return s.input_channel;
    case 'k': return s.output_channel;
    default: return s.spatial[letter - 'x'];
  }
}

/// Which of the three tensors: their spatial extents differ.
enum class tensor { input, output, kernel };
inline std::int64_t extent_of(convolution_problem const& p, tensor t, char letter) {
  switch (letter) {
    case 'n': return p.images;
    case 'g': return p.groups;
    case 'c': return p.input_channels;
    case 'k': return p.output_channels;
    default: break;
  }
  convolution_dim const& d = p.dim[letter - 'x'];
  return t == tensor::input ? d.input : t == tensor::output ? d.output : d.kernel;
}

/// Dense strides in this order of dims, the last one innermost; letters of absent dims are skipped.
inline void lay_out(convolution_problem& p, convolution_strides& s, tensor t, std::string const& order) {
  std::int64_t step = 1;
  for (auto letter = order.rbegin(); letter != order.rend(); ++letter) {
    if (*letter >= 'x' && *letter - 'x' >= p.dims) continue;
    stride_of(s, *letter) = step;
    step *= extent_of(p, t, *letter);
  }
}

struct orders {
  char const *input, *output, *kernel;
};
constexpr orders channels_last{"nxyzgc", "nxyzgk", "xyzgck"}, channels_first{"ngcxyz", "ngkxyz", "gkcxyz"};

inline convolution_problem problem(convolution_direction direction, dtype type, std::int64_t n, std::int64_t g,
                                   std::int64_t c, std::int64_t k, std::vector<convolution_dim> const& dims,
                                   orders const& lies = channels_last) {
  convolution_problem p;
  p.direction = direction, p.type = type;
  p.images = n, p.groups = g, p.input_channels = c, p.output_channels = k;
  for (auto const& d : dims) p.dim[p.dims++] = d;
  lay_out(p, p.input, tensor::input, lies.input);
  lay_out(p, p.output, tensor::output, lies.output);
  lay_out(p, p.kernel, tensor::kernel, lies.kernel);
  return p;
}

/// A dim whose output is as long as equal padding on both sides makes it.
inline convolution_dim padded(std::int64_t input, std::int64_t kernel, std::int64_t stride = 1,
                              std::int64_t dilation = 1, std::int64_t low = 0) {
  return {input, (input + 2 * low - dilation * (kernel - 1) - 1) / stride + 1, kernel, stride, dilation, low};
}

/// The elements of a tensor with a guard zone on either side.
struct block {
  static constexpr std::size_t guard = 256;
  /// `integers`: small ones, whose sums are exact.
  block(dtype t, std::int64_t elements, int seed, bool integers)
      : type(t), count(elements), bytes(2 * guard + static_cast<std::size_t>(elements) * mt::bytes_of(t)) {
    std::memset(bytes.data(), 0xff, bytes.size());  // nan, wherever it is read
    for (std::int64_t i = 0; i < count; ++i) {
      double const x = std::sin(static_cast<double>(i * 7 + seed) * 12.9898);
      set(i, integers ? std::floor(x * 3) : x);
    }
  }
  std::byte* data() { return bytes.data() + guard; }
  std::byte const* data() const { return bytes.data() + guard; }
  void set(std::int64_t i, double value) {
    switch (type) {
      case dtype::f64: reinterpret_cast<double*>(data())[i] = value; break;
      case dtype::f32: reinterpret_cast<float*>(data())[i] = static_cast<float>(value); break;
      default: reinterpret_cast<mt::bf16_t*>(data())[i] = mt::bf16_t(static_cast<float>(value));
    }
  }
  double get(std::int64_t i) const {
    switch (type) {
      case dtype::f64: return reinterpret_cast<double const*>(data())[i];
      case dtype::f32: return double{reinterpret_cast<float const*>(data())[i]};
      default: return double{float{reinterpret_cast<mt::bf16_t const*>(data())[i]}};
    }
  }
  std::vector<double> numbers() const {
    std::vector<double> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back(get(i));
    return all;
  }
  bool guarded() const {
    for (std::size_t i = 0; i < guard; ++i)
      if (bytes.data()[i] != std::byte{0xff} || bytes.data()[bytes.size() - 1 - i] != std::byte{0xff}) return false;
    return true;
  }
  bool operator==(block const& o) const { return std::memcmp(bytes.data(), o.bytes.data(), bytes.size()) == 0; }

  dtype type;
  std::int64_t count;
  mt::arena bytes;
};

/// The three tensors of a dense problem.
struct tensors {
  explicit tensors(convolution_problem const& p, bool integers = true)
      : input(p.type, p.input_elements(), 1, integers),
        output(p.type, p.output_elements(), 2, integers),
        kernel(p.type, p.kernel_elements(), 3, integers) {}
  block& result(convolution_direction d) {
    return d == convolution_direction::forward ? output : d == convolution_direction::data ? input : kernel;
  }
  block& left(convolution_direction d) { return d == convolution_direction::data ? output : input; }
  block& right(convolution_direction d) { return d == convolution_direction::weights ? output : kernel; }
  block input, output, kernel;
};

#if defined(__GNUC__) && !defined(__clang__)  // most of a test's time is spent here, and the rest is compiled at -O0
#  pragma GCC push_options
#  pragma GCC optimize("O2")
#endif
/// Calls f(input, output, kernel offsets) for every product of a problem.
template <class F>
void each_product(convolution_problem const& p, F const& f) {
  convolution_dim dim[3];
  std::int64_t in[3] = {}, out[3] = {}, ker[3] = {};
  for (int i = 0; i < p.dims; ++i)
    dim[i] = p.dim[i], in[i] = p.input.spatial[i], out[i] = p.output.spatial[i], ker[i] = p.kernel.spatial[i];
  auto const along = [&](int i, auto const& next) {
    for (std::int64_t o = 0; o < dim[i].output; ++o)
      for (std::int64_t w = 0; w < dim[i].kernel; ++w) {
        std::int64_t const at = dim[i].stride * o + dim[i].dilation * w - dim[i].low;
        if (at >= 0 && at < dim[i].input) next(at * in[i], o * out[i], w * ker[i]);
      }
  };
  along(0, [&](auto i0, auto o0, auto w0) {
    along(1, [&](auto i1, auto o1, auto w1) {
      along(2, [&](auto i2, auto o2, auto w2) {
        for (std::int64_t n = 0; n < p.images; ++n)
          for (std::int64_t g = 0; g < p.groups; ++g)
            for (std::int64_t c = 0; c < p.input_channels; ++c)
              for (std::int64_t k = 0; k < p.output_channels; ++k)
                f(i0 + i1 + i2 + n * p.input.image + g * p.input.group + c * p.input.input_channel,
                  o0 + o1 + o2 + n * p.output.image + g * p.output.group + k * p.output.output_channel,
                  w0 + w1 + w2 + g * p.kernel.group + c * p.kernel.input_channel + k * p.kernel.output_channel);
      });
    });
  });
}

/// How many elements of `got` are wrong, beyond the error that rounding allows: none for integers.
inline int wrong_elements(convolution_problem const& p, tensors& x, block const& got, bool integers = true) {
  auto const size = static_cast<std::size_t>(got.count);
  std::vector<double> sum(size), magnitude(size), terms(size);
  bool const forward = p.direction == convolution_direction::forward;
  bool const data = p.direction == convolution_direction::data;
  std::vector<double> const first = (data ? x.output : x.input).numbers();
  std::vector<double> const second = (forward || data ? x.kernel : x.output).numbers();
  double const *const a = first.data(), *const b = second.data();
  double *const sums = sum.data(), *const magnitudes = magnitude.data(), *const counts = terms.data();
  each_product(p, [=](std::int64_t i, std::int64_t o, std::int64_t w) {
    double const term = a[data ? o : i] * b[forward || data ? w : o];
    std::int64_t const at = forward ? o : data ? i : w;
    sums[at] += term, magnitudes[at] += term < 0 ? -term : term, ++counts[at];
  });
  double const step = got.type == dtype::f64 ? 0x1p-52 : 0x1p-23;
  int wrong = 0;
  for (std::size_t i = 0; i < size; ++i) {
    double const is = got.get(static_cast<std::int64_t>(i));
    if (integers && got.type == dtype::bf16) {
      wrong += !(is == double{float{mt::bf16_t(static_cast<float>(sum[i]))}});
    } else {
      double const rounded = got.type == dtype::bf16 ? 0x1p-8 * std::abs(sum[i]) : 0;
      wrong += !(std::abs(is - sum[i]) <= (integers ? 0 : (terms[i] + 2) * step * magnitude[i] + rounded));
    }
  }
  return wrong + !got.guarded();
}
#if defined(__GNUC__) && !defined(__clang__)
#  pragma GCC pop_options
#endif

}  // namespace convolutions
