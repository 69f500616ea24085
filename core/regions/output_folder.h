/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_OUTPUT_FOLDER_H
#define REGIONS_OUTPUT_FOLDER_H
#include <stdint.h>

#define OUTPUT_PATH_SIZE 4096
#define OUTPUT_FILE_SIZE (OUTPUT_PATH_SIZE + 32)
#define OUTPUT_RUN_SIZE 128
#define OUTPUT_RUN                                                                                 \
    "\"run\": \"" /* within a file's first bytes; the run's text and a quote follow */

/** Put a text that all ranks of this run have, and no other run: no quotes. */
void output_folder_run(char run[OUTPUT_RUN_SIZE]);

/**
 * Make papi_hl_output in PAPI_OUTPUT_DIRECTORY, which is made with its parents, or in the current
 * folder. One of another run is renamed to papi_hl_output-YYYYMMDD-HHMMSS: the ranks of a run know
 * each other by PMIx or by Slurm's step.
 * @param run     of output_folder_run()
 * @param folder  result, absolute or as the environment has it
 * @return 0; -1 with errno
 */
int output_folder_make(const char *run, char folder[OUTPUT_PATH_SIZE]);

/** FOLDER/rank_NNNNNN.json */
void output_file_path(char path[OUTPUT_FILE_SIZE], const char *folder, uint32_t rank);

#endif
