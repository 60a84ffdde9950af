# SPDX-License-Identifier: Apache-2.0
# A submission to the packages of Spack takes their first lines instead.

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Meshtensor(CMakePackage):
    """A header-only C++20 library for training and running neural networks on many ranks.

    A variant brings the packages that a component of the library needs. Which components a
    program uses is decided when it is built."""

    # A release fills in the address of its archives and the checksum. The project has no public
    # address yet: .invalid is no host.
    homepage = "https://meshtensor.invalid"
    url = "https://meshtensor.invalid/meshtensor-0.1.0.tar.gz"

    license("Apache-2.0")

    version("0.1.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("cpu", default=True, description="Fast kernels for CPUs")
    variant("mpi", default=True, description="Ranks as MPI processes")
    variant("io", default=True, description="Checkpoints")
    variant("zlib", default=False, description="Texts that are packed by gzip")
    variant("images", default=False, description="JPEG and PNG images")
    variant("sentencepiece", default=False, description="Texts as subwords")

    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("fmt@9:")
    depends_on("xtensor@0.24:0.27")

    with when("+cpu"):
        depends_on("xsimd@8.1:")
        depends_on("intel-tbb@2021.8:")
        depends_on("onednn@2.6:")
        depends_on("openblas@0.3.21:")
    depends_on("mpi", when="+mpi")
    depends_on("xxhash@0.8:", when="+io")
    depends_on("zlib-api", when="+zlib")
    depends_on("jpeg", when="+images")
    depends_on("libpng@1.6:", when="+images")
    depends_on("sentencepiece", when="+sentencepiece")

    # The compilers that know enough of C++20.
    conflicts("%gcc@:11")
    conflicts("%clang@:18")

    def cmake_args(self):
        return [
            self.define("MESHTENSOR_TESTS", False),
            self.define("MESHTENSOR_EXAMPLES", False),
            self.define("MESHTENSOR_BENCH", False),
        ]
