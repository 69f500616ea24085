/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * regions: name the phases of a program. Run it in a measured step (`srun --apapi`), and see
 * `apapi regions JOB` afterwards; or with `atime`.
 */
#include <apapi/region.h>
#include <stdio.h>
#include <stdlib.h>

#define POINTS 1000000
#define STEPS 100

static double *assemble(void)
{
    double *points = malloc(POINTS * sizeof *points);

    apapi_region_begin("assemble");
    for (int i = 0; points && i < POINTS; i++) {
        points[i] = i % 7;
    }
    apapi_region_end("assemble");
    return points;
}

/* In a loop a handle saves looking the name up. */
static void solve(double *points)
{
    apapi_region smooth = apapi_region_handle("smooth");

    apapi_region_begin("solve");
    for (int step = 0; step < STEPS; step++) {
        apapi_region_enter(smooth); /* the region "solve/smooth" */
        for (int i = 1; i + 1 < POINTS; i++) {
            points[i] = (points[i - 1] + points[i] + points[i + 1]) / 3;
        }
        apapi_region_leave(smooth);
    }
    apapi_region_end("solve");
}

int main(void)
{
    double *points = assemble();

    if (!points) {
        perror("regions");
        return EXIT_FAILURE;
    }
    solve(points);
    apapi_region_fom("updates", (double)STEPS * POINTS, "points");
    printf("%.3f\n", points[POINTS / 2]);
    free(points);
    return EXIT_SUCCESS;
}
