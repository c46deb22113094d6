/* The slave's end of a memif with one queue each way, both ends polling.
 *
 * The slave owns the memory: a ring and a buffer for each of its slots in either direction. It moves the heads
 * (what it sent, which buffers are free), the master the tails (what it took, what it put).
 */
#ifndef MEMIF_LINK_H
#define MEMIF_LINK_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef LOG2_RING
#define LOG2_RING 12
#endif
#define RING (1u << LOG2_RING)
#define BUFFER 2048

enum { ACK = 1, HELLO, INIT, ADD_REGION, ADD_RING, CONNECT, CONNECTED };

struct message { /* of the memif protocol, version 2.0 */
    uint16_t type;
    uint8_t body[126];
} __attribute__((packed));

struct descriptor {
    uint16_t flags, region;
    uint32_t length, offset, metadata;
} __attribute__((packed));

struct ring {
    uint32_t cookie;
    uint16_t flags;
    volatile uint16_t head;
    uint8_t pad1[56];
    volatile uint16_t tail;
    uint8_t pad2[62];
    struct descriptor slot[RING];
};

struct memif {
    int control;
    struct ring *tx, *rx;
    uint8_t *region;
    uint16_t sent_at, received_at; /* free-running indexes of tx's head and rx's tail */
};

static inline void fail(const char *what)
{
    fprintf(stderr, "memif-traffic: %s: %s\n", what, strerror(errno));
    exit(1);
}

static inline void tell(int control, struct message *m, int fd)
{
    struct iovec io = {m, sizeof *m};
    union { struct cmsghdr header; char room[CMSG_SPACE(sizeof(int))]; } extra;
    struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1};
    if (fd >= 0) {
        memset(&extra, 0, sizeof extra);
        h.msg_control = &extra;
        h.msg_controllen = sizeof extra;
        struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    if (sendmsg(control, &h, 0) != (ssize_t)sizeof *m)
        fail("send to the memif socket");
}

static inline void await(int control, uint16_t type)
{
    struct message m;
    ssize_t got = recv(control, &m, sizeof m, 0);
    if (got != (ssize_t)sizeof m || m.type != type) {
        fprintf(stderr, "memif-traffic: the router answered %u instead of %u\n", got > 0 ? m.type : 0, type);
        exit(1);
    }
}

static inline void tell_and_wait(int control, struct message *m, int fd, uint16_t answer)
{
    tell(control, m, fd);
    await(control, answer);
}

static inline void connect_memif(struct memif *s, const char *path, uint32_t id)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    s->control = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    if (s->control < 0 || connect(s->control, (struct sockaddr *)&to, sizeof to) < 0)
        fail(path);
    size_t rings = 2 * sizeof(struct ring), whole = rings + 2ul * RING * BUFFER;
    int fd = memfd_create("memif-traffic", 0);
    if (fd < 0 || ftruncate(fd, (off_t)whole) < 0)
        fail("shared memory");
    s->region = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (s->region == MAP_FAILED)
        fail("map shared memory");
    s->tx = (struct ring *)s->region;
    s->rx = s->tx + 1;
    for (int r = 0; r < 2; r++) {
        struct ring *ring = r ? s->rx : s->tx;
        ring->cookie = 0x3E31F20;
        ring->flags = 1; /* no interrupts: both ends poll */
        for (uint32_t i = 0; i < RING; i++)
            ring->slot[i] = (struct descriptor){0, 0, BUFFER, (uint32_t)(rings + (r * RING + i) * BUFFER), 0};
    }
    struct message m;
    await(s->control, HELLO);
    memset(&m, 0, sizeof m);
    m.type = INIT;
    uint16_t version = 0x0200, zero = 0;
    memcpy(m.body, &version, 2);
    memcpy(m.body + 2, &id, 4);
    tell_and_wait(s->control, &m, -1, ACK);
    memset(&m, 0, sizeof m);
    m.type = ADD_REGION;
    uint64_t size = whole;
    memcpy(m.body + 2, &size, 8);
    tell_and_wait(s->control, &m, fd, ACK);
    for (int r = 0; r < 2; r++) {
        memset(&m, 0, sizeof m);
        m.type = ADD_RING;
        uint16_t flags = r == 0; /* bit 0: from slave to master */
        uint32_t offset = (uint32_t)(r * sizeof(struct ring));
        memcpy(m.body, &flags, 2);
        memcpy(m.body + 2, &zero, 2);
        memcpy(m.body + 4, &zero, 2);
        memcpy(m.body + 6, &offset, 4);
        m.body[10] = LOG2_RING;
        tell_and_wait(s->control, &m, eventfd(0, EFD_NONBLOCK), ACK);
    }
    memset(&m, 0, sizeof m);
    m.type = CONNECT;
    tell_and_wait(s->control, &m, -1, CONNECTED);
    s->rx->head = RING; /* all of its buffers are free */
}

#endif
