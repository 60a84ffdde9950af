// SPDX-License-Identifier: Apache-2.0
// The interface of a GPU: memory, kernels made from CUDA text, matrix products, and recorded steps, all in one stream.
// It is an interface so that a test can replace the hardware, with memory of its own and kernels that the host's
// compiler makes.
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

/// An address on the GPU. It is a pointer, so that plans can use it like host memory, but the host never reads through
/// it.
using address = std::byte*;

/// The largest numbers of pointers and of words that a kernel takes.
inline constexpr int max_pointers = 64, max_words = 48;

/// The only argument of every kernel: the addresses of operands and results, the numbers of the step, and any other
/// values that its text reads.
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

/// A batch of products of column-major matrices, C = op(A)·op(B). The rows and columns of C are m and n, and the summed
/// extent is k. Columns are lda, ldb and ldc elements apart, and matrices of the batch by the steps. Terms are added
/// before C is rounded.
struct gemm {
  dtype type = dtype::f32;
  std::int64_t m = 1, n = 1, k = 1, batch = 1;
  bool transposed_a = false, transposed_b = false;
  std::int64_t lda = 1, ldb = 1, ldc = 1;
  std::int64_t step_a = 0, step_b = 0, step_c = 0;
  int alignment = 16;         // of all addresses, in bytes
  bool by_address = false;    // the addresses of the matrices are in tables on the GPU
  bool adds_offset = false;   // adds a number to each row of C, from contiguous memory
  int offset_alignment = 16;  // of the address of these numbers, in bytes
  bool adds_matrix = false;   // adds a matrix of the shape of C, which may be in C's memory
  std::int64_t ld_added = 1;  // the distance between the added matrix's columns

  bool operator==(gemm const&) const = default;
};

/// The addresses of a product's matrices, or of the tables with their addresses, and of the added terms.
struct product_addresses {
  address a, b, c;
  address offset = nullptr, added = nullptr;
};

/// The way in which a GPU computes a product.
class product_plan {
 public:
  virtual ~product_plan() = default;
};

/// A captured step, which can be replayed until it is freed.
class captured_step {
 public:
  virtual ~captured_step() = default;
  bool is_freed = false;
};

class gpu {
 public:
  virtual ~gpu() = default;

  /// The number of threads in a block of a kernel that is being made, which is a power of two.
  virtual int block_threads() const = 0;
  /// The number of blocks that keep the GPU busy.
  virtual std::int64_t enough_blocks() const = 0;

  /// The most bytes of shared memory that a block may have.
  virtual std::size_t shared_bytes() const = 0;
  /// Whether warps multiply matrices of bf16, by `mma.sync`.
  virtual bool has_matrix_units() const = 0;

  /// Gives memory at a multiple of 256 bytes. errors R82 there is not enough
  virtual address allocate(std::size_t bytes) = 0;
  virtual void release(address which) noexcept = 0;
  /// Gives memory of the host for copies that the GPU makes while the host goes on.
  virtual std::byte* allocate_host(std::size_t bytes) = 0;
  virtual void release_host(std::byte* which) noexcept = 0;

  // The stream runs these in the order of the calls. Only `wait` waits for them.
  virtual void upload(address to, void const* from, std::size_t bytes) = 0;
  virtual void download(void* to, address from, std::size_t bytes) = 0;
  virtual void copy(address to, address from, std::size_t bytes) = 0;
  virtual void clear(address to, std::size_t bytes) = 0;
  virtual void launch(function which, launch_shape shape, launch_arguments const& arguments) = 0;
  virtual void run(product_plan const& how, product_addresses const& at, address workspace) = 0;
  virtual void wait() = 0;

  /// Compiles a text and returns its kernels in the order of the names. errors R83
  virtual std::vector<function> load(std::string const& text, std::vector<std::string> const& names) = 0;
  /// Frees the kernels of a text. None of them may be running or be part of a captured step.
  virtual void unload(std::vector<function> const&) noexcept {}
  /// Plans a product, or returns null if the GPU has no way to compute it.
  virtual std::unique_ptr<product_plan> plan(gemm const& product) = 0;
  /// The bytes of workspace that its products may use.
  virtual std::size_t workspace_bytes() const = 0;

  /// Its only stream, for libraries that give work to it themselves, and the call that makes this GPU current on the
  /// calling thread.
  virtual api::stream stream() = 0;
  virtual void enter_here() = 0;

  virtual void begin_capture() = 0;
  virtual std::unique_ptr<captured_step> end_capture() = 0;
  virtual void replay(captured_step const& step) = 0;
  /// Frees all captured steps, and ends a capture that is in progress. Call it before NCCL aborts a communicator,
  /// because an abort waits until no graph has kernels of the communicator.
  virtual void free_captured_steps() {}

  /// Replaces the blocking `wait` if work in the stream may wait for other processes. It polls until the stream is
  /// done, and throws if the other processes do not come.
  using watched_wait = std::function<void(function_ref<bool()> is_done)>;
  watched_wait& watch() { return watch_; }

  /// A lock that every user of the stream holds.
  std::mutex& submission_lock() { return submission_lock_; }

 private:
  std::mutex submission_lock_;
  watched_wait watch_;
};

}  // namespace meshtensor::cuda
