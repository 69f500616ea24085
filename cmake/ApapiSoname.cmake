# SPDX-License-Identifier: BSD-3-Clause
# The name by which programs linked to a shared library would load it.
function(apapi_soname result library)
  execute_process(COMMAND ${CMAKE_READELF} -d ${library} OUTPUT_VARIABLE dynamic
                          COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "SONAME[^[]*\\[([^]]*)\\]" _ "${dynamic}")
  set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

# The same of a library that need not be there. Cache variable WITH_<NAME>: AUTO, ON or OFF, with this HELP;
# `result` is empty where it is left out. Sets <NAME>_INCLUDE_DIRS, as pkg_check_modules() does.
macro(apapi_optional_soname result name library help)
  set(WITH_${name} AUTO CACHE STRING "${help}: AUTO (where lib${library} is), ON, OFF")
  set_property(CACHE WITH_${name} PROPERTY STRINGS AUTO ON OFF)
  set(${result} "")
  if(NOT WITH_${name} STREQUAL "OFF")
    pkg_check_modules(${name} lib${library})
    if(${name}_FOUND)
      find_library(${name}_LIBRARY ${library} HINTS ${${name}_LIBRARY_DIRS} REQUIRED)
      apapi_soname(${result} ${${name}_LIBRARY})
    elseif(NOT WITH_${name} STREQUAL "AUTO")
      message(FATAL_ERROR "WITH_${name}=${WITH_${name}}, but there is no lib${library}")
    endif()
  endif()
endmacro()
