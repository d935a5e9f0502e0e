// SPDX-License-Identifier: Apache-2.0
//
// Bytes from outside: frames that a coordinator, a switch of ATP and a member take for messages
// about sessions. The input is a list of frames' payloads, each with two bytes in front: who gets
// it, and its length. Times go on by a part of a second from one to the next.
//
// Nothing crashes; answers are messages that can be read back; a session of SwitchML starts only
// when the gathering says that it is full, and everybody in it has a nonce.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "control/sessions/job.h"
#include "session/member.h"

#define MS UINT64_C(1000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good)
        abort();
}

struct world {
    struct sessions_job switchml, atp, low;
    struct session_member member;
    uint64_t random, now;
    struct session_message last; // what was said last: the input may go on with it
};

static bool open_gate(void *owner, struct sessions_job *j, unsigned session) {
    (void)owner;
    check(j->atp || session <= 255);
    return true;
}

static bool under_way(void *owner, uint64_t time) {
    const struct world *w = owner;
    return w->now < time + 5 * MS;
}

static void clear(void *owner, struct sessions_job *j) {
    (void)owner;
    check(j->state == SESSIONS_CLOSING);
}

static void answer(void *owner, struct sessions_job *j, const struct session_end *to,
                   const struct session_message *m) {
    struct world *w = owner;
    struct session_message back;
    uint8_t bytes[SESSION_MAX_BYTES];
    (void)j;
    (void)to;
    check(session_read(&back, bytes, session_write(bytes, m)));
    w->last = *m;
    session_member_hear(&w->member, m, w->now);
}

static uint16_t number(void *owner) {
    (void)owner;
    return 7;
}

static uint64_t random_number(void *owner) {
    return ++((struct world *)owner)->random;
}

static void started(void *owner, struct sessions_job *j) {
    (void)owner;
    for (unsigned i = 0; !j->atp && i < gather_members(j->gather); i++)
        check(gather_nonce(j->gather, i) != 0);
}

static void ask_above(void *owner, struct sessions_job *j, const struct session_message *m) {
    check(m->role == SESSION_SWITCH && m->workers == j->total && m->nonce != 0);
    ((struct world *)owner)->last = *m;
}

static const struct sessions_job_ops ops = {.open = open_gate,
                                            .under_way = under_way,
                                            .clear = clear,
                                            .answer = answer,
                                            .number = number,
                                            .random = random_number,
                                            .started = started,
                                            .ask_above = ask_above};

// A message as the bytes have it, or the last answer's with some of it.
static void deliver(struct world *w, uint8_t how, const uint8_t *bytes, size_t length) {
    const struct session_end end = {.ip = how};
    struct session_message m;
    char text[64];
    bool to_switch;
    if (how & 2 && (how & 16 || session_read(&m, bytes, length))) { // a switch with one above
        if (how & 16) {
            m = w->last;
            m.kind = length > 0 ? bytes[0] % SESSION_KINDS : SESSION_START;
            m.role = length > 1 ? bytes[1] & 3 : m.role;
            m.rank = length > 1 ? bytes[1] >> 2 & 7 : m.rank;
            m.session = length > 2 ? bytes[2] : m.session;
            m.id = length > 3 ? bytes[3] : m.id;
        }
        if (how & 4)
            sessions_job_hear_above(&w->low, &m, w->now);
        else
            sessions_job_hear(&w->low, &end, &m, w->now);
    } else if (how & 8) { // a member's own message, after what was said
        if (session_member_write(&w->member, &m, &to_switch, w->now))
            sessions_job_hear(to_switch ? &w->atp : &w->switchml, &end, &m, w->now);
    } else if (how & 16) {
        m = w->last;
        m.kind = length > 0 ? bytes[0] % SESSION_KINDS : SESSION_JOIN;
        m.rank = length > 1 ? bytes[1] % 4 : m.rank;
        m.nonce = length > 2 ? bytes[2] : m.nonce;
        m.flags = length > 3 ? bytes[3] : m.flags;
        sessions_job_hear(how & 1 ? &w->atp : &w->switchml, &end, &m, w->now);
        session_member_hear(&w->member, &m, w->now);
    } else if (session_read(&m, bytes, length)) {
        if (how & 4)
            session_member_hear(&w->member, &m, w->now);
        else
            sessions_job_hear(how & 1 ? &w->atp : &w->switchml, &end, &m, w->now);
    }
    sessions_job_run(&w->switchml, w->now);
    sessions_job_run(&w->atp, w->now);
    sessions_job_run(&w->low, w->now);
    session_member_expire(&w->member, w->now);
    sessions_job_text(&w->switchml, w->now, text, sizeof text);
    sessions_job_text(&w->low, w->now, text, sizeof text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct gather_config as = {.protocol = SESSION_SWITCHML, .workers = 3, .slots = 64};
    static const uint16_t ranks[] = {1, 4};
    const struct gather_config below = {.protocol = SESSION_SWITCHML,
                                        .workers = 2,
                                        .switches = 1,
                                        .ranks = ranks,
                                        .total = 5,
                                        .slots = 64};
    const struct session_message self = {
        .protocol = SESSION_SWITCHML, .role = SESSION_WORKER, .workers = 3, .lanes = 1, .job = 1};
    struct world w = {.now = 1000 * MS, .random = 1000};
    struct session_end from;
    struct session_message m;
    const struct session_end self_end = {{2, 0, 0, 0, 0, 1}, 0x0a000001, 0};
    session_frame_read(data, size, &self_end, &from, &m);
    sessions_job_init(&w.switchml, &ops, &w, 1, &as);
    sessions_job_init(&w.atp, &ops, &w, 1, NULL);
    sessions_job_init(&w.low, &ops, &w, 1, &below);
    sessions_job_below(&w.low, below.total);
    session_member_init(&w.member, &self, true, 5);
    while (size >= 2) {
        const uint8_t how = data[0];
        size_t length = data[1];
        data += 2;
        size -= 2;
        length = length < size ? length : size;
        w.now += (how >> 5) * 40 * MS;
        deliver(&w, how, data, length);
        data += length;
        size -= length;
    }
    sessions_job_free(&w.switchml);
    sessions_job_free(&w.atp);
    sessions_job_free(&w.low);
    return 0;
}
