// SPDX-License-Identifier: Apache-2.0
// The interface of a GPU: memory, kernels made from CUDA text, matrix products, and recorded steps, all in one stream.
// why: a test stands in for the hardware, with memory of its own and kernels that the host's compiler makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/base/function_ref.hpp"
#include "meshtensor/device/cuda/api.hpp"

namespace meshtensor::cuda {

/// An address on the GPU. It is a pointer, so that plans can be laid over it, but the host never reads through it.
using address = std::byte*;

/// The most pointers and numbers that a kernel takes.
inline constexpr int max_pointers = 64, max_words = 48;

/// The one argument of every kernel: addresses of operands and results, the numbers of the step, and what else its text
/// reads.
struct launch_arguments {
  address p[max_pointers];
  address state;  // seed and step, then the module's numbers
  std::int64_t index, iteration;
  std::int64_t n[max_words];
};

/// A kernel of a loaded text.
struct function {
  void* handle = nullptr;
};

struct launch_shape {
  std::int64_t blocks = 1;
  int threads = 1;
  std::size_t shared_bytes = 0;  // dynamic shared memory of a block
};

/// A batch of products of matrices in column-major order, C = op(A)·op(B): rows and columns of C, the summed extent,
/// and the distances between columns and between matrices of the batch. What is added is added before C is rounded.
struct gemm {
  dtype type = dtype::f32;
  std::int64_t m = 1, n = 1, k = 1, batch = 1;
  bool transposed_a = false, transposed_b = false;
  std::int64_t lda = 1, ldb = 1, ldc = 1;
  std::int64_t step_a = 0, step_b = 0, step_c = 0;
  int alignment = 16;         // bytes, of all addresses
  bool by_address = false;    // the matrices lie anywhere: their addresses are in tables on the GPU
  bool adds_offset = false;   // a number for each row of C, side by side
  int offset_alignment = 16;  // bytes, of their address
  bool adds_matrix = false;   // another matrix of C's rows and columns, which may lie where C does
  std::int64_t ld_added = 1;  // the distance between its columns

  bool operator==(gemm const&) const = default;
};

/// The addresses of a product: of its matrices, or of the tables of their addresses, and of what is added.
struct product_addresses {
  address a, b, c;
  address offset = nullptr, added = nullptr;
};

/// How a GPU computes a product.
class product_plan {
 public:
  virtual ~product_plan() = default;
};

/// A recorded step, which can be replayed until it is freed.
class recorded_step {
 public:
  virtual ~recorded_step() = default;
  bool is_freed = false;
};

class gpu {
 public:
  virtual ~gpu() = default;

  /// Threads in a block of the kernels that are to be made; a power of two.
  virtual int block_threads() const = 0;
  /// Blocks that keep it busy.
  virtual std::int64_t enough_blocks() const = 0;

  /// The most bytes of shared memory that a block may have.
  virtual std::size_t shared_bytes() const = 0;
  /// Whether warps multiply matrices of bf16, by `mma.sync`.
  virtual bool has_matrix_units() const = 0;

  /// Memory at a multiple of 256. errors R82 there is not enough
  virtual address allocate(std::size_t bytes) = 0;
  virtual void release(address which) noexcept = 0;
  /// Memory of the host that the GPU copies from and to while the host goes on.
  virtual std::byte* allocate_host(std::size_t bytes) = 0;
  virtual void release_host(std::byte* which) noexcept = 0;

  // In the order of the calls; only `wait` waits.
  virtual void upload(address to, void const* from, std::size_t bytes) = 0;
  virtual void download(void* to, address from, std::size_t bytes) = 0;
  virtual void copy(address to, address from, std::size_t bytes) = 0;
  virtual void clear(address to, std::size_t bytes) = 0;
  virtual void launch(function which, launch_shape shape, launch_arguments const& arguments) = 0;
  virtual void run(product_plan const& how, product_addresses const& at, address workspace) = 0;
  virtual void wait() = 0;

  /// Compiles a text and gives its kernels by name. errors R83
  virtual std::vector<function> load(std::string const& text, std::vector<std::string> const& names) = 0;
  /// Frees the kernels of a text, none of which runs or is in a recorded step.
  virtual void unload(std::vector<function> const&) noexcept {}
  /// Null: it has no way to compute this product.
  virtual std::unique_ptr<product_plan> plan(gemm const& product) = 0;
  /// Bytes of workspace of its products.
  virtual std::size_t workspace_bytes() const = 0;

  /// Its one stream, for libraries that give work to it by themselves, and what makes it the GPU of this thread.
  virtual api::stream stream() = 0;
  virtual void enter_here() = 0;

  virtual void begin_recording() = 0;
  virtual std::unique_ptr<recorded_step> end_recording() = 0;
  virtual void replay(recorded_step const& step) = 0;
  /// Frees all recorded steps, and ends a recording that is under way. To be called before NCCL aborts a communicator:
  /// it waits until no graph has kernels of the communicator.
  virtual void free_recorded_steps() {}

  /// Replaces `wait` where work in the stream may wait for other processes: polls until the stream is done, and throws
  /// if they do not come.
  using watched_wait = std::function<void(function_ref<bool()> is_done)>;
  watched_wait& watch() { return watch_; }

  /// Held by whoever uses the stream.
  std::mutex& turns() { return turns_; }

 private:
  std::mutex turns_;
  watched_wait watch_;
};

}  // namespace meshtensor::cuda
