/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Something that must hold for every input. */
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Each program's own: try one input, of `size` bytes and a 0. */
static void fuzz(char *text, size_t size);

/** Called by libFuzzer. @return 0. */
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

/* On the heap reading beyond it is seen. */
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    char *text = malloc(size + 1);

    REQUIRE(text);
    memcpy(text, input, size);
    text[size] = '\0';
    fuzz(text, size);
    free(text);
    return 0;
}

#endif
