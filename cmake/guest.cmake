# SPDX-License-Identifier: Apache-2.0
# Writes the C header and the Fortran module of a guest while a project is built.
# meshtensor_write_bindings(NAME): NAME is a library with the function NAME_functions, shared or not. It defines
#   NAME_c         the folder of NAME.h, and NAME
#   NAME_fortran   if the project has the language Fortran: the compiled module NAME, and NAME
function(meshtensor_write_bindings name)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}_bindings")
  file(MAKE_DIRECTORY "${folder}")
  add_executable(${name}_write_bindings "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/guest/write_bindings.cpp")
  target_compile_definitions(${name}_write_bindings PRIVATE MESHTENSOR_GUEST=${name})
  target_link_libraries(${name}_write_bindings PRIVATE ${name} meshtensor::meshtensor)
  add_custom_command(OUTPUT "${folder}/${name}.h" "${folder}/${name}.f90"
                     COMMAND ${name}_write_bindings "${folder}" DEPENDS ${name}_write_bindings ${name} VERBATIM)
  add_custom_target(${name}_bindings DEPENDS "${folder}/${name}.h" "${folder}/${name}.f90")

  add_library(${name}_c INTERFACE)
  add_dependencies(${name}_c ${name}_bindings)
  target_include_directories(${name}_c INTERFACE "${folder}")
  target_link_libraries(${name}_c INTERFACE ${name} $<TARGET_NAME_IF_EXISTS:MPI::MPI_C>)

  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("Fortran" IN_LIST languages)
    add_library(${name}_fortran STATIC "${folder}/${name}.f90")
    add_dependencies(${name}_fortran ${name}_bindings)
    set_target_properties(${name}_fortran PROPERTIES Fortran_MODULE_DIRECTORY "${folder}" LINKER_LANGUAGE Fortran)
    target_include_directories(${name}_fortran INTERFACE "${folder}")
    target_link_libraries(${name}_fortran PUBLIC ${name})
  endif()
endfunction()
