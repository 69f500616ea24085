/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpu_spec.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static struct fake_gpus gpus;
static bool read_already;

static _Noreturn void complain(const char *what, const char *text)
{
    fprintf(stderr, "fake GPUs: %s: %s\n", what, text);
    abort();
}

static void copy(char *target, size_t size, const char *value)
{
    snprintf(target, size, "%s", value);
}

static void set_failure(struct fake_failure *failure, const char *value)
{
    copy(failure->function, sizeof failure->function, value);
    failure->function[strcspn(value, ":")] = '\0';
    failure->code = (int)strtol(value + strcspn(value, ":") + 1, NULL, 10);
}

static void add_part(struct fake_gpu *gpu, const char *value)
{
    char *name = gpu->parts[gpu->part_count];

    if (gpu->part_count == FAKE_PARTS_MAX) {
        complain("too many parts", value);
    }
    copy(name, FAKE_TEXT_SIZE, value);
    name[strcspn(value, ":")] = '\0';
    if (strchr(value, ':')) {
        gpu->slices[gpu->part_count] = (unsigned)strtoul(strchr(value, ':') + 1, NULL, 10);
    }
    gpu->part_count++;
}

static void set_of_gpu(struct fake_gpu *gpu, const char *key, const char *value)
{
    double number = strtod(value, NULL);

    if (strcmp(key, "power_w") == 0) {
        gpu->power_w = number;
    } else if (strcmp(key, "most_w") == 0) {
        gpu->most_w = number;
    } else if (strcmp(key, "step_ms") == 0) {
        gpu->step_ms = number;
    } else if (strcmp(key, "counter") == 0) {
        gpu->counter = number != 0;
    } else if (strcmp(key, "name") == 0) {
        copy(gpu->name, sizeof gpu->name, value);
    } else if (strcmp(key, "lost_with") == 0) {
        copy(gpu->lost_with, sizeof gpu->lost_with, value);
    } else if (strcmp(key, "mig") == 0) {
        add_part(gpu, value);
    } else if (strcmp(key, "fail") == 0) {
        set_failure(&gpu->failure, value);
    } else {
        complain("unknown setting", key);
    }
}

static void set_of_library(const char *key, const char *value)
{
    if (strcmp(key, "init_ms") == 0) {
        gpus.init_ms = strtod(value, NULL);
    } else if (strcmp(key, "log") == 0) {
        copy(gpus.log, sizeof gpus.log, value);
    } else if (strcmp(key, "fail") == 0) {
        set_failure(&gpus.failure, value);
    } else {
        complain("unknown setting", key);
    }
}

static struct fake_gpu *add_gpu(void)
{
    size_t index = gpus.count++;
    struct fake_gpu *gpu = &gpus.list[index];

    if (index == FAKE_GPUS_MAX) {
        complain("too many", "gpu");
    }
    *gpu = (struct fake_gpu){.power_w = 100, .counter = true};
    gpu->minor = (unsigned)index;
    copy(gpu->name, sizeof gpu->name, "Fake GPU");
    snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-%08zx-0000-0000-0000-000000000000", index);
    return gpu;
}

/* A '+' in a value stands for a blank. */
static void parse_line(char *line)
{
    char *rest = NULL, *word = strtok_r(line, " \t\n", &rest);
    struct fake_gpu *gpu = NULL;

    if (!word || *word == '#') {
        return;
    }
    if (strcmp(word, "gpu") == 0) {
        gpu = add_gpu();
    } else if (strcmp(word, "library") != 0) {
        complain("unknown word", word);
    }
    while ((word = strtok_r(NULL, " \t\n", &rest))) {
        char *value = strchr(word, '=');

        if (!value) {
            complain("not KEY=VALUE", word);
        }
        *value++ = '\0';
        for (char *plus = strchr(value, '+'); plus; plus = strchr(plus, '+')) {
            *plus = ' ';
        }
        if (gpu) {
            set_of_gpu(gpu, word, value);
        } else {
            set_of_library(word, value);
        }
    }
}

static void find_file(char *path, size_t size)
{
    const char *named = getenv("FAKE_GPUS");
    Dl_info library;

    if (named) {
        copy(path, size, named);
        return;
    }
    dladdr(&gpus, &library);
    snprintf(path, size, "%.*s/fake-gpus",
             (int)(strrchr(library.dli_fname, '/') - library.dli_fname), library.dli_fname);
}

void fake_gpus_refresh(void)
{
    read_already &= gpus.users > 0;
}

struct fake_gpus *fake_gpus(void)
{
    char path[4096], line[1024];
    FILE *file;

    if (read_already) {
        return &gpus;
    }
    read_already = true;
    gpus = (struct fake_gpus){.users = 0};
    find_file(path, sizeof path);
    file = fopen(path, "re");
    if (!file) {
        complain("cannot read", path);
    }
    while (fgets(line, sizeof line, file)) {
        parse_line(line);
    }
    fclose(file);
    return &gpus;
}

void fake_gpus_start(void)
{
    const struct timespec pause = {(time_t)gpus.init_ms / 1000,
                                   (long)gpus.init_ms % 1000 * 1000000};

    if (gpus.users++ == 0) {
        if (open("/proc/driver", O_RDONLY) < 0) { /* without O_CLOEXEC, as drivers' libraries do */
            complain("cannot open", "/dev/null");
        }
        nanosleep(&pause, NULL);
    }
}

static int code_of(const struct fake_failure *failure, const char *function)
{
    return strcmp(failure->function, function) == 0 || strcmp(failure->function, "*") == 0
               ? failure->code
               : 0;
}

int fake_gpus_call(const char *function)
{
    FILE *log = *fake_gpus()->log ? fopen(gpus.log, "ae") : NULL;

    if (log) {
        fprintf(log, "%s\n", function);
        fclose(log);
    }
    return code_of(&gpus.failure, function);
}

int fake_gpu_call(const struct fake_gpu *gpu, const char *function)
{
    return code_of(&gpu->failure, function);
}

bool fake_gpu_is_lost(const struct fake_gpu *gpu)
{
    return *gpu->lost_with && access(gpu->lost_with, F_OK) == 0;
}

double fake_gpu_energy_j(const struct fake_gpu *gpu)
{
    double time_s = (double)clock_monotonic_ns() / 1e9;

    if (gpu->step_ms > 0) {
        time_s = floor(time_s / gpu->step_ms * 1e3) * gpu->step_ms / 1e3;
    }
    return time_s * gpu->power_w;
}
