/* SPDX-License-Identifier: BSD-3-Clause */
/* regions_mpi: ranks with a region in common, and each with one that has its number as a name. */
#include <apapi/region.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static void spend(double seconds)
{
    double end = MPI_Wtime() + seconds;

    while (MPI_Wtime() < end) {
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    char name[32];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(name, sizeof name, "rank %d of %d", rank, size);
    apapi_region_begin("computation");
    spend(0.5);
    apapi_region_begin(name);
    spend(0.2);
    apapi_region_end(name);
    apapi_region_end("computation");
    apapi_region_begin("exchange");
    MPI_Barrier(MPI_COMM_WORLD);
    apapi_region_end("exchange");
    apapi_region_fom("steps", 10, "steps");
    MPI_Finalize();
    puts("done");
    return 0;
}
