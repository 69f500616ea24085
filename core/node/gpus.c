/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/gpus.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/live.h"
#include "base/folder.h"
#include "node/cgroups.h"
#include "node/reading.h"

int node_gpu_index(const char *name)
{
    const char *found = strstr(name, "device");
    int index = 0;

    if (!found || (found[6] != '_' && found[6] != '=') || found[7] < '0' || found[7] > '9') {
        return -1;
    }
    for (found += 7; *found >= '0' && *found <= '9' && index < NODE_GPUS; found++) {
        index = index * 10 + (*found - '0');
    }
    return index < NODE_GPUS ? index : -1;
}

static uint64_t gpus_of_page(const struct apapi_live_page *page)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < apapi_live_event_count(page) && i < APAPI_LIVE_EVENTS; i++) {
        int index =
            page->names[i].domain == APAPI_DOMAIN_GPU ? node_gpu_index(page->names[i].name) : -1;

        bits |= index >= 0 ? UINT64_C(1) << index : 0;
    }
    return bits;
}

static uint64_t gpus_of_file(int folder, const char *name)
{
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct apapi_live_page *page = MAP_FAILED;
    struct stat status;
    uint64_t bits = 0;

    if (file >= 0 && fstat(file, &status) == 0 && status.st_size >= (off_t)sizeof *page) {
        page = mmap(NULL, sizeof *page, PROT_READ, MAP_SHARED, file, 0);
    }
    if (page != MAP_FAILED) {
        bits = memcmp(page->head.magic, APAPI_LIVE_MAGIC, sizeof page->head.magic) == 0
                   ? gpus_of_page(page)
                   : 0;
        munmap(page, sizeof *page);
    }
    folder_close(file);
    return bits;
}

/* A page in one of the users' folders. */
struct gpus_search {
    char name[64];
    uint64_t bits;
    bool anyone;
};

static void gpus_look(int folder, const char *user, void *context)
{
    struct gpus_search *search = context;
    char path[128];

    if (isdigit((unsigned char)*user) &&
        snprintf(path, sizeof path, "%s/%s", user, search->name) < (int)sizeof path) {
        search->bits |= gpus_of_file(folder, path);
    }
}

/* Its descriptor has a position, which others use, too. */
static void gpus_each(int folder, void (*visit)(int folder, const char *name, void *context),
                      struct gpus_search *search)
{
    int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (own >= 0) {
        cgroups_entries(own, visit, search);
        close(own);
    }
}

uint64_t node_gpus_of(int folder, uint32_t job, const char *step)
{
    struct gpus_search search = {.bits = 0};

    snprintf(search.name, sizeof search.name, "%u.%s", job, step);
    gpus_each(folder, gpus_look, &search);
    return search.bits;
}

/* The page of a sampler that was killed stays. */
static void gpus_look_alive(int folder, const char *name, void *context)
{
    struct gpus_search *search = context;
    struct apapi_live_head head;
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    search->anyone |= file >= 0 && read(file, &head, sizeof head) == (ssize_t)sizeof head &&
                      head.state != APAPI_LIVE_ENDED && head.writer > 0 &&
                      (kill((pid_t)head.writer, 0) == 0 || errno == EPERM);
    folder_close(file);
}

static void gpus_look_for_anyone(int folder, const char *user, void *context)
{
    int below = isdigit((unsigned char)*user)
                    ? openat(folder, user, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
                    : -1;

    if (below >= 0) {
        cgroups_entries(below, gpus_look_alive, context);
        close(below);
    }
}

bool node_gpus_anyone(int folder)
{
    struct gpus_search search = {.anyone = false};

    gpus_each(folder, gpus_look_for_anyone, &search);
    return search.anyone;
}
