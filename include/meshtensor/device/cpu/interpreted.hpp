// Runs a descriptor block by block, over precompiled vector instructions: no code of a program's own is instantiated.
#pragma once

#include "meshtensor/device/cpu/fused.hpp"

namespace meshtensor::cpu {

/// A descriptor as a list of instructions over places in memory. A value of the vector has a block of elements, one of
/// a row has an element for each row of a tile, one of the kernel is repeated throughout a block.
class interpreted {
 public:
  static constexpr std::int64_t buffer_bytes = 32 * 1024;

  /// Binds a kernel whose space is cut to this way of running.
  static void bind(fused_kernel& k) {
    auto made = std::make_shared<interpreted>();
    made->translate(k);
    k.block = made->block_;
    k.scratch_bytes = made->scratch_elements_ * (std::max(k.width, k.block) * 8 + 64);
    k.program = std::move(made);
    k.task = [](fused_kernel const& kernel, launch_arguments const& a, std::int64_t first, std::int64_t last,
                std::byte* totals, std::byte* scratch) {
      alignas(64) std::byte buffer[buffer_bytes];
      run body(kernel, *kernel.program, a, buffer, scratch);
      detail::walk_rows(kernel, first, last, totals, body);
    };
  }

 private:
  enum class kind : std::uint8_t {
    compute,
    load,
    load_rows,
    expand,
    position,
    position_rows,
    random,
    random_rows,
    add_row,
    add_over,
    end_along,
    end_total,
    store,
    store_rows,
    store_once
  };
  struct place {
    enum where_t : std::uint8_t { nowhere, buffer, scratch, operand, result } where;
    std::uint8_t index;  // of a stream, or of a scratch row
    std::uint8_t bytes;  // of an element
    bool moves;          // with the block along the row
    std::int32_t at;     // in the buffer: in units of blocks of 8-byte elements, halves for 4-byte ones
  };
  struct instruction {
    kind does;
    dtype type;
    std::uint8_t out, a, b, c;  // places
    std::uint8_t stream, step;
    block_function f;
  };
  using instructions = std::vector<instruction>;
  struct phase {
    instructions rows, blocks, ends;
  };

  // ---- translation ----

  void translate(fused_kernel const& k) {
    d_ = &k.key();
    k_ = &k;
    places_.assign(1, place{});
    for (int i = 0; i < 64; ++i) uniform_[i] = row_[i] = vector_[i] = 0;
    phases_.resize(static_cast<std::size_t>(d_->phases()));
    find_last_uses();
    for (int i = 0; i < d_->number_count; ++i) uniform_of({static_cast<std::uint8_t>(source::numbers + i)});
    for (int p = 0; p < d_->phases(); ++p) {
      for (int i = 0; i < 64; ++i)
        if (loaded_[i]) release(vector_[i]), vector_[i] = 0, loaded_[i] = false;  // blocks do not outlive their phase
      for (int i = 0; i < d_->step_count; ++i)
        if (kernel_step const s = d_->step(i); s.phase == p) step(i, s);
      free_blocks_of_phase();
    }
    for (int i = 0; i < d_->result_count; ++i) store_result(i);
    choose_block();
    d_ = nullptr, k_ = nullptr;
  }

  phase& in(int p) { return phases_[static_cast<std::size_t>(p)]; }
  static int slot(source s) { return s.code; }

  std::uint8_t add_place(place const& p) {
    places_.push_back(p);
    require(places_.size() < 256, "R31: a kernel has too many values for the interpreter");
    return static_cast<std::uint8_t>(places_.size() - 1);
  }
  std::uint8_t new_block(dtype t) {
    auto const bytes = static_cast<std::uint8_t>(register_bytes(t));
    for (std::size_t i = 0; i < free_.size(); ++i)
      if (free_[i].bytes == bytes) {
        std::int32_t const at = free_[i].at;
        free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
        return add_place({place::buffer, 0, bytes, false, at});
      }
    return fresh_block(t);
  }
  /// A block that nothing has used before: for what is made ahead of a phase's blocks.
  std::uint8_t fresh_block(dtype t) {
    auto const bytes = static_cast<std::uint8_t>(register_bytes(t));
    std::int32_t const at = used_;
    used_ += bytes / 4;
    return add_place({place::buffer, 0, bytes, false, at});
  }
  void release(std::uint8_t p) {
    if (places_[p].where == place::buffer) free_.push_back({places_[p].at, places_[p].bytes});
  }

  // The last step, in order of execution, that reads a source as a block; sources read in a later phase than they are
  // made in are kept for the whole row.
  void find_last_uses() {
    for (int i = 0; i < 64; ++i) last_use_[i] = -1, crosses_[i] = false;
    auto note = [&](source s, int phase_now, int order) {
      if (s.is_step() && d_->phase_of(s) < phase_now && d_->level_of(s) == extent_class::vector)
        crosses_[slot(s)] = true;
      last_use_[slot(s)] = std::max(last_use_[slot(s)], order);
    };
    for (int i = 0; i < d_->step_count; ++i)
      for (int a = 0; a < d_->arity_of(i); ++a) note(d_->step(i).from[a], d_->step(i).phase, i);
  }

  std::uint8_t uniform_of(source s) {
    std::uint8_t& u = uniform_[slot(s)];
    if (u != 0) return u;
    dtype const t = d_->type_of(s);
    u = fresh_block(t);
    if (s.is_number())
      once_.push_back(
          {kind::load, t, u, 0, 0, 0, static_cast<std::uint8_t>(255), static_cast<std::uint8_t>(s.index()), nullptr});
    else once_.push_back({kind::load, t, u, 0, 0, 0, static_cast<std::uint8_t>(s.index()), 0, nullptr});
    return u;
  }
  std::uint8_t row_of(source s) {
    if (d_->level_of(s) == extent_class::uniform) return uniform_of(s);
    std::uint8_t& r = row_[slot(s)];
    if (r != 0) return r;
    dtype const t = d_->type_of(s);  // an operand: steps have their places already
    r = fresh_block(t);
    in(0).rows.insert(in(0).rows.begin(),
                      {kind::load_rows, t, r, 0, 0, 0, static_cast<std::uint8_t>(s.index()), 0, nullptr});
    return r;
  }
  std::uint8_t vector_of(source s, int p) {
    extent_class const level = d_->level_of(s);
    if (level == extent_class::uniform) return uniform_of(s);
    std::uint8_t& v = vector_[slot(s)];
    if (v != 0) return v;
    dtype const t = d_->type_of(s);
    if (level == extent_class::row) {
      std::uint8_t const r = row_of(s);
      v = fresh_block(t);
      in(p).rows.push_back({kind::expand, t, v, r, 0, 0, 0, 0, nullptr});
      return v;
    }
    auto const stream = static_cast<std::uint8_t>(s.index());  // an operand, again
    if (is_direct(stream, t, d_->operand_class(s.index()))) {
      v = add_place({place::operand, stream, static_cast<std::uint8_t>(register_bytes(t)), true, 0});
      return v;
    }
    v = new_block(t);
    loaded_[slot(s)] = true;
    in(p).blocks.push_back({kind::load, t, v, 0, 0, 0, stream, 0, nullptr});
    return v;
  }
  /// Whether a block can be used where it lies: the same in memory as in registers, rows side by side.
  bool is_direct(int stream, dtype t, extent_class c) const {
    if (c != extent_class::vector || static_cast<std::int64_t>(bytes_of(t)) != register_bytes(t) ||
        k_->across[stream] != 1)
      return false;
    return k_->loops == 0 || k_->width >= most_block || k_->stride[stream][k_->loops - 1] == k_->width;
  }

  void step(int i, kernel_step const& s) {
    bool const once = s.level == extent_class::uniform, by_row = s.level == extent_class::row;
    source const self{static_cast<std::uint8_t>(i)};
    auto const number = static_cast<std::uint8_t>(i);
    auto const stream = static_cast<std::uint8_t>(first_step_stream + i);
    instructions& list_now = once ? once_ : by_row ? in(s.phase).rows : in(s.phase).blocks;
    auto given = [&](int a) {
      return once ? uniform_of(s.from[a]) : by_row ? row_of(s.from[a]) : vector_of(s.from[a], s.phase);
    };
    if (is_reduction(s.kind)) {
      if (goes_over(s.kind)) {
        std::uint8_t const x = given(0);
        list_now.push_back(
            {kind::add_over, s.type, 0, x, 0, 0, by_row ? std::uint8_t{1} : std::uint8_t{0}, number, nullptr});
      } else {
        std::uint8_t const x = vector_of(s.from[0], s.phase);
        std::uint8_t const lanes = new_permanent(bytes_of_lanes), sums = new_block(dtype::i64);
        in(s.phase).blocks.push_back({kind::add_row, s.type, sums, x, lanes, 0, 0, number, nullptr});
        if (goes_along(s.kind)) {
          row_[i] = new_block(s.type);
          in(s.phase).ends.push_back({kind::end_along, s.type, row_[i], sums, lanes, 0, 0, number, nullptr});
        } else {
          in(s.phase).ends.push_back({kind::end_total, s.type, 0, sums, lanes, 0, 0, number, nullptr});
        }
        along_.push_back({static_cast<std::uint8_t>(s.phase), lanes, number});
      }
      return free_dead(i, s);
    }
    std::uint8_t operands[3] = {};
    for (int a = 0; a < d_->arity_of(i); ++a) operands[a] = given(a);
    // The lists may have grown: what expands a row stands before what uses it, in the list of rows.
    std::uint8_t const out = once     ? (uniform_[i] = fresh_block(s.type))
                             : by_row ? (row_[i] = fresh_block(s.type))
                                      : output(i, s);
    instruction made{kind::compute, s.type, out, operands[0], operands[1], operands[2], stream, number, nullptr};
    bool settles = false;
    if (s.kind == step_kind::position) {
      made.does = by_row ? kind::position_rows : kind::position;
    } else if (is_random(s.kind)) {
      made.does = by_row ? kind::random_rows : kind::random;
    } else {
      auto const f = static_cast<function>(s.kind);
      dtype const from = d_->type_of(s.from[f == function::select ? 1 : 0]);
      made.f = f == function::cast ? cast_block(from, s.type) : block_of(f, from);
      settles = must_settle(f, s.type);
    }
    list_now.push_back(made);
    if (settles) list_now.push_back({kind::compute, s.type, out, out, 0, 0, 0, number, settle_block(s.type)});
    if (!once && !by_row) store_block_result(self, out, list_now);
    free_dead(i, s);
  }

  std::uint8_t new_permanent(std::int64_t bytes) {
    std::int32_t const at = lanes_;
    lanes_ += static_cast<std::int32_t>(bytes);
    return add_place({place::buffer, 1, 0, false, at});
  }
  /// Where a block goes: to a result's memory, to a row that outlives the phase, or to a free block.
  std::uint8_t output(int i, kernel_step const& s) {
    source const self{static_cast<std::uint8_t>(i)};
    for (int r = 0; r < d_->result_count; ++r) {
      int const stream = first_result_stream + r;
      if (d_->result(r) == self && is_direct(stream, s.type, d_->result_class(r)) && !must_settle_block(s)) {
        vector_[i] = add_place({place::result, static_cast<std::uint8_t>(stream),
                                static_cast<std::uint8_t>(register_bytes(s.type)), true, 0});
        written_[r] = true;
        return vector_[i];
      }
    }
    if (crosses_[i]) {
      vector_[i] = add_place({place::scratch, static_cast<std::uint8_t>(scratch_elements_++),
                              static_cast<std::uint8_t>(register_bytes(s.type)), true, 0});
    } else {
      vector_[i] = new_block(s.type);
      in_phase_.push_back(static_cast<std::uint8_t>(i));
    }
    return vector_[i];
  }
  static bool must_settle_block(kernel_step const& s) { return settle_block(s.type) != nullptr; }
  /// Blocks whose last reader has run are free for the next step.
  void free_dead(int i, kernel_step const& s) {
    for (int a = 0; a < d_->arity_of(i); ++a) {
      source const x = s.from[a];
      if (!x.is_step() || last_use_[slot(x)] != i || crosses_[slot(x)] || d_->level_of(x) != extent_class::vector)
        continue;
      for (std::size_t k = 0; k < in_phase_.size(); ++k)
        if (in_phase_[k] == slot(x)) {
          release(vector_[slot(x)]);
          in_phase_.erase(in_phase_.begin() + static_cast<std::ptrdiff_t>(k));
          break;
        }
    }
  }
  void free_blocks_of_phase() {
    for (std::uint8_t i : in_phase_) release(vector_[i]);
    in_phase_.clear();
  }

  void store_block_result(source self, std::uint8_t from, instructions& list_now) {
    for (int r = 0; r < d_->result_count; ++r) {
      if (!(d_->result(r) == self) || written_[r]) continue;
      written_[r] = true;
      list_now.push_back({kind::store, d_->type_of(self), 0, from, 0, 0,
                          static_cast<std::uint8_t>(first_result_stream + r), 0, nullptr});
    }
  }
  /// Results that are not a step of the vector: rows, operands, numbers.
  void store_result(int r) {
    source const s = d_->result(r);
    if (written_[r]) return;
    if (s.is_step() && (goes_over(d_->step(s.index()).kind) || is_total(d_->step(s.index()).kind))) return;
    int const p = d_->phases() - 1;
    dtype const t = d_->type_of(s);
    auto const stream = static_cast<std::uint8_t>(first_result_stream + r);
    extent_class const c = d_->result_class(r);
    if (c == extent_class::uniform) in(p).ends.push_back({kind::store_once, t, 0, row_of(s), 0, 0, stream, 0, nullptr});
    else if (c == extent_class::row)
      in(p).ends.push_back({kind::store_rows, t, 0, row_of(s), 0, 0, stream, 0, nullptr});
    else {
      std::uint8_t const v = vector_of(s, p);
      in(p).blocks.push_back({kind::store, t, 0, v, 0, 0, stream, 0, nullptr});
    }
  }

  void choose_block() {
    block_ = most_block;
    while (block_ > 2 * pack_width && used_ * 4 * block_ + lanes_ > buffer_bytes) block_ /= 2;
    require(used_ * 4 * block_ + lanes_ <= buffer_bytes, "R31: a kernel has too many values for the interpreter");
  }

  // ---- running ----

  struct run {
    fused_kernel const& k;
    interpreted const& program;
    launch_arguments const& a;
    std::byte* buffer;
    std::byte* at[256];
    std::int64_t move[256];
    std::int64_t row_bytes;  // of one scratch row

    run(fused_kernel const& kernel, interpreted const& p, launch_arguments const& given, std::byte* own,
        std::byte* scratch)
        : k(kernel), program(p), a(given), buffer(own), row_bytes(std::max(kernel.width, kernel.block) * 8 + 64) {
      for (std::size_t i = 0; i < p.places_.size(); ++i) {
        place const& x = p.places_[i];
        move[i] = x.moves ? x.bytes : 0;
        at[i] = x.where == place::scratch ? scratch + x.index * row_bytes
                : x.where == place::buffer
                    ? own + (x.index == 1 ? p.used_ * 4 * p.block_ + x.at : std::int64_t{x.at} * 4 * p.block_)
                    : nullptr;
      }
      for (instruction const& i : p.once_) {
        if (i.does == kind::load) {
          if (i.stream == 255) number_block(i.type, at[i.out], a.numbers[i.step]);
          else load_block(i.type, at[i.out], a.memory[i.stream], 0, 1);
          fill_block(i.type, at[i.out], at[i.out], p.block_);
        } else {
          i.f(at[i.out], at[i.a], at[i.b], at[i.c], p.block_);
        }
      }
    }

    std::byte* memory(tile const& t, int stream, dtype type) const {
      return a.memory[stream] + t.offset[stream] * static_cast<std::int64_t>(bytes_of(type));
    }

    void operator()(tile const& t) {
      for (std::size_t i = 0; i < program.places_.size(); ++i) {
        place const& x = program.places_[i];
        if (x.where == place::operand || x.where == place::result)
          at[i] = a.memory[x.index] + t.offset[x.index] * x.bytes;
      }
      // Rows that share a tile are one block; a wider row is several.
      bool const whole = t.rows * t.width <= program.block_;
      std::int64_t const elements = whole ? t.rows * t.width : t.width;
      for (phase const& p : program.phases_) {
        for (instruction const& i : p.rows) by_row(t, i, whole);
        if (!whole)
          for (along_row const& r : program.along_)
            if (&program.phases_[r.phase] == &p) reduction(r.step).begin_row(at[r.lanes]);
        for (std::int64_t pos = 0; pos < elements; pos += program.block_) {
          std::int64_t const n = std::min(program.block_, elements - pos);
          for (instruction const& i : p.blocks) by_block(t, i, pos, n, whole);
        }
        for (instruction const& i : p.ends) at_end(t, i, whole);
      }
    }

    block_reduction const& reduction(int step) const {
      kernel_step const s = k.key().step(step);
      return reduction_block(reduction_of(s.kind), s.type);
    }

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
          std::int64_t const bytes = register_bytes(i.type), n = whole ? t.width : std::min(t.width, program.block_);
          for (std::int64_t r = 0; r < t.rows; ++r)
            fill_block(i.type, at[i.out] + r * n * bytes, at[i.a] + r * bytes, n);
          break;
        }
        default:  // add_over
          for (std::int64_t r = 0; r < t.rows; ++r)
            reduction(i.step).add(t.totals + k.total_at[i.step], at[i.a] + r * register_bytes(i.type), 1);
      }
    }
    void random(tile const& t, instruction const& i, void* out, std::int64_t from, std::int64_t stride,
                std::int64_t n) const {
      random_block(i.type, out,
                   k.key().step(i.step).kind == step_kind::uniform ? distribution::uniform : distribution::normal,
                   a.random[i.step], static_cast<std::uint64_t>(t.offset[i.stream] + from),
                   static_cast<std::uint64_t>(stride), n);
    }

    void by_block(tile const& t, instruction const& i, std::int64_t pos, std::int64_t n, bool whole) {
      auto const where = [&](std::uint8_t p) { return at[p] + move[p] * pos; };
      std::int64_t const rows = whole ? t.rows : 1, width = whole ? t.width : n, bytes = register_bytes(i.type);
      switch (i.does) {
        case kind::compute: i.f(where(i.out), where(i.a), where(i.b), where(i.c), n); break;
        case kind::load:
          for (std::int64_t r = 0; r < rows; ++r)
            load_block(
                i.type, where(i.out) + r * width * bytes,
                memory(t, i.stream, i.type) + (r * t.row_stride[i.stream] + pos * k.across[i.stream]) * size_of(i.type),
                k.across[i.stream], width);
          break;
        case kind::store:
          for (std::int64_t r = 0; r < rows; ++r)
            store_block(
                i.type, where(i.a) + r * width * bytes,
                memory(t, i.stream, i.type) + (r * t.row_stride[i.stream] + pos * k.across[i.stream]) * size_of(i.type),
                k.across[i.stream], width);
          break;
        case kind::position:
          for (std::int64_t r = 0; r < rows; ++r)
            position_block(i.type, where(i.out) + r * width * bytes,
                           t.offset[i.stream] + r * t.row_stride[i.stream] + pos * k.across[i.stream],
                           k.across[i.stream], width);
          break;
        case kind::random:
          for (std::int64_t r = 0; r < rows; ++r)
            random(t, i, where(i.out) + r * width * bytes, r * t.row_stride[i.stream] + pos * k.across[i.stream],
                   k.across[i.stream], width);
          break;
        case kind::add_over: {
          block_reduction const& over = reduction(i.step);
          for (std::int64_t r = 0; r < rows; ++r)
            over.add(t.totals + k.total_at[i.step] + pos * over.bytes, where(i.a) + r * width * bytes, width);
          break;
        }
        default: {  // add_row
          block_reduction const& along = reduction(i.step);
          if (!whole) return along.add_row(at[i.b], where(i.a), n);
          for (std::int64_t r = 0; r < rows; ++r) {
            along.begin_row(at[i.b]);
            along.add_row(at[i.b], where(i.a) + r * width * bytes, width);
            along.end_row(at[i.b], at[i.out] + r * along.bytes);
          }
        }
      }
    }

    void at_end(tile const& t, instruction const& i, bool whole) {
      switch (i.does) {
        case kind::end_along:
        case kind::end_total: {
          block_reduction const& along = reduction(i.step);
          if (!whole) along.end_row(at[i.b], at[i.a]);
          if (i.does == kind::end_along) return along.settle(at[i.out], at[i.a], t.rows);
          for (std::int64_t r = 0; r < t.rows; ++r)
            along.merge(t.totals + k.total_at[i.step], at[i.a] + r * along.bytes, 1);
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

  static constexpr std::int64_t most_block = 512;
  struct along_row {
    std::uint8_t phase, lanes, step;
  };
  struct free_block {
    std::int32_t at;
    std::uint8_t bytes;
  };

  descriptor const* d_ = nullptr;  // during translation
  fused_kernel const* k_ = nullptr;
  std::vector<place> places_;
  std::vector<free_block> free_;
  std::vector<std::uint8_t> in_phase_;
  std::vector<phase> phases_;
  std::vector<along_row> along_;
  instructions once_;
  std::uint8_t uniform_[64] = {}, row_[64] = {}, vector_[64] = {};
  int last_use_[64] = {};
  bool crosses_[64] = {}, loaded_[64] = {}, written_[max_kernel_results] = {};
  std::int32_t used_ = 0, lanes_ = 0;
  std::int64_t scratch_elements_ = 0;
  std::int64_t block_ = 0;
};

}  // namespace meshtensor::cpu
