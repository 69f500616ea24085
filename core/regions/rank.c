/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/rank.h"

#include <stdlib.h>

#include "base/count_of.h"
#include "base/number.h"

/* Best first: what starts the ranks within a task of Slurm knows them better than Slurm. */
static const char *const rank_variables[] = {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "ALPS_APP_PE",
                                             "PMI_RANK",  "PALS_RANKID",          "SLURM_PROCID"};

uint32_t rank_of_process(void)
{
    for (size_t i = 0; i < COUNT_OF(rank_variables); i++) {
        const char *text = secure_getenv(rank_variables[i]);
        struct whole_number rank;

        if (text && whole_number_parse(text, &rank) == 0 && !rank.negative && !*rank.rest &&
            rank.value < RANK_UNKNOWN) {
            return (uint32_t)rank.value;
        }
    }
    return RANK_UNKNOWN;
}
