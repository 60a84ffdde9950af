// SPDX-License-Identifier: Apache-2.0
// Lesson 2. You learn to write a program and to read its graph. A program is a struct that declares inputs and outputs.
// The compiler runs it once and records a graph. The graph is a plain value, so we can print it.
#include <doctest/doctest.h>

#include <meshtensor/emit/print.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct pixels : mt::dim<"pixels", 3> {} pixels;
inline constexpr struct classes : mt::dim<"classes", 2> {} classes;
// The call operator takes a scope `s`. The program uses it to declare its inputs and outputs, each by its name.
struct classify {
  constexpr void operator()(mt::scope auto s) const {
    auto image = s.input("image", mt::f32, batch, pixels);
    auto table = s.input("table", mt::f32, pixels, classes);
    auto score = einsum(image, table, to(batch, classes)) * 2;
    s.output("score", score);
    s.output("best", argmax(score, classes));
  }
};
}  // namespace lesson
using namespace lesson;

// The compiler itself runs the program here and records the graph. Therefore a wrong dim or dtype does not compile, and
// the error names the line of the operation.
constexpr mt::module traced = mt::trace<classify>();

TEST_CASE("a graph has one line for each value: its dtype and dims, what it is, where it comes from") {
  // For example, line %2 is the product of the inputs %0 and %1. It has the dtype f32, the dims batch and classes, and
  // a sum over pixels. After `#` is the line of the program above that made it. The literal 2 is recorded, too, as the
  // constant %3.
  CHECK("\n" + text_of(traced) == R"(
dims batch, pixels = 3, classes = 2
entry classify
  %0: f32[batch, pixels]    = input(image)                # 02_programs.cpp:19
  %1: f32[pixels, classes]  = input(table)                # 02_programs.cpp:20
  %2: f32[batch, classes]   = einsum(%0, %1) over pixels  # 02_programs.cpp:21
  %3: f32[]                 = constant(2)                 # 02_programs.cpp:21
  %4: f32[batch, classes]   = multiply(%2, %3)            # 02_programs.cpp:21
                              output(%4, score)           # 02_programs.cpp:22
  %5: i64[batch]            = argmax(%4, along classes)   # 02_programs.cpp:23
                              output(%5, best)            # 02_programs.cpp:23
)");
}

TEST_CASE("an eager scope runs a program at once, on whole arrays") {
  mt::array<float, batch, pixels> const image({1, 2, 3, 4, 5, 6});
  mt::array<float, pixels, classes> const table({1, 0, 0, 1, 1, 1});

  // An eager scope computes each operation at once instead of recording it. It needs no mesh and no layout, so it is a
  // good way to try a program. `feed` gives the program an input by its name, and `get` returns an output by its name.
  mt::eager s(mt::feed<"image">(image), mt::feed<"table">(table));
  s.run(classify{});
  CHECK(text_of(s.get<float>("score")) == "f32[batch=2, classes=2]\n[[8, 10],\n [20, 22]]");
  CHECK(text_of(s.get<std::int64_t>("best")) == "i64[batch=2]\n[1, 1]");
}

TEST_CASE("any line of a program can be tried by itself") {
  // Calling the scope with an array makes it a tensor of this scope. After that, every operation works on it as it does
  // in a program. `value` turns a tensor into an array again, so that we can look at the result.
  mt::eager s;
  auto x = s(mt::array<float, batch, pixels>({1, 2, 3, 4, 5, 6}));
  auto y = x - mean(x, batch);
  CHECK(text_of(s.value(y)) == "f32[batch=2, pixels=3]\n[[-1.5, -1.5, -1.5],\n [1.5, 1.5, 1.5]]");
}
