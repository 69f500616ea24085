/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/share_page.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/shared_page.h"
#include "node/folder.h"

#define CLAIM_WORDS (sizeof(struct share_claim) / sizeof(uint64_t) - 1) /* without its number */

_Static_assert(sizeof(struct share_row) % sizeof(uint64_t) == 0, "a row is copied by words");
_Static_assert(sizeof(struct share_claim) % sizeof(uint64_t) == 0, "a claim is copied by words");

void share_page_init(struct share_page *page)
{
    memset(page, 0, sizeof *page);
    memcpy(page->head.magic, SHARE_PAGE_MAGIC, sizeof page->head.magic);
    page->head.version = SHARE_PAGE_VERSION;
    page->head.size = sizeof *page;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        page->head.idle_w[d] = page->head.energy_j[d] = page->head.rate[d] = NAN;
    }
}

bool share_page_is_valid(const struct share_page *page)
{
    return memcmp(page->head.magic, SHARE_PAGE_MAGIC, sizeof page->head.magic) == 0 &&
           page->head.version == SHARE_PAGE_VERSION && page->head.size == sizeof *page;
}

void share_row_write(struct share_row *row, const struct share_row *from)
{
    shared_record_write(row, from, sizeof *row);
}

bool share_row_read(const struct share_row *row, struct share_row *copy)
{
    struct share_row found;

    if (!shared_record_read(row, &found, sizeof found)) {
        return false;
    }
    *copy = found;
    return true;
}

static bool share_page_has(const struct share_row *row, uint32_t job, const char *step)
{
    return row->flags & SHARE_ROW_USED && row->job == job &&
           strncmp(row->step, step, sizeof row->step) == 0;
}

static int share_page_search(const struct share_page *page, uint32_t job, const char *step,
                             struct share_row *row)
{
    struct share_row copy;
    int result = -1;

    for (int i = 0; i < SHARE_PAGE_ROWS; i++) {
        if (share_page_has(&page->rows[i], job, step) && share_row_read(&page->rows[i], &copy) &&
            share_page_has(&copy, job, step) && (result < 0 || copy.begin_ns > row->begin_ns)) {
            *row = copy;
            result = 0;
        }
    }
    errno = result < 0 ? ENOENT : errno;
    return result;
}

static struct share_page *share_page_map(const struct share_asked *asked, bool write)
{
    char path[PATH_MAX];
    struct share_page *page = MAP_FAILED;
    struct stat status;
    int file = -1;

    if (snprintf(path, sizeof path, "%s/%s/" NODE_SHARES, asked->live_dir, asked->node) <
        (int)sizeof path) {
        file = open(path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW);
    }
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size >= (off_t)sizeof *page &&
        (status.st_uid == 0 || status.st_uid == geteuid())) {
        page = mmap(NULL, sizeof *page, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                    file, 0);
    }
    folder_close(file);
    if (page != MAP_FAILED && !share_page_is_valid(page)) {
        munmap(page, sizeof *page);
        page = MAP_FAILED;
    }
    errno = ENOENT;
    return page == MAP_FAILED ? NULL : page;
}

int share_page_look(const struct share_asked *asked, struct share_found *found)
{
    struct share_page *page = share_page_map(asked, false);
    int result;

    memset(found, 0, sizeof *found);
    if (!page) {
        return -1;
    }
    found->head = page->head;
    result = share_page_search(page, asked->job, asked->step, &found->row);
    munmap(page, sizeof *page);
    return result;
}

int share_page_claim(const struct share_asked *asked, const struct share_claim *claim)
{
    struct share_page *page = share_page_map(asked, true);
    struct share_claim *place;
    uint64_t number;

    if (!page) {
        return -1;
    }
    number = __atomic_add_fetch(&page->head.claims, 1, __ATOMIC_ACQ_REL);
    place = &page->claims[number % SHARE_PAGE_CLAIMS];
    __atomic_store_n(&place->number, 0, __ATOMIC_RELAXED);
    shared_words_store(&place->number + 1, &claim->number + 1, CLAIM_WORDS);
    __atomic_store_n(&place->number, number, __ATOMIC_RELEASE);
    munmap(page, sizeof *page);
    return 0;
}

bool share_page_claimed(const struct share_page *page, uint64_t number, struct share_claim *claim)
{
    const struct share_claim *place = &page->claims[number % SHARE_PAGE_CLAIMS];

    if (__atomic_load_n(&place->number, __ATOMIC_ACQUIRE) != number) {
        return false;
    }
    claim->number = number;
    shared_words_load(&claim->number + 1, &place->number + 1, CLAIM_WORDS);
    return __atomic_load_n(&place->number, __ATOMIC_RELAXED) == number;
}
