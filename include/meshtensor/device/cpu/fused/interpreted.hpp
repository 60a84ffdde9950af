// SPDX-License-Identifier: Apache-2.0
// Interprets a descriptor block by block with precompiled vector instructions, so nothing is instantiated for a
// program.
#pragma once

#include "meshtensor/device/cpu/translation.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

namespace detail {

/// The run of one task, with the places of the program bound to memory.
struct block_run {
  using kind = block_program::kind;
  using place = block_program::place;
  using instruction = block_program::instruction;
  using phase = block_program::phase;

  fused_kernel const& k;
  block_program const& program;
  launch_arguments const& a;
  std::byte* buffer;
  std::byte* at[256];
  std::int64_t move[256];
  std::int64_t row_bytes;  // of one scratch row

  block_run(fused_kernel const& kernel, block_program const& p, launch_arguments const& given, std::byte* own,
            std::byte* scratch)
      : k(kernel),
        program(p),
        a(given),
        buffer(own),
        row_bytes(bytes_of_scratch_row(std::max<std::int64_t>(kernel.width, kernel.block))) {
    for (std::size_t i = 0; i < p.places.size(); ++i) {
      place const& x = p.places[i];
      move[i] = x.moves ? x.bytes : 0;
      at[i] = x.where == place::scratch  ? scratch + x.index * row_bytes
              : x.where == place::levels ? scratch + p.scratch_rows * row_bytes + x.index * bytes_of_upper_levels
              : x.where == place::buffer
                  ? own + (x.index == 1 ? p.used * 4 * p.block + x.at : std::int64_t{x.at} * 4 * p.block)
                  : nullptr;
    }
    for (instruction const& i : p.once) {
      if (i.does == kind::repeat_row) {
        std::int64_t const bytes = register_bytes(i.type);
        for (std::int64_t first = 0; first < p.block; first += k.width)
          load_block(i.type, at[i.out] + first * bytes, a.memory[i.stream], k.across[i.stream],
                     std::min(k.width, p.block - first));
      } else if (i.does == kind::load) {
        if (i.stream == 255) number_block(i.type, at[i.out], a.numbers[i.step]);
        else load_block(i.type, at[i.out], a.memory[i.stream], 0, 1);
        fill_block(i.type, at[i.out], at[i.out], p.block);
      } else {
        i.f(at[i.out], at[i.a], at[i.b], at[i.c], p.block);
      }
    }
  }

  std::byte* memory(tile const& t, int stream, dtype type) const {
    return a.memory[stream] + t.offset[stream] * static_cast<std::int64_t>(bytes_of(type));
  }

  void operator()(tile const& t) {
    for (std::size_t i = 0; i < program.places.size(); ++i) {
      place const& x = program.places[i];
      if (x.where == place::operand || x.where == place::result)
        at[i] = a.memory[x.index] + t.offset[x.index] * x.bytes;
    }
    // Rows that share a tile form one block. A wider row has several blocks, and an empty row has none.
    bool const whole = t.width != 0 && t.rows * t.width <= program.block;
    std::int64_t const elements = whole ? t.rows * t.width : t.width;
    for (phase const& p : program.phases) {
      for (instruction const& i : p.rows) by_row(t, i, whole);
      if (!whole)
        for (block_program::along_row const& r : program.along)
          if (&program.phases[r.phase] == &p) reduction(r.step).begin_row(at[r.lanes]);
      for (std::int64_t pos = 0; pos < elements; pos += program.block) {
        std::int64_t const n = std::min(program.block, elements - pos);
        for (instruction const& i : p.blocks) by_block(t, i, pos, n, whole);
      }
      for (instruction const& i : p.ends) at_end(t, i, whole);
    }
  }

  block_reduction const& reduction(int step) const { return *k.reductions[step]; }

  void by_row(tile const& t, instruction const& i, bool whole) {
    switch (i.does) {
      case kind::load_rows:
        load_block(i.type, at[i.out], memory(t, i.stream, i.type), t.row_stride[i.stream], t.rows);
        break;
      case kind::compute: i.f(at[i.out], at[i.a], at[i.b], at[i.c], t.rows); break;
      case kind::position_rows:
        position_block(i.type, at[i.out], t.offset[i.stream], t.row_stride[i.stream], t.rows);
        break;
      case kind::random_rows: random(t, i, at[i.out], 0, t.row_stride[i.stream], t.rows); break;
      case kind::expand: {
        std::int64_t const bytes = register_bytes(i.type), n = whole ? t.width : std::min(t.width, program.block);
        for (std::int64_t r = 0; r < t.rows; ++r) fill_block(i.type, at[i.out] + r * n * bytes, at[i.a] + r * bytes, n);
        break;
      }
      default:  // add_over
        for (std::int64_t r = 0; r < t.rows; ++r) {
          carry_totals(k, i.step, t.totals, t.row + r, 0, 1);
          reduction(i.step).add(t.totals + k.total_at[i.step], at[i.a] + r * register_bytes(i.type), 1);
        }
    }
  }
  void random(tile const& t, instruction const& i, void* out, std::int64_t from, std::int64_t stride,
              std::int64_t n) const {
    random_block(
        i.type, out, k.key().step(i.step).kind == step_kind::uniform ? distribution::uniform : distribution::normal,
        a.random[i.step], static_cast<std::uint64_t>(t.offset[i.stream] + from), static_cast<std::uint64_t>(stride), n);
  }

  void by_block(tile const& t, instruction const& i, std::int64_t pos, std::int64_t n, bool whole) {
    auto const where = [&](std::uint8_t p) { return at[p] + move[p] * pos; };
    std::int64_t rows = whole ? t.rows : 1, width = whole ? t.width : n;
    std::int64_t const bytes = register_bytes(i.type);
    bool const moves_memory = i.does == kind::load || i.does == kind::store;
    if (moves_memory && rows > 1 && k.across[i.stream] == 1 && t.row_stride[i.stream] == width) rows = 1, width = n;
    // Calls f(the row's offset in a block, the offset of its first element in the stream).
    auto const each_row = [&](auto f) {
      for (std::int64_t r = 0; r < rows; ++r)
        f(r * width * bytes, r * t.row_stride[i.stream] + pos * k.across[i.stream]);
    };
    switch (i.does) {
      case kind::compute: i.f(where(i.out), where(i.a), where(i.b), where(i.c), n); break;
      case kind::load:
        each_row([&](std::int64_t at_row, std::int64_t first) {
          load_block(i.type, where(i.out) + at_row, memory(t, i.stream, i.type) + first * size_of(i.type),
                     k.across[i.stream], width);
        });
        break;
      case kind::store:
        each_row([&](std::int64_t at_row, std::int64_t first) {
          store_block(i.type, where(i.a) + at_row, memory(t, i.stream, i.type) + first * size_of(i.type),
                      k.across[i.stream], width);
        });
        break;
      case kind::position:
        each_row([&](std::int64_t at_row, std::int64_t first) {
          position_block(i.type, where(i.out) + at_row, t.offset[i.stream] + first, k.across[i.stream], width);
        });
        break;
      case kind::random:
        each_row([&](std::int64_t at_row, std::int64_t first) {
          random(t, i, where(i.out) + at_row, first, k.across[i.stream], width);
        });
        break;
      case kind::add_over: {
        block_reduction const& over = reduction(i.step);
        for (std::int64_t r = 0; r < rows; ++r) {
          carry_totals(k, i.step, t.totals, t.row + r, pos, width);
          over.add(t.totals + k.total_at[i.step] + pos * over.bytes, where(i.a) + r * width * bytes, width);
        }
        break;
      }
      default: {  // add_row
        block_reduction const& along = reduction(i.step);
        if (!whole) return along.add_row(at[i.b], at[i.c], where(i.a), n);
        for (std::int64_t r = 0; r < rows; ++r) {
          along.begin_row(at[i.b]);
          along.add_row(at[i.b], at[i.c], where(i.a) + r * width * bytes, width);
          along.end_row(at[i.b], at[i.c], at[i.out] + r * along.bytes);
        }
      }
    }
  }

  void at_end(tile const& t, instruction const& i, bool whole) {
    switch (i.does) {
      case kind::end_along:
      case kind::end_total: {
        block_reduction const& along = reduction(i.step);
        if (!whole) along.end_row(at[i.b], at[i.c], at[i.a]);
        if (i.does == kind::end_along) return along.settle(at[i.out], at[i.a], t.rows);
        for (std::int64_t r = 0; r < t.rows; ++r) {
          carry_totals(k, i.step, t.totals, t.row + r, 0, 1);
          along.merge(t.totals + k.total_at[i.step], at[i.a] + r * along.bytes, 1);
        }
        break;
      }
      case kind::store_rows:
        store_block(i.type, at[i.a], memory(t, i.stream, i.type), t.row_stride[i.stream], t.rows);
        break;
      default:  // store_once
        if (t.first) store_block(i.type, at[i.a], a.memory[i.stream], 1, 1);
    }
  }
  static std::int64_t size_of(dtype t) { return static_cast<std::int64_t>(bytes_of(t)); }
};

}  // namespace detail

/// Makes the interpreter run a tiled kernel.
template <class = lazy>
void interpret(fused_kernel& k) {
  detail::block_translator<> translator(k, true);
  if (translator.repeats_rows() && translator.program.block < k.width)
    translator = detail::block_translator<>(k, false);
  auto program = std::make_shared<block_program>(std::move(translator.program));
  k.block = program->block;
  k.scratch_bytes = program->scratch_rows * bytes_of_scratch_row(std::max<std::int64_t>(k.width, k.block)) +
                    std::ssize(program->along) * detail::bytes_of_upper_levels;
  k.program = std::move(program);
  for (int i = 0; i < k.key().step_count; ++i)
    if (kernel_step const s = k.key().step(i); is_reduction(s.kind))
      k.reductions[i] = &reduction_block(reduction_of(s.kind), s.type);
  k.task = [](fused_kernel const& kernel, launch_arguments const& a, std::int64_t first, std::int64_t last,
              std::byte* totals, std::byte* scratch) {
    alignas(64) std::byte buffer[block_program::buffer_bytes];
    detail::block_run body(kernel, *kernel.program, a, buffer, scratch);
    detail::walk_rows(kernel, first, last, totals, [&](tile const& t) { body(t); });
  };
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
