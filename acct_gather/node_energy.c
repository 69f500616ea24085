/* SPDX-License-Identifier: BSD-3-Clause */
#include "node_energy.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/shared_page.h"

/* Options of slurmd that take no value. "N" behind another option may be a part of its value. */
#define SWITCHES "bcCDGhMsvVxZ"

#define PATIENCE 5       /* intervals without a reading: the page has no writer */
#define AHEAD 2          /* intervals for which the latest power is assumed to go on */
#define UNKNOWN_PART 100 /* 1/100 of a step's time may have unknown energy */

/* --- settings --- */

static const char *next_of(const char *word)
{
    return word + strlen(word) + 1;
}

bool node_option_find(const char *words, size_t length, char *node, size_t size)
{
    const char *end = words + length;

    for (const char *word = next_of(words); word < end; word = next_of(word)) {
        const char *letter = word + 1 + (word[0] == '-' ? strspn(word + 1, SWITCHES) : 0);
        const char *name;

        if (word[0] != '-' || *letter != 'N') {
            continue;
        }
        name = letter[1] ? letter + 1 : next_of(word);
        if (name < end && *name) {
            snprintf(node, size, "%s", name);
            return true;
        }
    }
    return false;
}

/* A function of the process that loads this plugin: @return the NodeName of a NodeHostname. */
extern char *slurm_conf_get_nodename(const char *host) __attribute__((weak));

enum role settings_role(void)
{
    char path[512];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    const char *name;

    path[length > 0 ? length : 0] = '\0';
    name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (strncmp(name, "slurmstepd", strlen("slurmstepd")) == 0) {
        return ROLE_STEP;
    }
    return strncmp(name, "slurmd", strlen("slurmd")) == 0 &&
                   strncmp(name, "slurmdbd", strlen("slurmdbd")) != 0
               ? ROLE_SLURMD
               : ROLE_OTHER;
}

static bool settings_take_command_line(char *node, size_t size)
{
    char words[4096];
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, words, sizeof words - 1) : -1;

    if (file >= 0) {
        close(file);
    }
    if (length <= 0) {
        return false;
    }
    words[length] = '\0';
    return node_option_find(words, (size_t)length, node, size);
}

/* Find the node's name as slurmd does. */
static void settings_find_node(char *node, size_t size)
{
    char host[256] = "";
    const char *name = getenv("SLURMD_NODENAME");

    if (name && *name) {
        snprintf(node, size, "%s", name);
        return;
    }
    if (settings_take_command_line(node, size)) {
        return;
    }
    gethostname(host, sizeof host - 1);
    host[strcspn(host, ".")] = '\0';
    name = slurm_conf_get_nodename ? slurm_conf_get_nodename(host) : NULL;
    snprintf(node, size, "%s", name ? name : host);
}

void settings_read(struct settings *settings, const struct config_sink *sink)
{
    config_read(&settings->config, config_path(), sink);
    settings_find_node(settings->node, sizeof settings->node);
}

/* --- energy --- */

void node_page_init(struct node_page *page, const char *live_dir, const char *node)
{
    page->page = NULL;
    if (snprintf(page->path, sizeof page->path, "%s/%s/node", live_dir, node) >=
        (int)sizeof page->path) {
        page->path[0] = '\0';
    }
}

static void node_page_map(struct node_page *page)
{
    const void *memory =
        *page->path ? shared_page_find(AT_FDCWD, page->path, O_RDONLY, sizeof *page->page) : NULL;

    if (memory) {
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

    since_ns = since_ns < most_ns ? since_ns : most_ns;
    energy->energy_j = slot->total + rate * (double)since_ns / 1e9;
    energy->known_ns = slot->time_ns < now_ns ? slot->time_ns + since_ns : now_ns;
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
    shared_page_unmap(page->page, sizeof *page->page);
    page->page = NULL;
}

void tally_add(struct tally *tally, const struct node_energy *energy)
{
    if (energy->known_ns < tally->begin_ns) {
        return;
    }
    if (tally->first_ns == 0) {
        tally->first_ns = energy->known_ns;
        tally->first_j = tally->latest_j = energy->energy_j;
    }
    tally->known_ns = energy->known_ns;
    if (energy->energy_j > tally->latest_j) {
        tally->latest_j = energy->energy_j;
    }
}

bool tally_sum(const struct tally *tally, uint64_t now_ns, uint64_t *energy_j)
{
    uint64_t unknown_ns = tally->first_ns - tally->begin_ns + now_ns - tally->known_ns;

    if (tally->first_ns == 0 || unknown_ns > (now_ns - tally->begin_ns) / UNKNOWN_PART) {
        return false;
    }
    *energy_j = (uint64_t)(tally->latest_j - tally->first_j + 0.5); /* to the nearest joule */
    return true;
}
