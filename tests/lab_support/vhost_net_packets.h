/* SPDX-License-Identifier: Apache-2.0
 *
 * One opened device of the vhost-net stand-in: its two rings and the thread that moves their packets.
 */
#ifndef VHOST_NET_PACKETS_H
#define VHOST_NET_PACKETS_H

#include <linux/virtio_ring.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  RX = 0, /* index of the ring that carries packets from the tap to VPP */
  TX = 1, /* and of the one from VPP to the tap */
  RINGS = 2,
  MAX_SEGMENTS = 256,
  PRIORITY = -10,         /* nice value of the thread */
  BUDGET = 256,           /* packets moved one way before the other way gets its turn */
  MAX_PACKET = 66 * 1024, /* the header and the largest packet a tap gives */
};

struct ring {
  unsigned size; /* a power of two */
  struct vring_desc *descriptors;
  struct vring_avail *available;
  struct vring_used *used;
  int kick_fd, call_fd, tap_fd; /* -1: not set */
  uint16_t next;                /* index of the next available entry to take */
};

struct device {
  pthread_t thread;
  bool running;
  int stop_fd;
  struct ring rings[RINGS];
  size_t pending_bytes; /* length of a packet read from the tap that waits for descriptors; 0: none */
  char pending[MAX_PACKET];
};

/* Starts the thread when a ring is ready for it; 0, or -1 with errno set. */
int device_start (struct device *device);

/* Ends the thread and waits until it has ended: nobody reads the rings afterwards. */
void device_stop (struct device *device);

#endif
