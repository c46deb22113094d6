/* SPDX-License-Identifier: Apache-2.0
 *
 * Moving packets between virtio rings (virtio 1.1, split) and a tap: what the kernel's vhost worker would do.
 * vhost_net_stand_in.c says what is kept of the kernel's contract.
 */
#define _GNU_SOURCE
#include "vhost_net_packets.h"

#include <errno.h>
#include <linux/virtio_net.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- rings ---- */

static bool
ring_ready (const struct ring *ring)
{
  return ring->tap_fd >= 0 && ring->kick_fd >= 0 && ring->size && ring->used && ring->available && ring->descriptors;
}

static unsigned
ring_available (const struct ring *ring)
{
  return (uint16_t) (__atomic_load_n (&ring->available->idx, __ATOMIC_ACQUIRE) - ring->next);
}

static uint16_t
ring_head (const struct ring *ring, unsigned ahead)
{
  return ring->available->ring[(uint16_t) (ring->next + ahead) & (ring->size - 1)];
}

/* Hands back `count` entries in one step, so that VPP never sees a part of a packet. */
static void
ring_publish (struct ring *ring, unsigned count)
{
  ring->next = (uint16_t) (ring->next + count);
  __atomic_store_n (&ring->used->idx, (uint16_t) (ring->used->idx + count), __ATOMIC_RELEASE);
}

static void
ring_fill_used (struct ring *ring, unsigned ahead, uint32_t id, uint32_t bytes)
{
  struct vring_used_elem *element = &ring->used->ring[(uint16_t) (ring->used->idx + ahead) & (ring->size - 1)];
  element->id = id;
  element->len = bytes;
}

static void
ring_interrupt (const struct ring *ring)
{
  const uint64_t one = 1;
  /* VPP clears the flag and then looks at the ring; we write the ring and then look at the flag. */
  __atomic_thread_fence (__ATOMIC_SEQ_CST);
  if (ring->call_fd < 0 || (__atomic_load_n (&ring->available->flags, __ATOMIC_RELAXED) & VRING_AVAIL_F_NO_INTERRUPT))
    return;
  /* EAGAIN means the counter is full: the wake-up is already there. */
  if (write (ring->call_fd, &one, sizeof one) < 0)
    return;
}

static void
drain_kick (const struct ring *ring)
{
  uint64_t count;
  if (read (ring->kick_fd, &count, sizeof count) < 0)
    return; /* EAGAIN: nobody kicked, nothing to clear */
}

/* ---- VPP to tap ---- */

/* Collects the segments of the packet at descriptor `head`; returns their number, 0 when there are too many. */
static int
gather (const struct ring *ring, uint16_t head, struct iovec *segments)
{
  const struct vring_desc *table = ring->descriptors;
  unsigned entries = ring->size, index = head, taken = 0;

  if (table[head].flags & VRING_DESC_F_INDIRECT)
    {
      entries = table[head].len / sizeof *table;
      table = (const struct vring_desc *) (uintptr_t) table[head].addr;
      index = 0;
    }
  while (index < entries && taken < MAX_SEGMENTS)
    {
      const struct vring_desc *descriptor = &table[index];
      segments[taken].iov_base = (void *) (uintptr_t) descriptor->addr;
      segments[taken++].iov_len = descriptor->len;
      if (!(descriptor->flags & VRING_DESC_F_NEXT))
        return (int) taken;
      index = descriptor->next;
    }
  return 0;
}

/* Returns true when the tap would take no more now and must be waited for. */
static bool
send_to_tap (struct ring *ring)
{
  struct iovec segments[MAX_SEGMENTS];
  unsigned moved = 0;
  bool full = false;

  while (moved < BUDGET && ring_available (ring))
    {
      uint16_t head = ring_head (ring, 0);
      int count = gather (ring, head, segments);
      /* Any other error (the link is down, a malformed packet) loses this packet, as a wire without a peer would. */
      if (count && writev (ring->tap_fd, segments, count) < 0 && (errno == EAGAIN || errno == EINTR))
        {
          full = true;
          break;
        }
      ring_fill_used (ring, 0, head, 0);
      ring_publish (ring, 1);
      moved++;
    }
  if (moved)
    ring_interrupt (ring);
  return full;
}

/* ---- tap to VPP ---- */

enum receive_result
{
  TAP_EMPTY,  /* wait for the tap */
  RING_EMPTY, /* a packet waits for descriptors: wait for VPP's kick */
  MORE,       /* the budget is used up */
  TAP_GONE,   /* the tap was taken away under us */
};

/* Copies the pending packet into as many descriptors as it needs.  False: not enough of them yet. */
static bool
deliver_pending (struct device *device, struct ring *ring)
{
  unsigned available = ring_available (ring), needed = 0;
  size_t room = 0, copied = 0;
  struct virtio_net_hdr_v1 *header = NULL;

  while (room < device->pending_bytes)
    {
      if (needed == available)
        {
          if (available < ring->size)
            return false;
          device->pending_bytes = 0; /* larger than the whole ring: it can never be delivered */
          return true;
        }
      room += ring->descriptors[ring_head (ring, needed++)].len;
    }
  for (unsigned i = 0; i < needed; i++)
    {
      uint16_t head = ring_head (ring, i);
      const struct vring_desc *descriptor = &ring->descriptors[head];
      void *target = (void *) (uintptr_t) descriptor->addr;
      size_t left = device->pending_bytes - copied;
      uint32_t bytes = left < descriptor->len ? (uint32_t) left : descriptor->len;
      memcpy (target, device->pending + copied, bytes);
      if (i == 0)
        header = target;
      copied += bytes;
      ring_fill_used (ring, i, head, bytes);
    }
  header->num_buffers = (uint16_t) needed;
  ring_publish (ring, needed);
  device->pending_bytes = 0;
  return true;
}

static enum receive_result
receive_from_tap (struct device *device, struct ring *ring)
{
  enum receive_result result = MORE;
  bool delivered = false;

  for (int budget = BUDGET; budget > 0; budget--)
    {
      if (!device->pending_bytes)
        {
          ssize_t bytes = read (ring->tap_fd, device->pending, sizeof device->pending);
          if (bytes < (ssize_t) sizeof (struct virtio_net_hdr_v1))
            {
              result = bytes < 0 && errno == EBADFD ? TAP_GONE : TAP_EMPTY;
              break;
            }
          device->pending_bytes = (size_t) bytes;
        }
      if (!deliver_pending (device, ring))
        {
          result = RING_EMPTY;
          break;
        }
      delivered = true;
    }
  if (delivered)
    ring_interrupt (ring);
  return result;
}

/* ---- the thread ---- */

static void *
move_packets (void *argument)
{
  struct device *device = argument;
  struct ring *rx = &device->rings[RX], *tx = &device->rings[TX];
  bool have_rx = ring_ready (rx), have_tx = ring_ready (tx);
  enum
  {
    STOP,
    RX_TAP,
    RX_KICK,
    TX_TAP,
    TX_KICK,
    WATCHED
  };
  struct pollfd watched[WATCHED] = {
    [STOP] = { .fd = device->stop_fd, .events = POLLIN },
    [RX_TAP] = { .fd = -1, .events = POLLIN },
    [RX_KICK] = { .fd = -1, .events = POLLIN },
    [TX_TAP] = { .fd = -1, .events = POLLOUT },
    [TX_KICK] = { .fd = have_tx ? tx->kick_fd : -1, .events = POLLIN },
  };

  /* VPP hands over bursts and drops what its ring does not hold: on a busy machine be there first. Refused to
   * all but root; then without. */
  if (setpriority (PRIO_PROCESS, (id_t) gettid (), PRIORITY) < 0)
    errno = 0;

  for (;;)
    {
      bool more = false;

      /* Kicks are cleared before the rings are looked at: one that comes later wakes the poll below. */
      if (have_tx)
        {
          drain_kick (tx);
          bool full = send_to_tap (tx);
          watched[TX_TAP].fd = full ? tx->tap_fd : -1;
          /* While the tap is full new packets change nothing, and their kicks would only spin the loop. */
          watched[TX_KICK].fd = full ? -1 : tx->kick_fd;
          more = !full && ring_available (tx);
        }
      if (have_rx)
        {
          drain_kick (rx);
          enum receive_result result = receive_from_tap (device, rx);
          watched[RX_TAP].fd = result == TAP_EMPTY ? rx->tap_fd : -1;
          watched[RX_KICK].fd = result == RING_EMPTY ? rx->kick_fd : -1;
          more = more || result == MORE;
        }
      if (poll (watched, WATCHED, more ? 0 : -1) < 0 && errno != EINTR)
        return NULL;
      if (watched[STOP].revents)
        return NULL;
    }
}

int
device_start (struct device *device)
{
  pthread_attr_t attributes;
  sigset_t all, before;
  cpu_set_t cpus;
  int error;

  if (!ring_ready (&device->rings[RX]) && !ring_ready (&device->rings[TX]))
    return 0;
  /* VPP pins its main thread, which may never sleep: sharing its only CPU would starve the mirrors. */
  memset (&cpus, 0xff, sizeof cpus);
  sigfillset (&all);
  pthread_attr_init (&attributes);
  pthread_attr_setaffinity_np (&attributes, sizeof cpus, &cpus);
  pthread_sigmask (SIG_BLOCK, &all, &before); /* inherited: signals are VPP's own business */
  error = pthread_create (&device->thread, &attributes, move_packets, device);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  pthread_attr_destroy (&attributes);
  device->running = error == 0;
  errno = error;
  return error ? -1 : 0;
}

void
device_stop (struct device *device)
{
  uint64_t count = 1;
  if (!device->running)
    return;
  while (write (device->stop_fd, &count, sizeof count) < 0 && errno == EINTR)
    ;
  pthread_join (device->thread, NULL);
  device->running = false;
  if (read (device->stop_fd, &count, sizeof count) < 0)
    return;
}
