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
#define MESSAGE_LOWEST_FD 200 /* programs take for granted which numbers they get */

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

const char *region_message_problem(struct region_message *message, size_t size)
{
    if (size != sizeof *message ||
        memcmp(message->magic, REGION_MESSAGE_MAGIC, sizeof message->magic) != 0) {
        return "is no message of regions";
    }
    message->name[sizeof message->name - 1] = '\0';
    message->unit[sizeof message->unit - 1] = '\0';
    return message->version == REGION_MESSAGE_VERSION ? NULL : "is of another version";
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

static int message_raise(int file)
{
    int raised = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, MESSAGE_LOWEST_FD);

    if (raised < 0) {
        return file;
    }
    close(file);
    return raised;
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
    int channel;

    if (length + sizeof(REGION_SOCKET_SUFFIX) > sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, live_page, length);
    memcpy(address.sun_path + length, REGION_SOCKET_SUFFIX, sizeof(REGION_SOCKET_SUFFIX));
    channel = message_raise(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
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

static int message_file(struct msghdr *packet)
{
    const struct cmsghdr *header = CMSG_FIRSTHDR(packet);
    int file = -1;

    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(sizeof file)) {
        memcpy(&file, CMSG_DATA(header), sizeof file);
    }
    return file;
}

/* The end of a side that has not read all is reported once, before what it has sent. */
static ssize_t message_next(int socket, struct msghdr *packet)
{
    const int flags = MSG_DONTWAIT | MSG_CMSG_CLOEXEC;
    ssize_t size = recvmsg(socket, packet, flags);

    return size < 0 && errno == ECONNRESET ? recvmsg(socket, packet, flags) : size;
}

int region_receive(int socket, struct region_message *message, int *file)
{
    struct iovec part = {.iov_base = message, .iov_len = sizeof *message};
    union message_control control;
    struct msghdr packet = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof control.bytes};
    ssize_t size = message_next(socket, &packet);
    int received = size >= 0 ? message_file(&packet) : -1;

    if (file) {
        *file = -1;
    }
    if (size <= 0 || (packet.msg_flags & MSG_TRUNC) ||
        region_message_problem(message, (size_t)size)) {
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
