# SPDX-License-Identifier: Apache-2.0
# Libraries of headers alone, fetched where they are not installed: at these versions, those of Debian 13, each archive
# known by its hash. Nothing is fetched unless MESHTENSOR_FETCH is on. MESHTENSOR_FETCH_FROM is a folder that has the
# archives, or the address of a mirror. Where there is network, this fills such a folder:
#
#   cmake -DMESHTENSOR_FETCH_TO=archives -P cmake/fetch.cmake
#
# CMake's own settings for fetched content hold, too: FETCHCONTENT_SOURCE_DIR_XTENSOR names an unpacked folder.

# A row: name | repository on github.com | tag | SHA256 of the tag's archive
set(meshtensor_archives
    "fmt     | fmtlib/fmt            | 10.1.1  | 78b8c0a72b1c35e4443a7e308df52498252d1cefc2b08c9a97bc9ee6cfe61f8b"
    "xtl     | xtensor-stack/xtl     | 0.7.7   | 44fb99fbf5e56af5c43619fc8c29aa58e5fad18f3ba6e7d9c55c111b62df1fbb"
    "xtensor | xtensor-stack/xtensor | 0.25.0  | 32d5d9fd23998c57e746c375a544edf544b74f0a18ad6bc3c38cbba968d5e6c7"
    "xsimd   | xtensor-stack/xsimd   | 13.2.0  | edd8cd3d548c185adc70321c53c36df41abe64c1fe2c67bc6d93c3ecda82447a"
    "cli11   | CLIUtils/CLI11        | v2.4.1  | 73b7ec52261ce8fe980a29df6b4ceb66243bb0b779451dbd3d014cfec9fdbb58"
    "doctest | doctest/doctest       | v2.4.11 | 632ed2c05a7f53fa961381497bf8069093f0d6628c5f26286161fbd32a560186")

# The row of NAME as OUT_file, OUT_url and OUT_hash, which is empty where there is no row.
function(meshtensor_archive out name)
  set(row ${meshtensor_archives})
  list(FILTER row INCLUDE REGEX "^${name} ")
  string(REGEX REPLACE " *[|] *" ";" row "${row}")
  list(POP_FRONT row unused repository tag hash)
  string(REGEX REPLACE "^v" "" version "${tag}")
  set(${out}_file "${name}-${version}.tar.gz" PARENT_SCOPE)
  set(${out}_url "https://github.com/${repository}/archive/refs/tags/${tag}.tar.gz" PARENT_SCOPE)
  set(${out}_hash "${hash}" PARENT_SCOPE)
endfunction()

# The folders of these libraries' headers, for a compiler: as an installation of this project brought them along, or
# fetched. Empty where nothing may be fetched.
function(meshtensor_fetch out)
  set(folders "")
  foreach(name IN LISTS ARGN)
    set(source "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/fetched/${name}")
    if(NOT EXISTS "${source}")
      if(NOT MESHTENSOR_FETCH)
        set(${out} "" PARENT_SCOPE)
        return()
      endif()
      meshtensor_unpack(source ${name})
      get_property(fetched GLOBAL PROPERTY meshtensor_fetched)  # names and folders, for cmake/install.cmake
      if(NOT name IN_LIST fetched)
        set_property(GLOBAL APPEND PROPERTY meshtensor_fetched ${name} "${source}")
      endif()
    endif()
    if(IS_DIRECTORY "${source}/include")
      list(APPEND folders "${source}/include")
    else()
      list(APPEND folders "${source}")
    endif()
  endforeach()
  set(${out} "${folders}" PARENT_SCOPE)
endfunction()

# The folder that NAME's archive is unpacked in. Its own build is left alone: it has options, tests and warnings.
function(meshtensor_unpack out name)
  include(FetchContent)
  meshtensor_archive(row ${name})
  string(TOUPPER "${name}" upper)
  set(path "${FETCHCONTENT_BASE_DIR}/${row_file}")
  if(MESHTENSOR_FETCH_FROM MATCHES "^[a-z]+://")
    set(row_url "${MESHTENSOR_FETCH_FROM}/${row_file}")
  elseif(MESHTENSOR_FETCH_FROM)
    get_filename_component(path "${MESHTENSOR_FETCH_FROM}/${row_file}" ABSOLUTE BASE_DIR "${CMAKE_SOURCE_DIR}")
    set(row_url "")
  endif()
  if(NOT FETCHCONTENT_SOURCE_DIR_${upper} AND NOT FETCHCONTENT_FULLY_DISCONNECTED)
    meshtensor_get_archive(${name} "${path}" "${row_url}")
  endif()
  FetchContent_Declare(${name} URL "${path}" URL_HASH SHA256=${row_hash} DOWNLOAD_EXTRACT_TIMESTAMP OFF
                                   SOURCE_SUBDIR no_build_of_its_own)
  FetchContent_MakeAvailable(${name})
  set(${out} "${${name}_SOURCE_DIR}" PARENT_SCOPE)
endfunction()

# Ends with a sentence unless PATH is NAME's archive, once it was downloaded from URL, if that is given.
function(meshtensor_get_archive name path url)
  if(url AND NOT EXISTS "${path}")
    message(STATUS "meshtensor fetches ${url}")
    file(DOWNLOAD "${url}" "${path}.part" STATUS status)
    list(POP_FRONT status failed why)
    if(failed)
      file(REMOVE "${path}.part")
      message(FATAL_ERROR "meshtensor could not fetch ${url}: ${why}. Where there is network, cmake "
                          "-DMESHTENSOR_FETCH_TO=archives -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE} fills a folder: bring "
                          "it here, and name it with -DMESHTENSOR_FETCH_FROM=...")
    endif()
    file(RENAME "${path}.part" "${path}")
  endif()
  meshtensor_archive(row ${name})
  if(NOT EXISTS "${path}")
    message(FATAL_ERROR "meshtensor needs the file ${path}: bring ${row_url} there.")
  endif()
  file(SHA256 "${path}" hash)
  if(NOT hash STREQUAL row_hash)
    message(FATAL_ERROR "meshtensor does not take ${path}: its SHA256 is ${hash}; that of ${row_url} is ${row_hash}.")
  endif()
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  if(NOT MESHTENSOR_FETCH_TO)
    message(FATAL_ERROR "Say where to: cmake -DMESHTENSOR_FETCH_TO=archives -P ${CMAKE_CURRENT_LIST_FILE}")
  endif()
  get_filename_component(folder "${MESHTENSOR_FETCH_TO}" ABSOLUTE)
  foreach(row IN LISTS meshtensor_archives)
    string(REGEX MATCH "^[^ ]+" name "${row}")
    meshtensor_archive(row ${name})
    meshtensor_get_archive(${name} "${folder}/${row_file}" "${row_url}")
  endforeach()
endif()
