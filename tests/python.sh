#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tests' own Python, in build/python: the system's, with the packages of tests/requirements.txt. Sourced by
# tests/run.sh, from the project's folder.

# Makes it, unless it is there, and sets meshtensor_python to it. Where that is not possible it says why, and the tests
# that need one of the packages are skipped; with CI=true they fail. MESHTENSOR_INSTALL=no makes nothing.
meshtensor_make_python() {
  local folder=build/python wanted=tests/requirements.txt
  if ! cmp -s "$wanted" "$folder/installed.txt"; then
    [ "${MESHTENSOR_INSTALL:-yes}" != no ] || return 0
    echo "meshtensor: installing the packages of $wanted in $folder" >&2
    mkdir -p build
    if ! { python3 -m venv --clear "$folder" &&
      "$folder/bin/python" -m pip --disable-pip-version-check install --quiet --retries 2 --timeout 30 \
        --no-deps --only-binary :all: -r "$wanted" &&
      cp "$wanted" "$folder/installed.txt"; } </dev/null >build/python.log 2>&1; then
      echo "meshtensor: they could not be installed: $(tail -n 1 build/python.log)" >&2
      return 0
    fi
  fi
  meshtensor_python=$PWD/$folder/bin/python
}

# Installs the compiler of TPUs, which needs no TPU and 600 MB, in build/libtpu, and sets MESHTENSOR_LIBTPU to it, unless
# that is set. Without it, tests of it are skipped.
meshtensor_find_libtpu() {
  local folder=$PWD/build/libtpu
  [ -z "${MESHTENSOR_LIBTPU:-}" ] || return 0
  if [ ! -e "$folder/libtpu/libtpu.so" ] && [ "${MESHTENSOR_INSTALL:-yes}" != no ]; then
    echo "meshtensor: installing the compiler of TPUs in build/libtpu" >&2
    mkdir -p build
    "${meshtensor_python:-python3}" -m pip --disable-pip-version-check install --quiet --retries 2 --timeout 30 \
      --no-deps --only-binary :all: --target "$folder" libtpu==0.0.52 </dev/null >build/libtpu.log 2>&1 ||
      { echo "meshtensor: it could not be installed: $(tail -n 1 build/libtpu.log)" >&2; return 0; }
  fi
  [ ! -e "$folder/libtpu/libtpu.so" ] || export MESHTENSOR_LIBTPU=$folder/libtpu/libtpu.so
}

# Installs the compiler of kernels for NVIDIA GPUs, which needs no GPU and 90 MB to download, in build/nvrtc, and sets
# MESHTENSOR_NVRTC to it, unless that is set or the machine has one. Without it, tests of it are skipped.
meshtensor_find_nvrtc() {
  local folder=$PWD/build/nvrtc library=nvidia/cu13/lib/libnvrtc.so.13
  [ -z "${MESHTENSOR_NVRTC:-}" ] || return 0
  ! ldconfig -p 2>/dev/null | grep -q 'libnvrtc\.so' || return 0
  [ ! -e /usr/local/cuda/lib64/libnvrtc.so ] || return 0
  if [ ! -e "$folder/$library" ] && [ "${MESHTENSOR_INSTALL:-yes}" != no ]; then
    echo "meshtensor: installing the compiler of kernels for GPUs in build/nvrtc" >&2
    mkdir -p build
    "${meshtensor_python:-python3}" -m pip --disable-pip-version-check install --quiet --retries 2 --timeout 30 \
      --no-deps --only-binary :all: --target "$folder" nvidia-cuda-nvrtc==13.0.88 </dev/null >build/nvrtc.log 2>&1 ||
      { echo "meshtensor: it could not be installed: $(tail -n 1 build/nvrtc.log)" >&2; return 0; }
  fi
  [ ! -e "$folder/$library" ] || export MESHTENSOR_NVRTC=$folder/$library
}
