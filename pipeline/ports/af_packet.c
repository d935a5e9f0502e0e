// SPDX-License-Identifier: Apache-2.0
//
// af_packet: what the string of an af_packet device says, and does not say, about its rings and
// queues.
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/ports/ports_impl.h"

#define FRAME         2048u // the driver's default
#define BLOCK         4096u // likewise
#define DRIVER_FRAMES 512u  // likewise
#define LEAST         128u  // of a frame in which the kernel has something in front
#define ALIGNED       16u   // likewise, to the kernel
#define PAGE          4096u
#define BLOCKS        (8 * PORTS_ROOM)
#define MOST_DIGITS   8u
// Of a ring: the kernel takes its time with more, and the control plane waits for it.
#define MOST_FRAMES 65536u
// Frames of a ring. The driver's default, 512, is full before a process that shares its processor
// with one other has its next turn; these take 4 MiB each way, of large frames nearly 10. They are
// filled one after the other, however few wait, and so go through the caches of who sends and who
// receives: fewer are faster. Who never sleeps needs fewer.
#define FRAMES       2048u
#define OWN_FRAMES   1024u
#define LARGE_FRAMES 1024u
// With many ports, so that all rings take no more than some hundred MiB.
#define MANY_FRAMES       512u
#define MANY_LARGE_FRAMES 256u
// Pages one after the other share caches out evenly. So many the kernel finds easily; it takes
// others if not.
#define TOGETHER 65536u

_Static_assert(BLOCKS % 4096 == 0, "blocks are of whole pages");
_Static_assert(FRAMES % (TOGETHER / FRAME) == 0 && OWN_FRAMES % (TOGETHER / FRAME) == 0,
               "rings are of whole blocks");

// "net_" is our own driver, "eth_" DPDK's, which takes both for its own.
bool ports_is_af_packet(const char *device) {
    const size_t length = strlen("net_af_packet");
    return strncmp(device, "net_af_packet", length) == 0 ||
           strncmp(device, "eth_af_packet", length) == 0;
}

// ---- what is said ----

static uint32_t ports_af_packet_number(const char *device, const char *key, uint32_t otherwise) {
    const char *at = ports_said(device, key);
    return at ? (uint32_t)strtoul(at, NULL, 10) : otherwise;
}

// Of the interface that the string names; 0: none.
static uint32_t mtu_of_interface(const char *device) {
    char name[IF_NAMESIZE];
    return ports_said_interface(device, name) ? ports_interface_mtu(name) : 0;
}

// Whether the string has the rings as it wants them.
static bool has_rings(const char *device) {
    return ports_said(device, "framesz") || ports_said(device, "blocksz");
}

uint32_t ports_af_packet_frame(const struct sk_port_spec *spec) {
    if (!ports_is_af_packet(spec->device))
        return 0;
    if (has_rings(spec->device))
        return ports_af_packet_number(spec->device, "framesz", FRAME);
    uint32_t mtu = spec->mtu ? spec->mtu : mtu_of_interface(spec->device);
    return mtu > 1500 ? PORTS_ROOM : FRAME;
}

unsigned ports_af_packet_queues(const struct sk_port_spec *spec) {
    return ports_af_packet_number(spec->device, "qpairs", 1);
}

bool ports_af_packet_qdisc(const struct sk_port_spec *spec) {
    return ports_af_packet_number(spec->device, "qdisc_bypass", 1) == 0;
}

// Of its rings: as the string wants them, or as they are given to it. 'frames' of them need not
// fill large blocks.
static uint32_t block_bytes(const struct sk_port_spec *spec, uint32_t frames) {
    if (has_rings(spec->device))
        return ports_af_packet_number(spec->device, "blocksz", BLOCK);
    if (ports_af_packet_frame(spec) == PORTS_ROOM)
        return BLOCKS;
    return frames % (TOGETHER / FRAME) ? BLOCK : TOGETHER;
}

// ---- what is not ----

static uint32_t default_frames(bool large, bool own_processors, bool many) {
    if (many)
        return large ? MANY_LARGE_FRAMES : MANY_FRAMES;
    return large ? LARGE_FRAMES : own_processors ? OWN_FRAMES : FRAMES;
}

struct af_packet_rings ports_af_packet_rings(const struct sk_port_spec *spec, bool own_processors,
                                             bool many) {
    const uint32_t frame = ports_af_packet_frame(spec);
    const uint32_t frames = ports_af_packet_number(
        spec->device, "framecnt",
        has_rings(spec->device) ? DRIVER_FRAMES
                                : default_frames(frame == PORTS_ROOM, own_processors, many));
    return (struct af_packet_rings){frame, block_bytes(spec, frames), frames};
}

void ports_af_packet_arguments(const struct sk_port_spec *spec, bool own_processors, char *out,
                               size_t size) {
    int used = 0;
    out[0] = '\0';
    if (ports_af_packet_frame(spec) == 0 || has_rings(spec->device))
        return;
    const struct af_packet_rings r = ports_af_packet_rings(spec, own_processors, false);
    if (r.frame == PORTS_ROOM)
        used = snprintf(out, size, ",framesz=%u", r.frame);
    used += snprintf(out + used, size - (size_t)used, ",blocksz=%u", r.block);
    if (!ports_said(spec->device, "framecnt"))
        snprintf(out + used, size - (size_t)used, ",framecnt=%u", r.frames);
}

// ---- what is wrong ----

static const char *const keys[] = {"iface",   "qpairs",   "blocksz",
                                   "framesz", "framecnt", "qdisc_bypass"};
#define KEYS (sizeof keys / sizeof *keys)

// Who reads the string may take the first, or the last.
static const char *said_twice(const char *device) {
    for (size_t i = 0; i < KEYS; i++) {
        const char *first = ports_said(device, keys[i]);
        if (first && ports_said(first, keys[i]))
            return keys[i];
    }
    return NULL;
}

// The first key behind "iface" whose value is no number, or one that no ring has.
static const char *said_badly(const char *device) {
    for (size_t i = 1; i < KEYS; i++) {
        const char *value = ports_said(device, keys[i]);
        const size_t length = value ? strcspn(value, ",") : 0;
        if (value && (strspn(value, "0123456789") != length || length > MOST_DIGITS))
            return keys[i];
    }
    return NULL;
}

bool ports_af_packet_check(const struct sk_port_spec *spec, char *error, size_t error_size) {
    if (!ports_is_af_packet(spec->device))
        return true;
    const char *twice = said_twice(spec->device), *wrong = said_badly(spec->device);
    const uint32_t frame = ports_af_packet_frame(spec), pairs = ports_af_packet_queues(spec),
                   queues = spec->queues ? spec->queues : 1,
                   frames = ports_af_packet_number(spec->device, "framecnt", DRIVER_FRAMES),
                   block = block_bytes(spec, frames);
    if (twice)
        snprintf(error, error_size, "%s is given twice", twice);
    else if (wrong)
        snprintf(error, error_size, "%s must be a number of at most %u digits", wrong, MOST_DIGITS);
    else if (pairs > queues)
        snprintf(error, error_size,
                 "it has %u queues, and the port receives on %u (\"queues\"): packets to other "
                 "queues would be lost",
                 pairs, queues);
    else if (pairs == 0 || pairs > PORTS_FANOUT_SOCKETS)
        snprintf(error, error_size, "qpairs must be 1 to %u", PORTS_FANOUT_SOCKETS);
    else if (frame < LEAST || frame % ALIGNED)
        snprintf(error, error_size, "framesz must be at least %u, and a multiple of %u", LEAST,
                 ALIGNED);
    // the driver takes frames for being one after the other, the kernel starts again in each block
    else if (block == 0 || block % frame)
        snprintf(error, error_size, "blocksz must be a multiple of framesz, which is %u", frame);
    else if (block % PAGE)
        snprintf(error, error_size, "blocksz must be a multiple of %u", PAGE);
    else if (frames == 0 || frames > MOST_FRAMES)
        snprintf(error, error_size, "framecnt must be 1 to %u", MOST_FRAMES);
    else if (frames % (block / frame))
        snprintf(error, error_size,
                 "framecnt, which is %u, must be a multiple of the frames in a block, %u", frames,
                 block / frame);
    else
        return true;
    return false;
}

// ---- what the kernel dropped ----

uint64_t ports_af_packet_dropped(struct ports_sockets *sockets) {
    uint64_t now = 0;
    for (unsigned i = 0; i < sockets->n; i++)
        now += ports_fanout_dropped(sockets->fd[i]);
    return atomic_fetch_add_explicit(&sockets->dropped, now, memory_order_relaxed) + now;
}
