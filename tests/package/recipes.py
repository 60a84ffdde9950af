#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the recipes for conda-forge and Spack with the project: version, licence, dependencies, options.

    tests/package/recipes.py [PROJECT]
    tests/package/recipes.py --self-test     that each kind of drift is found
"""

import ast
import pathlib
import re
import shutil
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
CONDA = "cmake/packaging/conda/recipe.yaml"
SPACK = "cmake/packaging/spack/package.py"
READ = ("CMakeLists.txt", "CITATION.cff", "LICENSE", "cmake/components.cmake", "cmake/dependencies.sh", CONDA, SPACK,
        "include/meshtensor/base/config.hpp", "tests/package/consumer/CMakeLists.txt")
VIRTUAL = {"zlib": "zlib-api", "libjpeg-turbo": "jpeg", "openmpi": "mpi"}  # what any of several packages of Spack is
SKIPPED = 77

try:
    import yaml
except ImportError:
    print("skipped: PyYAML is not installed; tests/requirements.txt has it")
    sys.exit(SKIPPED)


def read(project, path):
    return (project / path).read_text(encoding="utf-8")


def facts(project):
    """What the recipes must say, as the build has it."""
    numbers = re.findall(r"#define MESHTENSOR_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", read(project, READ[7]))
    components = read(project, "cmake/components.cmake")
    rows = [[field.strip() for field in line.split("|")] for line in read(project, "cmake/dependencies.sh").splitlines()]
    libraries = [row for row in rows if len(row) == 6 and row[5] == "library"]
    needed = re.search(r'name_fmt "fmt (\d+) or later"', components), re.search(r"xtensor ([\d.]+)\.\.\.<([\d.]+)", components)
    return {"version": ".".join(numbers), "fmt": needed[0][1], "xtensor": needed[1].groups(),
            "cmake": re.search(r"cmake_minimum_required\(VERSION ([\d.]+)", read(project, "CMakeLists.txt"))[1],
            "conda": {row[3] for row in libraries}, "spack": {VIRTUAL.get(row[4], row[4]) for row in libraries},
            "options": set(re.findall(r"option\((MESHTENSOR_\w+)", read(project, "CMakeLists.txt"))),
            "components": set(re.search(r"set\(meshtensor_components ([^)]*)\)", components)[1].split()),
            "license": re.search(r"^license: (\S+)", read(project, "CITATION.cff"), re.M)[1],
            "description": re.search(r'DESCRIPTION "([^"]*)"', read(project, "CMakeLists.txt"))[1]}


def of_conda(project, real):
    recipe = yaml.safe_load(read(project, CONDA))
    context, needs = recipe["context"], recipe["requirements"]
    low, high = real["xtensor"]
    run = [f"fmt >={real['fmt']}", f"xtensor >={low},<{high}"]
    yield "version", context["version"], real["version"]
    yield "licence", recipe["about"]["license"], real["license"]
    yield "summary", recipe["about"]["summary"], real["description"]
    yield "kind", recipe["build"].get("noarch"), "generic"
    yield "run", needs["run"], run
    yield "host", needs["host"], run
    yield "cmake", [d for d in needs["build"] if d.startswith("cmake")], [f"cmake >={real['cmake']}"]
    yield "libraries", {d.split()[0] for d in needs["run"] + needs["run_constraints"]}, real["conda"]
    yield "options", set(re.findall(r"-D(MESHTENSOR_\w+)", str(recipe["build"]["script"]))) - real["options"], set()
    files = [recipe["about"]["license_file"], *(f for test in recipe["tests"] for f in test.get("files", {}).get("source", []))]
    yield "missing files", [f for f in files if not (project / f).exists()], []


def of_spack(project, real):
    tree = ast.parse(read(project, SPACK))
    calls = [(c.func.id, [ast.literal_eval(a) for a in c.args], {k.arg: k.value for k in c.keywords})
             for c in ast.walk(tree) if isinstance(c, ast.Call) and isinstance(c.func, ast.Name)]
    depends = {args[0] for name, args, _ in calls if name == "depends_on"}
    low, high = real["xtensor"]
    last = high.split(".")
    last = ".".join([*last[:-1], str(int(last[-1]) - 1)])
    yield "version", [args[0] for name, args, _ in calls if name == "version"], [real["version"]]
    yield "licence", [args[0] for name, args, _ in calls if name == "license"], [real["license"]]
    yield "versions", depends & {f"fmt@{real['fmt']}:", f"xtensor@{low}:{last}", f"cmake@{real['cmake']}:"}, \
        {f"fmt@{real['fmt']}:", f"xtensor@{low}:{last}", f"cmake@{real['cmake']}:"}
    yield "libraries", {d.split("@")[0] for d in depends} - {"cxx", "cmake"}, real["spack"]
    # What datasets may need are variants of their own.
    yield "variants", {args[0] for name, args, _ in calls if name == "variant"}, real["components"] - {"tbb", "onednn", "datasets"}
    yield "options", set(re.findall(r'"(MESHTENSOR_\w+)"', read(project, SPACK))) - real["options"], set()


def findings(project):
    real = facts(project)
    for path, pairs in ((CONDA, of_conda), (SPACK, of_spack)):
        for what, said, right in pairs(project, real):
            if said != right:
                yield f"{path}: {what}: it says {said}, and the project {right}"
    sums = [re.search(r'sha256[:=] ?"([0-9a-f]{64})"', read(project, path))[1] for path in (CONDA, SPACK)]
    hosts = [set(re.findall(r"https://([^/\s\"]+)", read(project, path))) for path in (CONDA, SPACK)]
    if sums[0] != sums[1] or hosts[0] != hosts[1]:
        yield f"the recipes have different archives: {hosts[0]} {sums[0]} and {hosts[1]} {sums[1]}"
    cited = re.search(r"^version: (\S+)", read(project, "CITATION.cff"), re.M)[1]
    if cited != real["version"]:
        yield f"CITATION.cff: version: it says {cited}, and the project {real['version']}"


DRIFTS = [(CONDA, 'version: "0', 'version: "7', "version"), (CONDA, "    - fmt >=9\n", "", "host"),
          (CONDA, "license: Apache-2.0", "license: MIT", "licence"), (CONDA, "    - zlib >=1.2\n", "", "libraries"),
          (CONDA, "MESHTENSOR_BENCH", "MESHTENSOR_BENCHES", "options"), (SPACK, '"0.1.0", sha', '"0.1.1", sha', "version"),
          (SPACK, "xtensor@0.24:0.27", "xtensor@0.24:0.28", "versions"), (SPACK, "license(\"Apache-2.0\"", "license(\"MIT\"", "licence"),
          (SPACK, 'variant("io"', 'variant("files"', "variants"), (SPACK, 'sha256="0', 'sha256="1', "different archives"),
          ("cmake/components.cmake", "0.24...<0.28", "0.24...<0.29", "run"), ("CITATION.cff", "version: 0", "version: 3", "CITATION")]


def self_test():
    for path, old, new, expected in DRIFTS:
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder)
            for file in READ:
                (copy / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(PROJECT / file, copy / file)
            text = read(copy, path)
            (copy / path).write_text(text.replace(old, new, 1), encoding="utf-8")
            found = list(findings(copy))
            if old not in text or not any(expected in finding for finding in found):
                yield f"{path}: with '{new}' for '{old}' the findings are {found}"


def main():
    if sys.argv[1:] == ["--self-test"]:
        found = list(self_test())
    else:
        found = list(findings(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PROJECT))
    print("\n".join(found) if found else "the recipes say what the project says")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
