# SPDX-License-Identifier: Apache-2.0
# The PJRT plugin for processors, to be sourced by tests of examples that run on it.

# Sets `plugin` to its file, or ends the test as skipped: find_plugin PYTHON
find_plugin() {
  export MESHTENSOR_CACHE=off TF_CPP_MIN_LOG_LEVEL=2 NPROC=8
  local asks='import importlib.util as u; print(u.find_spec("xla_plugins.xla_cpu_pjrt").submodule_search_locations[0])'
  plugin=${MESHTENSOR_PJRT:-$("$1" -c "$asks" 2>/dev/null)/xla_cpu_pjrt.so}
  if [ ! -f "$plugin" ]; then
    echo 'skipped: no PJRT plugin is here: pip install xla-cpu-pjrt'
    exit 77
  fi
  unset MESHTENSOR_PJRT
}
