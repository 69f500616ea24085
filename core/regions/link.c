/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/live.h"

static struct {
    bool open;
    int channel;
    dev_t device; /* the socket's own: the program may have closed it and opened another file */
    ino_t inode;
    struct page_results *results; /* for reading only */
} link_state;

static bool link_is_ours(void)
{
    struct stat status;

    return link_state.open && fstat(link_state.channel, &status) == 0 &&
           status.st_dev == link_state.device && status.st_ino == link_state.inode;
}

static bool link_connect(void)
{
    const char *live_page = secure_getenv(APAPI_LIVE_ENVIRONMENT);
    struct stat status;

    link_state.channel = live_page ? region_connect(live_page) : -1;
    if (link_state.channel < 0 || fstat(link_state.channel, &status)) {
        return false;
    }
    link_state.device = status.st_dev;
    link_state.inode = status.st_ino;
    return true;
}

void link_open(int page)
{
    struct region_message message;

    link_state.results = NULL;
    link_state.open = page >= 0 && link_connect();
    if (link_state.open) {
        region_message_init(&message, REGION_REGISTER, NULL);
        region_send(link_state.channel, &message, page);
    }
}

int link_send(const struct region_message *message)
{
    if (!link_is_ours()) {
        errno = ENOTCONN;
        return -1;
    }
    return region_send(link_state.channel, message, -1);
}

static struct page_results *link_map(int file)
{
    const int seals = F_SEAL_SHRINK | F_SEAL_GROW;
    struct stat status;
    void *page;

    if (fstat(file, &status) || status.st_size != sizeof(struct page_results) ||
        (fcntl(file, F_GET_SEALS) & seals) != seals) {
        return NULL;
    }
    page = mmap(NULL, sizeof(struct page_results), PROT_READ, MAP_SHARED, file, 0);
    return page == MAP_FAILED || page_results_problem(page, sizeof(struct page_results)) ? NULL
                                                                                         : page;
}

const struct page_results *link_results(void)
{
    struct region_message message;
    int file;

    while (!link_state.results && link_is_ours() &&
           !region_receive(link_state.channel, &message, &file)) {
        if (file >= 0) {
            link_state.results = message.kind == REGION_RESULTS ? link_map(file) : NULL;
            close(file);
        }
    }
    return link_state.results;
}

void link_close(void)
{
    if (link_is_ours()) {
        close(link_state.channel);
    }
    if (link_state.results) {
        munmap(link_state.results, sizeof *link_state.results);
    }
    link_state.open = false;
    link_state.results = NULL;
}
