// SPDX-License-Identifier: Apache-2.0
// Uses the library as a stranger does, and checks that what was asked for is there.
#include <cstdio>
#include <vector>

inline constexpr int rows = 1, x = 2, n = 3, count = 4;  // global names, which locals of the library have, too

#include <meshtensor/meshtensor.hpp>

#if __cplusplus < 202002L
#  error "the target must ask for C++20"
#endif
#if defined(EXPECT_MPI)
#  include <mpi.h>
#  if MESHTENSOR_WITH_MPI != 1
#    error "the component mpi must say that it is there"
#  endif
#endif
#if defined(EXPECT_TBB)
#  include <tbb/parallel_for.h>

#  include <xsimd/xsimd.hpp>
#  if MESHTENSOR_WITH_TBB != 1
#    error "the component tbb must say that it is there"
#  endif
#endif
#if defined(EXPECT_ONEDNN)
#  include <cblas.h>

#  include <oneapi/dnnl/dnnl.hpp>
#  if MESHTENSOR_WITH_ONEDNN != 1
#    error "the component onednn must say that it is there"
#  endif
#endif
#if defined(EXPECT_DATASETS)
#  include <meshtensor/datasets.hpp>
#endif
#if defined(EXPECT_ZLIB)
#  include <meshtensor/datasets/gzip.hpp>
#  if MESHTENSOR_WITH_ZLIB != 1
#    error "the component zlib must say that it is there"
#  endif
#endif
#if defined(EXPECT_IMAGES)
#  include <meshtensor/datasets/image/jpeg.hpp>
#  include <meshtensor/datasets/image/png.hpp>
#  if MESHTENSOR_WITH_IMAGES != 1
#    error "the component images must say that it is there"
#  endif
#endif
#if defined(EXPECT_SENTENCEPIECE)
#  include <meshtensor/datasets/text/learn_subwords.hpp>
#  if MESHTENSOR_WITH_SENTENCEPIECE != 1
#    error "the component sentencepiece must say that it is there"
#  endif
#endif
#if defined(EXPECT_FETCHED)
#  if !FMT_HEADER_ONLY || !__has_include(<fetched_fmt.hpp>)
#    error "fmt's headers must be the fetched ones, without a library"
#  endif
#  if !__has_include(<fetched_xtensor.hpp>) || !__has_include(<fetched_xtl.hpp>)
#    error "xtensor's headers must be the fetched ones"
#  endif
#  if defined(EXPECT_TBB) && !__has_include(<fetched_xsimd.hpp>)
#    error "xsimd's headers must be the fetched ones"
#  endif
#endif
#if defined(EXPECT_LATE) && MESHTENSOR_EARLY != 0
#  error "MESHTENSOR_EARLY=OFF must reach the program"
#endif

namespace mt = meshtensor;

// A program that the compiler plans to the end.
namespace here {
inline constexpr struct batch : mt::dim<"batch", 2> {} batch;
inline constexpr struct in : mt::dim<"in", 4> {} in;
inline constexpr struct data : mt::axis<"data", 2> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<in, data>> {};

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, mt::ones);
    s.update(w, w * 3);
    s.output("y", einsum(x, w, mt::to(batch)));
  }
};

// Two steps on two threads, whose sums over `in` are brought together: 10 and 26, then three times as much.
bool gives_its_numbers() {
  mt::job const job = mt::job::as_threads();
  mt::store values(job);
  mt::executable<step, mesh, layout> run_step(values);
  auto const first = run_step(mt::feed<"x">(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8})).get<"y">().gather();
  auto const second = run_step().get<"y">().gather();
  return first(batch(0)) == 10 && first(batch(1)) == 26 && second(batch(0)) == 30 && second(batch(1)) == 78;
}
}  // namespace here

namespace other {
double run(mt::job const& job, int count);
}

// All that has a name here has it in other.cpp, too; only what the program says is another thing.
inline constexpr struct items : mt::dim<"items", 2> {} items;
struct alone : mt::mesh<> {};
struct whole : mt::layout<> {};
struct grown {
  constexpr void operator()(mt::scope auto s) const { s.output("sum", sum(s.input("x", mt::f32, items) * 2)); }
};
float grown_here() {
  mt::job const job = mt::job::as_threads();
  mt::store values(job);
  return mt::executable<grown, alone, whole>(values)(mt::feed<"x">(std::vector<float>{1, 2})).get<"sum">();
}
float grown_there();

// Readers that are linked with their libraries refuse a file of one zero byte.
inline constexpr unsigned char nothing[] = {0};
template <class F>
bool refuses(F read) {
  try {
    read();
  } catch (mt::error const&) { return true; }
  return false;
}

// With contraction allowed, the product would not be rounded before the sum.
double product_then_sum(double a, double b, double c) { return a * b + c; }

int main() {
  int wrong = 0;
  wrong += meshtensor::name("batch").text() != "batch";
  wrong += meshtensor::bytes_of(meshtensor::bf16) != 2;
  wrong += !here::gives_its_numbers();
  wrong += other::run(mt::job::as_threads(), 2) != 230;
  wrong += grown_here() != 6 || grown_there() != 9;
  wrong += product_then_sum(1.0 + 0x1p-30, 1.0 + 0x1p-30, -1.0) != 0x1p-29;
#if defined(EXPECT_DATASETS)
  wrong += meshtensor::datasets::words_13a("It has five words.").size() != 5;
  meshtensor::datasets::image_batch batch;
  meshtensor::datasets::synthetic_images const drawn({.count = 2, .classes = 2, .height = 8, .width = 8});
  meshtensor::datasets::image_batches(drawn, {.rows = 2, .height = 8, .width = 8}).read(0, batch);
  wrong += batch.labels.size() != 2;
#endif
#if defined(EXPECT_ZLIB)
  wrong += !refuses([] { meshtensor::datasets::unpacked(nothing, "nothing.gz"); });
#endif
#if defined(EXPECT_IMAGES)
  meshtensor::datasets::image picture;
  wrong += !refuses([&] { meshtensor::datasets::decode_jpeg(nothing, "nothing.jpg", picture); });
  wrong += !refuses([&] { meshtensor::datasets::decode_png(nothing, "nothing.png", picture); });
#endif
#if defined(EXPECT_SENTENCEPIECE)
  wrong += !refuses([] { meshtensor::datasets::learn_subwords({}); });
#endif
#if defined(EXPECT_TBB)
  tbb::parallel_for(0, 2, [](int) {});
#endif
#if defined(EXPECT_ONEDNN)
  dnnl::engine const engine(dnnl::engine::kind::cpu, 0);
  double const two = 2;
  wrong += cblas_ddot(1, &two, 1, &two, 1) != 4;
#endif
#if defined(EXPECT_MPI)
  MPI_Init(nullptr, nullptr);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  wrong += size != 1;
  wrong += other::run(mt::job(MPI_COMM_WORLD), 1) != 230;
  MPI_Finalize();
#endif
  std::printf("meshtensor %d.%d.%d: %d wrong\n", MESHTENSOR_VERSION_MAJOR, MESHTENSOR_VERSION_MINOR,
              MESHTENSOR_VERSION_PATCH, wrong);
  return wrong;
}
