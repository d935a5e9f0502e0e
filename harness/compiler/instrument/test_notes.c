// SPDX-License-Identifier: Apache-2.0
//
// The notes of compiler/instrument/notes.c, by programs that the interpreter runs: random ones that
// depend on packets and tables alone, and one that has something of each kind of note.
//
//  - The pass changes nothing: with and without it the same packets leave, and the same is counted.
//  - Its notes are enough to do a pass again. A packet runs as the engine runs one that is noted
//    (pipeline/path/receive.c), both gresses, and what it noted becomes a flow of the engine's own
//    cache (pipeline/switch/flows.c). Then packets run that the cache takes for that flow: bits
//    that were not noted are random, and so are lengths and times. Each must leave by the same
//    port, as it came, have the same record, and count what the cache counts for it.
//  - Without any one kind of note that is not so.
//  - The C that is printed notes what the interpreter does, of whole packets and of short ones.
//
// NOTES_PROGRAMS (50; under a sanitizer 15) random programs from seed NOTES_SEED (1) on.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/instrument/instrument.h"
#include "compiler/ir/verify.h"
#include "compiler/rules/rules.h"
#include "harness/interp/scenario.h"
#include "harness/interp/generate.h"
#include "pipeline/prefix.h"
#include "pipeline/switch/flows.h"
#include "stages/checksum.h"

#define START    (2 * SK_HEADROOM) // of a packet in its buffer: there is room when it has grown
#define MOST     1024u             // bytes of a packet
#define VARIANTS 12u               // packets of each flow
#define PACKETS  60u               // of a random program

static char folder[] = "/tmp/silken-notes-XXXXXX";
static bool quiet; // a difference is looked for: it is not described

// ---- programs ----

struct noting {
    struct subject subject;
    const struct ir_program *noted; // null: it takes no notes
};

static bool noting_make(struct noting *n, const char *text, size_t length) {
    const struct instrument_options always = {.notes_always = true};
    *n = (struct noting){0};
    if (subject_make(&n->subject, text, length, NULL, 0, folder, stderr) != SUBJECT_OK)
        return false;
    struct subject *const s = &n->subject;
    if (!emit_check(s->a, s->d, s->ir, s->ir->pipelines.v[0]))
        return false;
    const struct ir_program *const p = instrument_program(s->a, s->ir, &always);
    n->noted = p != s->ir ? p : NULL;
    for (unsigned k = 0; n->noted && k < 2; k++)
        assert_null(ir_fault(s->a, &p->pipelines.v[0]->gress[k]));
    return true;
}

// ---- the pass without one of its kinds of note ----

enum without { WITHOUT_HITS = IR_NOTED_UNFIT + 1, WITHOUT_COUNTS, WITHOUT_END };

static void leave_out(struct ir_block *b, int kind) {
    size_t n = 0;
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        struct ir_stmt *const s = b->stmts.v[i];
        leave_out(s->then_b, kind);
        leave_out(s->else_b, kind);
        for (size_t k = 0; k < s->cases.n; k++)
            leave_out(s->cases.v[k].body, kind);
        s->flag &= s->kind != IR_COUNT || kind != WITHOUT_COUNTS;
        if (s->kind != IR_NOTE || (int)s->noted != kind)
            b->stmts.v[n++] = s;
    }
    if (b)
        b->stmts.n = n;
}

static void leave_out_everywhere(const struct ir_program *p, int kind) {
    for (unsigned k = 0; k < 2; k++) {
        const struct ir_gress *const g = &p->pipelines.v[0]->gress[k];
        leave_out(g->control, kind);
        leave_out(g->deparser, kind);
        for (size_t i = 0; i < g->states.n; i++)
            leave_out(g->states.v[i]->body, kind);
        for (size_t i = 0; i < g->actions.n; i++)
            leave_out(g->actions.v[i]->body, kind);
        for (size_t i = 0; i < g->tables.n; i++)
            g->tables.v[i]->noted &= kind != WITHOUT_HITS;
    }
}

// ---- packets ----

struct sent { // one packet, and what became of it
    uint8_t bytes[MOST];
    uint32_t length;
    uint16_t port;
    uint8_t metadata[8]; // the port's
    uint64_t time;
    bool straight; // it left by one port as it came
    uint16_t out;
    struct interp_record record;
};

static bool goes_straight(const struct sk_ingress_out *o) {
    return o->ucast_valid && !o->mcast_a_valid && !o->mcast_b_valid && !o->copy_to_cpu &&
           !o->resubmit && !o->drop_ctl && !o->parser_drop && !o->mirror.wanted &&
           !o->digest.packed && !o->consumed && !o->adv_flow_ctl;
}

static bool is_as_it_came(const struct sk_packet *p, const struct sent *s, bool all) {
    return p->head + p->len == START + s->length && p->head <= START &&
           (!all || p->head == START) && memcmp(p->buf + START, s->bytes, s->length) == 0;
}

// As run_noted() in pipeline/path/receive.c.
static void run_noted(struct interp *ip, struct sent *s) {
    static uint8_t buffer[START + MOST + SK_HEADROOM];
    struct sk_packet p = {.buf = buffer, .cap = sizeof buffer, .head = START, .len = s->length};
    struct sk_ingress_out in = {0};
    struct sk_egress_out out = {0};
    memset(buffer, 0xee, sizeof buffer);
    memcpy(buffer + START, s->bytes, s->length);
    p.ingress_port = s->port;
    p.mac_tstamp = p.global_tstamp = s->time & SK_TSTAMP_MASK;
    sk_ingress_prefix(buffer + START, false, s->port, p.mac_tstamp, s->metadata);
    s->record = (struct interp_record){.frame = START, .length = s->length};
    s->record.moment[0].from = START - SK_INGRESS_PREFIX + SK_INGRESS_TIME_AT;
    s->record.moment[0].to = START - SK_INGRESS_PREFIX + SK_INGRESS_TIME_END;
    interp_note_to(ip, &s->record);
    interp_ingress(ip, &p, &in);
    s->out = in.ucast_port & 0x1ff;
    s->straight = goes_straight(&in) && is_as_it_came(&p, s, false);
    if (s->straight && !in.bypass_egress) {
        const uint32_t prefix = p.head - SK_EGRESS_PREFIX;
        sk_egress_prefix(buffer + p.head, sk_egress_place(s->out, 0, 0, s->time),
                         sk_egress_times(s->time, 0, 0, 0),
                         sk_egress_copy(0, 0, false, sk_egress_queue(in.qid, in.ingress_cos)),
                         false, sk_egress_length(p.len));
        s->record.place = 0;
        s->record.moment[0].from = prefix + SK_EGRESS_TIME_AT;
        s->record.moment[0].to = prefix + SK_EGRESS_TIME_END;
        s->record.moment[1].from = prefix + SK_EGRESS_LENGTH_AT;
        s->record.moment[1].to = prefix + SK_EGRESS_PREFIX;
        p.egress_port = s->out;
        interp_egress(ip, &p, &out);
        s->straight = !out.drop_ctl && !out.mirror.wanted && !out.adv_flow_ctl;
    }
    interp_note_to(ip, NULL);
    s->straight &= is_as_it_came(&p, s, true);
}

// ---- what is counted ----

typedef VEC(uint64_t *) count_vec;

static void counts_of_entry(struct arena *a, count_vec *to, struct interp_entry *e) {
    VEC_PUSH(a, to, &e->hits);
    VEC_PUSH(a, to, &e->packets);
    VEC_PUSH(a, to, &e->bytes);
}

static count_vec counts_of(struct arena *a, struct interp *ip) {
    const struct ir_gress *const g = interp_gresses(ip);
    count_vec all = {0};
    for (unsigned i = 0; i < g[0].tables.n + g[1].tables.n; i++) {
        struct interp_table *const t = interp_table(ip, i);
        for (size_t k = 0; k < t->n; k++)
            counts_of_entry(a, &all, t->entries[k]);
        counts_of_entry(a, &all, t->default_entry);
    }
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < g[k].counters.n; i++) {
            const struct ir_counter *const c = g[k].counters.v[i];
            struct sk_counter_cell *const cells = c->direct ? NULL : interp_counter(ip, c->name);
            for (uint64_t n = 0; cells && n < c->size; n++) {
                VEC_PUSH(a, &all, &cells[n].packets);
                VEC_PUSH(a, &all, &cells[n].bytes);
            }
        }
    return all;
}

static void counts_read(const count_vec *all, uint64_t *to) {
    for (size_t i = 0; i < all->n; i++)
        to[i] = *all->v[i];
}

// ---- the property ----

struct tally {
    unsigned programs, noted, packets, fit, variants, differences;
};

// As the engine's own notes of the packet.
static bool notes_of(struct sk_notes *to, const struct interp_record *r) {
    memset(to, 0, sizeof *to);
    to->length = (uint32_t)r->length;
    to->summed_at = (uint16_t)r->summed_at;
    to->summed = (uint16_t)r->summed;
    memcpy(to->mask, r->seen, sizeof to->mask);
    for (size_t i = 0; i < r->n_notes && i < SK_NOTES; i++)
        to->notes[i] = (struct sk_note){r->notes[i].count, (int32_t)r->notes[i].more,
                                        r->notes[i].bytes ? SK_NOTED_BYTES : SK_NOTED_COUNT};
    to->n = (uint8_t)(r->n_notes < SK_NOTES ? r->n_notes : SK_NOTES);
    return r->n_notes <= SK_NOTES;
}

// Gives the words of the sum that is to be right one that makes it so. False: each has noted bits.
static bool make_sum_right(struct sent *s, const struct interp_record *r) {
    for (unsigned at = 0; at + 1 < r->summed; at += 2) {
        uint8_t *const word = s->bytes + r->summed_at + at;
        if (r->seen[r->summed_at + at] || r->seen[r->summed_at + at + 1])
            continue;
        word[0] = word[1] = 0;
        const uint16_t rest =
            (uint16_t)~sk_csum_fold(sk_csum_bytes(0, s->bytes + r->summed_at, r->summed));
        word[0] = (uint8_t)(rest >> 8);
        word[1] = (uint8_t)rest;
        return !sk_csum_wrong(sk_csum_bytes(0, s->bytes + r->summed_at, r->summed));
    }
    return false;
}

// A packet that is like 'of' where that says that it matters.
static bool make_like(struct random *rnd, struct sent *s, const struct sent *of) {
    const unsigned percent = 5u << random_below(rnd, 5);
    *s = *of;
    if (of->length >= SK_NOTED)
        s->length = SK_NOTED + random_below(rnd, MOST - SK_NOTED);
    s->time = random_bits(rnd, 48);
    for (uint32_t i = 0; i < s->length; i++) {
        const uint8_t seen = i < SK_NOTED ? of->record.seen[i] : 0;
        const bool other = random_percent(rnd, percent);
        if (other || i >= of->length)
            s->bytes[i] = (uint8_t)((s->bytes[i] & seen) | (random_next(rnd) & (uint8_t)~seen));
    }
    if (!of->record.summed ||
        !sk_csum_wrong(sk_csum_bytes(0, s->bytes + of->record.summed_at, of->record.summed)))
        return true;
    if (make_sum_right(s, &of->record))
        return true;
    memcpy(s->bytes + of->record.summed_at, of->bytes + of->record.summed_at, of->record.summed);
    return true;
}

static const char *difference(const struct sent *s, const struct sent *of) {
    const struct interp_record *const a = &s->record, *const b = &of->record;
    if (!s->straight)
        return "it does not leave as it came";
    if (s->out != of->out)
        return "it leaves by another port";
    if (a->unfit || a->summed != b->summed || a->summed_at != b->summed_at)
        return "it is unfit, or has another sum";
    if (memcmp(a->seen, b->seen, sizeof a->seen) != 0)
        return "other bits are seen";
    if (a->n_notes != b->n_notes)
        return "more or fewer counts are noted";
    for (size_t i = 0; i < a->n_notes; i++)
        if (a->notes[i].count != b->notes[i].count || a->notes[i].more != b->notes[i].more ||
            a->notes[i].bytes != b->notes[i].bytes)
            return "other counts are noted";
    return NULL;
}

static void describe(const char *what, const struct sent *s, const struct sent *of) {
    if (quiet)
        return;
    print_error("%s\n  ", what);
    for (uint32_t i = 0; i < of->length; i++)
        print_error("%02x", of->bytes[i]);
    print_error(" seen\n  ");
    for (uint32_t i = 0; i < SK_NOTED; i++)
        print_error("%02x", of->record.seen[i]);
    print_error(" the bits of\n  ");
    for (uint32_t i = 0; i < s->length; i++)
        print_error("%02x", s->bytes[i]);
    print_error(" like it\n");
}

struct replayer {
    struct interp *ip;
    struct arena *a;
    struct random rnd;
    struct sk_flows *flows;
    uint64_t generation;
    count_vec counts;
    uint64_t *before, *after;
};

static struct replayer replayer_new(struct interp *ip, uint64_t seed) {
    struct replayer r = {.ip = ip, .a = arena_new(), .rnd = {seed}, .flows = sk_flows_new()};
    assert_non_null(r.flows);
    r.counts = counts_of(r.a, ip);
    r.before = ARENA_ARRAY(r.a, uint64_t, r.counts.n + 1);
    r.after = ARENA_ARRAY(r.a, uint64_t, r.counts.n + 1);
    return r;
}
static void replayer_free(struct replayer *r) {
    sk_flows_free(r->flows);
    arena_free(r->a);
}

// The packet runs; then the cache counts it, by as much.
static const char *replay(struct replayer *r, struct sk_flow *flow, struct sent *s,
                          const struct sent *of) {
    counts_read(&r->counts, r->before);
    run_noted(r->ip, s);
    counts_read(&r->counts, r->after);
    const char *const what = difference(s, of);
    sk_flows_count(r->flows, flow, s->length);
    sk_flows_flush(r->flows, 0);
    for (size_t i = 0; i < r->counts.n; i++)
        if (*r->counts.v[i] - r->after[i] != r->after[i] - r->before[i])
            return what ? what : "the cache counts something else";
    return what;
}

// Differences between a packet and those like it.
static void run_flow(struct replayer *r, struct sent *of, struct tally *t) {
    struct sk_notes notes;
    struct sent s;
    run_noted(r->ip, of);
    t->packets++;
    if (!of->straight || of->record.unfit || !notes_of(&notes, &of->record))
        return;
    t->fit++;
    const uint32_t tag = sk_flow_tag(of->bytes, of->port);
    sk_flows_keep(r->flows, tag, of->port, of->out, of->bytes, &notes, ++r->generation);
    for (unsigned i = 0; i < VARIANTS; i++) {
        make_like(&r->rnd, &s, of);
        struct sk_flow *const flow =
            sk_flows_find(r->flows, tag, s.port, s.bytes, s.length, r->generation);
        if (!flow) // a packet whose sum was not right itself
            continue;
        t->variants++;
        const char *const what = replay(r, flow, &s, of);
        t->differences += what != NULL;
        if (what) {
            describe(what, &s, of);
            return;
        }
    }
}

// ---- random programs ----

static bool take_packet(struct sent *s, const struct op *op) {
    if (op->n_bytes < SK_INGRESS_PREFIX || op->n_bytes - SK_INGRESS_PREFIX > MOST)
        return false;
    memset(s, 0, sizeof *s);
    s->port = (uint16_t)((op->bytes[0] & 1) << 8 | op->bytes[1]);
    s->length = (uint32_t)op->n_bytes - SK_INGRESS_PREFIX;
    s->time = op->time;
    memcpy(s->metadata, op->bytes + SK_INGRESS_DATA_AT, sizeof s->metadata);
    memcpy(s->bytes, op->bytes + SK_INGRESS_PREFIX, s->length);
    return true;
}

static void run_flows(const struct ir_program *p, const struct scenario *sc, uint64_t seed,
                      struct tally *t) {
    struct interp *const ip = interp_new(p, 0, 1);
    struct sent s;
    for (size_t i = 0; i < sc->ops.n; i++)
        scenario_change(ip, &sc->ops.v[i]);
    struct replayer r = replayer_new(ip, seed);
    for (size_t i = 0; i < sc->ops.n; i++)
        if (sc->ops.v[i].kind == OP_INGRESS && take_packet(&s, &sc->ops.v[i]))
            run_flow(&r, &s, t);
    replayer_free(&r);
    interp_free(ip);
}

struct side {
    struct interp *ip;
    uint8_t buffer[START + MOST + SK_HEADROOM];
    struct sk_packet packet;
    struct sk_ingress_out in;
    struct sk_egress_out out;
};

static void run_side(struct side *s, const struct op *op) {
    const unsigned prefix = op->kind == OP_INGRESS ? SK_INGRESS_PREFIX : SK_EGRESS_PREFIX;
    memset(s->buffer, 0xee, sizeof s->buffer);
    memset(&s->in, 0, sizeof s->in);
    memset(&s->out, 0, sizeof s->out);
    memcpy(s->buffer + START - prefix, op->bytes, op->n_bytes);
    s->packet = (struct sk_packet){.buf = s->buffer,
                                   .cap = sizeof s->buffer,
                                   .head = START,
                                   .len = (uint32_t)op->n_bytes - prefix,
                                   .global_tstamp = op->time};
    if (op->kind == OP_INGRESS)
        interp_ingress(s->ip, &s->packet, &s->in);
    else
        interp_egress(s->ip, &s->packet, &s->out);
}

static void same_outcome(const struct side *a, const struct side *b) {
    assert_int_equal(a->packet.head, b->packet.head);
    assert_int_equal(a->packet.len, b->packet.len);
    assert_memory_equal(a->buffer, b->buffer, sizeof a->buffer);
    assert_memory_equal(&a->in.digest, &b->in.digest, sizeof a->in.digest);
    assert_int_equal(a->in.mirror.wanted, b->in.mirror.wanted);
    assert_int_equal(a->in.ucast_port, b->in.ucast_port);
    assert_int_equal(a->in.ucast_valid, b->in.ucast_valid);
    assert_int_equal(a->in.mcast_grp_a, b->in.mcast_grp_a);
    assert_int_equal(a->in.resubmit, b->in.resubmit);
    assert_int_equal(a->in.drop_ctl, b->in.drop_ctl);
    assert_int_equal(a->in.qid, b->in.qid);
    assert_int_equal(a->in.parser_err, b->in.parser_err);
    assert_int_equal(a->in.parser_drop, b->in.parser_drop);
    assert_int_equal(a->out.drop_ctl, b->out.drop_ctl);
    assert_int_equal(a->out.parser_err, b->out.parser_err);
    assert_int_equal(a->out.mirror.wanted, b->out.mirror.wanted);
}

// The program and the one with notes, which are taken, do the same.
static void run_both(const struct ir_program *p, const struct ir_program *noted,
                     const struct scenario *sc) {
    static struct side a, b;
    struct interp_record record = {.frame = START};
    struct arena *const arena = arena_new();
    a.ip = interp_new(p, 0, 1);
    b.ip = interp_new(noted, 0, 1);
    for (size_t i = 0; i < sc->ops.n; i++) {
        const struct op *const op = &sc->ops.v[i];
        const unsigned prefix = op->kind == OP_INGRESS ? SK_INGRESS_PREFIX : SK_EGRESS_PREFIX;
        if (op->kind != OP_INGRESS && op->kind != OP_EGRESS) {
            scenario_change(a.ip, op);
            scenario_change(b.ip, op);
            continue;
        }
        if (op->n_bytes < prefix || op->n_bytes - prefix > MOST)
            continue;
        record = (struct interp_record){.frame = START, .length = op->n_bytes - prefix};
        interp_note_to(b.ip, &record);
        run_side(&a, op);
        run_side(&b, op);
        same_outcome(&a, &b);
    }
    const count_vec in_a = counts_of(arena, a.ip), in_b = counts_of(arena, b.ip);
    assert_int_equal(in_a.n, in_b.n);
    for (size_t i = 0; i < in_a.n; i++)
        assert_int_equal(*in_a.v[i], *in_b.v[i]);
    interp_free(a.ip);
    interp_free(b.ip);
    arena_free(arena);
}

// 'kind': of note that is left out; negative: none.
static void run_program(uint64_t seed, int kind, struct tally *t) {
    struct noting n;
    size_t length;
    char *const text = generate_calm_program(seed, &length);
    t->programs++;
    if (noting_make(&n, text, length) && n.noted) {
        struct random rnd = {seed};
        struct scenario sc;
        t->noted++;
        scenario_make(&sc, n.subject.a, n.subject.ir, &rnd, PACKETS);
        if (kind < 0)
            run_both(n.subject.ir, n.noted, &sc);
        else
            leave_out_everywhere(n.noted, kind);
        run_flows(n.noted, &sc, seed, t);
    }
    subject_free(&n.subject);
    free(text);
}

static unsigned from_environment(const char *name, unsigned otherwise) {
    const char *const text = getenv(name);
    return text && *text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

// Interpreted under ASan, programs take six times as long.
static bool is_sanitized(void) {
    const char *const variant = getenv("VARIANT");
    return variant && *variant;
}

static void say(const struct tally *t) {
    print_message("%u programs, %u take notes: %u packets, %u are fit to be done again, %u like "
                  "them, %u differ\n",
                  t->programs, t->noted, t->packets, t->fit, t->variants, t->differences);
}

static void random_programs(void **state) {
    (void)state;
    struct tally t = {0};
    const unsigned first = from_environment("NOTES_SEED", 1);
    const unsigned n = from_environment("NOTES_PROGRAMS", is_sanitized() ? 15 : 50);
    for (unsigned i = 0; i < n; i++) {
        const unsigned differences = t.differences;
        run_program(first + i, -1, &t);
        if (t.differences > differences)
            print_error("seed %u\n", first + i);
    }
    say(&t);
    assert_int_equal(t.differences, 0);
    assert_true(t.noted * 10 >= t.programs * 8); // they are made to take notes
    assert_true(t.fit * 25 >= t.packets);        // and some of their packets are fit
}

// Differences that programs show from some seed on when a kind of note is left out, in at most so
// many programs.
static unsigned differences_without(int kind, unsigned most) {
    struct tally t = {0};
    for (unsigned i = 1; i <= most && t.differences == 0; i++)
        run_program(i, kind, &t);
    return t.differences;
}

static void random_programs_need(void **state) {
    static const int kinds[] = {IR_NOTED_HEADER, IR_NOTED_LOOKAHEAD, WITHOUT_HITS, WITHOUT_COUNTS};
    (void)state;
    quiet = true;
    for (size_t i = is_sanitized() ? 2 : 0; i < sizeof kinds / sizeof *kinds; i++)
        if (differences_without(kinds[i], 100) == 0)
            fail_msg("nothing differs without notes of kind %d", kinds[i]);
    quiet = false;
}

// ---- a program that has something of each kind ----

// Enough tables for the fast build to take notes.
#define TABLE(n)                                                                                   \
    "    table t" #n " { key = { h.kind.v : exact; } actions = { NoAction; } size = 4; }\n"

// The packet's first byte says which. Of what a way extracts nothing is looked at but where it says
// so, and each leaves a packet as it came if its next byte is the one in 'ways'.
static const char every_kind[] =
    "header byte_h { bit<8> v; }\n"
    "header sum_h { bit<16> sum; bit<16> data; }\n"
    "header far_h { bit<952> v; }\n"
    "header odd_h { bit<132> v; bit<4> rest; }\n" // of a parser that is not printed path by path
    "struct headers_t { byte_h added; byte_h kind; byte_h a; byte_h b; byte_h removed;\n"
    "                   byte_h written; byte_h read; sum_h sum; byte_h taken;\n"
    "                   odd_h odd; far_h far; }\n"
    "struct meta_t { bool wrong; bit<8> seen; }\n"
    "parser IP(packet_in p, out headers_t h, out meta_t m, out ingress_intrinsic_metadata_t i) {\n"
    "    Checksum() c;\n"
    "    state start { p.extract(i); p.advance(PORT_METADATA_SIZE); p.extract(h.kind);\n"
    "        transition select(h.kind.v) { 1 : order; 2 : taken; 3 : removed; 4 : verified;\n"
    "                                      5 : written; 6 : ahead; 7 : read; 8 : odd;\n"
    "                                      9 : far; default : accept; } }\n"
    "    state order { p.extract(h.b); p.extract(h.a); transition accept; }\n"
    "    state taken { p.extract(h.taken); transition accept; }\n"
    "    state removed { p.extract(h.removed); transition accept; }\n"
    "    state verified { p.extract(h.sum); c.add(h.sum); m.wrong = c.verify(); transition accept; "
    "}\n"
    "    state written { p.extract(h.written); transition accept; }\n"
    "    state ahead { transition select(p.lookahead<bit<8>>()) { 9 : nine; default : accept; } }\n"
    "    state nine { m.seen = 1; transition accept; }\n"
    "    state read { p.extract(h.read); transition accept; }\n"
    "    state odd { p.extract(h.odd); transition accept; }\n"
    "    state far { p.extract(h.far); transition select(p.lookahead<bit<160>>()[7:0]) {\n"
    "                9 : nine; default : accept; } }\n"
    "}\n"
    "control I(inout headers_t h, inout meta_t m, in ingress_intrinsic_metadata_t i,\n"
    "          in ingress_intrinsic_metadata_from_parser_t f,\n"
    "          inout ingress_intrinsic_metadata_for_deparser_t d,\n"
    "          inout ingress_intrinsic_metadata_for_tm_t t) {\n"
    "    Counter<bit<64>, bit<8>>(4, CounterType_t.PACKETS_AND_BYTES) all;\n"
    "    action clear() { h.written.v = 0; }\n"
    "    table clears { key = { h.kind.v : exact; } actions = { clear; NoAction; }\n"
    "                   const entries = { 5 : clear(); } default_action = NoAction; size = 4; "
    "}\n" TABLE(1) TABLE(2) TABLE(3) TABLE(4) TABLE(5) TABLE(6)
        TABLE(7) "    apply {\n"
                 "        t1.apply(); t2.apply(); t3.apply(); t4.apply(); t5.apply(); t6.apply(); "
                 "t7.apply();\n"
                 "        t.ucast_egress_port = 1; t.bypass_egress = 1;\n"
                 "        all.count(1);\n"
                 "        clears.apply();\n"
                 "        if (h.kind.v == 2 || h.kind.v == 3) { h.added.setValid(); h.added.v = "
                 "h.kind.v; }\n"
                 "        if (h.kind.v == 3) { h.removed.setInvalid(); }\n"
                 "        if (m.wrong) { t.ucast_egress_port = 2; }\n"
                 "        if (m.seen == 1) { t.ucast_egress_port = 3; }\n"
                 "        if (h.read.isValid() && h.read.v == 9) { t.ucast_egress_port = 4; }\n"
                 "    }\n"
                 "}\n"
                 "control ID(packet_out p, inout headers_t h, in meta_t m,\n"
                 "           in ingress_intrinsic_metadata_for_deparser_t d) {\n"
                 "    apply { p.emit(h.added); p.emit(h.kind); p.emit(h.a); p.emit(h.b); "
                 "p.emit(h.removed);\n"
                 "            p.emit(h.written); p.emit(h.read); p.emit(h.sum);\n"
                 "            p.emit(h.far); }\n"
                 "}\n"
                 "parser EP(packet_in p, out headers_t h, out meta_t m, out "
                 "egress_intrinsic_metadata_t e) {\n"
                 "    state start { p.extract(e); transition accept; }\n"
                 "}\n"
                 "control E(inout headers_t h, inout meta_t m, in egress_intrinsic_metadata_t e,\n"
                 "          in egress_intrinsic_metadata_from_parser_t f,\n"
                 "          inout egress_intrinsic_metadata_for_deparser_t d,\n"
                 "          inout egress_intrinsic_metadata_for_output_port_t o) { apply { } }\n"
                 "control ED(packet_out p, inout headers_t h, in meta_t m,\n"
                 "           in egress_intrinsic_metadata_for_deparser_t d) { apply { } }\n"
                 "Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;\n"
                 "Switch(pipe) main;\n";

// Packets by what follows their first bytes, and which of them are fit.
static const struct {
    int kind; // of the note that shows it; leaving that out must show
    bool fit;
    uint8_t bytes[5];
} ways[] = {
    {IR_NOTED_ORDER, false, {1, 7, 7}},
    {IR_NOTED_TAKEN, false, {2, 2}},
    {IR_NOTED_REMOVED, false, {3, 3}},
    {IR_NOTED_VERIFIED, false, {4, 1, 2, 3, 4}}, // its sum is wrong
    {IR_NOTED_UNFIT, false, {5, 0}},
    {IR_NOTED_LOOKAHEAD, true, {6, 9}},
    {IR_NOTED_HEADER, true, {7, 9}},
    {WITHOUT_HITS, true, {0}},
    {WITHOUT_COUNTS, true, {0}},
};

static struct tally run_way(const uint8_t bytes[5], int without) {
    struct noting n;
    struct tally t = {0};
    struct sent s = {.length = 64, .port = 5};
    assert_true(noting_make(&n, every_kind, sizeof every_kind - 1));
    assert_non_null(n.noted);
    leave_out_everywhere(n.noted, without);
    struct interp *const ip = interp_new(n.noted, 0, 1);
    struct replayer r = replayer_new(ip, 1);
    memcpy(s.bytes, bytes, 5);
    run_flow(&r, &s, &t);
    replayer_free(&r);
    interp_free(ip);
    subject_free(&n.subject);
    return t;
}

static void each_kind_is_needed(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        quiet = false;
        const struct tally with = run_way(ways[i].bytes, -1);
        assert_int_equal(with.fit, ways[i].fit);
        assert_int_equal(with.differences, 0);
        quiet = true;
        const struct tally without = run_way(ways[i].bytes, ways[i].kind);
        if (without.differences == 0)
            fail_msg("nothing differs without notes of kind %d", ways[i].kind);
    }
    quiet = false;
}

// What is summed has to be known for a sum to be verified: without it no such packet is fit.
static void a_right_sum_is_fit(void **state) {
    static const uint8_t right[5] = {4, 0xfe, 0xfd, 0x01, 0x02};
    (void)state;
    assert_int_equal(run_way(right, -1).fit, 1);
    assert_int_equal(run_way(right, -1).differences, 0);
    assert_int_equal(run_way(right, IR_NOTED_SUMMED).fit, 0);
}

// ---- the C that is printed ----

struct compiled {
    struct subject subject;
    const struct sk_pipeline_desc *pl;
    struct sk_pipe *pipe;
};

// What the fast build notes of the packet in ingress.
static void run_compiled(const struct compiled *c, const struct sent *s, struct sk_notes *notes) {
    static uint8_t buffer[START + MOST + SK_HEADROOM];
    struct sk_ingress_out out = {0};
    struct sk_packet p = {.buf = buffer, .cap = sizeof buffer, .head = START, .len = s->length};
    memset(buffer, 0xee, sizeof buffer);
    memcpy(buffer + START, s->bytes, s->length);
    p.ingress_port = s->port;
    sk_ingress_prefix(buffer + START, false, s->port, 0, s->metadata);
    memset(notes, 0, sizeof *notes);
    notes->buffer = buffer;
    notes->frame = buffer + START;
    notes->length = s->length;
    *(struct sk_notes **)(void *)c->pipe = notes; // the first member of its state
    c->pl->ingress(c->pipe, &p, &out);
}

static void same_notes(const struct sk_notes *n, const struct interp_record *r) {
    assert_int_equal(n->unfit, r->unfit);
    if (r->unfit)
        return;
    assert_memory_equal(n->mask, r->seen, sizeof n->mask);
    assert_int_equal(n->summed, r->summed);
    assert_int_equal(n->summed_at, r->summed_at);
    assert_int_equal(n->n, r->n_notes);
    for (size_t i = 0; i < r->n_notes; i++) {
        assert_int_equal(n->notes[i].more, r->notes[i].more);
        assert_int_equal(n->notes[i].kind == SK_NOTED_BYTES, r->notes[i].bytes);
    }
}

// All ways, with packets of any length: one that ends in a header brings bytes of its frame check
// sequence along, or is an error.
static void compiled_programs_note_the_same(void **state) {
    static const struct build_kind *const kinds[] = {&build_quick};
    struct compiled c;
    struct noting n;
    (void)state;
    assert_int_equal(
        subject_make(&c.subject, every_kind, sizeof every_kind - 1, kinds, 1, folder, stderr),
        SUBJECT_OK);
    c.pl = sk_program_desc(c.subject.programs[0])->pipelines[0];
    assert_true(c.pl->takes_notes);
    c.pipe = c.pl->pipe_new(1);
    assert_non_null(c.pipe);
    assert_true(noting_make(&n, every_kind, sizeof every_kind - 1));
    struct interp *const ip = interp_new(n.noted, 0, 1);
    unsigned fit = 0;
    for (size_t i = 0; i <= sizeof ways / sizeof *ways; i++)
        for (uint32_t length = 1; length < 2 * SK_NOTED; length++) {
            static const uint8_t far[5] = {9}; // byte 139 is looked at
            const uint8_t *const bytes = i < sizeof ways / sizeof *ways ? ways[i].bytes : far;
            struct sk_notes notes;
            struct sent s = {.length = length, .port = 5};
            memcpy(s.bytes, bytes, sizeof far);
            run_noted(ip, &s);
            run_compiled(&c, &s, &notes);
            same_notes(&notes, &s.record);
            fit += !s.record.unfit;
        }
    assert_true(fit > 2 * SK_NOTED);
    interp_free(ip);
    subject_free(&n.subject);
    c.pl->pipe_free(c.pipe);
    subject_free(&c.subject);
}

// ---- the text ----

static void the_dump_shows_notes(void **state) {
    static const char *const lines[] = {
        "note header h.kind\n", "note order h.kind 2\n",
        "note taken h.taken\n", "note lookahead {lookahead",
        "note summed h.sum\n",  "note verified ",
        "note unfit\n",         "note removed h.removed if h.removed.$valid\n",
        "count pipe.I.all[",    ", noted\n",
        "decides h.read.v\n",
    };
    struct noting n;
    char *text = NULL;
    size_t length;
    (void)state;
    assert_true(noting_make(&n, every_kind, sizeof every_kind - 1));
    FILE *f = open_memstream(&text, &length);
    ir_dump(f, n.subject.a, n.subject.ir);
    fclose(f);
    assert_null(strstr(text, "note")); // the original is as it was
    free(text);
    f = open_memstream(&text, &length);
    ir_dump(f, n.subject.a, n.noted);
    fclose(f);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(text, lines[i]))
            fail_msg("no line '%s' in:\n%s", lines[i], text);
    free(text);
    subject_free(&n.subject);
}

// ---- what is whole ----

static void a_note_without_its_operand_is_a_fault(void **state) {
    static const struct {
        struct ir_stmt note;
        const char *fault;
    } wrong[] = {
        {{.noted = IR_NOTED_REMOVED}, "a statement has no header"},
        {{.noted = IR_NOTED_HEADER}, "a statement of the parser is somewhere else"},
        {{.noted = IR_NOTED_VERIFIED}, "a statement of the parser is somewhere else"},
    };
    struct noting n;
    (void)state;
    assert_true(noting_make(&n, every_kind, sizeof every_kind - 1));
    struct ir_gress g = n.noted->pipelines.v[0]->gress[IR_INGRESS];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ir_stmt note = wrong[i].note, *only = &note;
        struct ir_block b = {.stmts = {.v = &only, .n = 1}};
        note.kind = IR_NOTE;
        g.control = &b;
        assert_string_equal(ir_fault(n.subject.a, &g), wrong[i].fault);
        note.noted = IR_NOTED_UNFIT;
        assert_null(ir_fault(n.subject.a, &g));
        g.decides = NULL; // the first one is in a state, with a line of the source
        const char *const fault = ir_fault(n.subject.a, &g);
        assert_non_null(fault);
        assert_non_null(strstr(fault, ": a note is in a gress that takes none"));
        g.decides = n.noted->pipelines.v[0]->gress[IR_INGRESS].decides;
    }
    subject_free(&n.subject);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_is_needed),
        cmocka_unit_test(a_right_sum_is_fit),
        cmocka_unit_test(compiled_programs_note_the_same),
        cmocka_unit_test(the_dump_shows_notes),
        cmocka_unit_test(a_note_without_its_operand_is_a_fault),
        cmocka_unit_test(random_programs),
        cmocka_unit_test(random_programs_need),
    };
    if (!mkdtemp(folder))
        return 1;
    const int status = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return status;
}
