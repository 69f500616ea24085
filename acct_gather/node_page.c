/* SPDX-License-Identifier: BSD-3-Clause */
#include "node_page.h"

#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE 5 /* intervals without a reading: nobody writes the page */
#define AHEAD 2    /* intervals for which the latest power is taken to go on */
#define MAPPED offsetof(struct apapi_live_page, events) /* nothing else is looked at */

void node_page_init(struct node_page *page, const char *live_dir, const char *node)
{
    page->page = NULL;
    if (snprintf(page->path, sizeof page->path, "%s/%s/node", live_dir, node) >=
        (int)sizeof page->path) {
        page->path[0] = '\0';
    }
}

static bool node_page_is_sound(int file)
{
    struct stat status;

    return fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
           (status.st_uid == 0 || status.st_uid == geteuid()) &&
           status.st_size == (off_t)sizeof(struct apapi_live_page);
}

static void node_page_map(struct node_page *page)
{
    int file = *page->path
                   ? open(page->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                   : -1;
    void *memory = MAP_FAILED;

    if (file < 0) {
        return;
    }
    if (node_page_is_sound(file)) {
        memory = mmap(NULL, MAPPED, PROT_READ, MAP_SHARED, file, 0);
    }
    close(file);
    if (memory != MAP_FAILED) {
        node_page_close(page);
        page->page = memory;
    }
}

static bool node_page_look(const struct node_page *page, struct apapi_live_slot *slot)
{
    const struct apapi_live_head *head = &page->page->head;

    return memcmp(head->magic, APAPI_LIVE_MAGIC, sizeof head->magic) == 0 &&
           head->version == APAPI_LIVE_VERSION &&
           apapi_live_read(&page->page->domains[APAPI_DOMAIN_NONE], slot);
}

static bool node_page_is_old(const struct apapi_live_slot *slot, uint64_t now_ns)
{
    return now_ns > slot->time_ns && now_ns - slot->time_ns > PATIENCE * slot->interval_ns;
}

static void node_page_tell(const struct node_page *page, const struct apapi_live_slot *slot,
                           uint64_t now_ns, struct node_energy *energy)
{
    uint64_t since_ns = now_ns > slot->time_ns ? now_ns - slot->time_ns : 0;
    uint64_t most_ns = AHEAD * slot->interval_ns;
    uint64_t begin_ns = page->page->head.start_ns;
    double rate = isfinite(slot->rate) ? slot->rate : 0;

    energy->energy_j = slot->total + rate * (double)(since_ns < most_ns ? since_ns : most_ns) / 1e9;
    energy->power_w = node_page_is_old(slot, now_ns) ? NAN : slot->rate;
    energy->mean_w =
        slot->time_ns > begin_ns ? slot->total / ((double)(slot->time_ns - begin_ns) / 1e9) : NAN;
    energy->read_ns = slot->time_ns;
}

bool node_page_read(struct node_page *page, uint64_t now_ns, struct node_energy *energy)
{
    struct apapi_live_slot slot;

    if (!page->page || !node_page_look(page, &slot) || node_page_is_old(&slot, now_ns)) {
        node_page_map(page);
    }
    if (!page->page || !node_page_look(page, &slot) || !isfinite(slot.total)) {
        return false;
    }
    node_page_tell(page, &slot, now_ns, energy);
    return true;
}

void node_page_close(struct node_page *page)
{
    void *memory;

    memcpy(&memory, &page->page, sizeof memory);
    if (memory) {
        munmap(memory, MAPPED);
    }
    page->page = NULL;
}
