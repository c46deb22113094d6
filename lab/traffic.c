/* A measured flow: UDP packets with sequence numbers, paced on the sending side, accounted for on the other.
 *
 *   traffic send    ADDRESS PORT PPS SECONDS SIZE
 *   traffic receive ADDRESS PORT IDLE_SECONDS
 *
 * The sender paces by absolute time in ticks of one millisecond and never makes up for a stall at more than twice
 * the rate, so that it does not itself cause the loss it measures. The receiver notes every sequence number once;
 * arrival times are the kernel's, so its own scheduling does not show. Packets its socket had no room for are
 * counted apart (receiver_drops): they passed the router.
 *
 * The receiver writes "ready" on standard error once it listens, the sender "sending" with its first packet. Both write one JSON object on standard output when
 * they end: the sender when done or on SIGTERM, the receiver on SIGTERM or once IDLE_SECONDS passed without a packet
 * after the first (0: wait for the signal).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x4d524c46u /* "MRLF" */
#define BATCH 64
#define MAX_SIZE 9000
#define TICK_NS 1000000LL
#define RECEIVE_BUFFER_BYTES (64 << 20)

struct header {
	uint32_t magic;
	uint32_t reserved;
	uint64_t sequence;
	uint64_t sent_ns; /* CLOCK_REALTIME */
};

static volatile sig_atomic_t ended;

static void on_signal(int number)
{
	(void)number;
	ended = 1;
}

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void fail(const char *what)
{
	fprintf(stderr, "traffic: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct addrinfo *resolve(const char *address, const char *port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	struct addrinfo *found;
	if (getaddrinfo(address, port, &hints, &found) != 0) {
		fprintf(stderr, "traffic: %s port %s: not a numeric address and port\n", address, port);
		exit(2);
	}
	return found;
}

static int send_flow(const char *address, const char *port, double pps, double seconds, size_t size)
{
	static char packets[BATCH][MAX_SIZE];
	struct mmsghdr messages[BATCH];
	struct iovec vectors[BATCH];
	struct addrinfo *to = resolve(address, port);
	int fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, to->ai_addr, to->ai_addrlen) < 0)
		fail("connect");
	int buffer = 4 << 20;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer);
	memset(messages, 0, sizeof messages);
	for (int i = 0; i < BATCH; i++) {
		vectors[i] = (struct iovec){ packets[i], size };
		messages[i].msg_hdr.msg_iov = &vectors[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	uint64_t total = (uint64_t)(pps * seconds + 0.5), sent = 0, errors = 0;
	double per_tick = pps * TICK_NS / 1e9, allowed = 0;
	int64_t start = now_ns(CLOCK_MONOTONIC), tick = start, longest_stall = 0, last = start;
	while (sent < total && !ended) {
		int64_t now = now_ns(CLOCK_MONOTONIC);
		if (now - last > longest_stall)
			longest_stall = now - last;
		last = now;
		double due = (now - start) / 1e9 * pps + per_tick - (double)sent;
		/* After a stall: at most twice the rate, and never a burst of more than four ticks. */
		allowed = due < 2 * per_tick + 1 ? due : 2 * per_tick + 1;
		while (allowed >= 1 && sent < total) {
			int count = allowed < BATCH ? (int)allowed : BATCH;
			if ((uint64_t)count > total - sent)
				count = (int)(total - sent);
			for (int i = 0; i < count; i++) {
				struct header *h = (struct header *)packets[i];
				h->magic = htonl(MAGIC);
				h->sequence = sent + (uint64_t)i;
				h->sent_ns = (uint64_t)now_ns(CLOCK_REALTIME);
			}
			int done = sendmmsg(fd, messages, (unsigned)count, 0);
			if (done < 0) {
				/* A refusal or a missing route is reported on a later send: that packet did not leave. */
				errors++;
				if (errno == EINTR && ended)
					break;
				if (errors > 1000000)
					fail("send");
				break;
			}
			if (sent == 0) {
				fprintf(stderr, "sending\n");
				fflush(stderr);
			}
			sent += (uint64_t)done;
			allowed -= done;
		}
		tick += TICK_NS;
		if (tick < now)
			tick = now + TICK_NS / 4;
		struct timespec until = { tick / 1000000000LL, tick % 1000000000LL };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
	double took = (now_ns(CLOCK_MONOTONIC) - start) / 1e9;
	printf("{\"sent\": %" PRIu64 ", \"send_errors\": %" PRIu64 ", \"seconds\": %.3f, \"longest_stall_s\": %.6f}\n",
	       sent, errors, took, longest_stall / 1e9);
	return 0;
}

struct tally {
	uint64_t received, duplicates, reordered, highest, noted; /* noted: bits in `seen` */
	unsigned char *seen;
	int64_t first_ns, last_ns, longest_gap_ns, gap_began_ns, max_delay_ns;
	int64_t delay_sum_ns;
	uint32_t socket_drops;
};

static void note(struct tally *t, const struct header *h, int64_t arrived_ns)
{
	uint64_t sequence = h->sequence;
	if (sequence >= (1ull << 34))
		return;
	if (sequence >= t->noted) {
		uint64_t wanted = (sequence + 1) * 2;
		wanted = wanted < (1u << 20) ? (1u << 20) : wanted;
		wanted = (wanted + 7) & ~7ull;
		t->seen = realloc(t->seen, wanted / 8);
		if (!t->seen)
			fail("memory");
		memset(t->seen + t->noted / 8, 0, (wanted - t->noted) / 8);
		t->noted = wanted;
	}
	unsigned char bit = (unsigned char)(1u << (sequence & 7));
	if (t->seen[sequence / 8] & bit) {
		t->duplicates++;
		return;
	}
	t->seen[sequence / 8] |= bit;
	if (t->received == 0) {
		t->first_ns = arrived_ns;
		t->highest = sequence;
	} else {
		if (sequence < t->highest)
			t->reordered++;
		else
			t->highest = sequence;
		if (arrived_ns - t->last_ns > t->longest_gap_ns) {
			t->longest_gap_ns = arrived_ns - t->last_ns;
			t->gap_began_ns = t->last_ns;
		}
	}
	t->received++;
	t->last_ns = arrived_ns;
	int64_t delay = arrived_ns - (int64_t)h->sent_ns;
	t->delay_sum_ns += delay;
	if (delay > t->max_delay_ns)
		t->max_delay_ns = delay;
}

/* The longest run of sequence numbers that never came, between the first and the last that did. */
static uint64_t longest_missing_run(const struct tally *t)
{
	uint64_t longest = 0, run = 0;
	int begun = 0;
	for (uint64_t i = 0; i <= t->highest && i < t->noted; i++) {
		if (t->seen[i / 8] & (1u << (i & 7))) {
			begun = 1;
			run = 0;
		} else if (begun && ++run > longest) {
			longest = run;
		}
	}
	return longest;
}

static int receive_flow(const char *address, const char *port, double idle_s)
{
	static char packets[BATCH][MAX_SIZE], controls[BATCH][128];
	struct mmsghdr messages[BATCH];
	struct iovec vectors[BATCH];
	struct tally t = { 0 };
	struct addrinfo *at = resolve(address, port);
	int fd = socket(at->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), yes = 1, buffer = RECEIVE_BUFFER_BYTES;
	if (fd < 0)
		fail("socket");
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer) < 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
	setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes);
	setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &yes, sizeof yes);
	if (bind(fd, at->ai_addr, at->ai_addrlen) < 0)
		fail("bind");
	setpriority(PRIO_PROCESS, 0, -5);
	fprintf(stderr, "ready\n");
	fflush(stderr);
	int64_t last_seen = now_ns(CLOCK_MONOTONIC);
	while (!ended) {
		struct pollfd wait = { fd, POLLIN, 0 };
		int ready = poll(&wait, 1, 50);
		if (ready <= 0) {
			if (idle_s > 0 && t.received && now_ns(CLOCK_MONOTONIC) - last_seen > (int64_t)(idle_s * 1e9))
				break;
			continue;
		}
		for (int i = 0; i < BATCH; i++) {
			vectors[i] = (struct iovec){ packets[i], MAX_SIZE };
			messages[i].msg_hdr = (struct msghdr){ .msg_iov = &vectors[i], .msg_iovlen = 1,
				.msg_control = controls[i], .msg_controllen = sizeof controls[i] };
		}
		int count = recvmmsg(fd, messages, BATCH, MSG_DONTWAIT, NULL);
		for (int i = 0; i < count; i++) {
			int64_t arrived = now_ns(CLOCK_REALTIME);
			struct msghdr *m = &messages[i].msg_hdr;
			for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
				if (c->cmsg_level != SOL_SOCKET)
					continue;
				if (c->cmsg_type == SCM_TIMESTAMPNS) {
					struct timespec stamp;
					memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
					arrived = (int64_t)stamp.tv_sec * 1000000000LL + stamp.tv_nsec;
				} else if (c->cmsg_type == SO_RXQ_OVFL) {
					memcpy(&t.socket_drops, CMSG_DATA(c), sizeof t.socket_drops);
				}
			}
			const struct header *h = (const struct header *)packets[i];
			if (messages[i].msg_len >= sizeof *h && h->magic == htonl(MAGIC))
				note(&t, h, arrived);
		}
		last_seen = now_ns(CLOCK_MONOTONIC);
		/* A pause lets a batch gather: fewer wake-ups, and the buffer holds seconds of traffic. */
		if (count < BATCH)
			usleep(2000);
	}
	printf("{\"received\": %" PRIu64 ", \"duplicates\": %" PRIu64 ", \"reordered\": %" PRIu64
	       ", \"highest_sequence\": %" PRId64 ", \"longest_missing_run\": %" PRIu64
	       ", \"longest_gap_s\": %.6f, \"gap_began_unix_s\": %.6f, \"max_delay_s\": %.6f, \"mean_delay_s\": %.9f"
	       ", \"receiver_drops\": %" PRIu32 "}\n",
	       t.received, t.duplicates, t.reordered, t.received ? (int64_t)t.highest : -1, longest_missing_run(&t),
	       t.longest_gap_ns / 1e9, t.gap_began_ns / 1e9, t.max_delay_ns / 1e9,
	       t.received ? t.delay_sum_ns / 1e9 / (double)t.received : 0.0, t.socket_drops);
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	if (argc == 7 && strcmp(argv[1], "send") == 0) {
		double pps = atof(argv[4]), seconds = atof(argv[5]);
		long size = atol(argv[6]);
		if (pps > 0 && seconds > 0 && size >= (long)sizeof(struct header) && size <= MAX_SIZE)
			return send_flow(argv[2], argv[3], pps, seconds, (size_t)size);
	}
	if (argc == 5 && strcmp(argv[1], "receive") == 0)
		return receive_flow(argv[2], argv[3], atof(argv[4]));
	fprintf(stderr, "usage: traffic send ADDRESS PORT PPS SECONDS SIZE | receive ADDRESS PORT IDLE_SECONDS\n");
	return 2;
}
