# SPDX-License-Identifier: BSD-3-Clause
# The page of `apapi plot` as a C text.
set(page ${CMAKE_CURRENT_LIST_DIR}/plot_page.html)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
file(READ ${page} page_bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," page_bytes "${page_bytes}")
file(CONFIGURE OUTPUT plot_page.c CONTENT
"extern const char plot_page_text[];
const char plot_page_text[] = {@page_bytes@0};
" @ONLY)
target_sources(apapi_cli PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/plot_page.c)
