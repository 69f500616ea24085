/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A module for OpenIPMI's ipmi_sim: Get Power Reading of DCMI. The answer is in a file, read at
 * each request: completion code, watts, statistics period [ms], whether active. FILE.asked gets
 * one byte for each request.
 */
#include <OpenIPMI/mcserv.h>
#include <OpenIPMI/serv.h>
#include <stdio.h>
#include <string.h>

#define GROUP 0xdc
#define GET_POWER_READING 0x02
#define UNSPECIFIED_ERROR 0xff
#define RESPONSE_SIZE 19 /* beginning with the completion code */

int ipmi_sim_module_print_version(sys_data_t *sys, const char *file);
int ipmi_sim_module_init(sys_data_t *sys, const char *file);

static char answer_file[4096];

struct answer {
    unsigned completion, watts, period_ms, active;
};

static int read_answer(struct answer *answer)
{
    FILE *file = fopen(answer_file, "re");
    int fields = 0;

    if (file) {
        fields = fscanf(file, "%i %u %u %u", (int *)&answer->completion, &answer->watts,
                        &answer->period_ms, &answer->active);
        fclose(file);
    }
    return fields == 4 ? 0 : -1;
}

static void count_request(void)
{
    char name[sizeof answer_file + 8];
    FILE *file;

    snprintf(name, sizeof name, "%s.asked", answer_file);
    file = fopen(name, "ae");
    if (file) {
        fputc('.', file);
        fclose(file);
    }
}

static void put(unsigned char *place, unsigned value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        place[i] = (unsigned char)(value >> 8 * i);
    }
}

static void write_reading(const struct answer *answer, unsigned char *data)
{
    memset(data, 0, RESPONSE_SIZE);
    data[1] = GROUP;
    put(data + 2, answer->watts, 2);
    memset(data + 4, 0x27, 6); /* least, most and mean power: 10023 W */
    put(data + 14, answer->period_ms, 4);
    data[18] = answer->active ? 0x40 : 0;
}

static void answer_dcmi(lmc_data_t *mc, msg_t *msg, unsigned char *data, unsigned *size,
                        void *context)
{
    struct answer answer = {0};

    (void)context;
    if (msg->cmd != GET_POWER_READING) {
        handle_invalid_cmd(mc, data, size);
        return;
    }
    count_request();
    if (read_answer(&answer)) {
        answer.completion = UNSPECIFIED_ERROR;
    }
    write_reading(&answer, data);
    data[0] = (unsigned char)answer.completion;
    *size = answer.completion ? 1 : RESPONSE_SIZE;
}

int ipmi_sim_module_print_version(sys_data_t *sys, const char *file)
{
    (void)sys;
    (void)file;
    return 0;
}

int ipmi_sim_module_init(sys_data_t *sys, const char *file)
{
    (void)sys;
    snprintf(answer_file, sizeof answer_file, "%s", file);
    ipmi_emu_register_group_extension_handler(GROUP, answer_dcmi, NULL);
    return 0;
}
