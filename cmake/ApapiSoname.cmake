# SPDX-License-Identifier: BSD-3-Clause
# The name by which programs linked to a shared library would load it.
function(apapi_soname result library)
  execute_process(COMMAND ${CMAKE_READELF} -d ${library} OUTPUT_VARIABLE dynamic
                          COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "SONAME[^[]*\\[([^]]*)\\]" _ "${dynamic}")
  set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()
