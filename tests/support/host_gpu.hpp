// SPDX-License-Identifier: Apache-2.0
// Stands in for a GPU: memory that nobody can touch between its calls, and kernels that the host's compiler makes of
// the same text, with one thread in a block, or many that take turns. It counts what it is asked to do.
#pragma once

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/device/cuda/choose_gpu.hpp"
#include "meshtensor/op/detail/scalar.hpp"
#include "support/host_block.hpp"

namespace meshtensor_test {

/// What a kernel's text needs from a compiler for GPUs.
inline constexpr char const* host_words = R"text(
#include <cstring>
#include "meshtensor/base/philox.hpp"
#include "meshtensor/op/detail/scalar.hpp"
#define __device__
#define __global__
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __launch_bounds__(n)
struct place_of_thread { unsigned x; };
static place_of_thread blockIdx;
static inline float __uint_as_float(unsigned u) { return std::bit_cast<float>(u); }
static inline unsigned __float_as_uint(float f) { return std::bit_cast<unsigned>(f); }
static inline unsigned atomicAdd(unsigned* at, unsigned n) { unsigned const old = *at; *at += n; return old; }
static inline int atomicMax(int* at, int n) { int const old = *at; if (n > old) *at = n; return old; }
alignas(16) static unsigned char room_of_block[232448];
static inline unsigned char* shared_room() { return room_of_block; }
static inline float fma_of(float a, float b, float c) { return a * b + c; }
static inline double fma_of(double a, double b, double c) { return a * b + c; }
static inline float power_of_two(float x) { return __builtin_exp2f(x); }
)text";
inline constexpr char const* host_functions = R"text(
namespace mm = meshtensor::math;
template <class T> inline T exp_of(T x) { return mm::exp(x); }
template <class T> inline T log_of(T x) { return mm::log(x); }
template <class T> inline T tanh_of(T x) { return mm::tanh(x); }
template <class T> inline T sin_of(T x) { return mm::sin(x); }
template <class T> inline T cos_of(T x) { return mm::cos(x); }
template <class T> inline T erf_of(T x) { return mm::erf(x); }
template <class T> inline T sigmoid_of(T x) { return mm::sigmoid(x); }
template <class T> inline T power_of(T x, T y) { return mm::pow(x, y); }
template <class T> inline T near_exp(T x) { return mm::exp(x); }
template <class T> inline T near_sigmoid(T x) { return mm::sigmoid(x); }
template <class T> inline T __fdividef(T x, T y) {  // as CUDA's guide has it
  const T most = 0x1p126f, size = y < 0 ? -y : y;
  return size > most && size < 4 * most ? (x - x) * T(0) : x / y;
}
template <class T> inline T root_of(T x) { return mm::sqrt(x); }
template <class T> inline T floor_of(T x) { return mm::floor(x); }
template <class T> inline T remainder_of(T x, T y) { return (T)mm::detail::fmod(x, y); }
template <class T> inline T normal_number(u32 a, u32 b, u32 c, u32 d, T) { return mm::normal_of<T>(a, b, c, d); }
)text";
class host_gpu final : public meshtensor::cuda::gpu {
  using address = meshtensor::cuda::address;

 public:
  /// `threads` in a block, which take turns in the order that `order` says: tests/support/host_block.hpp.
  explicit host_gpu(int threads = 1) : threads_(threads) {
    char name[] = "/tmp/meshtensor-kernels-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~host_gpu() override {
    for (std::string const& f : files_) std::remove(f.c_str());
    rmdir(folder_.c_str());
  }

  // What it was asked to do.
  long launches = 0, products = 0, offsets = 0, sums = 0, copies = 0, uploads = 0, downloads = 0, replays = 0,
       recordings = 0, loads = 0;
  long loaded = 0;  // texts whose kernels can be launched
  long blocks() const { return static_cast<long>(blocks_.size()); }
  std::string last_text;
  bool has_products = true, has_products_by_address = true, has_epilogues = true;
  bool compiles = true;  // else kernels have a text only
  unsigned order = 0;    // 0: each thread after the one before; 1: the last first; else any
  std::size_t shared = 101376;

  int block_threads() const override { return threads_; }
  std::size_t shared_bytes() const override { return shared; }
  bool has_matrix_units() const override { return threads_ > 1; }
  std::int64_t enough_blocks() const override { return 8; }
  std::size_t workspace_bytes() const override { return 4096; }

  address allocate(std::size_t bytes) override {
    std::size_t const whole = (bytes + 4095) / 4096 * 4096;
    void* const p = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    blocks_[static_cast<address>(p)] = whole;
    open_memory(true);
    std::memset(p, 0xff, whole);
    open_memory(false);
    return static_cast<address>(p);
  }
  void release(address which) noexcept override {
    auto const at = blocks_.find(which);
    munmap(which, at->second);
    blocks_.erase(at);
  }
  std::byte* allocate_host(std::size_t bytes) override {
    ++host_blocks_;
    return static_cast<std::byte*>(std::calloc(bytes, 1));
  }
  void release_host(std::byte* which) noexcept override { --host_blocks_, std::free(which); }
  long host_blocks() const { return host_blocks_; }

  void upload(address to, void const* from, std::size_t bytes) override {
    ++uploads;
    give([=] { meshtensor::copy_bytes(to, from, static_cast<std::int64_t>(bytes)); });
  }
  void download(void* to, address from, std::size_t bytes) override {
    ++downloads;
    give([=] { meshtensor::copy_bytes(to, from, static_cast<std::int64_t>(bytes)); });
  }
  void copy(address to, address from, std::size_t bytes) override {
    ++copies;
    give([=] { meshtensor::copy_bytes(to, from, static_cast<std::int64_t>(bytes)); });
  }
  void clear(address to, std::size_t bytes) override {
    give([=] { meshtensor::clear_bytes(to, static_cast<std::int64_t>(bytes)); });
  }
  void launch(meshtensor::cuda::function which, meshtensor::cuda::launch_shape shape,
              meshtensor::cuda::launch_arguments const& arguments) override {
    ++launches;
    auto const* const k = static_cast<kernel const*>(which.handle);
    give([=, this] {
      for (std::int64_t b = 0; b < shape.blocks; ++b)
        k->run_block(k->run, &arguments, static_cast<unsigned>(b), static_cast<unsigned>(shape.threads), order);
    });
  }
  void run(meshtensor::cuda::product_plan const& how, meshtensor::cuda::product_addresses const& where,
           address) override {
    meshtensor::cuda::gemm const g = static_cast<planned const&>(how).what;
    ++products, offsets += g.adds_offset, sums += g.adds_matrix;
    auto const [a, b, c, offset, added] = where;
    give([=] {
      meshtensor::with_element(g.type, [&]<class E>() {
        E const *const bias = reinterpret_cast<E const*>(offset), *const more = reinterpret_cast<E const*>(added);
        auto const at = [&](address table, std::int64_t j) { return reinterpret_cast<address const*>(table)[j]; };
        for (std::int64_t j = 0; g.by_address && j < g.batch; ++j)
          multiply(g, reinterpret_cast<E const*>(at(a, j)), reinterpret_cast<E const*>(at(b, j)),
                   reinterpret_cast<E*>(at(c, j)), bias, more);
        for (std::int64_t j = 0; !g.by_address && j < g.batch; ++j)
          multiply(g, reinterpret_cast<E const*>(a) + j * g.step_a, reinterpret_cast<E const*>(b) + j * g.step_b,
                   reinterpret_cast<E*>(c) + j * g.step_c, bias, more);
      });
    });
  }
  /// What was asked for is done now, and not before.
  void wait() override {
    open_memory(true);
    try {
      for (auto const& f : queue_) f();
    } catch (...) {
      queue_.clear(), open_memory(false);
      throw;
    }
    queue_.clear();
    open_memory(false);
  }

  std::vector<meshtensor::cuda::function> load(std::string const& text,
                                               std::vector<std::string> const& names) override {
    ++loads, ++loaded;
    last_text = text;
    if (!compiles) return std::vector<meshtensor::cuda::function>(names.size());
    std::string const base = folder_ + "/" + std::to_string(files_.size());
    std::string const source = base + ".cpp", object = base + ".so";
    files_.push_back(source), files_.push_back(object);
    bool const alone = threads_ == 1;
    std::ofstream(source) << host_words << meshtensor::cuda::basic_types << (alone ? lone_thread : many_threads)
                          << host_functions << meshtensor::cuda::prelude() << text
                          << (alone ? run_lone_thread : run_many_threads);
    char const* const compiler = std::getenv("MESHTENSOR_HOST_COMPILER");
    std::string const command = std::string(compiler == nullptr ? "c++" : compiler) +
                                " -std=c++20 -O0 -w -fno-strict-aliasing -fwrapv -ffp-contract=off" +
                                (meshtensor::math::fused ? " -march=native" : "") + " -fPIC -shared -I" + headers() +
                                " " + source + " -o " + object + " 2>&1";
    if (std::system(command.c_str()) != 0) throw meshtensor::error("R83", {"the host's compiler refuses ", source});
    void* const library = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw meshtensor::error("R83", {"the kernels cannot be loaded: ", dlerror()});
    std::vector<meshtensor::cuda::function> all;
    for (std::string const& n : names) {
      kernel k;
      k.library = library;
      k.run = reinterpret_cast<void (*)(meshtensor::cuda::launch_arguments)>(dlsym(library, n.c_str()));
      k.run_block = reinterpret_cast<decltype(k.run_block)>(dlsym(library, "run_block"));
      kernels_.push_back(std::make_unique<kernel>(k));
      all.push_back({kernels_.back().get()});
    }
    return all;
  }
  /// A launch of one of them from now on ends the test.
  void unload(std::vector<meshtensor::cuda::function> const& all) noexcept override {
    --loaded;
    if (auto const* const k = static_cast<kernel const*>(all[0].handle); k != nullptr) dlclose(k->library);
  }
  std::unique_ptr<meshtensor::cuda::product_plan> plan(meshtensor::cuda::gemm const& product) override {
    if (!has_products || (product.by_address && !has_products_by_address)) return nullptr;
    if (!has_epilogues && (product.adds_offset || product.adds_matrix)) return nullptr;
    auto made = std::make_unique<planned>();
    made->what = product;
    return made;
  }

  /// Work that a library gives to the stream, which is this.
  meshtensor::cuda::api::stream stream() override { return reinterpret_cast<meshtensor::cuda::api::stream>(this); }
  void enter_here() override {}
  void do_later(std::function<void()> work) { give(std::move(work)); }

  bool is_recording() const { return recorded_ != nullptr; }
  void begin_capture() override { ++recordings, recorded_ = std::make_unique<captured>(); }
  std::unique_ptr<meshtensor::cuda::captured_step> end_capture() override { return std::move(recorded_); }
  void replay(meshtensor::cuda::captured_step const& step) override {
    ++replays;
    auto const& all = static_cast<captured const&>(step).commands;
    queue_.insert(queue_.end(), all.begin(), all.end());
  }

 private:
  struct kernel {
    void* library;
    void (*run)(meshtensor::cuda::launch_arguments);
    void (*run_block)(void (*)(meshtensor::cuda::launch_arguments), meshtensor::cuda::launch_arguments const*, unsigned,
                      unsigned, unsigned);
  };
  struct planned final : meshtensor::cuda::product_plan {
    meshtensor::cuda::gemm what;
  };
  struct captured final : meshtensor::cuda::captured_step {
    std::vector<std::function<void()>> commands;
  };

  static std::string headers() {
    std::filesystem::path const here = std::source_location::current().file_name();
    return std::filesystem::absolute(here.parent_path() / "../../include").lexically_normal().string();
  }
  template <class E>
  static void multiply(meshtensor::cuda::gemm const& g, E const* a, E const* b, E* c, E const* bias, E const* added) {
    using A = meshtensor::sum_t<E>;
    for (std::int64_t j = 0; j < g.n; ++j)
      for (std::int64_t i = 0; i < g.m; ++i) {
        A sum = 0;
        for (std::int64_t k = 0; k < g.k; ++k)
          sum += static_cast<A>(a[g.transposed_a ? k + i * g.lda : i + k * g.lda]) *
                 static_cast<A>(b[g.transposed_b ? j + k * g.ldb : k + j * g.ldb]);
        if (g.adds_matrix) sum += static_cast<A>(added[i + j * g.ld_added]);
        if (g.adds_offset) sum += static_cast<A>(bias[i]);
        c[i + j * g.ldc] = static_cast<E>(sum);
      }
  }
  void give(std::function<void()> f) {
    if (recorded_ != nullptr) recorded_->commands.push_back(std::move(f));
    else queue_.push_back(std::move(f));
  }
  void open_memory(bool open) {
    for (auto const& [at, bytes] : blocks_) mprotect(at, bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE);
  }

  int threads_;
  std::string folder_;
  std::vector<std::string> files_;
  std::map<address, std::size_t> blocks_;
  long host_blocks_ = 0;
  std::vector<std::function<void()>> queue_;
  std::unique_ptr<captured> recorded_;
  std::vector<std::unique_ptr<kernel>> kernels_;
};

}  // namespace meshtensor_test
