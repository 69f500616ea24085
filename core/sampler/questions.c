/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/questions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/session.h"
#include "channel/packet.h"
#include "config/folders.h"
#include "sampler/pack.h"

/* For srun: check a list of components. Prints one line if it is invalid. */
static int questions_check(const char *components)
{
    struct apapi_error err;

    if (apapi_components_check(components, &err)) {
        printf("%s\n", err.text);
        return 2;
    }
    return EXIT_SUCCESS;
}

/* For slurmd: check whether records can be written to these folders. A line for each failure. */
static int check_folders(char *const folders[])
{
    struct apapi_error err;
    int result = EXIT_SUCCESS;

    for (; *folders; folders++) {
        if (config_folder_check(*folders, &err)) {
            printf("%s\n", err.text);
            result = 2;
        }
    }
    return result;
}

/* For srun: print the packed event settings of the environment, or the problems in them. */
static int pack(void)
{
    static char packet[PACKET_MAX];
    struct apapi_error err;

    if (pack_environment(packet, stdout, &err)) {
        printf("%s\n", err.text);
        return 2;
    }
    fputs(packet, stdout);
    return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

int questions_answer(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--pack") == 0) {
        return pack();
    }
    if (argc == 3 && strcmp(argv[1], "--check") == 0) {
        return questions_check(argv[2]);
    }
    if (argc > 2 && strcmp(argv[1], "--folders") == 0) {
        return check_folders(argv + 2);
    }
    return -1;
}
