/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * papi_hl: the example of PAPI's high-level interface, a region around a computation. With papi.h
 * and -lpapi it counts events, in a measured step with APAPI its energy, too: `apapi regions JOB`.
 */
#include <apapi/papi_hl_compat.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SIZE 200

static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];

static void handle_error(int retval)
{
    fprintf(stderr, "PAPI error %d\n", retval);
    exit(EXIT_FAILURE);
}

static void multiply(void)
{
    for (int i = 0; i < SIZE; i++) {
        for (int j = 0; j < SIZE; j++) {
            for (int k = 0; k < SIZE; k++) {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
}

/* Two seconds of it. */
static void compute(void)
{
    clock_t end = clock() + 2 * CLOCKS_PER_SEC;

    do {
        multiply();
    } while (clock() < end);
}

int main(void)
{
    int retval;

    retval = PAPI_hl_region_begin("computation");
    if (retval != PAPI_OK) {
        handle_error(retval);
    }
    compute();
    retval = PAPI_hl_read("computation");
    if (retval != PAPI_OK) {
        handle_error(retval);
    }
    compute();
    retval = PAPI_hl_region_end("computation");
    if (retval != PAPI_OK) {
        handle_error(retval);
    }
    return EXIT_SUCCESS;
}
