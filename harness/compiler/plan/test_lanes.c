// SPDX-License-Identifier: Apache-2.0
//
// Loops over lanes (compiler/plan/lanes.h): that they are there, that the C compiler makes vector
// instructions of them, and that what they compute on millions of random packets is what the scalar
// and the checked build compute, and objects for other processors.
//
//     test_lanes                 the test
//     test_lanes --packets N     N packets to each program, and how long each build took for them
//
// Run from the top folder.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compiler/compile.h"
#include "control/config/config.h"
#include "control/tables/control.h"
#include "hosts/atp/frame.h"
#include "hosts/switchml/frame.h"
#include "pipeline/switch/switch.h"

static char folder[] = "/tmp/silken-test-lanes-XXXXXX";

// ---- builds ----

struct build {
    const char *name, *march;
    bool scalar, checked;
    const char *needs; // of the processor, or null: everyone runs it
};
static const struct build builds[] = {
    {"vectorised", NULL, false, false, NULL},
    {"scalar", NULL, true, false, NULL},
    {"checked", NULL, false, true, NULL},
    {"x86-64", "x86-64", false, false, NULL},
    {"x86-64-v3", "x86-64-v3", false, false, "avx2"},
    {"x86-64-v4", "x86-64-v4", false, false, "avx512"},
};
#define BUILDS (sizeof builds / sizeof *builds)

static bool runs_here(const struct build *b) {
    if (!b->needs)
        return true;
    return strcmp(b->needs, "avx2") == 0
               ? __builtin_cpu_supports("avx2")
               : __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                     __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                     __builtin_cpu_supports("avx512cd");
}

static char *compiled(const char *program, const struct build *b, const char *emit_c) {
    const struct compile_options opt = {.path = program,
                                        .march = b->march,
                                        .scalar = b->scalar,
                                        .checked = b->checked,
                                        .emit_c = emit_c};
    char *object = compile_p4(&opt, stderr);
    if (!object)
        fail_msg("%s does not compile for the %s build", program, b->name);
    return object;
}

// ---- switches side by side ----

struct side {
    const struct build *build;
    struct sk_program *program;
    struct sk_switch *sw;
    uint64_t sent, sum; // of what it sent: how many, and all of it in a number
    double seconds;
};
struct rig {
    struct side sides[BUILDS];
    size_t n;
};

static bool tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct side *s = aux;
    uint64_t sum = s->sum ^ port ^ (uint64_t)length << 32, word;
    for (uint32_t i = 0; i < length; i += 8) {
        word = 0;
        memcpy(&word, frame + i, length - i < 8 ? length - i : 8);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    s->sum = sum;
    s->sent++;
    return true;
}

static void open_rig(struct rig *r, const char *program, size_t n_builds, const char *config) {
    char error[512];
    *r = (struct rig){.n = 0};
    for (size_t i = 0; i < n_builds; i++) {
        char *object = compiled(program, &builds[i], NULL);
        if (runs_here(&builds[i])) {
            struct side *s = &r->sides[r->n++];
            s->build = &builds[i];
            s->program = sk_program_load(object, error, sizeof error);
            const struct sk_switch_options opt = {.tx = tx, .aux = s};
            s->sw = s->program ? sk_switch_new(s->program, &opt, error, sizeof error) : NULL;
            if (!s->sw)
                fail_msg("%s: %s", program, error);
            struct sk_error err;
            struct sk_config *c =
                config ? sk_config_parse("test", config, strlen(config), &err) : 0;
            if (config && (!c || sk_config_apply(c, s->sw, &err)))
                fail_msg("%s: %s", program, err.text);
            sk_config_free(c);
            sk_switch_port_up(s->sw, 1, true);
        } else {
            printf("%s is compiled for %s, but not run here\n", program, builds[i].name);
        }
        free(object);
    }
}

static void close_rig(struct rig *r) {
    for (size_t i = 0; i < r->n; i++) {
        sk_switch_free(r->sides[i].sw);
        sk_program_free(r->sides[i].program);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#define BURST      32u
#define MOST_BYTES 1600u

struct burst {
    uint8_t frames[BURST][MOST_BYTES];
    uint32_t lengths[BURST];
    uint16_t ports[BURST];
};

static void send_burst(struct side *s, const struct burst *b) {
    double start = now();
    const uint64_t time = sk_switch_now(s->sw) + 1000;
    for (unsigned i = 0; i < BURST; i++)
        sk_switch_rx(s->sw, b->ports[i], b->frames[i], b->lengths[i], time);
    sk_switch_run(s->sw, time);
    s->seconds += now() - start;
}

static void same_registers(const struct rig *r) {
    const struct side *o = &r->sides[0];
    const struct sk_pipeline_desc *first = sk_switch_pipeline(o->sw, 0);
    for (size_t k = 1; k < r->n; k++) {
        const struct side *s = &r->sides[k];
        const struct sk_pipeline_desc *pl = sk_switch_pipeline(s->sw, 0);
        for (uint32_t i = 0; i < pl->n_registers; i++) {
            const struct sk_register_desc *d = &pl->registers[i];
            for (uint64_t c = 0; c < d->size; c++)
                for (uint32_t w = 0; w < d->words; w++) {
                    uint64_t a = first->register_read(sk_switch_pipe(o->sw, 0), i, c, w);
                    uint64_t b = pl->register_read(sk_switch_pipe(s->sw, 0), i, c, w);
                    if (a != b)
                        fail_msg("%s[%llu] is %llx in the %s build, %llx in the %s build", d->name,
                                 (unsigned long long)c, (unsigned long long)a, o->build->name,
                                 (unsigned long long)b, s->build->name);
                }
        }
    }
}

// ---- random packets ----

static uint64_t state;
static uint64_t random_word(void) {
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
static unsigned below(unsigned n) {
    return (unsigned)(random_word() >> 33) % n;
}

// Big endian words of the kinds that saturate, wrap and compare at their edges.
static void elements(uint8_t *to, unsigned n) {
    unsigned kind = below(6);
    for (unsigned i = 0; i < n; i++) {
        uint64_t r = random_word();
        uint32_t v = (uint32_t)r;
        if (kind == 0 || (kind == 1 && r >> 62 == 0))
            v = (r >> 32 & 1 ? 0x7fffffffu : 0x80000000u) ^ (v & 3);
        else if (kind == 2)
            v &= 0xff;
        else if (kind == 3)
            v |= 0xfffffff0u;
        for (unsigned k = 0; k < 4; k++)
            to[4 * i + k] = (uint8_t)(v >> (24 - 8 * k));
    }
}

// Sometimes a frame is cut, or one of its bytes is any.
static void spoil(struct burst *b, unsigned i) {
    if (below(50) == 0)
        b->frames[i][below(b->lengths[i])] = (uint8_t)random_word();
    if (below(50) == 0)
        b->lengths[i] = 14 + below(b->lengths[i] - 13);
}

static void request(struct burst *b, unsigned i, unsigned header_bytes, unsigned n,
                    const uint8_t *header) {
    uint8_t *f = b->frames[i];
    memset(f, 0, 14);
    f[12] = (uint8_t)(below(4) != 0);
    memcpy(f + 14, header, header_bytes);
    elements(f + 14 + header_bytes, n);
    b->lengths[i] = 14 + header_bytes + 4 * n + below(3) * 8;
    b->ports[i] = 1;
    spoil(b, i);
}

static void form_packet(struct burst *b, unsigned i) {
    uint8_t h[] = {(uint8_t)below(17), (uint8_t)below(below(4) ? 4 : 256), (uint8_t)below(3), 0};
    request(b, i, sizeof h, 32, h);
}

static void tensor_packet(struct burst *b, unsigned i) {
    unsigned index = below(8) ? below(6) : 990 + below(20);
    uint8_t h[] = {(uint8_t)below(5), (uint8_t)(index >> 8), (uint8_t)index, (uint8_t)below(2)};
    request(b, i, sizeof h, 31, h);
}

static void apart_packet(struct burst *b, unsigned i) {
    uint8_t h[] = {(uint8_t)below(8), (uint8_t)below(below(4) ? 4 : 256)};
    request(b, i, sizeof h, 26, h);
    b->frames[i][b->lengths[i]] = 0;
}

static void lookups_packet(struct burst *b, unsigned i) {
    uint8_t h[] = {(uint8_t)below(6), (uint8_t)below(below(4) ? 4 : 256)};
    request(b, i, sizeof h, 20, h);
    for (unsigned k = 0; k < 40 && below(2); k++) // lanes that are not alike
        b->frames[i][16 + 2 * k] = (uint8_t)random_word();
}

static void results_packet(struct burst *b, unsigned i) {
    uint8_t h[] = {(uint8_t)below(5), (uint8_t)below(below(4) ? 4 : 256)};
    request(b, i, sizeof h, 32, h);
}

#define WORKERS 8u
#define SLOTS   8u

static void switchml_packet(struct burst *b, unsigned i) {
    unsigned w = below(WORKERS), slot = below(SLOTS), version = below(2);
    const struct swml_flow flow = {
        .worker = {.mac = {2, 0, 0, 0, 0, (uint8_t)w}, .port = 0xbee0, .ip = 0x0a000001u + w},
        .fabric = {.mac = {2, 0, 0, 0, 0, 0xfe}, .port = 0xbee0, .ip = 0x0a0000fe},
        .job = 1,
        .k = below(2) ? 64 : 256,
    };
    uint8_t *f = b->frames[i];
    swml_frame_init(f, &flow);
    swml_frame_set_chunk(f, &(struct swml_chunk){.slot = (uint16_t)slot,
                                                 .version = version,
                                                 .e0 = (int8_t)random_word(),
                                                 .tsi = (uint32_t)random_word()});
    elements(f + SWML_HEADER_BYTES, flow.k);
    b->lengths[i] = SWML_HEADER_BYTES + 4u * flow.k;
    b->ports[i] = (uint16_t)w;
    if (below(10) == 0)
        spoil(b, i);
}

// In the words of p4/switchml/README.md.
static char *switchml_config(void) {
    char *text = NULL;
    size_t length;
    FILE *f = open_memstream(&text, &length);
    fprintf(f, "{\"program\": \"switchml.p4\", \"ports\": [");
    for (unsigned w = 0; w < WORKERS; w++)
        fprintf(f, "%s{\"port\": %u, \"device\": \"m%u\"}", w ? ", " : "", w, w);
    fprintf(f, "], \"multicast\": {\"nodes\": [");
    for (unsigned w = 0; w < WORKERS; w++)
        fprintf(f, "%s{\"id\": %u, \"rid\": %u, \"ports\": [%u]}", w ? ", " : "", w + 1, w + 1, w);
    fprintf(f,
            "], \"groups\": [{\"id\": 100, \"nodes\": [1, 2, 3, 4, 5, 6, 7, 8]}]}, \"entries\": [");
    for (unsigned w = 0; w < WORKERS; w++)
        fprintf(f,
                "%s{\"table\": \"pipe.Ingress.admission.workers\", \"key\": "
                "{\"hdr.switchml.job_number\": 1, \"hdr.ipv4.src_addr\": %u, "
                "\"ig_intr_md.ingress_port\": %u}, \"action\": \"admit\", \"args\": "
                "{\"worker_bit\": %u, \"num_workers\": %u, \"group\": 100, \"rid\": %u, "
                "\"port\": %u, \"pool_base\": 0, \"pool_last\": %u}}, "
                "{\"table\": \"pipe.Egress.receivers\", \"key\": {\"md.rid\": %u}, \"action\": "
                "\"address\", \"args\": {\"mac\": %llu, \"ip\": %u, \"udp_port\": 48864}}",
                w ? ", " : "", 0x0a000001u + w, w, 1u << w, WORKERS, w + 1, w, SLOTS - 1, w + 1,
                0x020000000000ull + w, 0x0a000001u + w);
    fprintf(f, "]}");
    fclose(f);
    return text;
}

// Gradients of a few workers for a few fragments, of which two share each aggregator, and
// parameters.
static void atp_packet(struct burst *b, unsigned i) {
    const struct atp_flow flow = {
        .worker = {.mac = {2, 0, 0, 0, 0, 1}, .port = ATP_UDP_PORT, .ip = 0x0a000001},
        .server = {.mac = {2, 0, 0, 0, 0, 0xfe}, .port = ATP_UDP_PORT, .ip = 0x0a0000fe},
        .group = {.mac = {1, 0, 0x5e, 0, 0, 7}, .port = ATP_UDP_PORT, .ip = 0xe0000007},
        .job = 1,
    };
    const bool parameters = below(6) == 0;
    const unsigned fragment = below(8), w = below(4);
    uint8_t *f = b->frames[i];
    atp_frame_init(f, &flow, !parameters);
    atp_frame_set(f, &(struct atp_packet){.bitmap0 = 1u << w,
                                          .bitmap1 = 1u << w,
                                          .edge = below(5) == 0,
                                          .resend = below(8) == 0,
                                          .ecn = below(16) == 0,
                                          .overflow = below(32) == 0,
                                          .is_ack = parameters,
                                          .fan_in0 = 2,
                                          .fan_in1 = 3,
                                          .index = (uint16_t)(fragment / 2),
                                          .job = 1,
                                          .sequence = fragment});
    elements(f + ATP_HEADER_BYTES, ATP_VALUES);
    b->lengths[i] = ATP_FRAME_BYTES;
    b->ports[i] = (uint16_t)(below(8) ? 1 : 129); // another pipe's
    if (below(10) == 0)
        spoil(b, i);
}

// All to port 1.
static char *atp_config(void) {
    char *text = NULL;
    if (asprintf(
            &text,
            "{\"program\": \"atp.p4\", \"ports\": [{\"port\": 1, \"device\": \"m1\"}, "
            "{\"port\": 129, \"device\": \"m129\"}], \"defaults\": [{\"table\": "
            "\"pipe.Ingress.forward.macs\", \"action\": \"to_port\", \"args\": {\"port\": 1}}]}") <
        0)
        abort();
    return text;
}

// Four pairs, of which a twentieth lacks something.
static void turned_packet(struct burst *b, unsigned i) {
    elements(b->frames[i], 8);
    b->lengths[i] = 24 + below(9);
    b->ports[i] = (uint16_t)below(4);
    if (below(20) == 0)
        spoil(b, i);
}

// ---- the programs ----

#define LOOKUP_LOOPS 10

static const struct program {
    const char *path;
    void (*packet)(struct burst *b, unsigned i);
    size_t builds;  // how many of them
    unsigned loops; // in its C
    char *(*config)(void);
} programs[] = {
    {"p4/switchml/switchml.p4", switchml_packet, 3, 6, switchml_config},
    {"p4/atp/atp.p4", atp_packet, 3, 4, atp_config},
    {"harness/compiler/plan/lanes/forms.p4", form_packet, BUILDS, 16, NULL},
    {"harness/compiler/plan/lanes/tensor.p4", tensor_packet, BUILDS, 4, NULL},
    {"harness/compiler/plan/lanes/results.p4", results_packet, 3, 4, NULL},
    {"harness/compiler/plan/lanes/apart.p4", apart_packet, 3, 3, NULL},
    {"harness/compiler/plan/lanes/turned.p4", turned_packet, BUILDS, 0, NULL},
    {"harness/compiler/plan/lanes/lookups.p4", lookups_packet, BUILDS, LOOKUP_LOOPS, NULL},
};
#define PROGRAMS (sizeof programs / sizeof *programs)

static void flood(const struct program *p, uint64_t packets, bool say) {
    static struct burst b;
    struct rig r;
    char *config = p->config ? p->config() : NULL;
    open_rig(&r, p->path, p->builds, config);
    state = 1;
    for (uint64_t done = 0; done < packets; done += BURST) {
        for (unsigned i = 0; i < BURST; i++)
            p->packet(&b, i);
        for (size_t i = 0; i < r.n; i++) {
            struct side *s = &r.sides[i], *o = &r.sides[0];
            send_burst(s, &b);
            if (s->sent != o->sent || s->sum != o->sum)
                fail_msg("%s: what the %s build sent is not what the %s build sent, around packet "
                         "%llu",
                         p->path, s->build->name, o->build->name, (unsigned long long)done);
        }
    }
    same_registers(&r);
    assert_true(r.sides[0].sent > packets / 100);
    for (size_t i = 0; i < r.n && say; i++)
        printf("%-34s %-11s %llu packets in, %llu out, %.0f ns for each that came in\n", p->path,
               r.sides[i].build->name, (unsigned long long)packets,
               (unsigned long long)r.sides[i].sent, r.sides[i].seconds * 1e9 / (double)packets);
    fflush(stdout);
    close_rig(&r);
    free(config);
}

static void random_packets(void **s) {
    (void)s;
    const char *variant = getenv("VARIANT");
    for (size_t i = 0; i < PROGRAMS; i++)
        flood(&programs[i], variant && *variant ? 2000 : 50000, false);
}

// ---- lanes that look up tables, as they are filled and changed ----

#define LOOKUP_LANES 20u

static void fill_one(struct side *s, const char *table, unsigned lane, const char *action,
                     const uint32_t *values, size_t n) {
    struct sk_error err;
    char name[64];
    snprintf(name, sizeof name, table, lane);
    const int rc = action ? sk_control_table_fill(s->sw, name, action, values, n, -1, &err)
                          : sk_control_table_clear(s->sw, NULL, name, -1, &err);
    if (rc)
        fail_msg("%s: %s", name, err.text);
}

// In lanes from 'from' up to 'to'; no action: they are cleared.
static void fill_lanes(struct side *s, const char *table, unsigned from, unsigned to,
                       const char *action, const uint32_t *values, size_t n) {
    for (unsigned lane = from; lane < to; lane++)
        fill_one(s, table, lane, action, values, n);
}

static void default_of(struct side *s, const char *table, const char *value) {
    struct sk_error err;
    const struct sk_named_value arg = {"number", value};
    const struct sk_entry_spec spec = {
        .table = table, .action = "add", .args = &arg, .n_args = 1, .pipe = -1};
    if (sk_control_default_set(s->sw, &spec, &err))
        fail_msg("%s: %s", table, err.text);
}

// Numbers on lines by the upper bits of a key, by its lower ones, and on none.
static void lookups_change(struct side *s, unsigned step) {
    static const char wide[] = "pipe.Ingress.sum%u.wide", narrow[] = "pipe.Ingress.sum%u.narrow",
                      last[] = "pipe.Ingress.round%u.last";
    uint32_t upper[1024], lower[1024], none[1024];
    for (uint32_t i = 0; i < 1024; i++) {
        upper[i] = (i >> 4) * 0x9e3779b1u + (i & 15) * (0u - (i >> 4));
        lower[i] = (i & 63) * 0x85ebca6bu + (i >> 6) * ((i & 63) * 977u);
        none[i] = (i * 0x9e3779b1u ^ i << 7) >> 16;
    }
    switch (step) {
    case 1:
        fill_lanes(s, wide, 0, LOOKUP_LANES, "set", upper, 1024);
        break;
    case 2:
        fill_lanes(s, narrow, 0, LOOKUP_LANES, "add", none, 512);
        fill_lanes(s, last, 0, LOOKUP_LANES, "add", none, 1024);
        break;
    case 3: // one is another one's
        fill_lanes(s, wide, 7, 8, "set", lower, 1024);
        break;
    case 4:
        fill_lanes(s, wide, 0, LOOKUP_LANES, "set", lower, 1024);
        fill_lanes(s, last, 19, 20, "add", none + 1, 1023);
        break;
    case 5: // not all keys, and none
        fill_lanes(s, narrow, 0, LOOKUP_LANES, "add", none, 500);
        fill_lanes(s, last, 0, LOOKUP_LANES, NULL, NULL, 0);
        default_of(s, "pipe.Ingress.round3.last", "77");
        break;
    case 6:
        fill_lanes(s, wide, 0, LOOKUP_LANES, "set", none, 1024);
        fill_lanes(s, narrow, 0, LOOKUP_LANES, "add", none + 3, 512);
        fill_lanes(s, last, 0, LOOKUP_LANES, "add", none + 0, 1024);
        break;
    default:
        break;
    }
}

static bool add_hits(void *aux, const struct sk_entry *e) {
    uint64_t *sum = aux;
    *sum = *sum * 31 + sk_entry_hits(e);
    return true;
}

// Of the program's own entries, and of the default actions.
static uint64_t all_hits(const struct side *s) {
    const struct sk_pipeline_desc *pl = sk_switch_pipeline(s->sw, 0);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < pl->n_tables; i++) {
        const struct sk_table *t = pl->table(sk_switch_pipe(s->sw, 0), i);
        if (!pl->tables[i]->const_entries)
            continue;
        sk_table_each(t, add_hits, &sum);
        add_hits(&sum, sk_table_default(t));
    }
    return sum;
}

static void lookups(void **unused) {
    (void)unused;
    static struct burst b;
    struct rig r;
    open_rig(&r, "harness/compiler/plan/lanes/lookups.p4", BUILDS, NULL);
    state = 2;
    for (unsigned step = 0; step < 7; step++) {
        for (size_t i = 0; i < r.n; i++)
            lookups_change(&r.sides[i], step);
        for (unsigned n = 0; n < 100; n++) {
            for (unsigned i = 0; i < BURST; i++)
                lookups_packet(&b, i);
            for (size_t i = 0; i < r.n; i++)
                send_burst(&r.sides[i], &b);
        }
        for (size_t i = 1; i < r.n; i++)
            if (r.sides[i].sum != r.sides[0].sum || all_hits(&r.sides[i]) != all_hits(&r.sides[0]))
                fail_msg("step %u: the %s build sent or counted something else", step,
                         r.sides[i].build->name);
        same_registers(&r);
    }
    assert_true(r.sides[0].sent > 10000);
    assert_true(all_hits(&r.sides[0]) != 0);
    close_rig(&r);
}

// ---- that there are loops ----

#define LOOP "for (unsigned l = 0;"

static char *c_of(const struct program *p, char *path, size_t size) {
    snprintf(path, size, "%s/program.c", folder);
    free(compiled(p->path, &builds[0], path));
    char *text = NULL;
    size_t length = 0;
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(getdelim(&text, &length, 0, f) > 0);
    fclose(f);
    return text;
}

static void loops_are_found(void **s) {
    (void)s;
    char path[256];
    for (size_t i = 0; i < PROGRAMS; i++) {
        char *text = c_of(&programs[i], path, sizeof path);
        unsigned loops = 0;
        for (char *c = text; (c = strstr(c, LOOP)); c++)
            loops++;
        if (loops != programs[i].loops)
            fail_msg("%s has %u loops over lanes, should have %u", programs[i].path, loops,
                     programs[i].loops);
        free(text);
    }
}

// The 31 lanes of p4/atp, whose values are apart from the packet: as many as fill vectors.
static void vectors_are_full(void **s) {
    (void)s;
    char path[256];
    for (size_t i = 0; i < PROGRAMS; i++)
        if (programs[i].packet == atp_packet) {
            char *text = c_of(&programs[i], path, sizeof path);
            assert_null(strstr(text, LOOP " l < 31;"));
            assert_non_null(strstr(text, LOOP " l < 32;"));
            free(text);
        }
}

static bool is_gcc(void) {
    FILE *f = popen("cc --version", "r");
    char line[256] = "";
    bool found = f && fgets(line, sizeof line, f) &&
                 (strstr(line, "GCC") || strstr(line, "gcc") || strncmp(line, "cc (", 4) == 0);
    if (f)
        pclose(f);
    return found;
}

// GCC says which loops it made vector instructions of, by the line of their 'for'.
static void gcc_makes_vectors(void **s) {
    (void)s;
    if (!is_gcc())
        skip();
    for (size_t i = 0; i < PROGRAMS; i++) {
        char path[256], log[256], command[1024], place[320];
        char *text = c_of(&programs[i], path, sizeof path), *said = NULL;
        snprintf(log, sizeof log, "%s/vectors", folder);
        snprintf(command, sizeof command,
                 "cc -std=gnu17 -O3 -march=x86-64-v3 -mprefer-vector-width=512 -w -fPIC -I. "
                 "-fopt-info-vec-optimized=%s -c -o %s/object.o %s",
                 log, folder, path);
        assert_int_equal(system(command), 0);
        size_t length = 0;
        unsigned line = 1;
        FILE *f = fopen(log, "r");
        assert_non_null(f);
        assert_true(getdelim(&said, &length, 0, f) > 0);
        fclose(f);
        for (char *c = text, *end; (end = strchr(c, '\n')); c = end + 1, line++) {
            *end = 0;
            snprintf(place, sizeof place, "program.c:%u:", line);
            if (strstr(c, LOOP) && !strstr(said, place))
                fail_msg("%s: the loop in line %u did not become vector instructions",
                         programs[i].path, line);
        }
        free(text);
        free(said);
        unlink(log);
        snprintf(place, sizeof place, "%s/object.o", folder);
        unlink(place);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_are_found),   cmocka_unit_test(vectors_are_full),
        cmocka_unit_test(gcc_makes_vectors), cmocka_unit_test(random_packets),
        cmocka_unit_test(lookups),
    };
    char path[256];
    int status = 0;
    if (!mkdtemp(folder))
        return 1;
    if (argc == 3 && strcmp(argv[1], "--packets") == 0)
        for (size_t i = 0; i < PROGRAMS; i++)
            flood(&programs[i], strtoull(argv[2], NULL, 10), true);
    else
        status = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(path, sizeof path, "%s/program.c", folder);
    unlink(path);
    rmdir(folder);
    return status;
}
