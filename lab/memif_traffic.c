/* Sends and counts packets at both ends of a router: over memif (VPP), or over packet sockets (the kernel).
 *
 *     memif-traffic END END      END is memif:SOCKET:ID (the router is the master) or packet:INTERFACE
 *
 * Then it reads commands, one a line, and answers each by one line of JSON:
 *
 *     stream SIDE ...            side 0 or 1 sends this from now on (packet_stream.h says the words)
 *     quiet SIDE                 side sends nothing
 *     learn SECONDS              a few packets of each stream; ARP and neighbor solicitations are answered
 *     trial PPS SECONDS          the streams at PPS in all, shared equally, before all else on this CPU
 *     poll PPS SECONDS           the same without that precedence
 *     steady PPS SECONDS         with a pause after each burst, so that others have this CPU, too
 *
 * A packet that is due and finds no room in the router's ring is offered and lost, as on a wire that does not
 * wait. What is due while this program itself did not run is not offered at all: "stalled_s" tells how long.
 */
#define _GNU_SOURCE
#include "memif_link.h"
#include "packet_stream.h"

#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <time.h>

#define BURST 256
#define MAX_STALL_NS 50000
#define MAX_WAIT_NS 5000000000u
#define MAX_PAUSE_NS 2000000 /* of a sender that takes turns */
#define SAMPLE 64
#define PACKET_BATCH 64

struct side {
    struct memif link;
    int number, packet, ifindex;
    char interface[IF_NAMESIZE];
    struct stream stream;
    uint8_t *frames; /* of a packet socket */
    uint64_t sent, refused, received, received_bytes, sampled, foreign, baseline;
    double due;
};

static struct side sides[2];

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void open_packet(struct side *s, const char *interface)
{
    int one = 1;
    snprintf(s->interface, sizeof s->interface, "%s", interface);
    s->ifindex = (int)if_nametoindex(interface);
    s->packet = socket(AF_PACKET, SOCK_RAW, 0);
    struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = s->ifindex};
    if (!s->ifindex || s->packet < 0 || bind(s->packet, (struct sockaddr *)&to, sizeof to) < 0)
        fail(interface);
    if (setsockopt(s->packet, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof one) < 0)
        fail("bypass the queueing discipline");
    s->frames = calloc(PACKET_BATCH * MAX_SIZES, BUFFER);
}

static uint64_t kernel_received(const struct side *s)
{
    char path[80];
    unsigned long long value = 0;
    snprintf(path, sizeof path, "/sys/class/net/%s/statistics/rx_packets", s->interface);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%llu", &value) != 1)
        fail(path);
    fclose(file);
    return value;
}

static void fill(struct side *s)
{
    for (uint64_t end = now_ns() + MAX_WAIT_NS; !s->packet && s->link.tx->tail != s->link.sent_at;)
        if (now_ns() > end) {
            fprintf(stderr, "memif-traffic: the router takes no packets\n");
            exit(1);
        }
    if (s->packet) {
        for (uint32_t i = 0; i < PACKET_BATCH * MAX_SIZES; i++)
            stream_fill(&s->stream, s->frames + i * BUFFER, i);
        return;
    }
    for (uint32_t i = 0; i < RING; i++)
        s->link.tx->slot[i].length = stream_fill(&s->stream, s->link.region + s->link.tx->slot[i].offset, i);
}

static uint32_t send_packets(struct side *s, uint32_t wanted)
{
    static struct mmsghdr batch[PACKET_BATCH];
    static struct iovec parts[PACKET_BATCH];
    uint32_t sent = 0;
    while (sent < wanted) {
        uint32_t n = wanted - sent < PACKET_BATCH ? wanted - sent : PACKET_BATCH;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t slot = (uint32_t)((s->sent + i) % (PACKET_BATCH * MAX_SIZES));
            uint8_t *p = s->frames + slot * BUFFER;
            stream_next(&s->stream, p, slot);
            parts[i] = (struct iovec){p, s->stream.frame_bytes[slot % (uint32_t)s->stream.n_sizes]};
            batch[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
        }
        int done = sendmmsg(s->packet, batch, n, 0);
        if (done <= 0)
            break;
        s->sent += (uint32_t)done;
        sent += (uint32_t)done;
    }
    return sent;
}

static uint32_t send_memif(struct side *s, uint32_t wanted, int anew)
{
    uint16_t room = (uint16_t)(RING - (uint16_t)(s->link.sent_at - s->link.tx->tail));
    uint32_t n = wanted < room ? wanted : room;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = (uint16_t)(s->link.sent_at + i) & (RING - 1);
        uint8_t *p = s->link.region + s->link.tx->slot[slot].offset;
        if (anew) /* an answer may have been here before */
            s->link.tx->slot[slot].length = stream_fill(&s->stream, p, slot);
        stream_next(&s->stream, p, slot);
    }
    s->link.sent_at = (uint16_t)(s->link.sent_at + n);
    __atomic_store_n(&s->link.tx->head, s->link.sent_at, __ATOMIC_RELEASE);
    s->sent += n;
    return n;
}

static void answer(struct side *s, const uint8_t *in, uint32_t bytes)
{
    static const uint8_t own[6] = {2, 0x77, 0, 0, 0, 0};
    uint8_t mac[6], out[128] = {0};
    uint32_t length = 0;
    memcpy(mac, own, 6);
    mac[5] = (uint8_t)s->number;
    if (bytes >= 42 && in[12] == 8 && in[13] == 6 && in[21] == 1) { /* ARP request */
        memcpy(out, in + 6, 6);
        memcpy(out + 6, mac, 6);
        memcpy(out + 12, in + 12, 10);
        out[21] = 2;
        memcpy(out + 22, mac, 6);
        memcpy(out + 28, in + 38, 4);
        memcpy(out + 32, in + 22, 10);
        length = 60;
    } else if (bytes >= 78 && in[12] == 0x86 && in[13] == 0xdd && in[20] == 58 && in[54] == 135) {
        uint32_t sum = 0; /* neighbor solicitation (RFC 4861) */
        memcpy(out, in + 6, 6);
        memcpy(out + 6, mac, 6);
        memcpy(out + 12, in + 12, 10);
        put16(out + 18, 32);
        out[20] = 58;
        out[21] = 255;
        memcpy(out + 22, in + 62, 16);
        memcpy(out + 38, in + 22, 16);
        out[54] = 136;
        out[58] = 0x60;
        memcpy(out + 62, in + 62, 16);
        out[78] = 2;
        out[79] = 1;
        memcpy(out + 80, mac, 6);
        for (int i = 22; i < 86; i += 2)
            sum += (uint32_t)(out[i] << 8 | out[i + 1]);
        sum += 32 + 58;
        sum = (sum >> 16) + (sum & 0xffff);
        sum += sum >> 16;
        put16(out + 56, (uint16_t)~sum);
        length = 86;
    }
    if (!length || (uint16_t)(s->link.sent_at - s->link.tx->tail) == RING)
        return;
    uint32_t slot = s->link.sent_at & (RING - 1);
    memcpy(s->link.region + s->link.tx->slot[slot].offset, out, length);
    s->link.tx->slot[slot].length = length;
    __atomic_store_n(&s->link.tx->head, ++s->link.sent_at, __ATOMIC_RELEASE);
}

/* What came in is counted; one in SAMPLE, or all of it, is looked at. */
static void receive(struct side *s, int answers, int all)
{
    if (s->packet)
        return;
    uint16_t tail = __atomic_load_n(&s->link.rx->tail, __ATOMIC_ACQUIRE);
    uint16_t n = (uint16_t)(tail - s->link.received_at);
    for (uint16_t i = 0; i < n; i++) {
        struct descriptor *d = &s->link.rx->slot[(uint16_t)(s->link.received_at + i) & (RING - 1)];
        s->received_bytes += d->length;
        if (all || (s->received + i) % SAMPLE == 0) {
            const uint8_t *p = s->link.region + d->offset;
            int ours = d->length >= 60 && ((p[12] == 8 && p[13] == 0 && p[23] == 17) ||
                                           (p[12] == 0x86 && p[13] == 0xdd && p[20] == 17));
            s->sampled++;
            s->foreign += !ours;
            if (answers)
                answer(s, p, d->length);
        }
        d->length = BUFFER;
        d->flags = 0;
    }
    s->received += n;
    s->link.received_at = tail;
    __atomic_store_n(&s->link.rx->head, (uint16_t)(tail + RING), __ATOMIC_RELEASE);
}

/* In turn with nobody while packets are counted: another process on this CPU would be a loss of the router's. */
static void urgent(int yes)
{
    struct sched_param priority = {.sched_priority = yes ? 1 : 0};
    sched_setscheduler(0, yes ? SCHED_RR : SCHED_OTHER, &priority); /* without the right to it, as it is */
}

/* first: 0 pauses after each burst, 1 does not, 2 goes before all else on this CPU, too. */
static void run(double pps, double seconds, int answers, int first)
{
    int active = sides[0].stream.active + sides[1].stream.active;
    for (int i = 0; i < 2; i++) {
        struct side *s = &sides[i];
        s->sent = s->refused = s->received = s->received_bytes = s->sampled = s->foreign = 0;
        s->due = 0;
        if (s->stream.active)
            fill(s);
        s->baseline = s->packet ? kernel_received(s) : 0;
    }
    urgent(first > 1);
    uint64_t start = now_ns(), last = start, end = start + (uint64_t)(seconds * 1e9), stalled = 0, worst = 0;
    double per_ns = active ? pps / active / 1e9 : 0;
    while (last < end) {
        uint64_t now = now_ns(), passed = now - last;
        last = now;
        if (!first) {
            struct timespec pause = {0, 50000};
            nanosleep(&pause, NULL);
        }
        uint64_t most = first ? MAX_STALL_NS : MAX_PAUSE_NS;
        if (passed > most) {
            uint64_t missed = passed - most;
            /* A packet socket's call forwards the packet, too: there it is the work that takes so long. */
            if (!sides[0].packet) {
                stalled += missed;
                passed = most;
            }
            worst = missed > worst ? missed : worst;
        }
        for (int i = 0; i < 2; i++) {
            struct side *s = &sides[i];
            receive(s, answers, answers || !first);
            if (!s->stream.active)
                continue;
            s->due += per_ns * (double)passed;
            uint32_t wanted = s->due > BURST ? BURST : (uint32_t)s->due;
            if (!wanted)
                continue;
            uint32_t done = s->packet ? send_packets(s, wanted) : send_memif(s, wanted, answers);
            s->due -= wanted;
            s->refused += wanted - done;
        }
    }
    double lasted = (double)(last - start) / 1e9;
    for (uint64_t drained = last + 50000000u; now_ns() < drained;)
        for (int i = 0; i < 2; i++)
            receive(&sides[i], answers, answers || !first);
    urgent(0);
    printf("{\"seconds\": %.6f, \"stalled_s\": %.6f, \"longest_stall_s\": %.6f", lasted, (double)stalled / 1e9,
           (double)worst / 1e9);
    for (int i = 0; i < 2; i++) {
        struct side *s = &sides[i];
        if (s->packet)
            s->received = kernel_received(s) - s->baseline;
        printf(", \"side%d\": {\"sent\": %llu, \"refused\": %llu, \"unsent\": %llu, \"received\": %llu, "
               "\"received_bytes\": %llu, \"sampled\": %llu, \"foreign\": %llu}",
               i, (unsigned long long)s->sent, (unsigned long long)s->refused, (unsigned long long)s->due,
               (unsigned long long)s->received, (unsigned long long)s->received_bytes,
               (unsigned long long)s->sampled, (unsigned long long)s->foreign);
    }
    printf("}\n");
}

static void open_side(struct side *s, char *end)
{
    char *path = strchr(end, ':');
    if (path && strncmp(end, "packet:", 7) == 0) {
        open_packet(s, path + 1);
    } else if (path && strncmp(end, "memif:", 6) == 0 && strrchr(path + 1, ':')) {
        char *id = strrchr(path + 1, ':');
        *id = 0;
        connect_memif(&s->link, path + 1, (uint32_t)atoi(id + 1));
    } else {
        fprintf(stderr, "memif-traffic: an end is memif:SOCKET:ID or packet:INTERFACE\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    char line[512];
    if (argc != 3) {
        fprintf(stderr, "usage: memif-traffic END END\n");
        return 2;
    }
    for (int i = 0; i < 2; i++) {
        sides[i].number = i;
        open_side(&sides[i], argv[1 + i]);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("{\"ready\": true}\n");
    while (fgets(line, sizeof line, stdin)) {
        int side = 0, words = 0;
        double pps, seconds;
        if (sscanf(line, "stream %d %n", &side, &words) == 1 && side >= 0 && side < 2 && words) {
            printf("{\"ready\": %s}\n", stream_parse(&sides[side].stream, line + words) ? "true" : "false");
        } else if (sscanf(line, "quiet %d", &side) == 1 && side >= 0 && side < 2) {
            sides[side].stream.active = 0;
            printf("{\"ready\": true}\n");
        } else if (sscanf(line, "learn %lf", &seconds) == 1) {
            run(1000, seconds, 1, 0);
        } else if (sscanf(line, "trial %lf %lf", &pps, &seconds) == 2) {
            run(pps, seconds, 0, 2);
        } else if (sscanf(line, "poll %lf %lf", &pps, &seconds) == 2) {
            run(pps, seconds, 0, 1);
        } else if (sscanf(line, "steady %lf %lf", &pps, &seconds) == 2) {
            run(pps, seconds, 0, 0);
        } else {
            printf("{\"ready\": false}\n");
        }
    }
    return 0;
}
