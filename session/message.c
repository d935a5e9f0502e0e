// SPDX-License-Identifier: Apache-2.0
#include "session/message.h"

#include <string.h>

#define TYPE_AND_VERSION 0x61

// ---- bytes in network order ----

static uint8_t *message_put(uint8_t *at, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * (bytes - 1 - i)));
    return at + bytes;
}

static uint64_t get(const uint8_t **at, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | (*at)[i];
    *at += bytes;
    return value;
}

// ---- messages ----

size_t session_write(uint8_t *out, const struct session_message *m) {
    const size_t text = strnlen(m->text, SESSION_TEXT - 1);
    uint8_t *at = out;
    at = message_put(at, TYPE_AND_VERSION, 1);
    at = message_put(at, m->kind, 1);
    at = message_put(at, m->session, 2);
    at = message_put(at, m->nonce, 8);
    at = message_put(at, m->cookie, 8);
    at = message_put(at, m->id, 8);
    at = message_put(at, m->rank, 2);
    at = message_put(at, m->workers, 2);
    at = message_put(at, m->lane, 1);
    at = message_put(at, m->lanes, 1);
    at = message_put(at, (unsigned)m->protocol << 4 | m->role, 1);
    at = message_put(at, m->flags, 1);
    at = message_put(at, m->slots, 2);
    at = message_put(at, m->elements, 2);
    at = message_put(at, m->job, 1);
    at = message_put(at, m->servers, 1);
    at = message_put(at, text, 2);
    memcpy(at, m->text, text);
    return SESSION_HEADER_BYTES + text;
}

// A text is somebody else's: what is not printable is not printed.
static void message_take_text(char *out, const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        out[i] = bytes[i] >= ' ' && bytes[i] <= '~' ? (char)bytes[i] : '?';
    out[length] = '\0';
}

bool session_read(struct session_message *m, const uint8_t *bytes, size_t length) {
    const uint8_t *at = bytes;
    if (length < SESSION_HEADER_BYTES || get(&at, 1) != TYPE_AND_VERSION)
        return false;
    const unsigned kind = (unsigned)get(&at, 1);
    m->kind = (enum session_kind)kind;
    m->session = (uint16_t)get(&at, 2);
    m->nonce = get(&at, 8);
    m->cookie = get(&at, 8);
    m->id = get(&at, 8);
    m->rank = (uint16_t)get(&at, 2);
    m->workers = (uint16_t)get(&at, 2);
    m->lane = (uint8_t)get(&at, 1);
    m->lanes = (uint8_t)get(&at, 1);
    const unsigned what = (unsigned)get(&at, 1);
    m->protocol = (uint8_t)(what >> 4);
    m->role = what & 15;
    m->flags = (uint8_t)get(&at, 1);
    m->slots = (uint16_t)get(&at, 2);
    m->elements = (uint16_t)get(&at, 2);
    m->job = (uint8_t)get(&at, 1);
    m->servers = (uint8_t)get(&at, 1);
    const size_t text = get(&at, 2);
    if (kind == SESSION_NOTHING || kind >= SESSION_KINDS || text >= SESSION_TEXT ||
        text > length - SESSION_HEADER_BYTES)
        return false;
    message_take_text(m->text, at, text);
    return true;
}
