# SPDX-License-Identifier: BSD-3-Clause
# The headers of the Slurm that is to load the plugin: it must be of the same major.minor version.
# -DSlurm_ROOT=PREFIX, or -DSLURM_INCLUDE_DIR=DIR, for one other than the system's.
if(Slurm_ROOT) # and nowhere else, whatever an earlier run has found
  unset(SLURM_INCLUDE_DIR CACHE)
  find_path(SLURM_INCLUDE_DIR slurm/spank.h PATHS "${Slurm_ROOT}/include" NO_DEFAULT_PATH)
else()
  find_path(SLURM_INCLUDE_DIR slurm/spank.h)
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
mark_as_advanced(SLURM_INCLUDE_DIR)

if(Slurm_FOUND AND NOT TARGET Slurm::spank)
  add_library(Slurm::spank INTERFACE IMPORTED)
  target_include_directories(Slurm::spank INTERFACE "${SLURM_INCLUDE_DIR}")
endif()
