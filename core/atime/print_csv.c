/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <sys/wait.h>

#include "atime/print.h"
#include "render/csv.h"

static void print_csv_put_program(const struct csv *csv, const char *name, const char *unit,
                                  double number)
{
    csv_put_number(csv, "program", name, unit, number);
}

static void put_programs(const struct csv *csv, const struct report *report, const struct run *run)
{
    const struct child_end *end = &run->end;
    bool killed = WIFSIGNALED(end->status);

    print_csv_put_program(csv, "elapsed", "s", run_elapsed_s(run, APAPI_DOMAIN_NONE));
    if (!report->program) {
        return;
    }
    print_csv_put_program(csv, "user", "s", child_user_s(end));
    print_csv_put_program(csv, "system", "s", child_system_s(end));
    print_csv_put_program(csv, "max_rss", "B", (double)child_peak_bytes(end));
    print_csv_put_program(csv, killed ? "signal" : "exit_status", "",
                          killed ? WTERMSIG(end->status) : WEXITSTATUS(end->status));
}

int report_csv(FILE *out, const struct report *report, struct apapi_error *err)
{
    (void)err;
    fputs("run," CSV_COLUMNS, out);
    for (size_t i = 0; i < report->count; i++) {
        char number[24];
        const struct csv csv = {.out = out, .leads = {number}};

        snprintf(number, sizeof number, "%zu", i + 1);
        put_programs(&csv, report, &report->runs[i]);
        csv_put_measurement(&csv, &report->runs[i].record.measurement);
        csv_put_crossings(&csv, &report->runs[i].record);
        csv_put_regions(&csv, &report->runs[i].record.regions);
    }
    return 0;
}
