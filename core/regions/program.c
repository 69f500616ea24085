/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/program.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "regions/message.h"

/* --- the connection with the sampler --------------------------------------------------------- */

static struct {
    bool open;
    int channel;
    dev_t device; /* of the socket: the program may have closed it and opened another file */
    ino_t inode;
    struct page_results *results; /* for reading only; NULL: none */
} link_now;

static bool link_is_ours(void)
{
    struct stat status;

    return link_now.open && fstat(link_now.channel, &status) == 0 &&
           status.st_dev == link_now.device && status.st_ino == link_now.inode;
}

/* Connect and hand the program page over. @param page  memfd of the page; -1: there is none */
static void link_open(int page)
{
    const char *live_page = secure_getenv(APAPI_LIVE_ENVIRONMENT);
    int channel = page >= 0 && live_page ? region_connect(live_page) : -1;
    struct region_message message;
    struct stat status;

    link_now.results = NULL;
    link_now.open = channel >= 0 && fstat(channel, &status) == 0;
    if (link_now.open) {
        link_now.channel = channel;
        link_now.device = status.st_dev;
        link_now.inode = status.st_ino;
        region_message_init(&message, REGION_REGISTER, NULL);
        region_send(channel, &message, page);
    }
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
    return page == MAP_FAILED || !page_results_valid(page) ? NULL : page;
}

const struct page_results *program_results(void)
{
    struct region_message message;
    int file, cancel;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    while (!link_now.results && link_is_ours() &&
           !region_receive(link_now.channel, &message, &file)) {
        if (file >= 0) {
            link_now.results = message.kind == REGION_RESULTS ? link_map(file) : NULL;
            close(file);
        }
    }
    pthread_setcancelstate(cancel, NULL);
    return link_now.results;
}

/* --- figures of merit ------------------------------------------------------------------------ */

static pthread_mutex_t foms_lock = PTHREAD_MUTEX_INITIALIZER;

int foms_set(const char *name, double value, const char *unit)
{
    struct page_program *page = program.page;
    struct page_fom fom = {.value = value};
    const double none = NAN;
    uint64_t at = 0;

    text_clean(fom.name, sizeof fom.name, name);
    text_clean(fom.unit, sizeof fom.unit, unit);
    pthread_mutex_lock(&foms_lock);
    while (at < page->head.fom_count && (strcmp(page->foms[at].name, fom.name) != 0 ||
                                         strcmp(page->foms[at].unit, fom.unit) != 0)) {
        at++;
    }
    for (uint64_t i = 0; at < APAPI_FOMS_MAX && i < page->head.fom_count; i++) {
        if (strcmp(page->foms[i].name, fom.name) == 0) {
            __atomic_store(&page->foms[i].value, i == at ? &value : &none, __ATOMIC_RELAXED);
        }
    }
    if (at < APAPI_FOMS_MAX && at == page->head.fom_count) {
        page->foms[at] = fom;
        __atomic_store_n(&page->head.fom_count, at + 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&foms_lock);
    if (at == APAPI_FOMS_MAX || !link_is_ours()) {
        errno = at == APAPI_FOMS_MAX ? ENOSPC : ENOTCONN;
        return -1;
    }
    return 0;
}

/* --- names ---------------------------------------------------------------------------------- */

#define INTERN_SIZE 256    /* of a name with its NUL; longer ones are cut */
#define INTERN_BUCKETS 512 /* a power of 2, twice the names */

/* An entry is complete, and counted, before a bucket has its number. It never changes. */
static struct {
    char name[INTERN_SIZE];
    char shown[PAGE_NAME_SIZE];
} intern_entries[INTERN_OTHER];
static uint8_t intern_buckets[INTERN_BUCKETS];
static uint32_t intern_count;
static pthread_mutex_t intern_lock = PTHREAD_MUTEX_INITIALIZER;

bool intern_is(uint32_t number, const char *name)
{
    return number == INTERN_OTHER ||
           strncmp(intern_entries[number].name, name, INTERN_SIZE - 1) == 0;
}

bool intern_knows(uint32_t number)
{
    return number == INTERN_OTHER ||
           (number > 0 && number <= __atomic_load_n(&intern_count, __ATOMIC_ACQUIRE));
}

const char *intern_shown(uint32_t number)
{
    return number == INTERN_OTHER ? "..." : intern_entries[number].shown;
}

/* @return number of the name; 0: the name is new, and belongs into *bucket. */
static uint32_t intern_find(const char *name, uint32_t *bucket)
{
    uint32_t hash = 2166136261u, number; /* FNV-1a */

    for (size_t i = 0; i < INTERN_SIZE - 1 && name[i]; i++) {
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    }
    for (*bucket = (hash ^ hash >> 15) % INTERN_BUCKETS;;
         *bucket = (*bucket + 1) % INTERN_BUCKETS) {
        number = __atomic_load_n(&intern_buckets[*bucket], __ATOMIC_ACQUIRE);
        if (number == 0 || intern_is(number, name)) {
            return number;
        }
    }
}

uint32_t intern_name(const char *name)
{
    uint32_t bucket, number = intern_find(name, &bucket);

    if (number == 0 && __atomic_load_n(&intern_count, __ATOMIC_ACQUIRE) < INTERN_OTHER - 1) {
        pthread_mutex_lock(&intern_lock);
        number = intern_find(name, &bucket);
        if (number == 0 && intern_count < INTERN_OTHER - 1) {
            number = intern_count + 1;
            memcpy(intern_entries[number].name, name, strnlen(name, INTERN_SIZE - 1));
            page_show_name(intern_entries[number].shown, intern_entries[number].name);
            __atomic_store_n(&intern_count, number, __ATOMIC_RELEASE);
            __atomic_store_n(&intern_buckets[bucket], (uint8_t)number, __ATOMIC_RELEASE);
        }
        pthread_mutex_unlock(&intern_lock);
    }
    return number ? number : INTERN_OTHER;
}

/* --- nodes ---------------------------------------------------------------------------------- */

uint8_t tree_children[PAGE_NODES][INTERN_NAMES];
static uint8_t tree_names[PAGE_NODES]; /* name of each node, set before the node is known */
static pthread_mutex_t tree_lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t tree_add(struct page_program *page, uint32_t parent, uint32_t number)
{
    uint32_t node = page->head.node_count;

    if (node >= PAGE_REST || parent == PAGE_REST || number == INTERN_OTHER) {
        return PAGE_REST;
    }
    page->nodes[node].parent = parent;
    memcpy(page->nodes[node].name, intern_shown(number), strlen(intern_shown(number)) + 1);
    tree_names[node] = (uint8_t)number;
    __atomic_store_n(&page->head.node_count, node + 1, __ATOMIC_RELEASE);
    return node;
}

uint32_t tree_node(uint32_t parent, uint32_t number)
{
    uint32_t node;

    pthread_mutex_lock(&tree_lock);
    node = tree_children[parent][number];
    if (node == 0) {
        node = tree_add(program.page, parent, number);
        __atomic_store_n(&tree_children[parent][number], (uint8_t)node, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&tree_lock);
    return node;
}

uint32_t tree_name(uint32_t node)
{
    return node == PAGE_REST ? INTERN_OTHER : tree_names[node];
}

bool tree_has(uint32_t node, uint32_t number)
{
    while (node != 0 && tree_name(node) != number) {
        node = program.page->nodes[node].parent;
    }
    return node != 0;
}

/* --- the process ---------------------------------------------------------------------------- */

struct program program;
static pthread_mutex_t program_lock = PTHREAD_MUTEX_INITIALIZER;
static bool program_wanted; /* keep regions even without a live page */

/* @return a memfd of the page's size; -1: none. */
static int program_file(void)
{
    struct rlimit limit;
    int file;

    /* a file larger than the limit would raise SIGXFSZ in the program */
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur < sizeof(struct page_program)) {
        return -1;
    }
    file = memfd_create("apapi-regions", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file >= 0 && ftruncate(file, sizeof(struct page_program))) {
        close(file);
        return -1;
    }
    return file;
}

/* The page is kept even without a sampler: what LIKWID's functions return comes from the page. */
static bool program_open(void)
{
    int file = program.live ? program_file() : -1;
    struct page_program *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE,
                                     file >= 0 ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS, file, 0);

    if (page != MAP_FAILED) {
        program.page = page;
        program.clock = ticks_choose();
        program.start = ticks_moment_now(program.clock);
        memcpy(page->head.magic, PAGE_MAGIC, sizeof page->head.magic);
        page->head.version = PAGE_VERSION;
        page->head.size = sizeof *page;
        page->head.pid = (uint32_t)getpid();
        page->head.clock = program.clock;
        page->head.start_ticks = program.start.ticks;
        page->head.start_ns = program.start.ns;
        page->head.node_count = 1;
        link_open(file >= 0 && region_seal(file) == 0 ? file : -1);
    }
    if (file >= 0) {
        close(file);
    }
    return page != MAP_FAILED;
}

bool program_start(void)
{
    enum program_state state = __atomic_load_n(&program.state, __ATOMIC_ACQUIRE);
    int cancel;

    if (state != PROGRAM_NEW) {
        return state == PROGRAM_ON;
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pthread_mutex_lock(&program_lock);
    state = program.state;
    if (state == PROGRAM_NEW) {
        program.live = apapi_live_open(NULL, NULL);
        state = (program.live || program_wanted) && program_open() ? PROGRAM_ON : PROGRAM_OFF;
        __atomic_store_n(&program.state, state, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&program_lock);
    pthread_setcancelstate(cancel, NULL);
    return state == PROGRAM_ON;
}

void program_want(void)
{
    pthread_mutex_lock(&program_lock);
    program_wanted = true;
    if (program.state == PROGRAM_OFF) {
        __atomic_store_n(&program.state, PROGRAM_NEW, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&program_lock);
}

/* Locks may have been held during the fork. The page and the connection belong to the parent. */
void program_forget(void)
{
    pthread_mutex_init(&program_lock, NULL);
    pthread_mutex_init(&intern_lock, NULL);
    pthread_mutex_init(&tree_lock, NULL);
    pthread_mutex_init(&foms_lock, NULL);
    if (program.state == PROGRAM_ON) {
        munmap(program.page, sizeof *program.page);
        apapi_live_close(program.live);
        if (link_is_ours()) {
            close(link_now.channel);
        }
        if (link_now.results) {
            munmap(link_now.results, sizeof *link_now.results);
        }
        link_now.open = false;
        link_now.results = NULL;
        memset(tree_children, 0, sizeof tree_children);
        program.state = PROGRAM_NEW;
    }
}
