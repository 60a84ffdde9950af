// SPDX-License-Identifier: Apache-2.0
// Table of the MPI calls that carry each collective, and of the workspace that they need. The transport, reports and a
// test of traffic read it. It does not depend on MPI.
#pragma once

#include <algorithm>
#include <cstdint>

#include "meshtensor/comm/strided_slice.hpp"

namespace meshtensor {

/// The library that computes reductions: this one, in one fixed order, or the MPI library.
enum class reductions : std::uint8_t { ordered, native };

namespace comm {

enum class mpi_function : std::uint8_t {
  none,
  iallgather,
  iallgatherv,
  ialltoall,
  ialltoallv,
  iallreduce,
  ireduce_scatter_block,
  ibcast,
  igatherv,
  ireduce_scatter,
  isend_irecv,
  steps  // of isend_irecv: see reduction_steps
};

/// The algorithm of one collective: pack, first call, fold or unpack, second call.
struct mpi_algorithm {
  mpi_function first = mpi_function::none;
  mpi_function second = mpi_function::none;  // of an all_reduce or a reduce by parts: gathers the reduced parts
  bool packs = false;                        // the slices for the members are not contiguous in the block
  bool folds = false;                        // received data is reduced here
  bool unpacks = false;                      // received data is not contiguous in the result
  std::int64_t counts_bytes = 0;             // the workspace: counts and displacements,
  std::int64_t packed_bytes = 0;             // the packed block,
  std::int64_t received_bytes = 0;           // received data
  constexpr std::int64_t workspace_bytes() const { return counts_bytes + packed_bytes + received_bytes; }
  /// Whether MPI alone reads the operand and writes the result. This library copies a rank's own part if messages go
  /// one by one, and it copies the block of the root of a broadcast.
  constexpr bool only_mpi_touches() const {
    using enum mpi_function;
    bool const copies_own_part = first == ibcast || first == isend_irecv || first == steps;
    return first != none && !packs && !folds && !unpacks && !copies_own_part;
  }
};

constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Whether MPI may compute this reduction. It may never reduce bf16, nor compute max and min of floats, because of
/// NaNs. It may not reduce bytes, because Open MPI 4.1 adds them with saturation if it uses AVX.
constexpr bool may_be_native(collective_call const& call) {
  return is_float(call.type) ? call.type != dtype::bf16 && call.op == reduction::sum : bytes_of(call.type) > 1;
}

/// The function that exchanges blocks by parts. If parts are empty, messages go one by one. The reason is that Open MPI
/// 4.1 numbers an ialltoallv only on ranks that send or receive something. If a rank does neither, its later calls do
/// not meet those of the others.
constexpr mpi_function exchange_of_parts(collective_call const& call, int count, bool even) {
  if (even) return mpi_function::ialltoall;
  return has_empty_parts(call, count) ? mpi_function::isend_irecv : mpi_function::ialltoallv;
}

constexpr mpi_algorithm mpi_algorithm_of(collective_call const& call, int count, reductions made) {
  mpi_algorithm form;
  std::int64_t const block = bytes_of(call), n = elements_of(call);
  auto const size = static_cast<std::int64_t>(bytes_of(call.type));
  if (count == 1 || is_empty(call, count)) return form;
  bool const native = made == reductions::native && may_be_native(call);
  bool const by_parts = call.kind == collective::all_reduce || call.kind == collective::reduce;
  bool const even = by_parts ? n % count == 0 : has_even_parts(call, count);
  std::int64_t const counts = even ? 0 : aligned(4 * count * static_cast<std::int64_t>(sizeof(int)));
  // Member 0 has the largest parts. Therefore they tell how the slices of all members are laid out, and which workspace
  // suffices for all.
  form.packs = splits(call.kind) && !taken(call, count, 0, 0).contiguous();
  form.unpacks = joins(call.kind) && !placed(call, count, 0, 0).contiguous();
  switch (call.kind) {
    case collective::all_reduce:
      if (native) {
        form.first = mpi_function::iallreduce;
        break;
      }
      form.folds = true;
      if (goes_in_steps(call)) {
        form.first = mpi_function::steps;
        form.packed_bytes = form.received_bytes =
            aligned(n * static_cast<std::int64_t>(bytes_of(traveling(call.type))));
        return form;
      } else {
        form.first = even ? mpi_function::ialltoall : mpi_function::ialltoallv;
        form.second = even ? mpi_function::iallgather : mpi_function::iallgatherv;
        form.counts_bytes = counts;
        form.received_bytes = aligned(part_of(n, count, 0).count * count * size);
      }
      break;
    case collective::reduce_scatter:
      if (native) form.first = even ? mpi_function::ireduce_scatter_block : mpi_function::ireduce_scatter;
      else form.first = exchange_of_parts(call, count, even);
      form.folds = !native;
      form.counts_bytes = counts;
      form.received_bytes = native ? 0 : aligned(result_bytes_of(call, count, 0) * count);
      break;
    case collective::reduce:  // always by this library, because an MPI library may choose an order by root
      form.folds = true;
      form.counts_bytes = aligned(4 * count * static_cast<std::int64_t>(sizeof(int)));
      if (goes_to_root(n, call.type, count)) {
        form.first = mpi_function::isend_irecv;
        form.received_bytes = aligned(n * count * size);
      } else {
        form.first = even ? mpi_function::ialltoall : mpi_function::ialltoallv;
        form.second = mpi_function::igatherv;
        form.received_bytes = aligned(part_of(n, count, 0).count * count * size);
      }
      break;
    case collective::all_gather:
      form.first = even ? mpi_function::iallgather : mpi_function::iallgatherv;
      form.counts_bytes = counts;
      form.received_bytes = form.unpacks ? aligned(result_bytes_of(call, count, 0)) : 0;
      break;
    case collective::all_to_all:
      form.first = exchange_of_parts(call, count, even);
      form.counts_bytes = counts;
      form.received_bytes = form.unpacks ? aligned(result_bytes_of(call, count, 0)) : 0;
      break;
    case collective::broadcast: form.first = mpi_function::ibcast; break;
    case collective::move:  // equal boxes are packed once, halos overlap, and member 0 may lack the largest box
      form.first = mpi_function::isend_irecv;
      form.packs = true, form.unpacks = true;
      form.counts_bytes = aligned(count * static_cast<std::int64_t>(sizeof(void*)));
      form.packed_bytes = aligned(std::max(block, call.moves->most_sent * size));
      form.received_bytes = aligned(std::max(result_bytes_of(call, count, 0), call.moves->most_given * size));
      if (call.moves->by_sources) {
        form.packed_bytes = aligned(call.moves->most_sent * size);
        form.received_bytes = aligned(call.moves->most_given * size);
      }
      return form;
  }
  form.packed_bytes = form.packs ? aligned(block) : 0;
  return form;
}

/// The largest count or displacement of the calls on any member, in elements, because MPI's have 32 bits. Messages that
/// go one by one have only counts. Member 0 has the largest parts.
constexpr std::int64_t largest_count(collective_call const& call, int count, mpi_algorithm const& form) {
  auto const size = static_cast<std::int64_t>(bytes_of(call.type));
  if (call.kind == collective::move) return std::max(elements_of(call), call.moves->most_given);
  std::int64_t const n = joins(call.kind) ? elements_of(of_member(call, count, 0)) : elements_of(call);
  int const last = count - 1;
  auto const given = [&](int j) { return taken(call, count, 0, j).bytes / size; };
  auto const got = [&](int j) { return placed(call, count, j, 0).bytes / size; };
  auto const all_got = [&] { return elements_of(result_of(call, count, 0)); };
  switch (form.first) {
    case mpi_function::none: return 0;
    case mpi_function::ialltoall:
      return form.second == mpi_function::igatherv ? part_of(n, count, last).begin : n / count;
    case mpi_function::ireduce_scatter_block: return n / count;
    case mpi_function::ireduce_scatter: return given(0);
    case mpi_function::ialltoallv:
      if (form.second != mpi_function::none) return part_of(n, count, 0).count * last;
      return std::max({given(0), n - given(last), joins(call.kind) ? all_got() - got(last) : given(0) * last});
    case mpi_function::iallgatherv: return std::max(n, all_got() - got(last));
    case mpi_function::isend_irecv: return splits(call.kind) ? given(0) : n;
    default: return n;
  }
}

}  // namespace comm

/// The bytes of workspace that suffice for this call over `count` members, on every transport and with either kind of
/// reductions. A plan reserves them.
constexpr std::int64_t workspace_bytes_of(collective_call const& call, int count) {
  std::int64_t const ordered = comm::mpi_algorithm_of(call, count, reductions::ordered).workspace_bytes();
  std::int64_t const native = comm::mpi_algorithm_of(call, count, reductions::native).workspace_bytes();
  return ordered > native ? ordered : native;
}

}  // namespace meshtensor
