// SPDX-License-Identifier: Apache-2.0
// Offers programs to C and Fortran as functions that return a status and throw no exception.
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "meshtensor/emit/c_header.hpp"
#include "meshtensor/emit/fortran_module.hpp"
#include "meshtensor/job/job.hpp"
#include "meshtensor/run/guest/caller_arrays.hpp"
#include "meshtensor/run/guest/caller_job.hpp"
#include "meshtensor/run/guest/functions.hpp"
#include "meshtensor/run/guest/living.hpp"
#include "meshtensor/run/guest/status.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {
namespace detail {

inline void write_text(char const* path, std::string const& text) {
  if (path == nullptr) return;
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw error("R17", {"'", path, "' cannot be written: does its folder exist?"});
}

}  // namespace detail

/// Programs for callers in C and Fortran: a list of executables that share one store. One line of the program's file
/// makes their functions. `functions()->write` writes the files that declare these for C and Fortran:
///
///     using model = mt::guest<mt::executable<learn, mesh, layout, mt::default_device>>;
///     extern "C" mt::guest_functions const* solver_model_functions() { return model::functions(); }
///
/// Every guest has a job of its own. The job runs on the communicator that `create` is given, or on threads if the
/// program is built without MPI. Open extents of the programs are arguments of `create`, and so are open axes. If
/// several programs name the same dim, it has the same extent in all of them. Calls on one guest must come one at a
/// time.
///
/// errors  as sentences behind a status: those of `executable`; R35 the guest was not created, or was destroyed; R36
/// names that C or Fortran does not take; R37 and R38 an output that the guest does not hold; R39 an address is null;
/// R44 and R45 strides that do not fit; R46 a header or module of another program; R47 the guest exists already
template <class... Executables>
class guest {
 public:
  static guest_functions const* functions() {
    static constexpr guest_functions all{create, destroy, feed, fetch, get, part, set, step, error_text, write};
    return &all;
  }
  /// Calls `f(weights)` with the store of a guest, for functions of your own such as one that loads a checkpoint.
  /// Returns a status.
  template <class F>
  static int use(std::int64_t guest, F const& f) noexcept {
    return on(guest, [&](state& s) { f(s.weights); });
  }
  /// The interface of the programs for callers.
  static guest_interface const& interface() {
    static guest_interface const all = [] {
      guest_interface made;
      made.with_communicator = with_mpi;
      (add<Executables>(made), ...);
      return made;
    }();
    return all;
  }

 private:
  using state = detail::guest_state;
  using alive = detail::living_guests<guest>;
  static auto& living() { return alive::living(); }

  template <class E>
  static constexpr int entry_of = find_entry(E::stages::traced, entry_name<typename E::entry>());
  template <class E>
  static auto traced() {
    return stored_module<E::stages::traced, E::stages::fingerprint>::load();
  }
  template <class E>
  static void add(guest_interface& made) {
    add_program(made, *traced<E>(), entry_of<E>, E::mesh::shape);
  }

  template <class E>
  static void add_steps(state& s, std::int64_t const* extents) {
    guest_interface const& all = interface();
    auto const m = traced<E>();
    std::vector<dim_extent> dims;
    std::vector<axis_extent> axes;
    std::int64_t const* given = extents;
    for (std::string const& label : all.dims) {
      dim_extent const d{name::of(label), *given++};
      for (int i = 0; i < m->dim_count; ++i)
        if (m->dims[i].kind == dim_row::dynamic && m->dim_name(i) == d.label) {
          dims.push_back(d);
          break;
        }
    }
    for (std::string const& label : all.axes) {
      axis_extent const a{name::of(label), *given++};
      if (a.extent != 0 && E::mesh::shape.find(a.label) >= 0) axes.push_back(a);
    }
    s.programs.push_back(
        std::make_unique<detail::guest_steps_of<E>>(all.programs[s.programs.size()], s.weights, dims, axes));
  }
  static int create(std::int64_t* made, int communicator, std::int64_t const* extents, std::int32_t checksum) {
    return detail::with_status(nullptr, [&] {
      if (checksum != checksum_of(interface()))
        throw error("R46",
                    "the C header or the Fortran module was written for other inputs and outputs: write it again");
      if (made == nullptr) throw error("R39", "create needs the address of a guest, but it is null");
      if (*made != 0 && alive::has(*made))
        throw error("R47", "this guest was created already: destroy it first, or create another one");
      auto s = std::shared_ptr<state>(new state{detail::job_on<&alive::destroy_all>(communicator)});
      (add_steps<Executables>(*s, extents), ...);
      std::int64_t const number = detail::next_guest();
      auto& g = living();
      std::lock_guard const lock(g.lock);
      g.all.emplace(number, std::move(s));
      *made = number;
    });
  }
  template <class F>
  static int on(std::int64_t number, F const& f) noexcept {
    std::shared_ptr<state> s;
    int const status = detail::with_status(nullptr, [&] {
      detail::require_mpi();
      s = alive::find(number);
    });
    if (status != 0) return status;
    return detail::with_status(&s->runs, [&] {
      std::unique_lock const mine(s->busy, std::try_to_lock);
      if (!mine) throw error("R27", "a guest is called while another thread is in a call of it: its calls take turns");
      try {
        f(*s);
      } catch (std::exception const& e) {
        s->runs.get().has_refused(e.what());  // the other ranks may wait for this one
        throw;
      }
    });
  }
  static int destroy(std::int64_t* number) {
    std::shared_ptr<state> s;
    int const status = detail::with_status(nullptr, [&] {
      if (number == nullptr) throw error("R39", "destroy needs the address of a guest, but it is null");
      detail::require_mpi();
      s = alive::find(*number);
      std::lock_guard const lock(living().lock);
      living().all.erase(*number);
      *number = 0;
    });
    return status != 0 ? status : detail::with_status(nullptr, [&] { s.reset(); });
  }
  static detail::guest_steps& steps(state& s, int program) {
    if (program < 0 || static_cast<std::size_t>(program) >= s.programs.size())
      throw error("R46", {"a guest has no program ", program, ": its header or module is of another one"});
    return *s.programs[static_cast<std::size_t>(program)];
  }
  static int feed(std::int64_t number, int program, int input, void const* from, std::int64_t const* extents,
                  std::int64_t const* strides) {
    return on(number, [&](state& s) { steps(s, program).feed(input, {const_cast<void*>(from), extents, strides}); });
  }
  static int fetch(std::int64_t number, int program, int output, void* to, std::int64_t const* extents,
                   std::int64_t const* strides) {
    return on(number, [&](state& s) { steps(s, program).fetch(output, {to, extents, strides}); });
  }
  static int get(std::int64_t number, int program, int output, void* to, std::int64_t const* extents,
                 std::int64_t const* strides) {
    return on(number, [&](state& s) { steps(s, program).get(output, {to, extents, strides}); });
  }
  static int part(std::int64_t number, int program, int is_output, int port, std::int64_t* first,
                  std::int64_t* extents) {
    return on(number, [&](state& s) {
      if (first == nullptr || extents == nullptr)
        throw error("R39",
                    "a part has a first element and an extent along each dim, but the array for one of them is null");
      steps(s, program).part(is_output != 0, port, first, extents);
    });
  }
  static int set(std::int64_t number, int which, double value) {
    return on(number, [&](state& s) {
      auto const& numbers = interface().numbers;
      if (which < 0 || static_cast<std::size_t>(which) >= numbers.size())
        throw error("R46", {"a guest has no number ", which, ": its header or module is of another program"});
      for (auto const& p : s.programs) p->set(numbers[static_cast<std::size_t>(which)], value);
    });
  }
  static int step(std::int64_t number, int program) {
    return on(number, [&](state& s) { steps(s, program).step(); });
  }
  static char const* error_text() { return detail::guest_error().c_str(); }
  static int write(char const* name, char const* header, char const* module) {
    return detail::with_status(nullptr, [&] {
      detail::write_text(header, c_header(name, interface()));
      detail::write_text(module, fortran_module(name, interface()));
    });
  }
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
