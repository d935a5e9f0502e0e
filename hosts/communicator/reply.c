// SPDX-License-Identifier: Apache-2.0
#include "hosts/communicator/reply.h"

#include <stdio.h>
#include <string.h>

struct reader {
    const char *at, *end;
    bool good;
};

#define KEY 32 // bytes of a key; longer ones are unknown

// ---- characters ------------------------------------------------------------------------------

static void reply_skip_blanks(struct reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
}

// Whether the character comes next; it is read.
static bool take_char(struct reader *r, char c) {
    reply_skip_blanks(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static void expect_char(struct reader *r, char c) {
    r->good = take_char(r, c) && r->good;
}

// ---- values ----------------------------------------------------------------------------------

static bool reply_is_hexadecimal(const char *s) {
    for (int i = 0; i < 4; i++)
        if (s[i] == '\0' || !strchr("0123456789abcdefABCDEF", s[i]))
            return false;
    return true;
}

// After a backslash: the character that is meant, '?' for what is not ASCII.
static char read_escape(struct reader *r) {
    static const char names[] = "\"\\/bfnrt";
    char c = r->at < r->end ? *r->at++ : '\0';

    if (c == 'u' && r->end - r->at >= 4 && reply_is_hexadecimal(r->at)) {
        r->at += 4;
        return '?';
    }
    r->good = r->good && c && strchr(names, c);
    return c == '"' || c == '\\' || c == '/' ? c : '?';
}

// A text, cut to 'cap' bytes with the zero.
static void read_text(struct reader *r, char *out, size_t cap) {
    size_t n = 0;

    expect_char(r, '"');
    while (r->good && r->at < r->end && *r->at != '"') {
        char c = *r->at++;
        c = c == '\\' ? read_escape(r) : c;
        if (n + 1 < cap)
            out[n++] = c >= ' ' && c < 0x7f ? c : '?';
    }
    out[n] = '\0';
    expect_char(r, '"');
}

static uint32_t reply_read_number(struct reader *r) {
    uint64_t value = 0;
    const char *from;

    reply_skip_blanks(r);
    from = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9' && value <= UINT32_MAX)
        value = value * 10 + (uint64_t)(*r->at++ - '0');
    r->good = r->good && r->at > from && value <= UINT32_MAX;
    return (uint32_t)value;
}

// A list of numbers, as "1, 3", cut to what fits.
static void read_list(struct reader *r, char *out, size_t cap) {
    size_t n = 0;

    out[0] = '\0';
    expect_char(r, '[');
    if (take_char(r, ']'))
        return;
    do {
        const uint32_t number = reply_read_number(r);
        if (n + 12 < cap)
            n += (size_t)snprintf(out + n, cap - n, "%s%u", n ? ", " : "", number);
    } while (r->good && take_char(r, ','));
    expect_char(r, ']');
}

static bool reply_take_word(struct reader *r, const char *word) {
    const size_t n = strlen(word);

    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

// ---- the object ------------------------------------------------------------------------------

struct reply_place {
    const char *key;
    char *text, *list;
    size_t cap;
    uint32_t *number;
};

static void read_value(struct reader *r, const struct reply_place *p) {
    char ignored[8];
    uint32_t number;

    reply_skip_blanks(r);
    if (r->at < r->end && *r->at == '"') {
        const bool here = p && p->text;
        read_text(r, here ? p->text : ignored, here ? p->cap : sizeof ignored);
    } else if (r->at < r->end && *r->at == '[') {
        const bool here = p && p->list;
        read_list(r, here ? p->list : ignored, here ? p->cap : sizeof ignored);
    } else if (!reply_take_word(r, "true") && !reply_take_word(r, "false") &&
               !reply_take_word(r, "null")) {
        number = reply_read_number(r);
        if (p && p->number)
            *p->number = number;
    }
}

static void reply_read_member(struct reader *r, const struct reply_place *places, size_t n) {
    char key[KEY] = "";
    const struct reply_place *p = NULL;

    read_text(r, key, sizeof key);
    expect_char(r, ':');
    for (size_t i = 0; i < n && !p; i++)
        p = strcmp(places[i].key, key) == 0 ? &places[i] : NULL;
    if (r->good)
        read_value(r, p);
}

bool sk_reply_read(struct sk_reply *reply, const char *line, size_t len) {
    struct reader r = {line, line + len, true};
    const struct reply_place places[] = {
        {"state", reply->state, NULL, sizeof reply->state, NULL},
        {"error", reply->error, NULL, sizeof reply->error, NULL},
        {"missing", NULL, reply->missing, sizeof reply->missing, NULL},
        {"worker_ip", reply->worker_ip, NULL, sizeof reply->worker_ip, NULL},
        {"worker_mac", reply->worker_mac, NULL, sizeof reply->worker_mac, NULL},
        {"switch_ip", reply->switch_ip, NULL, sizeof reply->switch_ip, NULL},
        {"switch_mac", reply->switch_mac, NULL, sizeof reply->switch_mac, NULL},
        {"number", NULL, NULL, 0, &reply->number},
        {"slots", NULL, NULL, 0, &reply->slots},
        {"elements", NULL, NULL, 0, &reply->elements},
        {"worker_port", NULL, NULL, 0, &reply->worker_port},
        {"session_port", NULL, NULL, 0, &reply->session_port},
        {"switch_port", NULL, NULL, 0, &reply->switch_port},
        {"queue_pair", NULL, NULL, 0, &reply->queue_pair},
        {"psn", NULL, NULL, 0, &reply->psn},
    };

    memset(reply, 0, sizeof *reply);
    expect_char(&r, '{');
    if (r.good && !take_char(&r, '}')) {
        do {
            reply_read_member(&r, places, sizeof places / sizeof *places);
        } while (r.good && take_char(&r, ','));
        expect_char(&r, '}');
    }
    reply_skip_blanks(&r);
    return r.good && r.at == r.end;
}
