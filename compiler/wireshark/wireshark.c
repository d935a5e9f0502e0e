// SPDX-License-Identifier: Apache-2.0
#include "compiler/wireshark/wireshark.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/base/text.h"
#include "compiler/wireshark/wireshark_impl.h"

#define LIST 4u // numbered fields from which on they are one list

void shark_line(struct shark *s, const char *fmt, ...) {
    va_list ap;
    fprintf(s->out, "%*s", (int)(4 * s->indent), "");
    va_start(ap, fmt);
    vfprintf(s->out, fmt, ap);
    va_end(ap);
    fputc('\n', s->out);
}

const char *shark_string(struct shark *s, const char *text) {
    char *out = arena_alloc(s->a, 4 * strlen(text) + 3), *o = out;
    *o++ = '"';
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
            o += snprintf(o, 5, "\\%03u", c);
        else
            *o++ = (char)c;
    }
    strcpy(o, "\"");
    return out;
}

const char *shark_last_name(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

// What Wireshark takes in a filter.
static char *filter_name(struct shark *s, const char *name) {
    char *out = arena_strdup(s->a, name);
    for (char *c = out; *c; c++)
        *c = isalnum((unsigned char)*c) || *c == '.' ? (char)tolower((unsigned char)*c) : '_';
    return out;
}

// "switchml" of "p4/switchml/switchml.p4".
static const char *protocol_name(struct shark *s, const char *path) {
    const char *slash = strrchr(path, '/');
    char *name = filter_name(s, slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && dot != name)
        *dot = '\0';
    for (char *c = name; *c; c++)
        if (*c == '.')
            *c = '_';
    return isdigit((unsigned char)*name) ? arena_printf(s->a, "p4_%s", name) : name;
}

// ---- headers and fields ----

// "hdr.vlan" of "hdr.vlan[1]", "hdr.ipv4.options" of "hdr.ipv4.options.$16".
static const char *shark_plain_name(struct shark *s, const char *name) {
    char *out = arena_strdup(s->a, name), *w = out;
    for (const char *c = name; *c; c++) {
        if (*c == '[')
            while (*c && *c != ']')
                c++;
        else if (*c == '.' && c[1] == '$')
            break;
        else
            *w++ = *c;
        if (!*c)
            break;
    }
    *w = '\0';
    return out;
}

// After the name of the parser's parameter: "vlan".
static const char *short_header(struct shark *s, const struct ir_header *h) {
    const char *name = shark_plain_name(s, h->name), *dot = strchr(name, '.');
    return dot ? dot + 1 : name;
}

static const char *field_name(struct shark *s, const struct ir_header *h, const struct ir_var *f) {
    size_t n = strlen(h->name);
    (void)s;
    return strncmp(f->name, h->name, n) == 0 && f->name[n] == '.' ? f->name + n + 1 : f->name;
}

// Of fields "v00", "v01"... the stem's length, the number and its digits; false when it has no
// number.
static bool shark_numbered(const char *name, size_t *stem, unsigned long *number,
                           unsigned *digits) {
    *stem = strcspn(name, "0123456789");
    size_t n = strspn(name + *stem, "0123456789");
    if (*stem == 0 || n == 0 || n > 6 || name[*stem + n])
        return false;
    *digits = (unsigned)n;
    *number = strtoul(name + *stem, NULL, 10);
    return true;
}

// How many fields from 'i' on are one list.
static size_t list_length(struct shark *s, const struct ir_header *h, size_t i) {
    const char *first = field_name(s, h, h->fields.v[i]);
    size_t stem, stem2, n = 1;
    unsigned long from, number;
    unsigned digits, digits2;
    if (!shark_numbered(first, &stem, &from, &digits))
        return 1;
    for (; i + n < h->fields.n; n++) {
        const struct ir_var *f = h->fields.v[i + n];
        const char *name = field_name(s, h, f);
        if (f->width != h->fields.v[i]->width || f->is_signed != h->fields.v[i]->is_signed ||
            !shark_numbered(name, &stem2, &number, &digits2) || stem2 != stem ||
            strncmp(first, name, stem) != 0 || number != from + n ||
            (digits2 != digits && name[stem] == '0'))
            break;
    }
    return n >= LIST ? n : 1;
}

static bool shark_has(const char *name, const char *const *words) {
    for (; *words; words++)
        if (strcasestr(name, *words))
            return true;
    return false;
}

static bool shark_is_address(const char *name) {
    static const char *const words[] = {"addr", "mac", "dst", "src", "ip", NULL};
    static const char *const not_those[] = {"port", "stamp", NULL};
    return shark_has(name, words) && !shark_has(name, not_those);
}

static bool shark_is_hexadecimal(const char *name) {
    static const char *const words[] = {"type", "sum",   "flags",  "mask",   "hash",
                                        "crc",  "magic", "digest", "bitmap", NULL};
    return shark_has(name, words);
}

static bool is_aligned(const struct ir_var *f) {
    return f->bit_offset % 8 == 0 && f->width % 8 == 0;
}

// ProtoField's kind of it.
static const char *kind(struct shark *s, const char *name, const struct ir_var *f) {
    if (f->width > 64)
        return f->width == 128 && is_aligned(f) && shark_is_address(name) ? "ipv6" : "bytes";
    if (f->width == 48 && is_aligned(f) && shark_is_address(name))
        return "ether";
    if (f->width == 32 && is_aligned(f) && shark_is_address(name))
        return "ipv4";
    const unsigned bits = f->width <= 8    ? 8
                          : f->width <= 16 ? 16
                          : f->width <= 24 ? 24
                          : f->width <= 32 ? 32
                                           : 64;
    return arena_printf(s->a, "%sint%u", f->is_signed ? "" : "u", bits);
}

// How its value is got: "", "bits", "signed", "long" (see the Lua text).
static const char *how(const struct ir_var *f) {
    if (f->width > 64 || is_aligned(f))
        return "";
    return f->width > 32 ? "long" : f->is_signed ? "signed" : "bits";
}

static const struct ir_field_names *enum_of(struct shark *s, const struct ir_header *h,
                                            const struct ir_var *f) {
    for (size_t i = 0; h->type_name && i < s->p->field_names.n; i++) {
        const struct ir_field_names *n = &s->p->field_names.v[i];
        if (strcmp(n->header_type, h->type_name) == 0 && strcmp(n->field, field_name(s, h, f)) == 0)
            return n;
    }
    return NULL;
}

struct names {
    struct shark *s;
    struct text_buffer list;
    VEC(uint64_t) values;
    VEC(size_t) table; // numbers of values, from 1, by their hash; 0: none
};

static size_t names_slot(const struct names *n, uint64_t value) {
    size_t i = (size_t)(value * UINT64_C(0x9e3779b97f4a7c15) >> 16) % n->table.n;
    while (n->table.v[i] && n->values.v[n->table.v[i] - 1] != value)
        i = (i + 1) % n->table.n;
    return i;
}

static void names_grow(struct names *n) {
    const size_t size = n->table.n ? 2 * n->table.n : 64;
    n->table.v = ARENA_ARRAY(n->s->a, size_t, size);
    n->table.n = size;
    for (size_t i = 0; i < n->values.n; i++)
        n->table.v[names_slot(n, n->values.v[i])] = i + 1;
}

static void add_name(struct names *n, const char *name, uint64_t value) {
    if (2 * n->values.n >= n->table.n)
        names_grow(n);
    const size_t slot = names_slot(n, value);
    if (n->table.v[slot])
        return;
    VEC_PUSH(n->s->a, &n->values, value);
    n->table.v[slot] = n->values.n;
    text_append(n->s->a, &n->list, "%s[%" PRIu64 "] = %s", n->list.n ? ", " : "", value,
                shark_string(n->s, name));
}

// A constant of that width and value is what the select's case says, if only one has them.
static void shark_add_constant(struct names *n, unsigned width, uint64_t value) {
    const struct ir_constant *only = NULL;
    arena_spend(n->s->a, n->s->p->constants.n);
    for (size_t i = 0; i < n->s->p->constants.n; i++) {
        const struct ir_constant *c = &n->s->p->constants.v[i];
        if (c->width != width || !big_fits_u64(c->value) || big_to_u64(c->value) != value)
            continue;
        if (only)
            return;
        only = c;
    }
    if (only)
        add_name(n, only->name, value);
}

// Names of a field's values: of its enum, or constants that selects compare it with.
static const char *shark_value_names(struct shark *s, const struct ir_header *h,
                                     const struct ir_var *f) {
    const struct ir_field_names *wf = enum_of(s, h, f);
    struct names n = {.s = s};
    if (f->width > 32)
        return "";
    for (size_t i = 0; wf && i < wf->names.n; i++)
        if (big_sign(wf->names.v[i].value) >= 0 && big_fits_u64(wf->names.v[i].value))
            add_name(&n, wf->names.v[i].name, big_to_u64(wf->names.v[i].value));
    for (size_t i = 0; n.values.n == 0 && f->width > 1 && i < s->g->states.n; i++) {
        const struct ir_state *st = s->g->states.v[i];
        for (size_t k = 0; k < st->keys.n; k++)
            for (size_t c = 0;
                 st->keys.v[k]->op == IR_VAR && st->keys.v[k]->var == f && c < st->cases.n; c++) {
                const struct ir_select_case *sc = &st->cases.v[c];
                if (sc->sets.n == 0 || sc->sets.v[k].high || sc->sets.v[k].set)
                    continue;
                const uint64_t all = (UINT64_C(1) << f->width) - 1;
                if (!sc->sets.v[k].mask || (big_to_u64(sc->sets.v[k].mask) & all) == all)
                    shark_add_constant(&n, f->width, big_to_u64(sc->sets.v[k].value));
            }
    }
    return n.list.n ? arena_printf(s->a, "{%s}", n.list.v) : "";
}

// Declares ProtoField 'key' of the table F once; elements of a stack share theirs.
static void declare(struct shark *s, const char *key, const char *name, const struct ir_header *h,
                    const struct ir_var *f) {
    const bool piece = strchr(h->name, '$'); // of a varbit field
    const char *k = piece ? "bytes" : kind(s, name, f);
    const char *header = filter_name(s, short_header(s, h));
    const char *filter = strcmp(header, s->name) == 0
                             ? filter_name(s, name)
                             : arena_printf(s->a, "%s.%s", header, filter_name(s, name));
    const char *rest = "";
    if (strstr(k, "int")) {
        const char *names = shark_value_names(s, h, f);
        const bool hex = !f->is_signed && shark_is_hexadecimal(name);
        rest = arena_printf(s->a, ", base.%s%s%s", hex ? "HEX" : "DEC", *names ? ", " : "", names);
    }
    shark_line(s, "F[%s] = F[%s] or ProtoField.%s(p.name:lower() .. %s, %s%s)", key, key, k,
               shark_string(s, arena_printf(s->a, ".%s", filter)), shark_string(s, name), rest);
}

static void shark_describe(struct shark *s, const struct ir_header *h) {
    const char *base = shark_plain_name(s, h->name);
    struct text_buffer rows = {0};
    for (size_t i = 0, n; !h->intrinsic && i < h->fields.n; i += n) {
        const struct ir_var *f = h->fields.v[i];
        const char *name = field_name(s, h, f);
        size_t stem = 0;
        unsigned long number = 0;
        unsigned digits = 0;
        n = list_length(s, h, i);
        if (n > 1 && shark_numbered(name, &stem, &number, &digits))
            name = arena_strndup(s->a, name, stem);
        const char *key = shark_string(s, arena_printf(s->a, "%s.%s", base, name));
        if (f->width > 64 && !is_aligned(f))
            shark_line(s, "-- %s.%s: %u bits that are not whole bytes; shown with their neighbours",
                       h->name, name, f->width);
        declare(s, key, name, h, f);
        text_append(s->a, &rows, "\n    {F[%s], %s, %u, %u, \"%s\"", key, shark_string(s, name),
                    f->bit_offset, f->width, how(f));
        if (n > 1)
            text_append(s->a, &rows, ", %lu, %zu, %u%s", number, n, digits,
                        f->is_signed ? ", true" : "");
        text_append(s->a, &rows, "},");
    }
    const char *type = h->type_name ? h->type_name : "";
    const bool piece = strchr(h->name, '$'); // of a varbit field
    const char *key = shark_string(s, base), *header = short_header(s, h);
    if (!h->intrinsic)
        shark_line(s, "F[%s] = F[%s] or ProtoField.none(p.name:lower() .. %s, %s)", key, key,
                   shark_string(s, arena_printf(s->a, ".%s", filter_name(s, header))),
                   shark_string(s, header));
    shark_line(s, "H[%u] = {name = %s, label = %s, field = F[%s], bits = %u,%s\n}", h->id,
               shark_string(s, header),
               shark_string(s, arena_printf(s->a, "%s (%s)", piece ? base : h->name, type)), key,
               h->bits, text_of(&rows));
}

// ---- what is there ----

static void shark_note_header(void *aux, const struct ir_stmt *st) {
    struct shark *s = aux;
    if (st->kind != IR_EXTRACT)
        return;
    if (st->header)
        s->shown[st->header->id] = true;
    for (size_t i = 0; i < st->headers.n; i++)
        s->shown[st->headers.v[i]->id] = true;
}

static void shark_note_read(void *aux, const struct ir_expr *e) {
    struct shark *s = aux;
    if (e->op == IR_VAR)
        s->read[e->var->id] = true;
}

static void shark_reach(struct shark *s, int state) {
    if (state < 0 || s->reached[state])
        return;
    const struct ir_state *st = s->g->states.v[state];
    s->reached[state] = true;
    shark_each_stmt(st->body, shark_note_header, s);
    shark_each_expr(st, shark_note_read, s);
    if (st->keys.n == 0)
        shark_reach(s, st->next);
    for (size_t i = 0; i < st->cases.n; i++) {
        bool certain;
        if (shark_possible(s, st, i, &certain))
            shark_reach(s, st->cases.v[i].next);
        else
            certain = false;
        if (certain)
            break;
    }
}

static bool *shark_flags(struct shark *s, size_t n) {
    bool *b = arena_alloc(s->a, n + 1);
    memset(b, 0, n + 1);
    return b;
}

// What the chip puts before a packet from the front panel: zeros, and the port in the second byte's
// last bit and the third byte (tna-facts 2.1).
static void front(struct shark *s) {
    const unsigned port = s->ingress_port;
    const char *zeros = "";
    for (unsigned i = 2; i < s->p->ingress_prefix; i++)
        zeros = arena_printf(s->a, "%s, 0", zeros);
    shark_line(s, "local FRONT = {%u, %u%s}", port >> 8, port & 255, zeros);
}

static void shark_beginning(struct shark *s) {
    const char *slash = strrchr(s->p->path, '/'), *file = slash ? slash + 1 : s->p->path;
    shark_line(s,
               "-- What the parser of %s takes of a packet, for Wireshark. Written by silken build",
               file);
    shark_line(s, "-- --wireshark; not meant to be edited.");
    if (s->p->pipelines.n > 1)
        shark_line(s, "-- The program has %zu pipelines; this is the parser of %s.",
                   (size_t)s->p->pipelines.n, s->p->pipelines.v[0]->name);
    shark_line(
        s, "-- Packets are taken as if they came in by a port that no state asks for (%u), for the",
        s->ingress_port);
    shark_line(s, "-- first time. Checksums are not computed.");
    shark_line(s, "local NAME, TITLE = \"%s\", %s", s->name, shark_string(s, file));
    shark_line(s, "local good, p = pcall(Proto, NAME, TITLE)");
    shark_line(
        s,
        "if not good then p = Proto(NAME .. \"_p4\", TITLE) end -- Wireshark has one of that name");
    shark_line(s, "local malformed = ProtoExpert.new(p.name:lower() .. \".malformed\", \"The "
                  "packet is too short\",");
    shark_line(s, "    expert.group.MALFORMED, expert.severity.ERROR)");
    shark_line(s, "local cut_short = ProtoExpert.new(p.name:lower() .. \".cut\", \"The capture cut "
                  "the packet\",");
    shark_line(s, "    expert.group.UNDECODED, expert.severity.NOTE)");
    shark_line(s, "local rejected = ProtoExpert.new(p.name:lower() .. \".rejected\", \"The P4 "
                  "parser rejects the packet\",");
    shark_line(s, "    expert.group.PROTOCOL, expert.severity.WARN)");
    shark_line(s, "local not_expressed = ProtoExpert.new(p.name:lower() .. \".not_expressed\",");
    shark_line(
        s, "    \"The dissector does not follow the P4 parser further\", expert.group.UNDECODED,");
    shark_line(s, "    expert.severity.NOTE)");
    shark_line(s, "p.experts = {malformed, cut_short, rejected, not_expressed}");
    shark_line(s, "local START = 0");
    front(s);
    shark_line(s, "%s", "");
}

static void lines(struct shark *s, const char *const *text) {
    for (; *text; text++)
        fprintf(s->out, "%s\n", *text);
}

void wireshark_dissector(FILE *f, struct arena *a, const struct ir_program *p) {
    struct shark s = {.out = f, .a = a, .p = p, .g = &p->pipelines.v[0]->gress[IR_INGRESS]};
    s.reached = shark_flags(&s, s.g->states.n);
    s.read = shark_flags(&s, s.g->vars.n);
    s.shown = shark_flags(&s, s.g->headers.n);
    s.name = protocol_name(&s, p->path);
    shark_choose_port(&s);
    shark_reach(&s, 0);
    shark_beginning(&s);
    lines(&s, shark_prologue);
    shark_line(&s, "-- Headers.");
    shark_line(&s, "local F = {}");
    for (size_t i = 0; i < s.g->headers.n; i++)
        if (s.shown[s.g->headers.v[i]->id])
            shark_describe(&s, s.g->headers.v[i]);
    shark_line(&s, "local all = {}");
    shark_line(&s, "for _, field in pairs(F) do all[#all + 1] = field end");
    shark_line(&s, "p.fields = all");
    shark_line(&s, "\n-- The parser's states.");
    shark_states(&s);
    lines(&s, shark_epilogue);
    shark_entries(&s);
}
