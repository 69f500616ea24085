/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/papi/papi_library.h"

#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/thread.h"
#include "sources/papi/papi_faults.h"
#include "sources/sources.h"

#define WANTED_MAX 32
#define UNFINISHED_MAX 32

static struct papi_library library;
static void *handle;
static int users;
static bool started;
static bool unusable; /* PAPI called exit() while it was started or shut down */
static char wanted[WANTED_MAX][PAPI_MAX_STR_LEN];
static size_t wanted_count;
static bool outdated; /* PAPI lacks a wanted component, or its last use ended in disorder */
static int unfinished[UNFINISHED_MAX]; /* event sets that could not be destroyed */
static size_t unfinished_count;

static const struct library_symbol symbols[] = {
#define FUNCTION(name) LIBRARY_SYMBOL("PAPI_" #name, struct papi_library, name),
    PAPI_LIBRARY_FUNCTIONS(FUNCTION)
#undef FUNCTION
        {NULL, 0}};

/* Library of a site's own PAPI, or the one of this build. */
static const char *library_name(void)
{
    const char *name = source_setting("papi", "library");

    return name && *name ? name : APAPI_PAPI_LIBRARY;
}

/* --- what libpapi calls instead of the functions of libc -------------------------------------- */

static _Thread_local jmp_buf *way_back; /* NULL: no guarded call into PAPI */
static _Thread_local int exit_status;

int papi_exit_guard(int (*call)(void *context), void *context)
{
    jmp_buf here;
    jmp_buf *const outer = way_back;
    int result = PAPI_EXITED;

    if (setjmp(here) == 0) {
        way_back = &here;
        result = call(context);
    }
    way_back = outer;
    return result;
}

int papi_exit_status(void)
{
    return exit_status;
}

static _Noreturn void caught_exit(int status)
{
    if (way_back) {
        exit_status = status;
        longjmp(*way_back, 1);
    }
    exit(status);
}

static _Noreturn void caught_err(int status, const char *format, ...)
{
    va_list values;

    if (!way_back) {
        va_start(values, format);
        vwarn(format, values);
        va_end(values);
    }
    caught_exit(status);
}

static bool is_silent(const FILE *stream)
{
    return way_back && (stream == stdout || stream == stderr);
}

static void caught_perror(const char *text)
{
    if (!way_back) {
        perror(text);
    }
}

__attribute__((format(printf, 2, 0))) static int caught_vfprintf(FILE *stream, const char *format,
                                                                 va_list values)
{
    return is_silent(stream) ? 0 : vfprintf(stream, format, values);
}

__attribute__((format(printf, 2, 3))) static int caught_fprintf(FILE *stream, const char *format,
                                                                ...)
{
    va_list values;
    int result;

    va_start(values, format);
    result = caught_vfprintf(stream, format, values);
    va_end(values);
    return result;
}

/* fprintf() and vfprintf() have these names if the compiler checks buffers. */
__attribute__((format(printf, 3, 0))) static int
caught_vfprintf_chk(FILE *stream, int flag, const char *format, va_list values)
{
    (void)flag;
    return caught_vfprintf(stream, format, values);
}

__attribute__((format(printf, 3, 4))) static int caught_fprintf_chk(FILE *stream, int flag,
                                                                    const char *format, ...)
{
    va_list values;
    int result;

    (void)flag;
    va_start(values, format);
    result = caught_vfprintf(stream, format, values);
    va_end(values);
    return result;
}

static size_t caught_fwrite(const void *items, size_t size, size_t count, FILE *stream)
{
    return is_silent(stream) ? count : fwrite(items, size, count, stream);
}

static int caught_fputc(int letter, FILE *stream)
{
    return is_silent(stream) ? letter : fputc(letter, stream);
}

static int caught_putchar(int letter)
{
    return caught_fputc(letter, stdout);
}

static int caught_puts(const char *text)
{
    return way_back ? 0 : puts(text);
}

typedef void (*papi_function_f)(void);

static const struct replacement {
    const char *name;
    papi_function_f ours;
} replacements[] = {
    {"exit", (papi_function_f)caught_exit},
    {"err", (papi_function_f)caught_err},
    {"perror", (papi_function_f)caught_perror},
    {"fprintf", (papi_function_f)caught_fprintf},
    {"vfprintf", (papi_function_f)caught_vfprintf},
    {"__fprintf_chk", (papi_function_f)caught_fprintf_chk},
    {"__vfprintf_chk", (papi_function_f)caught_vfprintf_chk},
    {"fwrite", (papi_function_f)caught_fwrite},
    {"fputc", (papi_function_f)caught_fputc},
    {"putc", (papi_function_f)caught_fputc}, /* putchar() calls it where it is inlined */
    {"putchar", (papi_function_f)caught_putchar},
    {"puts", (papi_function_f)caught_puts},
};

/* --- slots of other libraries' functions ------------------------------------------------------ */

/* libpapi, as the loader's data describe it. */
struct image {
    const struct link_map *map;
    const ElfW(Sym) * symbols;
    const char *names;
    struct relocations { /* slots that hold addresses of other libraries' functions */
        const ElfW(Rela) * first;
        size_t size; /* [bytes] */
    } calls, data;
    uintptr_t sealed, sealed_behind; /* made read-only after all addresses were known */
};

/* On some architectures the loader leaves file offsets in the table. */
static void *address_of(const struct link_map *map, ElfW(Addr) value)
{
    uintptr_t address = value < map->l_addr ? map->l_addr + value : value;

    return (void *)address; // NOLINT(performance-no-int-to-ptr): the loader's format
}

static int note_sealed(struct dl_phdr_info *info, size_t size, void *context)
{
    struct image *image = context;

    (void)size;
    for (int i = 0; info->dlpi_addr == image->map->l_addr && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_GNU_RELRO) {
            image->sealed = info->dlpi_addr + part->p_vaddr;
            image->sealed_behind = image->sealed + part->p_memsz;
        }
    }
    return 0;
}

static void look_at(struct image *image)
{
    for (const ElfW(Dyn) *entry = image->map->l_ld; entry->d_tag != DT_NULL; entry++) {
        const void *address = address_of(image->map, entry->d_un.d_ptr);

        switch (entry->d_tag) {
        case DT_SYMTAB:
            image->symbols = address;
            break;
        case DT_STRTAB:
            image->names = address;
            break;
        case DT_JMPREL:
            image->calls.first = address;
            break;
        case DT_PLTRELSZ:
            image->calls.size = entry->d_un.d_val;
            break;
        case DT_RELA:
            image->data.first = address;
            break;
        case DT_RELASZ:
            image->data.size = entry->d_un.d_val;
            break;
        default:
            break;
        }
    }
    dl_iterate_phdr(note_sealed, image);
}

/* @return NULL: the slot is for something else. */
static const struct replacement *replacement_for(const struct image *image,
                                                 const ElfW(Rela) * relocation)
{
    const ElfW(Sym) *symbol = &image->symbols[(uint64_t)relocation->r_info >> 32];

    for (size_t i = 0; symbol->st_shndx == SHN_UNDEF && i < COUNT_OF(replacements); i++) {
        if (strcmp(image->names + symbol->st_name, replacements[i].name) == 0) {
            return &replacements[i];
        }
    }
    return NULL;
}

static int set_slot(const struct image *image, papi_function_f *slot, papi_function_f ours)
{
    uintptr_t address = (uintptr_t)slot, page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    bool sealed = address >= image->sealed && address < image->sealed_behind;
    void *page = (char *)slot - address % page_size;

    if (sealed && mprotect(page, page_size, PROT_READ | PROT_WRITE)) {
        return -1;
    }
    *slot = ours;
    return sealed ? mprotect(page, page_size, PROT_READ) : 0;
}

static int replace(const struct image *image, const struct relocations *table,
                   struct apapi_error *err)
{
    for (size_t i = 0; i < table->size / sizeof *table->first; i++) {
        const struct replacement *replacement = replacement_for(image, &table->first[i]);
        papi_function_f *slot = address_of(image->map, table->first[i].r_offset);
        const void *theirs = replacement ? dlsym(handle, replacement->name) : NULL;

        /* data may hold an address with an offset; the slot of a call may not be resolved yet */
        if (replacement && (table == &image->calls || memcmp(slot, &theirs, sizeof theirs) == 0) &&
            set_slot(image, slot, replacement->ours)) {
            return apapi_fail(err, ENOTSUP, "PAPI's calls of %s() cannot be caught: %s",
                              replacement->name, strerror(errno));
        }
    }
    return 0;
}

/*
 * Make libpapi call the replacements wherever it calls, or holds the address of, such a function.
 * Calls of other libraries stay unchanged.
 */
static int catch_calls(struct apapi_error *err)
{
    struct image image = {0};

    if (__ELF_NATIVE_CLASS != 64) { /* tables of 32 bits have other entries */
        return apapi_fail(err, ENOTSUP, "PAPI's calls can be caught in programs of 64 bits only");
    }
    if (dlinfo(handle, RTLD_DI_LINKMAP, &image.map)) {
        return apapi_fail(err, ENOTSUP, "PAPI's calls cannot be caught: %s", dlerror());
    }
    look_at(&image);
    return replace(&image, &image.calls, err) || replace(&image, &image.data, err) ? -1 : 0;
}

/* --- start and end ---------------------------------------------------------------------------- */

const struct papi_library *papi_library_load(struct apapi_error *err)
{
    /* A program may have its own PAPI, which ours must not use. A sanitizer ends the program. */
    bool deep = !dlsym(RTLD_DEFAULT, "__sanitizer_print_stack_trace");
    int flags = RTLD_NOW | RTLD_LOCAL | (deep ? RTLD_DEEPBIND : 0);
    struct apapi_error why;

    if (handle) {
        return &library;
    }
    handle = shared_library_open(library_name(), flags, symbols, &library, &why);
    if (!handle) {
        apapi_fail(err, ENOSYS, "%s%s", errno == ENOENT ? "no PAPI: " : "", why.text);
    } else if (catch_calls(err)) {
        dlclose(handle);
        handle = NULL;
    }
    return handle ? &library : NULL;
}

static bool is_called(const PAPI_component_info_t *info, const char *component)
{
    return info && (strcmp(info->name, component) == 0 || strcmp(info->short_name, component) == 0);
}

int papi_library_find(const char *component)
{
    for (int i = 0; i < library.num_components(); i++) {
        if (is_called(library.get_component_info(i), component)) {
            return i;
        }
    }
    return -1;
}

void papi_library_want(const char *component)
{
    for (size_t i = 0; i < wanted_count; i++) {
        if (strcmp(wanted[i], component) == 0) {
            return;
        }
    }
    if (wanted_count < WANTED_MAX && strlen(component) < sizeof *wanted) {
        strcpy(wanted[wanted_count++], component);
        outdated = true;
    }
}

static void disable_unwanted(void)
{
    for (int i = 0; i < library.num_components(); i++) {
        const PAPI_component_info_t *info = library.get_component_info(i);
        bool is_wanted = false;

        for (size_t w = 0; w < wanted_count; w++) {
            is_wanted |= is_called(info, wanted[w]);
        }
        if (info && (!is_wanted || papi_check_needs(info->name, NULL))) {
            library.disable_component(i);
        }
    }
}

/* Destroy an event set. Stopping reads it once more; if that would end the process, it stays. */
static int give_back(void *context)
{
    int set = *(const int *)context;

    library.stop(set, NULL);
    library.cleanup_eventset(set);
    library.destroy_eventset(&set);
    return 0;
}

static void finish_rest(void)
{
    size_t kept = 0;

    for (size_t i = 0; i < unfinished_count; i++) {
        if (papi_exit_guard(give_back, &unfinished[i]) == PAPI_EXITED) {
            unfinished[kept++] = unfinished[i];
        }
    }
    unfinished_count = kept;
}

static int initialize(struct apapi_error *err)
{
    int version;

    if (unusable) {
        return apapi_fail(err, ENOSYS, "%s cannot be started again in this process",
                          papi_library_version());
    }
    if (unfinished_count > 0) { /* a shutdown would stop it once more */
        return apapi_fail(err, EIO, "%s cannot stop its latest measurement",
                          papi_library_version());
    }
    unusable = true; /* until all of this has returned */
    if (started) {
        struct sigaction profiling; /* PAPI sets SIGPROF to be ignored */

        sigaction(SIGPROF, NULL, &profiling);
        library.shutdown();
        sigaction(SIGPROF, &profiling, NULL);
    }
    disable_unwanted();
    version = library.library_init(PAPI_VER_CURRENT);
    unusable = false;
    started = version == PAPI_VER_CURRENT;
    outdated = false;
    if (started) {
        library.thread_init(pthread_self);
    }
    return started ? 0
                   : apapi_fail(err, ENOSYS, "%s does not start: %s", papi_library_version(),
                                version > 0 ? "another version is installed"
                                            : library.strerror(version));
}

int papi_library_enter(const char *component, struct apapi_error *err)
{
    int index = papi_library_find(component), code = PAPI_NATIVE_MASK;
    const PAPI_component_info_t *info;
    const char *reason;

    if (index < 0) {
        return apapi_fail(err, ENOENT, "%s has no component '%s'", papi_library_version(),
                          component);
    }
    info = library.get_component_info(index);
    if (papi_check_needs(info->name, err)) {
        return -1;
    }
    papi_library_want(component);
    finish_rest();
    if ((!started || (users == 0 && outdated)) && initialize(err)) {
        return -1;
    }
    library.register_thread(); /* needed once, and again in a child of fork() */
    info = library.get_component_info(index);
    if (info->disabled == PAPI_EDELAY_INIT) { /* it looks for its hardware when asked */
        library.enum_cmp_event(&code, PAPI_ENUM_FIRST, index);
        info = library.get_component_info(index);
    }
    if (info->disabled) { /* components cannot be enabled later */
        reason = *info->disabled_reason ? info->disabled_reason : "no reason given";
        return apapi_fail(err, strcasestr(reason, "permission") ? EACCES : ENODEV,
                          "PAPI's %s is disabled: %.140s", component, reason);
    }
    users++;
    return 0;
}

void papi_library_leave(int set)
{
    if (set != PAPI_NULL && papi_exit_guard(give_back, &set) == PAPI_EXITED) {
        outdated = true;
        if (unfinished_count < UNFINISHED_MAX) {
            unfinished[unfinished_count++] = set;
        }
    }
    users--;
}

void papi_library_abandon(void)
{
    outdated = true;
    users--;
}

const char *papi_library_version(void)
{
    static char text[32];

    snprintf(text, sizeof text, "PAPI %d.%d.%d", PAPI_VERSION_MAJOR(PAPI_VERSION),
             PAPI_VERSION_MINOR(PAPI_VERSION), PAPI_VERSION_REVISION(PAPI_VERSION));
    return text;
}

/* --- PAPI's thread ---------------------------------------------------------------------------- */

static pthread_mutex_t thread_lock = PTHREAD_MUTEX_INITIALIZER; /* protects everything below */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool running;

static enum state { FREE, ASKED, ANSWERED } state;
static int (*asked)(void *context);
static void *asked_with;
static int result, result_errno;

/* Run PAPI's thread. Hold the lock except during calls. */
static _Noreturn void *serve(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&thread_lock);
    for (;;) {
        while (state != ASKED) {
            pthread_cond_wait(&changed, &thread_lock);
        }
        pthread_mutex_unlock(&thread_lock);
        result = papi_exit_guard(asked, asked_with);
        result_errno = errno;
        pthread_mutex_lock(&thread_lock);
        state = ANSWERED;
        pthread_cond_broadcast(&changed);
    }
}

/* A child of fork() has only the thread that called fork(). */
static void forget_parent(void)
{
    const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;
    const pthread_cond_t unused = PTHREAD_COND_INITIALIZER;

    thread_lock = unlocked;
    changed = unused;
    running = false;
    state = FREE;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget_parent);
}

static int start_thread(struct apapi_error *err)
{
    pthread_t thread;

    if (running) {
        return 0;
    }
    if (thread_start(&thread, serve, NULL)) {
        return apapi_fail(err, EAGAIN, "a thread for PAPI cannot be started: %s", strerror(errno));
    }
    pthread_detach(thread);
    running = true;
    return 0;
}

int papi_thread_call(int (*call)(void *context), void *context, struct apapi_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int value = -1, error;

    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&thread_lock);
    while (state != FREE) {
        pthread_cond_wait(&changed, &thread_lock);
    }
    if (start_thread(err)) {
        error = errno;
    } else {
        asked = call;
        asked_with = context;
        state = ASKED;
        pthread_cond_broadcast(&changed);
        while (state != ANSWERED) {
            pthread_cond_wait(&changed, &thread_lock);
        }
        state = FREE;
        pthread_cond_broadcast(&changed);
        value = result;
        error = result_errno;
    }
    pthread_mutex_unlock(&thread_lock);
    errno = error;
    return value;
}
