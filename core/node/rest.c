/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/rest.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/duration.h"
#include "base/folder.h"
#include "base/replace.h"
#include "base/text_file.h"

#define REST_MAGIC "APAPIID1"
#define REST_COUNT (APAPI_DOMAINS + 1)

struct rest_file {
    char magic[8];
    uint64_t size;
    struct idle_power powers[REST_COUNT];
};

static struct idle_power *rest_power(struct node_rest *rest, int number)
{
    return number < APAPI_DOMAINS ? &rest->power[number] : &rest->busy;
}

static void rest_evaluate(struct node_rest *rest)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        rest->idle_w[d] = idle_power_w(&rest->power[d]);
    }
    rest->cores = idle_power_w(&rest->busy);
    rest->cores = isnan(rest->cores) ? 0 : rest->cores;
}

static int rest_path(char path[PATH_MAX], const char *spool_dir, const char *node)
{
    return folder_check_name(node) || !*spool_dir ||
                   snprintf(path, PATH_MAX, "%s/%s.idle", spool_dir, node) >= PATH_MAX
               ? -1
               : 0;
}

static bool rest_is_sound(const struct idle_power *power)
{
    double sum_s = 0;

    for (int i = 0; i < IDLE_BINS; i++) {
        if (!(power->bins[i].seconds >= 0) || !(power->bins[i].energy_j >= 0) ||
            !isfinite(power->bins[i].energy_j)) {
            return false;
        }
        sum_s += power->bins[i].seconds;
    }
    return isfinite(power->sum_s) && fabs(sum_s - power->sum_s) <= 1 + 0.01 * sum_s;
}

static void rest_take(struct node_rest *rest, const struct rest_file *file)
{
    if (memcmp(file->magic, REST_MAGIC, sizeof file->magic) != 0 || file->size != sizeof *file) {
        return;
    }
    for (int i = 0; i < REST_COUNT; i++) {
        if (rest_is_sound(&file->powers[i])) {
            *rest_power(rest, i) = file->powers[i];
        }
    }
}

static void rest_read(struct node_rest *rest, const char *path)
{
    struct rest_file *file = malloc(sizeof *file);
    FILE *stream = file ? fopen(path, "re") : NULL;

    if (stream && fread(file, sizeof *file, 1, stream) == 1) {
        rest_take(rest, file);
    }
    if (stream) {
        fclose(stream);
    }
    free(file);
}

void node_rest_load(struct node_rest *rest, const char *spool_dir, const char *node)
{
    char path[PATH_MAX];

    memset(rest, 0, sizeof *rest);
    node_rest_busy(rest);
    if (rest_path(path, spool_dir, node) == 0) {
        rest_read(rest, path);
    }
    rest_evaluate(rest);
}

int64_t node_rest_saved_ns(const char *spool_dir, const char *node)
{
    char path[PATH_MAX];
    struct stat status;

    if (rest_path(path, spool_dir, node) || stat(path, &status)) {
        return 0;
    }
    return status.st_mtim.tv_sec * NS_PER_S + status.st_mtim.tv_nsec;
}

int node_rest_save(struct node_rest *rest, const char *spool_dir, const char *node,
                   struct apapi_error *err)
{
    char path[PATH_MAX];
    struct rest_file *file;
    int result;

    if (rest_path(path, spool_dir, node)) {
        return apapi_fail(err, EINVAL, "idle power: no place for it in spool_dir");
    }
    file = calloc(1, sizeof *file);
    if (!file) {
        return apapi_fail(err, ENOMEM, "idle power: out of memory");
    }
    memcpy(file->magic, REST_MAGIC, sizeof file->magic);
    file->size = sizeof *file;
    for (int i = 0; i < REST_COUNT; i++) {
        file->powers[i] = *rest_power(rest, i);
    }
    result = replace_file(path, 0600, (const char *)file, sizeof *file, err);
    free(file);
    return result;
}

/* A slow meter moves in some intervals only: its energy is that of all since the last one. */
static void rest_add_domain(struct node_rest *rest, int domain, double energy_j, double seconds)
{
    rest->since_s[domain] += seconds;
    if (energy_j > 0) {
        idle_add(&rest->power[domain], energy_j / rest->since_s[domain], rest->since_s[domain]);
        rest->since_s[domain] = 0;
    }
}

void node_rest_add(struct node_rest *rest, const double energy_j[APAPI_DOMAINS], double cpu_s,
                   double seconds)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        rest_add_domain(rest, d, energy_j[d], seconds);
    }
    idle_add(&rest->busy, cpu_s / seconds, seconds);
    rest_evaluate(rest);
}

void node_rest_busy(struct node_rest *rest)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        rest->since_s[d] = NAN;
    }
}

double node_rest_w(const struct node_rest *rest)
{
    double sum_w = NAN;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (apapi_domain_adds_up(d) && !isnan(rest->idle_w[d])) {
            sum_w = (isnan(sum_w) ? 0 : sum_w) + rest->idle_w[d];
        }
    }
    return sum_w;
}
