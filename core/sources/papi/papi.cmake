# SPDX-License-Identifier: BSD-3-Clause
# The source for PAPI. Without it, catalog.c says so.
if(NOT WITH_PAPI)
  return()
endif()

# libpapi is loaded when it is wanted, by the name that programs linked to it would use; one that
# the system's loader does not know, by its path.
find_library(PAPI_LIBRARY papi HINTS ${PAPI_LIBRARY_DIRS} REQUIRED)
apapi_soname(papi_soname ${PAPI_LIBRARY})
if(PAPI_ROOT)
  cmake_path(GET PAPI_LIBRARY PARENT_PATH papi_folder)
  set(papi_soname "${papi_folder}/${papi_soname}")
endif()

target_sources(apapi_objs PRIVATE sources/papi/papi.c sources/papi/papi_faults.c sources/papi/papi_library.c
                                  sources/papi/papi_overflow.c)
target_compile_definitions(apapi_objs PRIVATE APAPI_PAPI_LIBRARY="${papi_soname}")
# papi.h of some versions has warnings
target_include_directories(apapi_objs SYSTEM PRIVATE ${PAPI_INCLUDE_DIRS})
