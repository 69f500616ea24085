/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled programs know these sizes and offsets. */
#include <stddef.h>

#include "ms_common/interface.h"

#define MS_STRUCT(tag, bytes)                                                                      \
    _Static_assert(sizeof(struct tag) == (bytes), #tag " has another size");
#define MS_MEMBER(tag, offset, bytes, type, name, dimensions)                                      \
    _Static_assert(offsetof(struct tag, name) == (offset) &&                                       \
                       sizeof(((struct tag *)NULL)->name) == (bytes),                              \
                   #tag "." #name " lies elsewhere");
#define MS_END(tag)
#include "ms_common/structs.def"
