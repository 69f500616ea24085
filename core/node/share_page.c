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
#include "base/shared_words.h"
#include "node/folder.h"

#define WORDS (sizeof(struct share_row) / sizeof(uint64_t))
#define CLAIM_WORDS (sizeof(struct share_claim) / sizeof(uint64_t))
#define TRIES 1000

_Static_assert(sizeof(struct share_row) % sizeof(uint64_t) == 0, "a row is copied by words");
_Static_assert(sizeof(struct share_claim) % sizeof(uint64_t) == 0, "a claim is copied by words");

/* The first word says what the others are worth. */
static void share_store(void *target, const void *source, size_t count)
{
    shared_words_store((char *)target + sizeof(uint64_t), (const char *)source + sizeof(uint64_t),
                       count - 1);
}

static void share_load(void *target, const void *source, size_t count)
{
    shared_words_load((char *)target + sizeof(uint64_t), (const char *)source + sizeof(uint64_t),
                      count - 1);
}

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
    uint64_t sequence = row->sequence | 1; /* a writer that was killed has left it odd */

    __atomic_store_n(&row->sequence, sequence, __ATOMIC_RELAXED);
    share_store(row, from, WORDS);
    __atomic_store_n(&row->sequence, sequence + 1, __ATOMIC_RELEASE);
}

bool share_row_read(const struct share_row *row, struct share_row *copy)
{
    struct share_row found = {0};

    for (int tries = 0; tries < TRIES; tries++) {
        uint64_t before = __atomic_load_n(&row->sequence, __ATOMIC_ACQUIRE);

        share_load(&found, row, WORDS);
        found.sequence = __atomic_load_n(&row->sequence, __ATOMIC_RELAXED);
        if (found.sequence == before && before % 2 == 0) {
            *copy = found;
            return true;
        }
    }
    return false;
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
    share_store(place, claim, CLAIM_WORDS);
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
    share_load(claim, place, CLAIM_WORDS);
    return __atomic_load_n(&place->number, __ATOMIC_RELAXED) == number;
}
