# SPDX-License-Identifier: BSD-3-Clause
# The headers of the Slurm that is to load the plugin: it must be of the same major.minor version. Its library is for
# apapi-sync. -DSlurm_ROOT=PREFIX, or -DSLURM_INCLUDE_DIR=DIR and -DSLURM_LIBRARY=FILE, for one other than the system's.
if(DEFINED APAPI_SLURM_ROOT AND NOT APAPI_SLURM_ROOT STREQUAL "${Slurm_ROOT}") # what an earlier run has found
  unset(SLURM_INCLUDE_DIR CACHE)
  unset(SLURM_LIBRARY CACHE)
endif()
set(APAPI_SLURM_ROOT "${Slurm_ROOT}" CACHE INTERNAL "")
if(Slurm_ROOT)
  find_path(SLURM_INCLUDE_DIR slurm/spank.h PATHS "${Slurm_ROOT}/include" NO_DEFAULT_PATH)
  find_library(SLURM_LIBRARY slurm PATHS "${Slurm_ROOT}" NO_DEFAULT_PATH
               PATH_SUFFIXES lib lib64 lib/${CMAKE_LIBRARY_ARCHITECTURE} lib/slurm lib64/slurm)
else()
  find_path(SLURM_INCLUDE_DIR slurm/spank.h)
  find_library(SLURM_LIBRARY slurm PATH_SUFFIXES slurm)
endif()
if(SLURM_INCLUDE_DIR)
  file(STRINGS "${SLURM_INCLUDE_DIR}/slurm/slurm_version.h" slurm_version
       REGEX "define[ \t]+SLURM_VERSION_NUMBER[ \t]+0x[0-9a-fA-F]+")
  if(slurm_version MATCHES "0x([0-9a-fA-F]+)")
    math(EXPR major "0x${CMAKE_MATCH_1} >> 16")
    math(EXPR minor "(0x${CMAKE_MATCH_1} >> 8) & 0xff")
    math(EXPR micro "0x${CMAKE_MATCH_1} & 0xff")
    set(Slurm_VERSION "${major}.${minor}.${micro}")
    string(REGEX REPLACE "\\.([0-9])\\." ".0\\1." Slurm_VERSION "${Slurm_VERSION}")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Slurm
  REQUIRED_VARS SLURM_INCLUDE_DIR
  VERSION_VAR Slurm_VERSION)
mark_as_advanced(SLURM_INCLUDE_DIR SLURM_LIBRARY)

if(Slurm_FOUND AND NOT TARGET Slurm::spank)
  add_library(Slurm::spank INTERFACE IMPORTED)
  target_include_directories(Slurm::spank INTERFACE "${SLURM_INCLUDE_DIR}")
endif()
