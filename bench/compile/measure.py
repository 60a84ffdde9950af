#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the library costs a compiler: seconds of processor time and peak memory, for README's first program, for the
Transformer example and for generated training steps that grow in depth and in distinct operations. One job at a time,
the best of --repeat runs.

    cmake --preset release && python3 bench/compile/measure.py [--compiler clang++-19] [--only example] [--repeat 3]
"""
import argparse
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]

HEAD = """#include <meshtensor/device/cpu/device.hpp>
#include <meshtensor/meshtensor.hpp>
namespace mt = meshtensor;
using mt::to;
namespace net {
inline constexpr struct batch_dim : mt::dim<"batch", 16> {} batch;
inline constexpr struct model_dim : mt::dim<"model", 32> {} model;
inline constexpr struct inner_dim : mt::dim<"inner", 64> {} inner;
inline constexpr struct layers_dim : mt::dim<"layers", LAYERS> {} layers;
inline constexpr struct data_axis : mt::axis<"data", 2> {} data;
inline constexpr struct tensor_axis : mt::axis<"tensor", 2> {} tensor;
struct mesh : mt::mesh<data, tensor> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<inner, tensor>> {};
inline constexpr mt::layer block = [](mt::scope auto s, auto x) {
  auto y = mt::nn::feed_forward(s / "feed_forward", mt::nn::rms_norm(s / "norm", x, model), model, inner);
  return x + mt::nn::dropout(s / "dropout", y, 0.1);
};
struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, model);
"""
TAIL = """    auto loss = mean(y * y);
    mt::adam{}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
}  // namespace net
int main() {
  auto job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<net::step, net::mesh, net::layout, mt::cpu_device> step(weights);
  mt::array<float, net::batch, net::model> x;
  return step(mt::feed<"x">(x)).get<"loss">() > 0 ? 0 : 1;
}
"""


def looped(layers):
    body = '    auto y = repeat(s / "blocks", layers, x, [](mt::scope auto r, auto h) { return block(r / "block", h); });\n'
    return HEAD.replace("LAYERS", str(layers)) + body + TAIL


def unrolled(layers):
    lines = ["    auto h0 = x;\n"]
    lines += [f'    auto h{i + 1} = block(s / "block_{i}", h{i});\n' for i in range(layers)]
    return HEAD.replace("LAYERS", "1") + "".join(lines) + f"    auto y = h{layers};\n" + TAIL


def distinct(count):
    """So many weights and as many elementwise chains, no two alike."""
    functions = ["tanh", "sigmoid", "exp", "relu", "sin", "cos", "mt::gelu", "mt::silu"]
    lines = ["    auto h0 = x;\n"]
    for i in range(count):
        f, g = functions[i % 8], functions[i // 8 % 8]
        lines.append(f'    auto h{i + 1} = {f}({g}(h{i}) * s.parameter("w{i}", model) + {i + 1}.0 / {count});\n')
    return HEAD.replace("LAYERS", "1") + "".join(lines) + f"    auto y = h{count};\n" + TAIL


def arguments(build, all_components):
    """The flags of the tests without components, or of those with most of them."""
    found = sorted((build / "arguments").glob("core*.txt"), key=lambda path: len(path.name))
    if not found:
        sys.exit(f"{build}/arguments is not there: configure with the tests first (cmake --preset release)")
    return ["@" + str(found[-1 if all_components else 0])]


def measure(command, repeat):
    """Processor seconds and MiB of the best run."""
    best = None
    for _ in range(repeat):
        process = subprocess.Popen(command)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit("does not compile: " + shlex.join(command))
        seconds = usage.ru_utime + usage.ru_stime
        if best is None or seconds < best[0]:
            best = (seconds, usage.ru_maxrss / 1024)
    return best


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--compiler", default="g++")
    p.add_argument("--build", type=pathlib.Path, default=root / "build" / "release")
    p.add_argument("--only", choices=["first", "example", "depth", "operations"])
    p.add_argument("--repeat", type=int, default=1)
    a = p.parse_args()
    given = arguments(a.build, True)
    gcc = [] if "clang" in a.compiler else ["-fconstexpr-ops-limit=2000000000"]
    print(f"{a.compiler}: processor seconds and peak MiB, best of {a.repeat}")

    with tempfile.TemporaryDirectory() as folder:
        def row(label, source, options, flags=given):
            command = [a.compiler, *flags, *gcc, *options, "-c", str(source), "-o", os.path.join(folder, "out.o")]
            seconds, mib = measure(command, a.repeat)
            print(f"  {label:44} {seconds:7.1f} s {mib:7.0f} MiB", flush=True)

        def generated(label, text, options, flags=given):
            source = pathlib.Path(folder) / "generated.cpp"
            source.write_text(text)
            row(label, source, options, flags)

        def read_headers(options):
            """Reads what meshtensor_use_compiled has read once; the options that use it."""
            names = ["meshtensor", "device/default", "inspect/explain", "inspect/profile", "inspect/trace_events", "job/main"]
            header = pathlib.Path(folder) / "read.hpp"
            header.write_text("".join(f"#include <meshtensor/{name}.hpp>\n" for name in names))
            read = f"{header}.{'pch' if 'clang' in a.compiler else 'gch'}"
            label = " ".join(o for o in options if o.startswith("-O"))
            command = [a.compiler, *given, *gcc, *options, "-x", "c++-header", str(header), "-o", read]
            seconds, mib = measure(command, a.repeat)
            print(f"  {'its headers once, ' + label:44} {seconds:7.1f} s {mib:7.0f} MiB", flush=True)
            return [*options, *(["-include-pch", read] if "clang" in a.compiler else ["-include", str(header)])]

        umbrella = "#include <meshtensor/meshtensor.hpp>\n"
        if a.only in (None, "first"):
            fences = (root / "README.md").read_text(encoding="utf-8").split("```cpp\n")[1:]
            first = next(f for f in fences if "#include" in f.split("```")[0]).split("```")[0]  # not a part of one
            for label, options in (("", ["-O2"]), (" with the compiled part,", ["-O2", "-DMESHTENSOR_COMPILED=1"])):
                generated(f"the umbrella header alone,{label} -O2", umbrella, options, arguments(a.build, False))
                generated(f"README's first program,{label} -O2", first, options, arguments(a.build, False))
        if a.only in (None, "example"):
            generated("the umbrella header alone, -O2", umbrella, ["-O2"])
            example = root / "examples" / "transformer.cpp"
            row("examples/transformer.cpp, -O2", example, ["-O2"])
            row("examples/transformer.cpp, -O0 -g", example, ["-O0", "-g"])
            row("the same, passes at start-up", example, ["-O0", "-g", "-DMESHTENSOR_EARLY=0"])
            linked = ["-DMESHTENSOR_COMPILED=1", "-DMESHTENSOR_COMPILED_IO=1"]
            row("with the compiled part, -O2", example, [*linked, "-O2"])
            row("with it, passes at start-up, -O1", example, [*linked, "-O1", "-DMESHTENSOR_EARLY=0"])
            row("with its headers read, -O2", example, read_headers([*linked, "-O2"]))
            row("the same, passes at start-up, -O1", example, read_headers([*linked, "-O1", "-DMESHTENSOR_EARLY=0"]))
            row("the training that it runs, -O2", root / "examples" / "transformer" / "training.cpp", [*linked, "-O2"])
            for part in ("core", "cpu", "io"):
                row(f"that part once: {part}, -O2", root / "cmake" / "compiled" / f"{part}.cpp", [*linked, "-O2"])
        if a.only in (None, "depth"):
            for n in (1, 12, 96):
                generated(f"a step of {n} blocks in a repeat, -O2", looped(n), ["-O2"])
            for n in (1, 2, 4, 8):
                generated(f"a step of {n} blocks written out, -O2", unrolled(n), ["-O2"])
        if a.only in (None, "operations"):
            for n in (8, 16, 32, 64):
                generated(f"a step of {n} distinct operations, -O2", distinct(n), ["-O2"])


if __name__ == "__main__":
    main()
