/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECORD_SHARE_H
#define RECORD_SHARE_H
#include <jansson.h>

#include "apapi/share_result.h"
#include "base/json.h"
#include "record/fields.h"

/** Add "share" to a record that has one, or a reason for none. 0; -1: out of memory. */
int share_encode(json_t *root, const struct apapi_share *share);

/** @return the same as an object; NULL: out of memory. */
json_t *share_object(const struct apapi_share *share);

/** Read the value of "share"; NULL: there is none. 0; -1 with EINVAL and path->err. */
int share_decode(const struct tree_node *object, struct apapi_share *share,
                 const struct field_path *path);

/** Read it from its JSON, as share_object() writes it. 0; -1 with EINVAL, ENOMEM. */
int share_parse(const char *text, size_t size, struct apapi_share *share);

#endif
