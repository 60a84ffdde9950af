// SPDX-License-Identifier: Apache-2.0
// The products that a compiled program of XLA has: reads its HloModuleProto, and counts the operations of its
// convolutions and dots, without those of padding. Of a loop it has one turn.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/base/protobuf.hpp"

namespace tpu {

/// A message as a list of integers and one of inner messages by field; a packed list is an inner message.
struct fields {
  std::map<std::uint64_t, std::vector<std::int64_t>> integers;
  std::map<std::uint64_t, std::vector<std::string_view>> parts;

  explicit fields(std::string_view message) {
    bool const is_whole = meshtensor::detail::each_field(
        message,
        [&](std::uint64_t field, std::string_view part) {
          parts[field].push_back(part);
          return true;
        },
        [&](std::uint64_t field, std::uint64_t value) {
          integers[field].push_back(static_cast<std::int64_t>(value));
          return true;
        });
    if (!is_whole) throw std::runtime_error("the compiled program is no message");
  }
  std::int64_t number(std::uint64_t field) const {  // one that is 0 may be absent
    auto const at = integers.find(field);
    return at == integers.end() ? 0 : at->second.back();
  }
  std::string_view part(std::uint64_t field) const {
    auto const at = parts.find(field);
    return at == parts.end() ? std::string_view() : at->second.back();
  }
  std::vector<std::string_view> all(std::uint64_t field) const {
    auto const at = parts.find(field);
    return at == parts.end() ? std::vector<std::string_view>() : at->second;
  }
  std::vector<std::int64_t> list(std::uint64_t field) const {
    std::vector<std::int64_t> r;
    for (std::string_view rest : all(field))
      for (std::uint64_t n = 0, shift = 0; !rest.empty(); rest.remove_prefix(1)) {
        auto const byte = static_cast<unsigned char>(rest[0]);
        n |= std::uint64_t{byte & 0x7fu} << shift, shift += 7;
        if (byte < 0x80) r.push_back(static_cast<std::int64_t>(n)), n = shift = 0;
      }
    if (auto const at = integers.find(field); at != integers.end())
      r.insert(r.end(), at->second.begin(), at->second.end());
    return r;
  }
};

/// The pairs of an output and an element of the kernel, along one dim of a convolution, that meet an input.
inline std::int64_t met(std::int64_t in, std::int64_t out, fields const& window) {
  std::int64_t const size = window.number(1), stride = window.number(2), low = window.number(3);
  std::int64_t const between_kernel = window.number(5), between_inputs = window.number(6);
  std::int64_t count = 0;
  for (std::int64_t o = 0; o < out; ++o)
    for (std::int64_t k = 0; k < size; ++k) {
      std::int64_t const at = o * stride + k * between_kernel - low;
      count += at >= 0 && at % between_inputs == 0 && at / between_inputs < in ? 1 : 0;
    }
  return count;
}

/// The operations of all convolutions and dots of a program.
inline double operations_of_products(std::string_view module_with_settings) {
  using extents = std::vector<std::int64_t>;
  fields const module(fields(module_with_settings).part(1));
  double operations = 0;
  for (std::string_view const computation : module.all(3)) {
    std::vector<fields> instructions;
    std::map<std::int64_t, extents> shape;
    for (std::string_view const i : fields(computation).all(2)) {
      instructions.emplace_back(i);
      shape[instructions.back().number(35)] = fields(instructions.back().part(3)).list(3);
    }
    auto const extent = [](extents const& of, std::int64_t dim) { return of.at(static_cast<std::size_t>(dim)); };
    for (fields const& i : instructions) {
      bool const is_dot = i.part(2) == "dot";
      if (!is_dot && i.part(2) != "convolution") continue;
      extents const operands = i.list(36), result = shape.at(i.number(35));
      extents const left = shape.at(operands.at(0)), right = shape.at(operands.at(1));
      double terms = 2;
      if (is_dot) {
        for (std::int64_t const n : result) terms *= static_cast<double>(n);
        for (std::int64_t const d : fields(i.part(30)).list(1)) terms *= static_cast<double>(extent(left, d));
        operations += terms;
        continue;
      }
      fields const dims(i.part(16));
      terms *= static_cast<double>(extent(left, dims.number(7))) / static_cast<double>(i.number(58));
      terms *= static_cast<double>(extent(right, dims.number(3)) * extent(result, dims.number(10)));
      extents const in = dims.list(11), out = dims.list(12);
      auto const windows = fields(i.part(15)).all(1);
      for (std::size_t k = 0; k < windows.size(); ++k)
        terms *= static_cast<double>(met(extent(left, in.at(k)), extent(result, out.at(k)), fields(windows[k])));
      operations += terms;
    }
  }
  return operations;
}

}  // namespace tpu
