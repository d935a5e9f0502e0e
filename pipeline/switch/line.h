// SPDX-License-Identifier: Apache-2.0
//
// line: copies 64 bytes in as few stores as the machine has.
//
// A load that spans two stores that are not yet complete has to wait until both are in the cache.
// This happens right after a copy in pieces of 16 bytes. So the bytes that are put before each copy
// of a multicast packet are written in one store if the machine has vectors of 64 bytes.
//
//     line_fn *const copy = line_copier();
//     copy(to, from);
//
// Thread-safe.
#ifndef SILKEN_PIPELINE_SWITCH_LINE_H
#define SILKEN_PIPELINE_SWITCH_LINE_H

#define LINE_BYTES 64u

// Copies LINE_BYTES bytes, which need not be aligned and do not overlap.
typedef void line_fn(void *to, const void *from);

// The best of this machine.
line_fn *line_copier(void);

#endif
