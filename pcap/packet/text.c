// SPDX-License-Identifier: Apache-2.0
#include "pcap/packet/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    const char *name;
    struct sk_error *err;
    uint8_t *bytes;
    size_t n;
    unsigned line; // from 1
    bool dump;     // lines have offsets
    bool star;     // hexdump left lines out that are like the one before
};

struct line {
    const char *at, *end;
};

static bool is_hex(char c) {
    return isxdigit((unsigned char)c);
}
static unsigned digit(char c) {
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a' + 10);
}

static int packet_text_put(struct reading *r, unsigned byte) {
    if (r->n == PACKET_LONGEST)
        return sk_fail(r->err, "%s: a packet of more than %u bytes, the most that a switch accepts",
                       r->name, PACKET_LONGEST);
    r->bytes[r->n++] = (uint8_t)byte;
    return 0;
}

static size_t digits(struct line l) {
    size_t n = 0;
    while (l.at + n < l.end && is_hex(l.at[n]))
        n++;
    return n;
}

// ---- digits as they come ----

// "02:00", "0x02, 0x00", "\x02\x00", "0200": the digits between two separators are whole bytes.
static int plain_line(struct reading *r, struct line l) {
    while (l.at < l.end) {
        if (l.end - l.at >= 2 && (l.at[0] == '0' || l.at[0] == '\\') && (l.at[1] | 32) == 'x') {
            l.at += 2;
            if (digits(l) == 0)
                return sk_fail(r->err, "%s: line %u: no digits after '%.2s'", r->name, r->line,
                               l.at - 2);
            continue;
        }
        size_t n = digits(l);
        if (n % 2)
            return sk_fail(r->err,
                           "%s: line %u: an odd number of digits (%zu) in '%.*s'; a byte has two",
                           r->name, r->line, n, (int)(n < 24 ? n : 24), l.at);
        for (size_t i = 0; i < n; i += 2)
            if (packet_text_put(r, digit(l.at[i]) << 4 | digit(l.at[i + 1])))
                return -1;
        l.at += n;
        if (n)
            continue;
        if (!isspace((unsigned char)*l.at) && !strchr(":,-.", *l.at))
            return sk_fail(r->err, "%s: line %u: '%c' is not hexadecimal", r->name, r->line,
                           isprint((unsigned char)*l.at) ? *l.at : '?');
        l.at++;
    }
    return 0;
}

// ---- dumps ----

static struct line packet_text_skip_blanks(struct line l) {
    while (l.at < l.end && (*l.at == ' ' || *l.at == '\t'))
        l.at++;
    return l;
}

// "0000  ", "0x0010:  ", "00000020: ": at least four digits, and then a colon or two blanks. Moves
//                     'l'
// after it.
static bool take_offset(struct line *l, size_t *offset) {
    struct line s = packet_text_skip_blanks(*l);
    if (s.end - s.at > 2 && s.at[0] == '0' && (s.at[1] | 32) == 'x')
        s.at += 2;
    size_t n = digits(s);
    if (n < 4 || n > 8)
        return false;
    *offset = 0;
    for (size_t i = 0; i < n; i++)
        *offset = *offset << 4 | digit(s.at[i]);
    s.at += n;
    bool colon = s.at < s.end && *s.at == ':';
    bool blanks = s.end - s.at >= 2 && s.at[0] == ' ' && s.at[1] == ' ';
    bool tab = s.at < s.end && *s.at == '\t';
    if (!colon && !blanks && !tab && s.at != s.end)
        return false;
    s.at += colon;
    *l = s;
    return true;
}

// Groups of two, four or eight digits. One blank lies between groups, two after the eighth byte;
// more, or something else, and the characters begin.
static int dump_bytes(struct reading *r, struct line l) {
    size_t begin = r->n;
    for (bool first = true;; first = false) {
        struct line next = packet_text_skip_blanks(l);
        size_t blanks = (size_t)(next.at - l.at), n = digits(next);
        bool middle = blanks == 2 && r->n - begin == 8;
        bool apart = next.at + n == next.end || next.at[n] == ' ' || next.at[n] == '\t';
        if (!first && blanks != 1 && !middle)
            return 0;
        if (n == 0 || !apart || n > 32)
            return first && next.at < next.end
                       ? sk_fail(r->err, "%s: line %u: no bytes after the offset", r->name, r->line)
                       : 0;
        if (n % 2)
            return sk_fail(r->err,
                           "%s: line %u: an odd number of digits (%zu) in '%.*s'; a byte has two",
                           r->name, r->line, n, (int)n, next.at);
        for (size_t i = 0; i < n; i += 2)
            if (packet_text_put(r, digit(next.at[i]) << 4 | digit(next.at[i + 1])))
                return -1;
        l.at = next.at + n;
    }
}

// What "*" left out: the line before, again and again up to 'offset'.
static int repeat(struct reading *r, size_t offset) {
    r->star = false;
    while (r->n < offset && r->n >= 16)
        if (packet_text_put(r, r->bytes[r->n - 16]))
            return -1;
    return 0;
}

static int dump_line(struct reading *r, struct line l) {
    size_t offset;
    struct line s = packet_text_skip_blanks(l);
    if (s.end - s.at == 1 && *s.at == '*' && r->n >= 16) {
        r->star = true;
        return 0;
    }
    if (!take_offset(&l, &offset))
        return sk_fail(r->err, "%s: line %u: not a line of a dump: it has no offset", r->name,
                       r->line);
    if (r->star && repeat(r, offset))
        return -1;
    if (offset == 0 && r->n)
        return sk_fail(r->err, "%s: line %u: a second packet starts; only one can be explained",
                       r->name, r->line);
    if (offset != r->n)
        return sk_fail(r->err,
                       "%s: line %u: its offset is 0x%zx, but there are 0x%zx bytes before it",
                       r->name, r->line, offset, r->n);
    return dump_bytes(r, l);
}

// What tcpdump and tshark write over a packet.
static bool is_heading(const char *line, size_t n) {
    size_t at = strspn(line, " ");
    return n > at + 8 && isdigit((unsigned char)line[at]) && line[at + 2] == ':' &&
           line[at + 5] == ':' && isdigit((unsigned char)line[at + 3]) &&
           isdigit((unsigned char)line[at + 6]) && memchr(line, ' ', n) && !is_hex(line[at + 8]) &&
           line[at + 8] != ':';
}

static int packet_text_read_line(struct reading *r, const char *line, size_t n) {
    struct line l = {line, line + n};
    size_t offset;
    while (l.end > l.at && isspace((unsigned char)l.end[-1]))
        l.end--;
    if (packet_text_skip_blanks(l).at == l.end)
        return 0;
    if (is_heading(line, (size_t)(l.end - l.at))) {
        if (r->n)
            return sk_fail(r->err, "%s: line %u: a second packet starts; only one can be explained",
                           r->name, r->line);
        return 0;
    }
    if (r->n == 0 && !r->dump) {
        struct line s = l;
        r->dump = take_offset(&s, &offset) && offset == 0 && s.at < s.end;
    }
    return r->dump ? dump_line(r, l) : plain_line(r, l);
}

uint8_t *packet_text_read(const char *name, const char *text, size_t length, uint32_t *n,
                          struct sk_error *err) {
    struct reading r = {.name = name, .err = err, .bytes = malloc(PACKET_LONGEST)};
    int rc = 0;
    if (!r.bytes)
        abort();
    for (size_t at = 0; rc == 0 && at < length;) {
        const char *newline = memchr(text + at, '\n', length - at);
        size_t end = newline ? (size_t)(newline - text) : length;
        char *line = strndup(text + at, end - at);
        if (!line)
            abort();
        r.line++;
        rc = strlen(line) == end - at ? packet_text_read_line(&r, line, end - at)
                                      : sk_fail(err, "%s: line %u: a zero byte", name, r.line);
        free(line);
        at = end + 1;
    }
    if (rc == 0 && r.n == 0)
        rc = sk_fail(err, "%s: it contains no bytes", name);
    if (rc == 0) {
        *n = (uint32_t)r.n;
        return r.bytes;
    }
    free(r.bytes);
    return NULL;
}

bool packet_text_is(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!isprint((unsigned char)text[i]) && !isspace((unsigned char)text[i]))
            return false;
    size_t at = strspn(text, " \t\r\n");
    return at < length && (is_hex(text[at]) || text[at] == '\\');
}
