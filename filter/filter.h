// SPDX-License-Identifier: Apache-2.0
//
// filter: which frames somebody wants, as an expression in tcpdump's language (pcap-filter(7)).
//
//     struct sk_filter *f = sk_filter_parse("tcp port 80", &err);
//     if (sk_filter_matches(f, frame, length, wire_length)) ...
//     sk_filter_free(f);
//
// libpcap compiles an expression into steps of the classic BPF machine (McCanne and Jacobson,
// 1993), for frames of Ethernet. It may ask the name service about hosts in it, which takes as long
// as that takes: so commands compile, and a running switch only gets steps, as numbers. From
// wherever these come, they are checked before anything runs: there are at most SK_FILTER_STEPS, a
// jump only goes forward, no step reads or writes outside of the frame and the machine's 16 words,
// and the last one returns; so a filter takes at most one visit of each step for a frame.
//
// A filter runs as machine code, which code.c makes of the steps when the filter is made. DPDK's
// rte_bpf does that, too, but that of Debian 12 (22.11) forgets the index of what is read relative
// to the IP header's length, as for any TCP port, and its code for x86 jumps wrongly. Where there
// is no machine code (another processor than x86-64; a kernel that does not let a process map a
// file in memory to be run), libpcap's interpreter runs the steps, with the same result.
//
// A filter does not change once it is made, and any number of threads may use it.
//
// Files:
//
//     filter.c  expressions, steps, their check
//     code.c    machine code of steps
#ifndef SILKEN_FILTER_FILTER_H
#define SILKEN_FILTER_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"

#define SK_FILTER_STEPS 4096u // libpcap's own bound

struct sk_filter;

// Null with libpcap's sentence. An empty expression is refused.
struct sk_filter *sk_filter_parse(const char *expression, struct sk_error *err);
// The steps as `tcpdump -ddd` prints them, [[code, jt, jf, k], ...], and a filter from such a list.
json_t *sk_filter_json(const struct sk_filter *f);              // the caller's
struct sk_filter *sk_filter_of_json(const struct sk_at *steps); // null: 'steps' has failed
void sk_filter_free(struct sk_filter *f);                       // null allowed

// 'length' bytes of a frame that had 'wire_length', which is not less.
bool sk_filter_matches(const struct sk_filter *f, const uint8_t *frame, uint32_t length,
                       uint32_t wire_length);
// Whether it runs as machine code.
bool sk_filter_is_compiled(const struct sk_filter *f);

#endif
