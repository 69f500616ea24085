/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/papi/papi_slots.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum form { CALLS, RELA, REL, FORMS };

/* A loaded library in the loader's data. */
struct image {
    const struct link_map *map;
    const ElfW(Sym) * symbols;
    const char *names;
    struct relocations { /* slots that hold addresses of other libraries' functions */
        const char *first;
        size_t size, step;
    } tables[FORMS];
    uintptr_t sealed, sealed_behind; /* made read-only after all addresses were known */
};

struct change {
    const char *name;
    const void *theirs; /* the original address of the function */
    papi_function_f ours;
};

/* On some architectures the loader leaves file offsets in the table. */
static void *address_of(const struct link_map *map, ElfW(Addr) value)
{
    uintptr_t address = value < map->l_addr ? map->l_addr + value : value;

    return (void *)address; // NOLINT(performance-no-int-to-ptr): the loader's format
}

static void note_entry(struct image *image, const ElfW(Dyn) * entry)
{
    struct relocations *tables = image->tables;
    const void *address = address_of(image->map, entry->d_un.d_ptr);
    size_t size = entry->d_un.d_val;

    switch (entry->d_tag) {
    case DT_SYMTAB:
        image->symbols = address;
        break;
    case DT_STRTAB:
        image->names = address;
        break;
    case DT_JMPREL:
        tables[CALLS].first = address;
        break;
    case DT_PLTRELSZ:
        tables[CALLS].size = size;
        break;
    case DT_PLTREL:
        tables[CALLS].step = size == DT_RELA ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel));
        break;
    case DT_RELA:
        tables[RELA].first = address;
        break;
    case DT_RELASZ:
        tables[RELA].size = size;
        break;
    case DT_REL:
        tables[REL].first = address;
        break;
    case DT_RELSZ:
        tables[REL].size = size;
        break;
    default:
        break;
    }
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

static int papi_slots_look_at(void *handle, struct image *image)
{
    image->tables[RELA].step = sizeof(ElfW(Rela));
    image->tables[REL].step = sizeof(ElfW(Rel));
    if (dlinfo(handle, RTLD_DI_LINKMAP, &image->map)) {
        errno = ENOTSUP;
        return -1;
    }
    for (const ElfW(Dyn) *entry = image->map->l_ld; entry->d_tag != DT_NULL; entry++) {
        note_entry(image, entry);
    }
    dl_iterate_phdr(note_sealed, image);
    return 0;
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

/* Whether this is the relocation of another library's function of this name. */
static bool papi_slots_is_of(const struct image *image, const ElfW(Rel) * relocation,
                             const char *name)
{
    size_t number = __ELF_NATIVE_CLASS == 64 ? relocation->r_info >> 32 : relocation->r_info >> 8;
    const ElfW(Sym) *symbol = &image->symbols[number];

    return number > 0 && symbol->st_shndx == SHN_UNDEF &&
           strcmp(image->names + symbol->st_name, name) == 0;
}

/* @return number of slots that were set; -1. */
static int set_in(const struct image *image, enum form form, const struct change *change)
{
    const struct relocations *table = &image->tables[form];
    int count = 0;

    for (size_t at = 0; table->first && at < table->size; at += table->step) {
        /* both forms begin like this */
        const ElfW(Rel) *relocation = (const void *)(table->first + at);
        papi_function_f *slot = address_of(image->map, relocation->r_offset);

        /* data may hold an address with an offset; the slot of a call may not be resolved yet */
        if (!papi_slots_is_of(image, relocation, change->name) ||
            (form != CALLS && memcmp(slot, &change->theirs, sizeof *slot) != 0)) {
            continue;
        }
        if (set_slot(image, slot, change->ours)) {
            return -1;
        }
        count++;
    }
    return count;
}

int papi_slots_set(void *handle, const char *name, papi_function_f ours)
{
    const struct change change = {name, dlsym(handle, name), ours};
    struct image image = {0};
    int count = 0;

    if (papi_slots_look_at(handle, &image)) {
        return -1;
    }
    for (enum form form = CALLS; form < FORMS; form++) {
        int set = set_in(&image, form, &change);

        if (set < 0) {
            return -1;
        }
        count += set;
    }
    return count;
}
