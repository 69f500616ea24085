# SPDX-License-Identifier: BSD-3-Clause
# The page of `apapi plot` as a C text, and the program that draws pictures: apapi itself does not
# link cairo.
set(page ${CMAKE_CURRENT_LIST_DIR}/plot_page.html)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
file(READ ${page} page_bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," page_bytes "${page_bytes}")
file(CONFIGURE OUTPUT plot_page.c CONTENT
"extern const char plot_page_text[];
const char plot_page_text[] = {@page_bytes@0};
" @ONLY)
target_sources(apapi_cli PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/plot_page.c)

set(WITH_CAIRO AUTO CACHE STRING "Pictures of `apapi plot`: AUTO (where cairo is), ON, OFF")
set_property(CACHE WITH_CAIRO PROPERTY STRINGS AUTO ON OFF)
if(NOT WITH_CAIRO STREQUAL "OFF")
  pkg_check_modules(CAIRO IMPORTED_TARGET cairo cairo-svg cairo-png cairo-pdf)
endif()
if(CAIRO_FOUND AND NOT WITH_CAIRO STREQUAL "OFF")
  add_executable(apapi-plot ${CMAKE_CURRENT_LIST_DIR}/plot_cairo.c)
  target_link_libraries(apapi-plot PRIVATE PkgConfig::CAIRO apapi_flags apapi_base apapi m)
  target_include_directories(apapi-plot PRIVATE ${PROJECT_SOURCE_DIR}/core)
  set_target_properties(apapi-plot PROPERTIES INSTALL_RPATH "${apapi_libexec_rpath}")
  # a package of its own: compute nodes need neither X11 nor fonts
  install(TARGETS apapi-plot DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/apapi COMPONENT plot)
elseif(WITH_CAIRO STREQUAL "ON")
  message(FATAL_ERROR "WITH_CAIRO=ON, but there is no cairo")
endif()
