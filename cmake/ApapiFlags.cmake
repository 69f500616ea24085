# SPDX-License-Identifier: BSD-3-Clause
# Flags of every target, as one interface target.
add_library(apapi_flags INTERFACE)
target_compile_features(apapi_flags INTERFACE c_std_11)
target_compile_definitions(apapi_flags INTERFACE _GNU_SOURCE)
target_compile_options(
  apapi_flags
  INTERFACE -Wall
            -Wextra
            -Wshadow
            -Wstrict-prototypes
            -Wmissing-prototypes
            -Wcast-qual
            -Wwrite-strings
            -Wpointer-arith
            -Wformat=2
            -Wundef
            -Wvla
            -Wconversion
            -Wno-sign-conversion
            -Wimplicit-fallthrough)
# Of files that are compiled together: static variables with one name would be one variable. That a local name is a static
# one of another file is no mistake.
if(CMAKE_UNITY_BUILD)
  target_compile_options(apapi_flags INTERFACE -Wredundant-decls -Wno-shadow -Wshadow=local)
  # The helper processes leave out what they do not call (--gc-sections), not whole folders.
  target_compile_options(apapi_flags INTERFACE -ffunction-sections -fdata-sections)
endif()
if(APAPI_WERROR)
  target_compile_options(apapi_flags INTERFACE -Werror)
endif()
if(APAPI_SANITIZE)
  set(sanitizer_flags -fsanitize=${APAPI_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(apapi_flags INTERFACE ${sanitizer_flags})
  target_link_options(apapi_flags INTERFACE ${sanitizer_flags})
endif()
