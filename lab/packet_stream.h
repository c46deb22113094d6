/* A stream of UDP packets over Ethernet, for the programs that send them as fast as they can.
 *
 * A slot is a buffer that holds a packet of a stream all the time; to send it again only its addresses and its
 * source port are changed. Flows are numbered 0 .. flows-1 and sent in an order with a stride of about 0.62 of
 * their number, so that neighbors in time are no neighbors in a routing table.
 */
#ifndef PACKET_STREAM_H
#define PACKET_STREAM_H

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MAX_SLOTS 16384
#define MAX_SIZES 12
#define FCS_BYTES 4

struct stream {
    int active, v6;
    uint8_t src_mac[6], dst_mac[6];
    uint8_t src[16], dst[16];
    uint32_t src_count, dst_count, flows, stride, at;
    uint16_t sport, dport;
    int n_sizes;
    uint16_t frame_bytes[MAX_SIZES]; /* without FCS */
    uint32_t base_sum[MAX_SIZES];    /* of the IPv4 header, without its addresses */
    uint32_t src0, dst0;             /* host order: the part of the address that changes */
};

static inline uint32_t gcd32(uint32_t a, uint32_t b)
{
    while (b) { uint32_t t = a % b; a = b; b = t; }
    return a;
}

static inline int parse_mac(const char *text, uint8_t *mac)
{
    return sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", mac, mac + 1, mac + 2, mac + 3, mac + 4, mac + 5) == 6;
}

/* FAMILY SRC_MAC DST_MAC SRC SRC_COUNT DST DST_COUNT FLOWS SPORT DPORT SIZE[,SIZE...]; sizes with the FCS */
static inline int stream_parse(struct stream *s, const char *words)
{
    char family[4], src_mac[18], dst_mac[18], src[46], dst[46], sizes[128];
    memset(s, 0, sizeof *s);
    if (sscanf(words, "%3s %17s %17s %45s %u %45s %u %u %hu %hu %127s", family, src_mac, dst_mac, src,
               &s->src_count, dst, &s->dst_count, &s->flows, &s->sport, &s->dport, sizes) != 11)
        return 0;
    s->v6 = strcmp(family, "v6") == 0;
    int af = s->v6 ? AF_INET6 : AF_INET;
    if (!parse_mac(src_mac, s->src_mac) || !parse_mac(dst_mac, s->dst_mac) || inet_pton(af, src, s->src) != 1 ||
        inet_pton(af, dst, s->dst) != 1 || !s->src_count || !s->dst_count || !s->flows)
        return 0;
    for (char *save = NULL, *word = strtok_r(sizes, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        int size = 0;
        if (s->n_sizes == MAX_SIZES || sscanf(word, "%d", &size) != 1 || size < 64 || size > 1518)
            return 0;
        s->frame_bytes[s->n_sizes++] = (uint16_t)(size - FCS_BYTES);
    }
    s->stride = s->flows < 3 ? 1 : (uint32_t)(s->flows * 0.6180339887);
    while (s->stride > 1 && gcd32(s->stride, s->flows) != 1)
        s->stride--;
    uint32_t word;
    memcpy(&word, s->v6 ? s->src + 12 : s->src, 4); /* hosts of a network */
    s->src0 = ntohl(word);
    memcpy(&word, s->v6 ? s->dst + 4 : s->dst, 4);  /* networks of 64 bits, or hosts */
    s->dst0 = ntohl(word);
    s->active = s->n_sizes > 0;
    return s->active;
}

static inline void put16(uint8_t *at, uint16_t value) { at[0] = (uint8_t)(value >> 8); at[1] = (uint8_t)value; }

/* Writes the packet that slot number `slot` holds from now on. Returns its bytes. */
static inline uint32_t stream_fill(struct stream *s, uint8_t *p, uint32_t slot)
{
    int which = (int)(slot % (uint32_t)s->n_sizes);
    uint16_t bytes = s->frame_bytes[which];
    memset(p, 0, bytes);
    memcpy(p, s->dst_mac, 6);
    memcpy(p + 6, s->src_mac, 6);
    put16(p + 12, s->v6 ? 0x86dd : 0x0800);
    uint8_t *ip = p + 14, *udp = ip + (s->v6 ? 40 : 20);
    if (s->v6) {
        ip[0] = 0x60;
        put16(ip + 4, (uint16_t)(bytes - 14 - 40));
        ip[6] = 17;
        ip[7] = 64;
        memcpy(ip + 8, s->src, 16);
        memcpy(ip + 24, s->dst, 16);
    } else {
        ip[0] = 0x45;
        put16(ip + 2, (uint16_t)(bytes - 14));
        ip[8] = 64;
        ip[9] = 17;
        memcpy(ip + 12, s->src, 4);
        memcpy(ip + 16, s->dst, 4);
        uint32_t sum = 0;
        for (int i = 0; i < 12; i += 2)
            sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
        s->base_sum[which] = sum;
    }
    put16(udp, s->sport);
    put16(udp + 2, s->dport);
    put16(udp + 4, (uint16_t)(bytes - 14 - (s->v6 ? 40 : 20)));
    if (s->v6)
        put16(udp + 6, 0xffff);
    return bytes;
}

/* Makes the slot's packet that of the stream's next flow. */
static inline void stream_next(struct stream *s, uint8_t *p, uint32_t slot)
{
    uint32_t flow = s->at;
    s->at += s->stride;
    if (s->at >= s->flows)
        s->at -= s->flows;
    uint32_t src = s->src0, dst = s->dst0;
    uint16_t sport = s->sport;
    if (s->src_count > 1) {
        src += flow % s->src_count;
        sport = (uint16_t)(sport + flow / s->src_count);
    } else if (s->dst_count == 1)
        sport = (uint16_t)(sport + flow);
    if (s->dst_count > 1)
        dst += flow < s->dst_count ? flow : flow % s->dst_count;
    uint32_t wire_src = htonl(src), wire_dst = htonl(dst);
    uint8_t *ip = p + 14;
    if (s->v6) {
        memcpy(ip + 8 + 12, &wire_src, 4);
        memcpy(ip + 24 + 4, &wire_dst, 4);
        put16(ip + 40, sport);
        return;
    }
    memcpy(ip + 12, &wire_src, 4);
    memcpy(ip + 16, &wire_dst, 4);
    uint32_t sum = s->base_sum[slot % (uint32_t)s->n_sizes];
    sum += (src >> 16) + (src & 0xffff) + (dst >> 16) + (dst & 0xffff);
    sum = (sum >> 16) + (sum & 0xffff);
    sum += sum >> 16;
    put16(ip + 10, (uint16_t)~sum);
    put16(ip + 20, sport);
}

#endif
