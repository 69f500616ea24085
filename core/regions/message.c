/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MESSAGE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define MESSAGE_LOWEST_FD 200 /* programs may rely on the numbers of descriptors that they get */

void region_message_init(struct region_message *message, enum region_message_kind kind,
                         const char *name)
{
    memset(message, 0, sizeof *message);
    memcpy(message->magic, REGION_MESSAGE_MAGIC, sizeof message->magic);
    message->version = REGION_MESSAGE_VERSION;
    message->kind = kind;
    if (name) {
        snprintf(message->name, sizeof message->name, "%s", name);
    }
}

static int message_give_back(int file)
{
    int saved = errno;

    if (file >= 0) {
        close(file);
    }
    errno = saved;
    return -1;
}

int region_seal(int file)
{
    if (fcntl(file, F_ADD_SEALS, MESSAGE_SEALS | F_SEAL_FUTURE_WRITE) == 0) {
        return 0;
    }
    return errno == EINVAL ? fcntl(file, F_ADD_SEALS, MESSAGE_SEALS) : -1;
}

bool region_is_sealed(int file)
{
    int known = memfd_create("apapi-seals", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int wanted = known >= 0 && region_seal(known) == 0 ? fcntl(known, F_GET_SEALS) : -1;
    int seals = fcntl(file, F_GET_SEALS);

    if (known >= 0) {
        close(known);
    }
    wanted &= MESSAGE_SEALS | F_SEAL_FUTURE_WRITE;
    return known >= 0 && seals >= 0 && (seals & wanted) == wanted;
}

int region_connect(const char *live_page)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(live_page);
    int channel, raised;

    if (length + sizeof(REGION_SOCKET_SUFFIX) > sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, live_page, length);
    memcpy(address.sun_path + length, REGION_SOCKET_SUFFIX, sizeof(REGION_SOCKET_SUFFIX));
    channel = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    raised = channel < 0 ? -1 : fcntl(channel, F_DUPFD_CLOEXEC, MESSAGE_LOWEST_FD);
    if (raised >= 0) {
        close(channel);
        channel = raised;
    }
    if (channel < 0 || connect(channel, (const void *)&address, sizeof address)) {
        return message_give_back(channel);
    }
    return channel;
}

/* Room for the control data of one descriptor. */
union message_control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

int region_send(int socket, const struct region_message *message, int file)
{
    struct region_message copy = *message; /* sendmsg() does not write it, but wants it writable */
    struct iovec part = {.iov_base = &copy, .iov_len = sizeof copy};
    union message_control control = {.bytes = {0}};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};

    if (file >= 0) {
        packet.msg_control = control.bytes;
        packet.msg_controllen = sizeof control.bytes;
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof file);
        memcpy(CMSG_DATA(&control.header), &file, sizeof file);
    }
    return sendmsg(socket, &packet, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -1 : 0;
}

/* End the texts of a message with a NUL. @return whether its `size` bytes are a valid message. */
static bool message_is_valid(struct region_message *message, size_t size)
{
    if (size != sizeof *message ||
        memcmp(message->magic, REGION_MESSAGE_MAGIC, sizeof message->magic) != 0) {
        return false;
    }
    message->name[sizeof message->name - 1] = '\0';
    message->unit[sizeof message->unit - 1] = '\0';
    return message->version == REGION_MESSAGE_VERSION;
}

int region_receive(int socket, struct region_message *message, int *file)
{
    const int flags = MSG_DONTWAIT | MSG_CMSG_CLOEXEC;
    struct iovec part = {.iov_base = message, .iov_len = sizeof *message};
    union message_control control;
    struct msghdr packet = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    const struct cmsghdr *header;
    ssize_t size = recvmsg(socket, &packet, flags);
    int received = -1;

    if (size < 0 && errno == ECONNRESET) {
        /* if the other side ended with unread messages, this comes once, before what it sent */
        size = recvmsg(socket, &packet, flags);
    }
    header = size >= 0 ? CMSG_FIRSTHDR(&packet) : NULL;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof received)) {
        memcpy(&received, CMSG_DATA(header), sizeof received);
    }
    if (file) {
        *file = -1;
    }
    if (size <= 0 || (packet.msg_flags & MSG_TRUNC) || !message_is_valid(message, (size_t)size)) {
        errno = size < 0 ? errno : size == 0 ? EPIPE : EBADMSG;
        return message_give_back(received);
    }
    if (file) {
        *file = received;
    } else {
        message_give_back(received);
    }
    return 0;
}
