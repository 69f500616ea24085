/* SPDX-License-Identifier: BSD-3-Clause */
/* The energy of a job from its records: ./read_records JOB FILE... */
#include <apapi/job.h>
#include <apapi/scan.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add(const struct apapi_record *record, const char *line, size_t size, void *context)
{
    (void)line;
    (void)size;
    printf("step %s on %s: %.3f J\n", record->id.step, record->id.node,
           apapi_measurement_total_j(&record->measurement));
    return apapi_job_add(context, record);
}

static void report(const struct apapi_scan_problem *problem, void *context)
{
    (void)context;
    fprintf(stderr, "%s:%zu: %s\n", problem->file, problem->line, problem->reason);
}

static int read_files(uint32_t id, char *const files[], struct apapi_job *job)
{
    const struct apapi_scan_filter filter = {.jobs = &id, .job_count = 1};
    const struct apapi_scan_sink sink = {.record = add, .problem = report, .context = job};
    struct apapi_error err;
    struct apapi_scan *scan = apapi_scan_create(&filter, &sink, &err);
    int result = scan ? 0 : -1;

    while (result == 0 && *files) {
        err.text[0] = '\0';
        result = apapi_scan_file(scan, *files++, &err);
    }
    if (result) {
        fprintf(stderr, "%s\n", err.text[0] ? err.text : strerror(errno));
    }
    apapi_scan_destroy(scan);
    return result;
}

int main(int argc, char **argv)
{
    struct apapi_job *job = apapi_job_create();
    struct apapi_job_total total;
    int status = EXIT_FAILURE;

    if (argc < 3) {
        fprintf(stderr, "usage: read_records JOB FILE...\n");
    } else if (job && read_files((uint32_t)strtoul(argv[1], NULL, 10), argv + 2, job) == 0 &&
               apapi_job_total(job, &total) == 0) {
        printf("job %s: %zu records, %zu nodes, %.3f J\n", argv[1], total.records, total.nodes,
               total.energy_j);
        status = EXIT_SUCCESS;
    }
    apapi_job_destroy(job);
    return status;
}
