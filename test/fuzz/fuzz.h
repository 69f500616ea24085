/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Called by libFuzzer with each input. @return 0. */
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/** Something that must hold for every input. */
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/** @return the input as a string on the heap, so that reading beyond it is seen. */
static inline char *fuzz_string(const uint8_t *input, size_t size)
{
    char *text = malloc(size + 1);

    REQUIRE(text);
    memcpy(text, input, size);
    text[size] = '\0';
    return text;
}

#endif
