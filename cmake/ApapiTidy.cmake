# SPDX-License-Identifier: BSD-3-Clause
# clang-tidy with each compilation, so that only what has changed is looked at again. Sets
# CMAKE_C_CLANG_TIDY for the folders that follow, and APAPI_C_CLANG_TIDY, the same, to set it again.
find_program(CLANG_TIDY clang-tidy REQUIRED)
# A part of the command line, so that other checks mean another compilation.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/.clang-tidy)
file(SHA256 ${PROJECT_SOURCE_DIR}/.clang-tidy checks)
set(APAPI_C_CLANG_TIDY ${CLANG_TIDY} --quiet --warnings-as-errors=*
                       --extra-arg=-DAPAPI_TIDY_CHECKS=${checks})
set(CMAKE_C_CLANG_TIDY ${APAPI_C_CLANG_TIDY})
