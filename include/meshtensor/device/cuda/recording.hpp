// SPDX-License-Identifier: Apache-2.0
// Records a step as a list of commands for the GPU. The list is made by walking a program's instructions once, and can
// be given to the GPU any number of times.
#pragma once

#include <cstring>
#include <functional>
#include <variant>

#include "meshtensor/device/cuda/memory.hpp"
#include "meshtensor/device/cuda/text/kernel_texts.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/pass/fuse/descriptor.hpp"

namespace meshtensor::cuda {

struct launch_command {
  std::size_t kernel;
  launch_shape shape;
  launch_arguments arguments;
};
struct copy_command {
  address to, from;
  std::size_t bytes;
};
struct clear_command {
  address to;
  std::size_t bytes;
};
struct upload_command {
  address to;
  std::byte const* from;
  std::size_t bytes;
};
struct download_command {
  std::byte* to;
  address from;
  std::size_t bytes;
};
/// A product by address, with the positions of its addresses in the tables of a recording.
struct product_at_command {
  product_plan const* how;
  std::size_t a, b, c;
  address workspace;
};
/// Work that a library gives to the GPU's stream.
struct call_command {
  std::function<void(gpu&)> call;
};
struct product_command {
  product_plan const* how;
  product_addresses at;
  address workspace;
};

class recording {
 public:
  void launch(prepared_kernel const& k, launch_arguments const& a) {
    if (k.shape.blocks != 0) commands_.push_back(launch_command{k.number, k.shape, a});
  }
  void copy(address to, address from, std::int64_t bytes) {
    if (to != from && bytes != 0) commands_.push_back(copy_command{to, from, static_cast<std::size_t>(bytes)});
  }
  void clear(address to, std::int64_t bytes) {
    if (bytes != 0) commands_.push_back(clear_command{to, static_cast<std::size_t>(bytes)});
  }
  void multiply(product_plan const& how, product_addresses const& at, address workspace) {
    commands_.push_back(product_command{&how, at, workspace});
  }
  void upload(address to, std::byte const* from, std::int64_t bytes) {
    if (bytes != 0) commands_.push_back(upload_command{to, from, static_cast<std::size_t>(bytes)});
  }
  void download(std::byte* to, address from, std::int64_t bytes) {
    if (bytes != 0) commands_.push_back(download_command{to, from, static_cast<std::size_t>(bytes)});
  }
  /// Multiplies matrices at any addresses. Each list has one address for each product of the batch.
  void multiply(product_plan const& how, std::vector<address> const& a, std::vector<address> const& b,
                std::vector<address> const& c, address workspace) {
    std::size_t const first = tables_.size(), many = a.size();
    for (auto const* list : {&a, &b, &c}) tables_.insert(tables_.end(), list->begin(), list->end());
    commands_.push_back(product_at_command{&how, first, first + many, first + 2 * many, workspace});
  }
  void call(std::function<void(gpu&)> library) { commands_.push_back(call_command{std::move(library)}); }
  /// Copies the tables of addresses to the GPU. Call it when everything is recorded.
  void place_tables(gpu& g) {
    std::size_t const bytes = tables_.size() * sizeof(address);
    if (bytes > placed_.bytes()) placed_ = device_memory(g, bytes);
    if (bytes == 0) return;
    g.upload(placed_.at(), tables_.data(), bytes);
    g.wait();
  }
  void forget() { commands_.clear(), tables_.clear(); }
  std::size_t size() const { return commands_.size(); }

  void give_to(gpu& g, kernel_library const& kernels) const {
    for (auto const& o : commands_) {
      if (auto const* l = std::get_if<launch_command>(&o)) g.launch(kernels[l->kernel], l->shape, l->arguments);
      else if (auto const* c = std::get_if<copy_command>(&o)) g.copy(c->to, c->from, c->bytes);
      else if (auto const* z = std::get_if<clear_command>(&o)) g.clear(z->to, z->bytes);
      else if (auto const* u = std::get_if<upload_command>(&o)) g.upload(u->to, u->from, u->bytes);
      else if (auto const* d = std::get_if<download_command>(&o)) g.download(d->to, d->from, d->bytes);
      else if (auto const* t = std::get_if<product_at_command>(&o))
        g.run(*t->how, {placed(t->a), placed(t->b), placed(t->c)}, t->workspace);
      else if (auto const* n = std::get_if<call_command>(&o)) n->call(g);
      else if (auto const* p = std::get_if<product_command>(&o)) g.run(*p->how, p->at, p->workspace);
    }
  }

 private:
  address placed(std::size_t at) const { return placed_.at() + at * sizeof(address); }

  std::vector<address> tables_;
  device_memory placed_;
  std::vector<std::variant<launch_command, copy_command, clear_command, upload_command, download_command,
                           product_command, product_at_command, call_command>>
      commands_;
};

/// Adds the work of a node to a recording. The views of `e` have addresses on the GPU.
using node_work = std::function<void(recording&, evaluation const& e, address state, address workspace)>;

/// State that the kernels of a program share while they are prepared.
struct preparation {
  meshtensor::module const& m;
  gpu& device;
  kernel_library& kernels;
  std::size_t workspace = 0;  // the most bytes that one node needs

  void reserve(std::size_t bytes) { workspace = std::max(workspace, bytes); }
  int block() const { return device.block_threads(); }
  /// Makes a kernel with one thread for each of at most `count` elements. Its text must return if `i >= a.n[0]`.
  prepared_kernel over_elements(std::string const& body, std::int64_t count) {
    std::string const text = joined({"const i64 i = (i64)blockIdx.x * ", block(), " + threadIdx.x;\n"}) + body;
    return {kernels.add(text, block()), {(count + block() - 1) / block(), block()}};
  }
};

/// The arguments of a launch: operands, results, and the values that change from step to step.
inline launch_arguments arguments_of(evaluation const& e, address state) {
  launch_arguments a;
  std::memset(&a, 0, sizeof a);
  for (int i = 0; i < e.n.operands.count; ++i) a.p[i] = e.operands[i].as<std::byte>();
  for (int i = 0; i < e.n.results.count; ++i) a.p[max_kernel_operands + i] = e.results[i].as<std::byte>();
  a.state = state, a.index = e.context.index, a.iteration = static_cast<std::int64_t>(e.context.iteration);
  return a;
}

namespace detail {

/// The work of a node that is one launch of a kernel with the node's arguments.
inline node_work just(prepared_kernel const& k) {
  return
      [k](recording& to_do, evaluation const& e, address state, address) { to_do.launch(k, arguments_of(e, state)); };
}

}  // namespace detail

}  // namespace meshtensor::cuda
