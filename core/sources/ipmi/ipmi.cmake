# SPDX-License-Identifier: BSD-3-Clause
# FreeIPMI is loaded when a BMC is to be read, by the name that programs linked to it would use.
# Without it, catalog.c says so.
apapi_optional_soname(freeipmi_soname FREEIPMI freeipmi "Read BMCs with FreeIPMI")

set(APAPI_FREEIPMI_SONAME "${freeipmi_soname}" PARENT_SCOPE) # empty: without; for the tests
if(freeipmi_soname)
  target_sources(apapi_objs PRIVATE sources/ipmi/ipmi.c sources/ipmi/ipmi_bmc.c sources/ipmi/ipmi_sensors.c)
  target_compile_definitions(apapi_objs PRIVATE APAPI_FREEIPMI_LIBRARY="${freeipmi_soname}")
  target_include_directories(apapi_objs SYSTEM PRIVATE ${FREEIPMI_INCLUDE_DIRS})
endif()
