/* SPDX-License-Identifier: BSD-3-Clause */
#include "user.h"

#include <pwd.h>
#include <stdio.h>

#include "child.h"

int spank_apapi_user_name(uid_t uid, char name[SPANK_APAPI_USER_SIZE])
{
    struct passwd entry, *found = NULL;
    char text[4096];

    name[0] = '\0';
    if (getpwuid_r(uid, &entry, text, sizeof text, &found) == 0 && found) {
        snprintf(name, SPANK_APAPI_USER_SIZE, "%s", found->pw_name);
    }
    return name[0] ? 0 : -1;
}

int spank_apapi_user_ask(const char *libexec_dir, uid_t uid, uint64_t deadline_ns,
                         struct message *message, char name[SPANK_APAPI_USER_SIZE])
{
    const struct spank_apapi_program program = {
        .dir = libexec_dir, .name = "apapi-sampler", .listener = -1};
    struct spank_apapi_child child = SPANK_APAPI_CHILD_NONE;

    name[0] = '\0';
    if (spank_apapi_child_start(&child, &program, NULL)) {
        return -1;
    }
    message_start(message, APAPI_WORD_USER);
    message_add_number(message, "uid", uid);
    if (message_send(child.channel, message, deadline_ns) == 0 &&
        message_receive(child.channel, message, deadline_ns) == 0 &&
        message_is(message, APAPI_WORD_USER)) {
        snprintf(name, SPANK_APAPI_USER_SIZE, "%s", message_text(message));
    }
    if (name[0] == '\0') {
        spank_apapi_child_kill(&child);
    }
    spank_apapi_child_close(&child);
    return name[0] ? 0 : -1;
}
