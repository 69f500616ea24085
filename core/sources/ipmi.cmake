# SPDX-License-Identifier: BSD-3-Clause
# FreeIPMI is loaded when a BMC is to be read, by the name that programs linked to it would use.
set(WITH_FREEIPMI AUTO CACHE STRING "Read BMCs with FreeIPMI: AUTO (where it is installed), ON, OFF")
set_property(CACHE WITH_FREEIPMI PROPERTY STRINGS AUTO ON OFF)
set(freeipmi_soname "")
if(NOT WITH_FREEIPMI STREQUAL "OFF")
  pkg_check_modules(FREEIPMI libfreeipmi)
  if(FREEIPMI_FOUND)
    find_library(FREEIPMI_LIBRARY freeipmi HINTS ${FREEIPMI_LIBRARY_DIRS} REQUIRED)
    apapi_soname(freeipmi_soname ${FREEIPMI_LIBRARY})
  elseif(NOT WITH_FREEIPMI STREQUAL "AUTO")
    message(FATAL_ERROR "WITH_FREEIPMI=${WITH_FREEIPMI}, but there is no libfreeipmi")
  endif()
endif()

set(APAPI_FREEIPMI_SONAME "${freeipmi_soname}" PARENT_SCOPE) # empty: without; for the tests
if(freeipmi_soname)
  target_sources(
    apapi_objs
    PRIVATE sources/ipmi.c
            sources/ipmi_dcmi.c
            sources/ipmi_id_string.c
            sources/ipmi_library.c
            sources/ipmi_names.c
            sources/ipmi_sensors.c
            sources/ipmi_session.c
            sources/ipmi_settings.c)
  target_compile_definitions(apapi_objs PRIVATE APAPI_FREEIPMI_LIBRARY="${freeipmi_soname}")
  target_include_directories(apapi_objs SYSTEM PRIVATE ${FREEIPMI_INCLUDE_DIRS})
else()
  target_sources(apapi_objs PRIVATE sources/no_ipmi.c)
endif()
