/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/page.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/kernel_file.h"
#include "base/shared_page.h"
#include "base/text.h"

#define NAME_MOST 256  /* bytes of a name that are used, with its NUL */
#define NAME_TAIL 45   /* bytes that a long name keeps of its end */
#define NAME_MIDDLE 14 /* "...", a hash of all of it, which tells long names apart, and "..." */
#define PAGE_TRIES 4   /* a thread that changes its region at each try has just entered a region */

_Static_assert(sizeof(struct page_head) == 4096, "the head is one page of memory");
_Static_assert(sizeof(struct page_node) == 128, "a node is two cache lines");
_Static_assert(offsetof(struct page_program, slots) % 64 == 0, "slots are whole cache lines");
_Static_assert(sizeof(struct page_slot) % 64 == 0, "two threads share no cache line");
_Static_assert(sizeof(struct page_results) % 64 == 0, "results are whole cache lines");

#define page_load(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define page_load_first(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)

const char *page_problem(const struct page_program *page)
{
    const struct page_head *head = &page->head;

    if (memcmp(head->magic, PAGE_MAGIC, sizeof head->magic) != 0) {
        return "is no page of regions";
    }
    if (head->version != PAGE_VERSION || head->size != sizeof *page) {
        return "is of another version";
    }
    return head->clock < PAGE_CLOCKS ? NULL : "has an unknown clock";
}

bool page_results_valid(const struct page_results *page)
{
    return memcmp(page->magic, PAGE_RESULT_MAGIC, sizeof page->magic) == 0 &&
           page->version == PAGE_VERSION && page->size == sizeof *page;
}

uint32_t page_node_count(const struct page_program *page)
{
    uint32_t count = page_load_first(page->head.node_count);

    return count < 1 ? 1 : count > PAGE_REST ? PAGE_REST : count;
}

uint32_t page_thread_count(const struct page_program *page)
{
    uint32_t count = page_load_first(page->head.thread_count);

    return count > PAGE_THREADS ? PAGE_THREADS : count;
}

/* Write the next character, or byte, of a name to `shown`. @return bytes of the name it takes. */
static size_t show_next(char shown[8], const char *name)
{
    uint32_t character;
    size_t length;
    char clean[8];

    /* most names have only such characters; the first call of a program must not take long */
    if (*name >= ' ' && *name <= '~' && *name != '/' && *name != '\\') {
        shown[0] = *name;
        shown[1] = '\0';
        return 1;
    }
    length = text_character(name, &character);
    if (length > 1) {
        snprintf(shown, 8, "%.*s", (int)length, name);
        text_clean(clean, sizeof clean, shown);
        if (strcmp(shown, clean) == 0) {
            return length;
        }
    }
    snprintf(shown, 8, "\\x%02X", (unsigned char)*name);
    return 1;
}

void page_show_name(char shown[PAGE_NAME_SIZE], const char *name)
{
    char whole[NAME_MOST * 4 + 8] = "", next[8];
    size_t length = 0, head = 0, tail;

    for (size_t i = 0; i < NAME_MOST - 1 && name[i] && length + sizeof next < sizeof whole;) {
        i += show_next(next, name + i);
        memcpy(whole + length, next, strlen(next) + 1);
        length += strlen(next);
        head = length < PAGE_NAME_SIZE - NAME_TAIL - NAME_MIDDLE ? length : head;
    }
    if (length == 0) {
        strcpy(shown, "\"\"");
    } else if (length < PAGE_NAME_SIZE) {
        memcpy(shown, whole, length + 1);
    } else {
        tail = length - NAME_TAIL;
        while ((whole[tail] & 0xC0) == 0x80) { /* not the first byte of a character */
            tail++;
        }
        snprintf(shown, PAGE_NAME_SIZE, "%.*s...%08x...%.*s", (int)head, whole,
                 (unsigned)text_hash(whole), NAME_TAIL, whole + tail);
    }
}

static void clean_name(char clean[PAGE_NAME_SIZE], const char *name)
{
    text_clean(clean, PAGE_NAME_SIZE, name);
    for (; *clean; clean++) {
        *clean = *clean == '/' ? '?' : *clean;
    }
}

/* The program may change the name at any time: the name is copied once, and the copy is checked. */
bool page_node(const struct page_program *page, uint32_t node, struct page_node_copy *copy)
{
    char name[PAGE_NAME_SIZE];

    copy->parent = page_load(page->nodes[node].parent);
    if (node > 0 && copy->parent >= node) {
        return false;
    }
    memcpy(name, page->nodes[node].name, sizeof name);
    name[sizeof name - 1] = '\0';
    clean_name(copy->name, name);
    return true;
}

size_t page_fom_count(const struct page_program *page)
{
    uint64_t count = page_load_first(page->head.fom_count);

    return count > APAPI_FOMS_MAX ? APAPI_FOMS_MAX : (size_t)count;
}

bool page_fom(const struct page_program *page, size_t number, struct apapi_fom *copy)
{
    const struct page_fom *row = &page->foms[number];
    char name[sizeof row->name], unit[sizeof row->unit];

    *copy = (struct apapi_fom){.programs = 1};
    __atomic_load(&row->value, &copy->value, __ATOMIC_RELAXED);
    memcpy(name, row->name, sizeof name);
    memcpy(unit, row->unit, sizeof unit);
    name[sizeof name - 1] = unit[sizeof unit - 1] = '\0';
    text_clean(copy->name, sizeof copy->name, name);
    text_clean(copy->unit, sizeof copy->unit, unit);
    return isfinite(copy->value) && *copy->name;
}

/* Read the current node and its own time. @return whether the two belong together. */
static bool page_slot_now(const struct page_slot *slot, uint64_t now, struct page_slot_copy *copy)
{
    for (int tries = 0; tries < PAGE_TRIES; tries++) {
        uint64_t before = page_load_first(slot->sequence);
        uint32_t current = page_load_first(slot->current);
        uint64_t entered = page_load_first(slot->entered);
        uint64_t own = current < PAGE_NODES ? page_load_first(slot->own[current]) : 0;

        if (page_load(slot->sequence) == before && before % 2 == 0) {
            copy->current = current < PAGE_NODES ? current : PAGE_NO_NODE;
            if (current < PAGE_NODES) {
                copy->own[current] = own + (now > entered ? now - entered : 0);
            }
            return true;
        }
    }
    return false;
}

bool page_slot(const struct page_program *page, uint32_t slot, uint32_t node_count, uint64_t now,
               struct page_slot_copy *copy)
{
    const struct page_slot *from = &page->slots[slot];
    uint64_t first = page_load_first(from->sequence);

    if (!page_slot_now(from, now, copy)) {
        if (page_load_first(from->sequence) / 2 == first / 2) { /* no change was completed */
            return false;
        }
        copy->current = PAGE_NO_NODE; /* earlier nodes are complete, the current one is new */
    }
    for (uint32_t node = 0; node < node_count; node++) {
        if (node != copy->current) {
            copy->own[node] = page_load(from->own[node]);
        }
    }
    if (copy->current != PAGE_REST) {
        copy->own[PAGE_REST] = page_load(from->own[PAGE_REST]);
    }
    return true;
}

uint64_t page_slot_count(const struct page_program *page, uint32_t slot, uint32_t node)
{
    return page_load(page->slots[slot].counts[node]);
}

void page_results_init(struct page_results *page)
{
    memcpy(page->magic, PAGE_RESULT_MAGIC, sizeof page->magic);
    page->version = PAGE_VERSION;
    page->size = sizeof *page;
}

bool page_result_read(const struct page_result *row, struct page_result *copy)
{
    return __atomic_load_n(&row->sequence, __ATOMIC_ACQUIRE) != 0 &&
           shared_record_read(row, copy, sizeof *row);
}

/*
 * The kernel uses the processor's counter as its clock only if the counter is the same on all
 * processors. A process may have asked for a signal when it reads the counter (PR_SET_TSC).
 */
enum page_clock ticks_choose(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
    char source[32];
#if defined(__x86_64__)
    int mode = 0;

    if (prctl(PR_GET_TSC, &mode) == 0 && mode != PR_TSC_ENABLE) {
        return PAGE_CLOCK_MONOTONIC;
    }
#define TICKS_SOURCE "tsc"
#else
#define TICKS_SOURCE "arch_sys_counter"
#endif
    if (kernel_file_read_word_at(AT_FDCWD,
                                 "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                                 source, sizeof source) == 0 &&
        strcmp(source, TICKS_SOURCE) == 0) {
        return PAGE_CLOCK_CPU;
    }
#endif
    return PAGE_CLOCK_MONOTONIC;
}

/* Read the time between two readings of the counter, four times; the closest pair is used. */
struct ticks_moment ticks_moment_now(enum page_clock clock)
{
    struct ticks_moment best = {0, 0};
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < 4; i++) {
        uint64_t before = ticks_now(clock), ns = clock_monotonic_ns(), after = ticks_now(clock);

        if (after - before < least) {
            least = after - before;
            best = (struct ticks_moment){before + (after - before) / 2, ns};
        }
    }
    return best;
}

double ticks_length_ns(enum page_clock clock, struct ticks_moment first, struct ticks_moment last)
{
    if (clock == PAGE_CLOCK_MONOTONIC || last.ticks <= first.ticks || last.ns <= first.ns) {
        return 1;
    }
    return (double)(last.ns - first.ns) / (double)(last.ticks - first.ticks);
}
