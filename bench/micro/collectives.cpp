// SPDX-License-Identifier: Apache-2.0
// Collectives between processors that are threads of this process, beside a copy of the same bytes: bytes that a
// processor receives, a second.
//
//   build/quickstart/bench/micro/collectives [--benchmark_filter=all_reduce]
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstring>
#include <numeric>
#include <vector>

#include <meshtensor/comm/local.hpp>

namespace mt = meshtensor;

namespace {

void copying(benchmark::State& state) {
  std::vector<std::byte> from(static_cast<std::size_t>(state.range(0))), to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

/// Among `ranks` threads, of blocks of so many bytes: many in one run of the world, which costs waking the threads.
void collective(benchmark::State& state, mt::collective kind, int ranks) {
  constexpr int at_once = 64;
  mt::local_world world(ranks);
  std::vector<int> members(static_cast<std::size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  mt::collective_call call;
  call.kind = kind, call.dims = 1, call.extent[0] = state.range(0) / 4;
  call.split = mt::splits(kind) ? 0 : -1, call.join = mt::joins(kind) ? 0 : -1;
  std::vector<std::vector<float>> in, out;
  for (int r = 0; r < ranks; ++r) {
    in.emplace_back(static_cast<std::size_t>(mt::elements_of(call)), 1.0F);
    out.emplace_back(static_cast<std::size_t>(mt::result_bytes_of(call, ranks, r) / 4));
    world.member(r).prepare({members.data(), ranks, r});
  }
  for (auto _ : state)
    world.run([&](mt::local_member& me) {
      auto const r = static_cast<std::size_t>(me.rank());
      for (int i = 0; i < at_once; ++i) {
        auto request = me.start(call, {members.data(), ranks, me.rank()}, in[r].data(), out[r].data());
        me.wait(request);
      }
    });
  state.SetBytesProcessed(state.iterations() * at_once * mt::received_bytes_of(call, ranks, 0));
  state.counters["each"] = benchmark::Counter(static_cast<double>(state.iterations()) * at_once,
                                              benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("memcpy", copying)->RangeMultiplier(32)->Range(1 << 10, 32 << 20);
  for (auto const& [label, kind] : {std::pair{"all_reduce", mt::collective::all_reduce},
                                    {"reduce_scatter", mt::collective::reduce_scatter},
                                    {"all_gather", mt::collective::all_gather},
                                    {"all_to_all", mt::collective::all_to_all}})
    for (int ranks : {2, 4})
      benchmark::RegisterBenchmark((std::string(label) + "/" + std::to_string(ranks) + " ranks").c_str(), collective,
                                   kind, ranks)
          ->RangeMultiplier(32)
          ->Range(1 << 10, 32 << 20)
          ->UseRealTime();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
