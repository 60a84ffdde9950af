// Uses the library as a stranger does, and checks that what was asked for is there.
#include <meshtensor/base/config.hpp>
#include <meshtensor/base/dtype.hpp>
#include <meshtensor/base/name.hpp>
#if __has_include(<meshtensor/meshtensor.hpp>)
#  include <meshtensor/meshtensor.hpp>
#endif

#include <cstdio>

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
#if defined(EXPECT_LATE) && MESHTENSOR_EARLY != 0
#  error "MESHTENSOR_EARLY=OFF must reach the program"
#endif

int answer_of_the_other_file();

// With contraction allowed, the product would not be rounded before the sum.
double product_then_sum(double a, double b, double c) { return a * b + c; }

int main() {
  int wrong = 0;
  wrong += meshtensor::name("batch").text() != "batch";
  wrong += meshtensor::bytes_of(meshtensor::bf16) != 2;
  wrong += answer_of_the_other_file() != 5;
  wrong += product_then_sum(1.0 + 0x1p-30, 1.0 + 0x1p-30, -1.0) != 0x1p-29;
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
  MPI_Finalize();
#endif
  std::printf("meshtensor %d.%d.%d: %d wrong\n", MESHTENSOR_VERSION_MAJOR, MESHTENSOR_VERSION_MINOR,
              MESHTENSOR_VERSION_PATCH, wrong);
  return wrong;
}
