/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for /dev/vhost-net, for test machines whose kernel has no such device.
 *
 * VPP's tap interfaces, and with them every Linux mirror of linux-cp, need /dev/vhost-net.  This library is preloaded
 * (LD_PRELOAD) into the VPP process of the lab and of the integration tests.  It answers open, ioctl and close of
 * that one path and moves packets between the virtio rings and the tap's file descriptor in one thread for each
 * opened device, as the kernel's vhost worker would.  It is never part of the image.
 *
 * What is kept of the kernel's contract (linux/vhost.h, virtio 1.1 split rings):
 *   - mergeable receive buffers, indirect descriptors, 12-byte virtio_net_hdr_v1;
 *   - packets keep their order and none is dropped while the other side has room: a packet read from the tap waits
 *     for descriptors, a packet the tap will not take yet (EAGAIN) stays at the head of its ring;
 *   - interrupts both ways: kicks wake the thread, and VPP's call descriptor is written unless VPP asked for none;
 *   - close() returns only after the thread has ended, so VPP may free the rings at once.
 * What is left out: the memory table (VPP maps guest addresses to its own addresses one to one), dirty logging,
 * event indexes (the feature is not offered), and speed: every packet costs a system call.
 *
 * The thread sleeps in poll() without a timeout; an idle device costs nothing.
 */
#define _GNU_SOURCE
#include "vhost_net_packets.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vhost.h>
#include <linux/virtio_config.h>
#include <linux/virtio_net.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MAX_FD = 65536 };

static const char device_path[] = "/dev/vhost-net";

/* By file descriptor.  Written under the lock, read without: close() of any other descriptor must stay cheap. */
static struct device *devices[MAX_FD];
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;

static int (*real_open) (const char *, int, ...);
static int (*real_ioctl) (int, unsigned long, ...);
static int (*real_close) (int);

/* Lazily as well as at load: other libraries' constructors may open files before ours has run. */
__attribute__ ((constructor)) static void
find_real_functions (void)
{
  if (real_close)
    return;
  real_open = (int (*) (const char *, int, ...)) dlsym (RTLD_NEXT, "open");
  real_ioctl = (int (*) (int, unsigned long, ...)) dlsym (RTLD_NEXT, "ioctl");
  real_close = (int (*) (int)) dlsym (RTLD_NEXT, "close");
}

static struct device *
device_of (int fd)
{
  return fd >= 0 && fd < MAX_FD ? __atomic_load_n (&devices[fd], __ATOMIC_ACQUIRE) : NULL;
}

/* ---- the device's system calls ---- */

static int
device_open (void)
{
  struct device *device = calloc (1, sizeof *device);
  int fd = eventfd (0, EFD_NONBLOCK | EFD_CLOEXEC); /* only a number that is ours: nobody reads or writes it */

  if (!device || fd < 0 || fd >= MAX_FD || (device->stop_fd = eventfd (0, EFD_NONBLOCK | EFD_CLOEXEC)) < 0)
    {
      if (fd >= 0)
        real_close (fd);
      free (device);
      errno = EMFILE;
      return -1;
    }
  for (int i = 0; i < RINGS; i++)
    device->rings[i].kick_fd = device->rings[i].call_fd = device->rings[i].tap_fd = -1;
  pthread_mutex_lock (&devices_lock);
  __atomic_store_n (&devices[fd], device, __ATOMIC_RELEASE);
  pthread_mutex_unlock (&devices_lock);
  return fd;
}

static void
device_close (int fd)
{
  struct device *device;

  pthread_mutex_lock (&devices_lock);
  device = devices[fd];
  __atomic_store_n (&devices[fd], NULL, __ATOMIC_RELEASE);
  pthread_mutex_unlock (&devices_lock);
  if (!device)
    return;
  device_stop (device);
  real_close (device->stop_fd);
  free (device);
}

static int
set_backend (struct device *device, struct ring *ring, int tap_fd)
{
  device_stop (device);
  ring->tap_fd = tap_fd;
  return device_start (device);
}

static int
device_ioctl (struct device *device, unsigned long request, void *argument)
{
  const struct vhost_vring_state *state = argument;
  const struct vhost_vring_addr *address = argument;
  const struct vhost_vring_file *file = argument;

  switch (request)
    {
    case VHOST_GET_FEATURES:
      *(uint64_t *) argument =
        1ULL << VIRTIO_F_VERSION_1 | 1ULL << VIRTIO_NET_F_MRG_RXBUF | 1ULL << VIRTIO_RING_F_INDIRECT_DESC;
      return 0;
    case VHOST_SET_FEATURES:
    case VHOST_SET_OWNER:
    case VHOST_RESET_OWNER:
    case VHOST_SET_MEM_TABLE:
      return 0;
    default:
      break;
    }

  /* The rest is about one ring, whose index comes first in each of the three argument types. */
  switch (request)
    {
    case VHOST_SET_VRING_NUM:
    case VHOST_SET_VRING_BASE:
    case VHOST_SET_VRING_ADDR:
    case VHOST_SET_VRING_KICK:
    case VHOST_SET_VRING_CALL:
    case VHOST_SET_VRING_ERR:
    case VHOST_NET_SET_BACKEND:
      break;
    default:
      errno = ENOTTY;
      return -1;
    }
  if (state->index >= RINGS)
    {
      errno = ENOBUFS;
      return -1;
    }
  struct ring *ring = &device->rings[state->index];
  switch (request)
    {
    case VHOST_SET_VRING_NUM:
      ring->size = state->num;
      break;
    case VHOST_SET_VRING_BASE:
      ring->next = (uint16_t) state->num;
      break;
    case VHOST_SET_VRING_ADDR:
      ring->descriptors = (struct vring_desc *) (uintptr_t) address->desc_user_addr;
      ring->available = (struct vring_avail *) (uintptr_t) address->avail_user_addr;
      ring->used = (struct vring_used *) (uintptr_t) address->used_user_addr;
      break;
    case VHOST_SET_VRING_KICK:
      ring->kick_fd = file->fd;
      break;
    case VHOST_SET_VRING_CALL:
      ring->call_fd = file->fd;
      break;
    case VHOST_NET_SET_BACKEND:
      return set_backend (device, ring, file->fd);
    default: /* VHOST_SET_VRING_ERR: errors are not reported */
      break;
    }
  return 0;
}

/* ---- what is put before libc's own functions ---- */

/* The library hides its own names: VPP may have functions of the same. */
#define INTERPOSED __attribute__ ((visibility ("default")))

static bool
is_device (const char *path)
{
  return path && strcmp (path, device_path) == 0;
}

static bool
has_mode (int flags)
{
  return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

INTERPOSED int
open (const char *path, int flags, ...)
{
  mode_t mode = 0;
  if (has_mode (flags))
    {
      va_list arguments;
      va_start (arguments, flags);
      mode = va_arg (arguments, mode_t);
      va_end (arguments);
    }
  find_real_functions ();
  return is_device (path) ? device_open () : real_open (path, flags, mode);
}

INTERPOSED int
open64 (const char *path, int flags, ...)
{
  mode_t mode = 0;
  if (has_mode (flags))
    {
      va_list arguments;
      va_start (arguments, flags);
      mode = va_arg (arguments, mode_t);
      va_end (arguments);
    }
  find_real_functions ();
  return is_device (path) ? device_open () : real_open (path, flags | O_LARGEFILE, mode);
}

/* The names the compiler puts in when built with _FORTIFY_SOURCE. */
INTERPOSED int
__open_2 (const char *path, int flags)
{
  return open (path, flags);
}

INTERPOSED int
__open64_2 (const char *path, int flags)
{
  return open64 (path, flags);
}

INTERPOSED int
close (int fd)
{
  find_real_functions ();
  if (device_of (fd))
    device_close (fd);
  return real_close (fd);
}

INTERPOSED int
ioctl (int fd, unsigned long request, ...)
{
  va_list arguments;
  va_start (arguments, request);
  void *argument = va_arg (arguments, void *);
  va_end (arguments);
  find_real_functions ();
  struct device *device = device_of (fd);
  return device ? device_ioctl (device, request, argument) : real_ioctl (fd, request, argument);
}
