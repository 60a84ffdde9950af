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
