// SPDX-License-Identifier: Apache-2.0
//
// shadow_impl: what the files of the shadow share.
//
//     shadow.c         runs, and the comparison
//     shadow_state.c   copies the state that a packet uses from the live switch
#ifndef SILKEN_CONTROL_WATCH_SHADOW_IMPL_H
#define SILKEN_CONTROL_WATCH_SHADOW_IMPL_H

#include "control/watch/shadow.h"

enum shadow_kind { SHADOW_REGISTER, SHADOW_METER, SHADOW_TABLE };
// What a packet came to: a cell, or a key of a table.
struct shadow_touch {
    enum shadow_kind kind;
    uint8_t pipe;
    uint32_t object; // in its list of the pipeline
    uint64_t index;
    uint64_t *key; // malloc'ed; null: the table has none
};

// What became of a packet.
struct shadow_outcome {
    bool sent; // else dropped
    uint16_t port;
    uint32_t length;
    uint64_t bytes; // a hash of them
    const char *why;
};
struct shadow_list {
    struct shadow_outcome *items;
    size_t n, room;
};

struct sk_shadow {
    struct sk_observer observer; // first: its address is ours
    struct sk_observer *printer; // of the run that is printed, or null
    struct sk_switch *sw, *live;
    struct sk_pre *own;
    struct shadow_touch *touches;
    size_t n_touches, room_touches;
    bool news; // a run came to something that was not known
    bool random;
    struct shadow_list did, live_did, *list; // 'list': where outcomes go now
    // for sk_shadow_matches
    const struct sk_shadow_field *fields;
    size_t n_fields;
    uint32_t matched; // bits of them
};

// ---- shadow_check.c
// Of "hdr.ipv4.$valid" the length of "hdr.ipv4"; 0: it is no such name.
size_t shadow_header_length(const char *name);
// Is the header asked for by its name, or by a suffix?
bool shadow_is_header(const char *full, size_t n_full, const char *asked, size_t n);

// ---- shadow_state.c
// Everything that was touched becomes as it is in the live switch.
void shadow_bring(struct sk_shadow *s);
void shadow_forget(struct sk_shadow *s); // what was touched
// Registers and hashes that packets do not name when they use them, value sets.
void shadow_bring_all(struct sk_shadow *s);
// Hashes are the live switch's: not to be freed with the shadow.
void shadow_return(struct sk_shadow *s);
// The first register cell that differs, as text; false: none does.
bool shadow_differs(const struct sk_shadow *s, char *out, size_t size);

#endif
