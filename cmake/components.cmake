# What meshtensor needs from other packages, found in one place for this project's own build and for the installed
# package. A component that is found becomes a target meshtensor::<name>; one that is not leaves a sentence that names
# the packages to install.
#
#   mpi            ranks as processes                        MESHTENSOR_WITH_MPI=1
#   tbb            threads within a processor                MESHTENSOR_WITH_TBB=1
#   onednn         matrix products, with a CBLAS for f64     MESHTENSOR_WITH_ONEDNN=1
#   cpu            the cpu device whole: tbb and onednn
#   zlib           texts that gzip has packed                MESHTENSOR_WITH_ZLIB=1
#   sentencepiece  text as subwords                          MESHTENSOR_WITH_SENTENCEPIECE=1

set(meshtensor_components mpi tbb onednn cpu zlib sentencepiece)

# "install libfmt-dev (Debian), fmt (conda-forge) or fmt (Spack)", from the rows of dependencies.sh.
function(meshtensor_advice out)
  foreach(row IN LISTS ARGN)
    file(STRINGS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/dependencies.sh" line REGEX "^${row} +\\|" LIMIT_COUNT 1)
    string(REGEX REPLACE " *\\| *" ";" fields "${line}")
    list(GET fields 1 one_debian)
    list(GET fields 3 one_conda)
    list(GET fields 4 one_spack)
    list(APPEND debian ${one_debian})
    list(APPEND conda ${one_conda})
    list(APPEND spack ${one_spack})
  endforeach()
  list(JOIN debian " " debian)
  list(JOIN conda " " conda)
  list(JOIN spack " " spack)
  set(${out} "install ${debian} (Debian), ${conda} (conda-forge) or ${spack} (Spack)" PARENT_SCOPE)
endfunction()

# What every program needs. A macro: the targets of the packages belong to the caller's scope. Sets
# meshtensor_core_missing to a sentence, empty if all is there.
macro(meshtensor_find_core)
  set(meshtensor_core_missing "")
  find_package(Threads QUIET)
  find_package(fmt 9 QUIET CONFIG)
  find_package(xtensor 0.24...<0.26 QUIET CONFIG)
  if(NOT Threads_FOUND)
    set(meshtensor_core_missing "meshtensor needs a thread library for this compiler.")
  elseif(NOT TARGET fmt::fmt)
    meshtensor_advice(meshtensor_core_missing fmt)
    set(meshtensor_core_missing "meshtensor needs fmt 9 or later: ${meshtensor_core_missing}.")
  elseif(NOT TARGET xtensor)
    meshtensor_advice(meshtensor_core_missing xtensor)
    set(meshtensor_core_missing "meshtensor needs xtensor 0.24 or 0.25: ${meshtensor_core_missing}.")
  endif()
endmacro()

function(meshtensor_find_mpi)
  # The C++ wrapper also names the C++ bindings that MPI dropped long ago; we speak C to it and leave them out.
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI QUIET COMPONENTS CXX)
  if(NOT MPI_CXX_FOUND)
    return()
  endif()
  set(libraries ${MPI_CXX_LIBRARIES})
  list(FILTER libraries EXCLUDE REGEX "mpi_cxx|mpicxx|mpichcxx|mpi\\+\\+")
  meshtensor_define_component(mpi)
  target_include_directories(meshtensor::mpi INTERFACE ${MPI_CXX_INCLUDE_DIRS})
  target_compile_options(meshtensor::mpi INTERFACE ${MPI_CXX_COMPILE_OPTIONS})
  target_compile_definitions(meshtensor::mpi INTERFACE MESHTENSOR_WITH_MPI=1 OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_link_libraries(meshtensor::mpi INTERFACE ${libraries})
  if(MPI_CXX_LINK_FLAGS)
    separate_arguments(flags NATIVE_COMMAND "${MPI_CXX_LINK_FLAGS}")
    target_link_options(meshtensor::mpi INTERFACE ${flags})
  endif()
endfunction()

# xsimd by its header: its own target asks for xtl and changes what complex numbers are.
function(meshtensor_find_xsimd out)
  find_path(MESHTENSOR_XSIMD_INCLUDE xsimd/xsimd.hpp)
  mark_as_advanced(MESHTENSOR_XSIMD_INCLUDE)
  if(MESHTENSOR_XSIMD_INCLUDE)
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

function(meshtensor_find_tbb)
  find_package(TBB QUIET CONFIG)
  meshtensor_find_xsimd(xsimd)
  if(NOT TARGET TBB::tbb OR NOT xsimd)
    return()
  endif()
  meshtensor_define_component(tbb)
  target_include_directories(meshtensor::tbb INTERFACE "${MESHTENSOR_XSIMD_INCLUDE}")
  target_compile_definitions(meshtensor::tbb INTERFACE MESHTENSOR_WITH_TBB=1)
  target_link_libraries(meshtensor::tbb INTERFACE TBB::tbb)
endfunction()

# oneDNN by its header and its library: the configuration that Debian ships asks for OpenCL, which nothing here uses.
function(meshtensor_find_onednn)
  find_path(MESHTENSOR_DNNL_INCLUDE oneapi/dnnl/dnnl.hpp)
  find_library(MESHTENSOR_DNNL_LIBRARY dnnl)
  find_path(MESHTENSOR_CBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas)
  find_library(MESHTENSOR_CBLAS_LIBRARY NAMES openblas cblas blas)
  mark_as_advanced(MESHTENSOR_DNNL_INCLUDE MESHTENSOR_DNNL_LIBRARY MESHTENSOR_CBLAS_INCLUDE MESHTENSOR_CBLAS_LIBRARY)
  meshtensor_find_xsimd(xsimd)
  if(NOT MESHTENSOR_DNNL_INCLUDE OR NOT MESHTENSOR_DNNL_LIBRARY OR NOT MESHTENSOR_CBLAS_INCLUDE
     OR NOT MESHTENSOR_CBLAS_LIBRARY OR NOT xsimd)
    return()
  endif()
  meshtensor_define_component(onednn)
  target_include_directories(meshtensor::onednn INTERFACE "${MESHTENSOR_DNNL_INCLUDE}" "${MESHTENSOR_CBLAS_INCLUDE}"
                                                          "${MESHTENSOR_XSIMD_INCLUDE}")
  target_compile_definitions(meshtensor::onednn INTERFACE MESHTENSOR_WITH_ONEDNN=1)
  target_link_libraries(meshtensor::onednn INTERFACE "${MESHTENSOR_DNNL_LIBRARY}" "${MESHTENSOR_CBLAS_LIBRARY}")
endfunction()

function(meshtensor_find_cpu)
  meshtensor_find_component(tbb)
  meshtensor_find_component(onednn)
  if(TARGET meshtensor::tbb AND TARGET meshtensor::onednn)
    meshtensor_define_component(cpu)
    target_link_libraries(meshtensor::cpu INTERFACE meshtensor::tbb meshtensor::onednn)
  endif()
endfunction()

function(meshtensor_find_zlib)
  find_package(ZLIB QUIET)
  if(TARGET ZLIB::ZLIB)
    meshtensor_define_component(zlib)
    target_compile_definitions(meshtensor::zlib INTERFACE MESHTENSOR_WITH_ZLIB=1)
    target_link_libraries(meshtensor::zlib INTERFACE ZLIB::ZLIB)
  endif()
endfunction()

function(meshtensor_find_sentencepiece)
  find_path(MESHTENSOR_SENTENCEPIECE_INCLUDE sentencepiece_trainer.h)
  find_library(MESHTENSOR_SENTENCEPIECE_LIBRARY sentencepiece)
  find_library(MESHTENSOR_SENTENCEPIECE_TRAIN_LIBRARY sentencepiece_train)
  mark_as_advanced(MESHTENSOR_SENTENCEPIECE_INCLUDE MESHTENSOR_SENTENCEPIECE_LIBRARY
                   MESHTENSOR_SENTENCEPIECE_TRAIN_LIBRARY)
  if(MESHTENSOR_SENTENCEPIECE_INCLUDE AND MESHTENSOR_SENTENCEPIECE_LIBRARY AND MESHTENSOR_SENTENCEPIECE_TRAIN_LIBRARY)
    meshtensor_define_component(sentencepiece)
    target_include_directories(meshtensor::sentencepiece INTERFACE "${MESHTENSOR_SENTENCEPIECE_INCLUDE}")
    target_compile_definitions(meshtensor::sentencepiece INTERFACE MESHTENSOR_WITH_SENTENCEPIECE=1)
    target_link_libraries(meshtensor::sentencepiece INTERFACE "${MESHTENSOR_SENTENCEPIECE_TRAIN_LIBRARY}"
                                                              "${MESHTENSOR_SENTENCEPIECE_LIBRARY}")
  endif()
endfunction()

# meshtensor_add_compiled(NAME [COMPONENT...]): what is the same for all programs, compiled once, as a library of the
# caller's project; its headers are read once. Who links NAME compiles that much less, and links nothing else of
# meshtensor. Both must be compiled for one instruction set.
function(meshtensor_add_compiled name)
  set(folder "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/compiled")
  add_library(${name} STATIC EXCLUDE_FROM_ALL "${folder}/core.cpp" "${folder}/cpu.cpp")
  list(TRANSFORM ARGN PREPEND meshtensor::)
  target_link_libraries(${name} PUBLIC meshtensor::meshtensor ${ARGN})
  target_compile_definitions(${name} PUBLIC MESHTENSOR_COMPILED=1)
  set(headers meshtensor device/default run/explain run/main run/profile run/trace_events)
  list(TRANSFORM headers REPLACE "(.+)" "<meshtensor/\\1.hpp>")
  target_precompile_headers(${name} PRIVATE ${headers})
endfunction()

# meshtensor_use_compiled(TARGET NAME): links NAME, which meshtensor_add_compiled made, to TARGET, whose C++ files take the
# headers as they were read for NAME: its other flags must be the same. Call it when TARGET has its sources.
function(meshtensor_use_compiled target name)
  target_link_libraries(${target} PRIVATE ${name})
  get_target_property(type ${target} TYPE)
  get_target_property(own ${target} PRECOMPILE_HEADERS)
  get_target_property(moves ${target} POSITION_INDEPENDENT_CODE)
  get_target_property(read_moves ${name} POSITION_INDEPENDENT_CODE)
  # Code for libraries that move and for programs that do is not the same to a compiler.
  if(own OR (moves AND NOT read_moves) OR (read_moves AND (NOT moves OR type STREQUAL "EXECUTABLE")))
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "[.](cpp|cc|cxx|c[+][+]|C|hpp|h)$")
  if(sources)
    set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${name})
endfunction()

# Targets made in this project's own build must be seen by the project that added it: global there, as the caller says.
function(meshtensor_define_component name)
  if(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
    set(global GLOBAL)
  endif()
  add_library(meshtensor::${name} INTERFACE IMPORTED ${global})
  target_link_libraries(meshtensor::${name} INTERFACE meshtensor::meshtensor)
endfunction()

# Defines meshtensor::<name>, or sets meshtensor_<name>_missing to a sentence.
function(meshtensor_find_component name)
  if(NOT name IN_LIST meshtensor_components)
    list(JOIN meshtensor_components ", " known)
    set(meshtensor_${name}_missing "meshtensor has no component ${name}; it has ${known}." PARENT_SCOPE)
    return()
  endif()
  if(NOT TARGET meshtensor::${name})
    cmake_language(CALL meshtensor_find_${name})
  endif()
  set(missing "")
  if(NOT TARGET meshtensor::${name})
    set(needs_mpi "MPI" mpi)
    set(needs_tbb "oneTBB and xsimd" tbb xsimd)
    set(needs_onednn "oneDNN, a CBLAS and xsimd" onednn cblas xsimd)
    set(needs_cpu "oneTBB, oneDNN, a CBLAS and xsimd" tbb onednn cblas xsimd)
    set(needs_zlib "zlib" zlib)
    set(needs_sentencepiece "sentencepiece" sentencepiece)
    list(POP_FRONT needs_${name} what)
    meshtensor_advice(advice ${needs_${name}})
    set(missing "meshtensor's component ${name} needs ${what}: ${advice}.")
  endif()
  set(meshtensor_${name}_missing "${missing}" PARENT_SCOPE)
endfunction()
