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

/* Of a page that its user may have changed. */
static void gpus_take_event(const struct apapi_live_event *event, struct node_gpus *gpus)
{
    int index = event->domain == APAPI_DOMAIN_GPU ? node_gpu_index(event->name) : -1;

    if (index >= 0) {
        gpus->bits |= UINT64_C(1) << index;
    }
    if (index >= 0 && event->slices <= event->slices_all && event->slices_all <= UINT8_MAX) {
        gpus->slices[index] = (uint8_t)event->slices;
        gpus->slices_all[index] = (uint8_t)event->slices_all;
    }
}

static void gpus_of_page(const struct apapi_live_page *page, struct node_gpus *gpus)
{
    for (uint32_t i = 0; i < apapi_live_event_count(page) && i < APAPI_LIVE_EVENTS; i++) {
        gpus_take_event(&page->names[i], gpus);
    }
}

static void gpus_of_file(int folder, const char *name, struct node_gpus *gpus)
{
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct apapi_live_page *page = MAP_FAILED;
    struct stat status;

    if (file >= 0 && fstat(file, &status) == 0 && status.st_size >= (off_t)sizeof *page) {
        page = mmap(NULL, sizeof *page, PROT_READ, MAP_SHARED, file, 0);
    }
    if (page != MAP_FAILED) {
        if (memcmp(page->head.magic, APAPI_LIVE_MAGIC, sizeof page->head.magic) == 0) {
            gpus_of_page(page, gpus);
        }
        munmap(page, sizeof *page);
    }
    folder_close(file);
}

/* A page in one of the users' folders. */
struct gpus_search {
    char name[64];
    struct node_gpus *gpus;
    bool anyone;
};

static void gpus_look(int folder, const char *user, void *context)
{
    struct gpus_search *search = context;
    char path[128];

    if (isdigit((unsigned char)*user) &&
        snprintf(path, sizeof path, "%s/%s", user, search->name) < (int)sizeof path) {
        gpus_of_file(folder, path, search->gpus);
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

void node_gpus_of(int folder, uint32_t job, const char *step, struct node_gpus *gpus)
{
    struct gpus_search search = {.gpus = gpus};

    *gpus = (struct node_gpus){.bits = 0};
    snprintf(search.name, sizeof search.name, "%u.%s", job, step);
    gpus_each(folder, gpus_look, &search);
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
