# SPDX-License-Identifier: Apache-2.0
# Installs the headers and a package that find_package(meshtensor) finds. Nothing in it depends on the processor.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder "${CMAKE_INSTALL_DATADIR}/cmake/meshtensor")

install(TARGETS meshtensor EXPORT meshtensor-targets FILE_SET HEADERS)
install(EXPORT meshtensor-targets NAMESPACE meshtensor:: DESTINATION "${package_folder}")

configure_package_config_file(cmake/meshtensor-config.cmake.in "${PROJECT_BINARY_DIR}/meshtensor-config.cmake"
                              INSTALL_DESTINATION "${package_folder}" NO_SET_AND_CHECK_MACRO
                              NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/meshtensor-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/meshtensor-config.cmake" "${PROJECT_BINARY_DIR}/meshtensor-config-version.cmake"
              cmake/components.cmake cmake/fetch.cmake cmake/guest.cmake cmake/dependencies.sh DESTINATION "${package_folder}")
# For builds without CMake: the headers, with threads as ranks.
configure_file(cmake/meshtensor.pc.in "${PROJECT_BINARY_DIR}/meshtensor.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/meshtensor.pc" DESTINATION "${CMAKE_INSTALL_DATADIR}/pkgconfig")
install(DIRECTORY cmake/compiled cmake/gdb cmake/guest DESTINATION "${package_folder}" PATTERN "__pycache__" EXCLUDE)
# What the library had to fetch goes along, where meshtensor_fetch looks for it.
get_property(fetched GLOBAL PROPERTY meshtensor_fetched)
while(fetched)
  list(POP_FRONT fetched name source)
  install(DIRECTORY "${source}/include" DESTINATION "${package_folder}/fetched/${name}")
  file(GLOB licences "${source}/LICENSE*")
  install(FILES ${licences} DESTINATION "${package_folder}/fetched/${name}")
endwhile()
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/meshtensor")
