# SPDX-License-Identifier: Apache-2.0
"""One convolution and its gradients under eight layouts on eight processors: what JAX and PyTorch's DTensor make of it.

    python3 sharded_convolutions.py jax|torch [--case NAME]

Each case is computed whole and sharded, in f32, and a line says what moved between processors (JAX: the compiled HLO's
collectives; PyTorch: what CommDebugMode counts), whether the results are those of the whole, or what was refused. JAX
runs on eight forced CPU devices, DTensor as eight processes with gloo.
"""

import argparse
import os
import re
import sys

# name: batch, height, width, channels in and out, kernel, depthwise, mesh, and the axis that shards each dim.
CASES = {
    "batch": (8, 16, 16, 8, 16, 3, False, {"a": 8}, {"batch": "a"}),
    "input channels": (8, 16, 16, 8, 16, 3, False, {"a": 8}, {"in": "a"}),
    "output channels": (8, 16, 16, 8, 16, 3, False, {"a": 8}, {"out": "a"}),
    "groups": (8, 16, 16, 16, 16, 3, True, {"a": 8}, {"in": "a", "out": "a"}),
    "height": (8, 16, 16, 8, 16, 3, False, {"a": 8}, {"height": "a"}),
    "height x width": (8, 16, 16, 8, 16, 3, False, {"a": 2, "b": 4}, {"height": "a", "width": "b"}),
    "uneven height": (8, 19, 16, 8, 16, 3, False, {"a": 8}, {"height": "a"}),
    "blocks smaller than the halo": (8, 8, 16, 8, 16, 7, False, {"a": 8}, {"height": "a"}),
}
DIMS = {"x": ("batch", "in", "height", "width"), "k": ("out", "in", "", ""), "y": ("batch", "out", "height", "width")}


def dims_of(tensor, depthwise):
    return ("out", "", "", "") if depthwise and tensor == "k" else DIMS[tensor]


def arrays(case):
    import numpy

    batch, height, width, into, out, kernel, depthwise, _, _ = CASES[case]
    random = numpy.random.default_rng(1)
    shapes = ((batch, into, height, width), (out, 1 if depthwise else into, kernel, kernel), (batch, out, height, width))
    return [random.standard_normal(s).astype("float32") for s in shapes]


def verdict(names, whole, sharded):
    import numpy

    wrong = [n for n, a, b in zip(names, whole, sharded)
             if a.shape != b.shape or not numpy.allclose(a, b, rtol=1e-4, atol=1e-3)]
    return "WRONG: " + ", ".join(wrong) if wrong else "right"


def sentence(error):
    return "refused: " + re.sub(r"\s+", " ", str(error)).strip()[:150]


def by_jax(case):
    import jax
    import jax.numpy as jnp
    import numpy
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    _, _, _, into, _, kernel, depthwise, mesh_axes, layout = CASES[case]
    mesh = Mesh(numpy.array(jax.devices()[:8]).reshape(tuple(mesh_axes.values())), tuple(mesh_axes))

    def sharding(tensor):
        return NamedSharding(mesh, PartitionSpec(*[layout.get(d) for d in dims_of(tensor, depthwise)]))

    def step(x, k, dy):
        def y(x, k):
            return jax.lax.conv_general_dilated(x, k, (1, 1), [(kernel // 2,) * 2] * 2,
                                                feature_group_count=into if depthwise else 1)

        result, back = jax.vjp(y, x, k)
        return (result, *back(dy))

    given = arrays(case)
    whole = [numpy.asarray(v) for v in jax.jit(step)(*given)]
    try:
        tensors = [jax.device_put(v, sharding(t)) for v, t in zip(given, "xky")]
        outs = tuple(sharding(t) for t in "yxk")
        compiled = jax.jit(step, out_shardings=outs).lower(*tensors).compile()
        text = compiled.as_text()
        kinds = ("all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute")
        counts = {k: len(re.findall(rf"= [^=]*? {k}(?:-start)?\(", text)) for k in kinds}
        sharded = [numpy.asarray(v) for v in compiled(*tensors)]
        return moved(counts), verdict(("y", "dx", "dk"), whole, sharded)
    except Exception as e:
        return "", sentence(e)


def moved(counts):
    return ", ".join(f"{n} {kind}" for kind, n in counts.items() if n) or "nothing"


def by_torch(rank, port, case):
    import torch
    import torch.distributed as dist
    import torch.nn.functional as F
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor
    from torch.distributed.tensor.debug import CommDebugMode

    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=8)
    _, _, _, into, _, kernel, depthwise, mesh_axes, layout = CASES[case]
    mesh = init_device_mesh("cpu", tuple(mesh_axes.values()), mesh_dim_names=tuple(mesh_axes))

    def forward(x, k):
        return F.conv2d(x, k, padding=kernel // 2, groups=into if depthwise else 1)

    def told(what, run, names, whole):
        try:
            with CommDebugMode() as comm:
                results = run()
            counts = {str(k).split(".")[-1]: n for k, n in comm.get_comm_counts().items()}
            text = f"{moved(counts)}, {results[0].placements[0]}" if what == "forward" else moved(counts)
            sharded = [v.full_tensor().detach().numpy() for v in results]
            text += ", " + verdict(names, whole, sharded)
        except Exception as e:
            results, text = None, sentence(e)
        if rank == 0:
            print(f"torch | {case} | {what} | {text}", flush=True)
        return results

    x, k, dy = (torch.from_numpy(v) for v in arrays(case))
    leaves = [x.clone().requires_grad_(), k.clone().requires_grad_()]
    y = forward(*leaves)
    y.backward(dy)
    whole = [v.detach().numpy() for v in (y, leaves[0].grad, leaves[1].grad)]
    tensors = []
    for value, t in zip((x, k, dy), "xky"):
        dims = dims_of(t, depthwise)
        places = [next((Shard(i) for i, d in enumerate(dims) if layout.get(d) == a), Replicate()) for a in mesh_axes]
        tensors.append(distribute_tensor(value, mesh, places).requires_grad_(t != "y"))
    results = told("forward", lambda: [forward(*tensors[:2])], ["y"], whole[:1])
    if results:

        def back():
            results[0].backward(tensors[2])
            return [tensors[0].grad, tensors[1].grad]

        told("gradients", back, ["dx", "dk"], whole[1:])
    dist.barrier()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=("jax", "torch"))
    parser.add_argument("--case", default="", help="only the cases whose names have this in them")
    given = parser.parse_args()
    cases = [case for case in CASES if given.case in case]
    if given.peer == "jax":
        os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
        os.environ["JAX_PLATFORMS"] = "cpu"
        for case in cases:
            print("jax |", case, "|", *" | ".join(by_jax(case)).split("\n"), flush=True)
    else:
        import torch.multiprocessing

        for i, case in enumerate(cases):
            try:
                torch.multiprocessing.spawn(by_torch, (29500 + os.getpid() % 1000 + i, case), 8)
            except Exception as e:
                print(f"torch | {case} | ended | {sentence(e)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
