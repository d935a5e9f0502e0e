// SPDX-License-Identifier: Apache-2.0
//
// reply.h: what the job service says, a line of JSON (control/service/service.h): an object whose
// values are texts, numbers from 0 to 2^32-1, true, false, null, or lists of such numbers; anything
// else is refused. Keys that are not known here are read over.
#ifndef SILKEN_HOSTS_COMMUNICATOR_REPLY_H
#define SILKEN_HOSTS_COMMUNICATOR_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SK_REPLY_LINE 4096u // bytes of a line, at most

struct sk_reply {
    char state[16];    // "waiting", "admitted"
    char error[700];   // cut to that
    char missing[200]; // ranks, as "1, 3"
    char worker_ip[16], worker_mac[18], switch_ip[16], switch_mac[18];
    uint32_t number, slots, elements, worker_port, session_port, switch_port; // 0: it does not say
    uint32_t queue_pair, psn; // by RoCEv2: the switch's first one, and its first packet; likewise
};

// Reads a line, without its end. Returns whether it is a reply; characters of 'error' that are not
// printable are '?'.
bool sk_reply_read(struct sk_reply *r, const char *line, size_t len);

#endif
