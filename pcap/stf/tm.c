// SPDX-License-Identifier: Apache-2.0
//
// tm: statements about what is between ingress and egress: mirror sessions, digests, queues,
// the replication engine's rarer parts, the packet generator. stf.h says how they are written.
//
// They are read when they are executed: first words of their own, then KEY=NUMBER in any order.
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "control/tables/names.h"
#include "control/tables/values.h"
#include "pcap/stf/run_impl.h"

// ---- words ----

struct words {
    struct run *r;
    const struct stf_statement *s;
    size_t at;
    bool failed;
};

static const char *stf_tm_next(struct words *w, const char *what) {
    if (w->at < w->s->n_words)
        return w->s->words[w->at++];
    if (!w->failed)
        unusable(w->r, "%s is missing", what);
    w->failed = true;
    return "";
}

static uint64_t to_number(struct words *w, const char *text, const char *what, uint64_t max) {
    char *end;
    if (w->failed)
        return 0;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 0);
    if (!isdigit((unsigned char)*text) || *end || errno) {
        unusable(w->r, "%s must be a number, not '%.20s'", what, text);
        w->failed = true;
    } else if (v > max) {
        unusable(w->r, "%s is %llu; it must be at most %llu", what, v, (unsigned long long)max);
        w->failed = true;
    }
    return w->failed ? 0 : v;
}

static uint64_t stf_tm_number(struct words *w, const char *what, uint64_t max) {
    return to_number(w, stf_tm_next(w, what), what, max);
}

static uint16_t stf_tm_to_port(struct words *w, const char *text) {
    uint16_t port = (uint16_t)to_number(w, text, "the port", SK_PORTS - 1);
    if (!w->failed && !sk_port_exists(port)) {
        unusable(w->r, "%u is not a device port: the port in its pipe is %u, and a pipe has %u",
                 port, sk_port_local(port), SK_PIPE_PORTS);
        w->failed = true;
    }
    return port;
}

static uint16_t stf_tm_port(struct words *w) {
    return stf_tm_to_port(w, stf_tm_next(w, "the port"));
}

// A word KEY=NUMBER; false when the next word is none of that form.
struct key {
    const char *name;
    uint64_t max, value;
    bool given;
};

static bool take_key(struct words *w, struct key *keys, size_t n) {
    if (w->failed || w->at == w->s->n_words || !strchr(w->s->words[w->at], '='))
        return false;
    const char *word = w->s->words[w->at++];
    size_t length = strcspn(word, "=");
    for (size_t i = 0; i < n; i++)
        if (strlen(keys[i].name) == length && strncasecmp(keys[i].name, word, length) == 0) {
            keys[i].value = to_number(w, word + length + 1, keys[i].name, keys[i].max);
            keys[i].given = true;
            return true;
        }
    w->failed = true;
    return unusable(w->r, "there is no '%.*s' here", (int)length, word);
}

static void take_keys(struct words *w, struct key *keys, size_t n) {
    while (take_key(w, keys, n))
        ;
}

static bool stf_tm_ended(struct words *w) {
    if (!w->failed && w->at < w->s->n_words) {
        w->failed = true;
        unusable(w->r, "the statement should end before '%.20s'", w->s->words[w->at]);
    }
    return !w->failed;
}

// The place of the next word among 'names'.
static unsigned stf_tm_choice(struct words *w, const char *const *names, const char *what) {
    const char *word = stf_tm_next(w, what);
    for (unsigned i = 0; names[i]; i++)
        if (strcasecmp(word, names[i]) == 0)
            return i;
    if (!w->failed)
        unusable(w->r, "'%.20s' is not a %s", word, what);
    w->failed = true;
    return 0;
}

static bool accepted(struct words *w, int rc) {
    return rc == 0 ||
           unusable(w->r, rc == -EINVAL ? "a number is out of range" : "%s", strerror(-rc));
}

// ---- replication engine ----

static bool lag(struct words *w) {
    enum { LEFT, RIGHT };
    struct key keys[] = {
        [LEFT] = {"left", UINT16_MAX, 0, false}, [RIGHT] = {"right", UINT16_MAX, 0, false}};
    uint16_t ports[SK_PORTS];
    size_t n = 0;
    uint8_t id = (uint8_t)stf_tm_number(w, "the LAG", SK_PRE_LAGS - 1);
    take_keys(w, keys, 2);
    while (!w->failed && w->at < w->s->n_words && n < SK_PORTS)
        ports[n++] = stf_tm_port(w);
    const struct sk_pre_lag as = {ports, n, (uint16_t)keys[LEFT].value,
                                  (uint16_t)keys[RIGHT].value};
    return stf_tm_ended(w) && pre_done(w->r, sk_pre_lag_set(w->r->sw, id, &as));
}

static bool ecmp(struct words *w) {
    uint32_t nodes[SK_PRE_ECMP_SLOTS];
    size_t n = 0;
    uint32_t id = (uint32_t)stf_tm_number(w, "the ECMP group", UINT32_MAX);
    while (!w->failed && w->at < w->s->n_words && n < SK_PRE_ECMP_SLOTS) {
        const char *word = stf_tm_next(w, "a node");
        bool empty = strcmp(word, "-") == 0;
        nodes[n] = empty ? SK_PRE_NO_NODE : (uint32_t)to_number(w, word, "the node", UINT32_MAX);
        if (!empty && !w->failed && !find_node(w->r, nodes[n]))
            return false;
        n++;
    }
    return stf_tm_ended(w) && pre_done(w->r, sk_pre_ecmp_set(w->r->sw, id, nodes, n));
}

static bool ecmp_associate(struct words *w) {
    struct run *r = w->r;
    uint32_t group = (uint32_t)stf_tm_number(w, "the group", UINT16_MAX);
    struct sk_pre_member m = {.ecmp = true};
    m.node = (uint32_t)stf_tm_number(w, "the ECMP group", UINT32_MAX);
    m.l1_xid_valid = !w->failed && w->at < w->s->n_words;
    if (m.l1_xid_valid)
        m.l1_xid = (uint16_t)stf_tm_number(w, "the exclusion id", UINT16_MAX);
    if (!stf_tm_ended(w))
        return false;
    if (!r->groups[group])
        return unusable(r, "there is no group %u", group);
    r->ecmps = sk_resize(r->ecmps, r->n_ecmps + 1, sizeof *r->ecmps);
    r->ecmps[r->n_ecmps++] = (struct ecmp){group, m};
    return set_group(r, group);
}

static bool global_rid(struct words *w) {
    uint16_t rid = (uint16_t)stf_tm_number(w, "the replication id", UINT16_MAX);
    if (!stf_tm_ended(w))
        return false;
    sk_pre_global_rid(w->r->sw, rid);
    return true;
}

static bool backup(struct words *w) {
    uint16_t from = stf_tm_port(w), to = stf_tm_port(w);
    return stf_tm_ended(w) && accepted(w, sk_pre_backup_set(w->r->sw, from, to));
}

// ---- ports ----

static bool move_port(struct words *w, bool up) {
    uint16_t p = stf_tm_port(w);
    if (!stf_tm_ended(w))
        return false;
    sk_switch_port_up(w->r->sw, p, up);
    sk_switch_run(w->r->sw, w->r->clock_ns); // a packet generator may wait for that
    return true;
}

static bool stf_tm_port_up(struct words *w) {
    return move_port(w, true);
}

static bool port_down(struct words *w) {
    return move_port(w, false);
}

// What is said of a port or of one of its queues; 'share' as struct sk_queue_buffer has it.
enum { RED, YELLOW, GREEN, GUARANTEED, POOL, SHARE, OF_QUEUE };
#define QUEUE_KEYS                                                                                 \
    [RED] = {"red", UINT32_MAX, 0, false}, [YELLOW] = {"yellow", UINT32_MAX, 0, false},            \
    [GREEN] = {"green", UINT32_MAX, 0, false},                                                     \
    [GUARANTEED] = {"guaranteed", UINT32_MAX, 0, false},                                           \
    [POOL] = {"pool", SK_APP_POOLS - 1, 0, false}, [SHARE] = {"share", SK_SHARE_HIGHEST, 0, false}

static struct sk_queue_buffer stf_tm_buffer(const struct key *keys) {
    return (struct sk_queue_buffer){.guaranteed = (uint32_t)keys[GUARANTEED].value,
                                    .pooled = keys[POOL].given,
                                    .pool = (uint8_t)keys[POOL].value,
                                    .share = (uint8_t)keys[SHARE].value};
}

static bool stf_tm_set_queue(struct words *w, uint16_t p, const struct sk_port_queue *q) {
    return sk_switch_port_queue(w->r->sw, p, q) == 0 ||
           unusable(w->r, "the limits must ascend: red, yellow, green");
}

static bool port_speed(struct words *w) {
    enum { LIMIT = OF_QUEUE, N_KEYS };
    struct key keys[] = {QUEUE_KEYS, [LIMIT] = {"limit", UINT32_MAX, 0, false}};
    uint16_t p = stf_tm_port(w);
    uint32_t speed = (uint32_t)stf_tm_number(w, "the speed", UINT32_MAX);
    take_keys(w, keys, N_KEYS);
    const struct sk_port_queue q = {.speed_mbps = speed,
                                    .limit_red = (uint32_t)keys[RED].value,
                                    .limit_yellow = (uint32_t)keys[YELLOW].value,
                                    .limit_green = (uint32_t)keys[GREEN].value,
                                    .buffer = stf_tm_buffer(keys),
                                    .limit = (uint32_t)keys[LIMIT].value};
    return stf_tm_ended(w) && stf_tm_set_queue(w, p, &q);
}

// Of a port with a speed; what is left out is 0, and the port's are not this queue's any more.
static bool port_queue(struct words *w) {
    enum { PRIORITY = OF_QUEUE, WEIGHT, N_KEYS };
    struct key keys[] = {QUEUE_KEYS, [PRIORITY] = {"priority", SK_PRIORITIES - 1, 0, false},
                         [WEIGHT] = {"weight", SK_WEIGHT_HIGHEST, 0, false}};
    const uint16_t p = stf_tm_port(w);
    const uint32_t qid = (uint32_t)stf_tm_number(w, "the queue", SK_PORT_QUEUES - 1);
    take_keys(w, keys, N_KEYS);
    if (!stf_tm_ended(w))
        return false;
    struct sk_port_queue q;
    sk_switch_port_queue_get(w->r->sw, p, &q);
    struct sk_queue_schedule *s = &q.schedule[qid];
    s->priority = (uint8_t)keys[PRIORITY].value;
    s->weight = (uint16_t)keys[WEIGHT].value;
    s->own_limits = s->own_buffer = true;
    s->limits = (struct sk_queue_limits){(uint32_t)keys[RED].value, (uint32_t)keys[YELLOW].value,
                                         (uint32_t)keys[GREEN].value};
    s->buffer = stf_tm_buffer(keys);
    return stf_tm_set_queue(w, p, &q);
}

static bool pool(struct words *w) {
    enum { CELLS = GREEN + 1, N_KEYS };
    struct key keys[] = {[RED] = {"red", UINT32_MAX, 0, false},
                         [YELLOW] = {"yellow", UINT32_MAX, 0, false},
                         [GREEN] = {"green", UINT32_MAX, 0, false},
                         [CELLS] = {"cells", UINT32_MAX, 0, false}};
    const unsigned id = (unsigned)stf_tm_number(w, "the pool", SK_APP_POOLS - 1);
    take_keys(w, keys, N_KEYS);
    const struct sk_app_pool as = {.cells = (uint32_t)keys[CELLS].value,
                                   .limit_red = (uint32_t)keys[RED].value,
                                   .limit_yellow = (uint32_t)keys[YELLOW].value,
                                   .limit_green = (uint32_t)keys[GREEN].value};
    return stf_tm_ended(w) && (sk_switch_app_pool(w->r->sw, id, &as) == 0 ||
                               unusable(w->r, "the limits must ascend: red, yellow, green, cells"));
}

static bool flow_control(struct words *w) {
    struct key keys[] = {{"pg_queue", SK_PORT_QUEUES - 1, 0, false}};
    const uint16_t p = stf_tm_port(w);
    const uint32_t qid = (uint32_t)stf_tm_number(w, "the queue", SK_PORT_QUEUES - 1);
    take_keys(w, keys, 1);
    if (!stf_tm_ended(w))
        return false;
    struct sk_port_queue q;
    sk_switch_port_queue_get(w->r->sw, p, &q);
    if (!keys[0].given && qid >= SK_PG_QUEUES_OF_PORT)
        return unusable(w->r, "this queue needs a pg_queue=N");
    q.schedule[qid].xoff = true;
    q.schedule[qid].pg_queue = keys[0].given ? (uint8_t)keys[0].value : SK_PG_QUEUE(p, qid);
    const int rc = sk_switch_port_queue(w->r->sw, p, &q);
    return rc == 0 ||
           unusable(w->r, rc == -EEXIST ? "another queue of the port group is this one" : "%s",
                    strerror(-rc));
}

static bool stf_tm_deflect(struct words *w) {
    uint16_t p = stf_tm_port(w);
    uint8_t qid = w->at < w->s->n_words ? (uint8_t)stf_tm_number(w, "the queue", 127) : 0;
    if (!stf_tm_ended(w))
        return false;
    sk_switch_deflect_to(w->r->sw, p, qid);
    return true;
}

static bool cpu_port(struct words *w) {
    uint16_t p = stf_tm_port(w);
    if (!stf_tm_ended(w))
        return false;
    sk_switch_cpu_port(w->r->sw, p);
    return true;
}

// ---- mirror sessions ----

static bool stf_tm_set_session(struct words *w, uint16_t id, const struct sk_mirror_session *s) {
    return accepted(w, sk_mirror_set(w->r->sw, id, s));
}

static uint16_t session_id(struct words *w) {
    uint16_t id = (uint16_t)stf_tm_number(w, "the session", SK_MIRROR_LAST);
    if (!w->failed && id == 0) {
        unusable(w->r, "mirror sessions are 1 to %u", SK_MIRROR_LAST);
        w->failed = true;
    }
    return id;
}

static bool mirror_session(struct words *w) {
    static const char *const directions[] = {"ingress", "egress", "both", NULL};
    enum {
        PORT,
        A,
        B,
        CPU,
        QID,
        COS,
        COLOR,
        CPU_COS,
        HASH1,
        HASH2,
        XID1,
        XID2,
        RID,
        DEFLECT,
        MAX,
        HASH_CFG,
        HASH_CFG_P,
        ICOS_CFG,
        DOD_CFG,
        MC_CFG,
        EPIPE_CFG
    };
    struct key keys[] = {[PORT] = {"port", SK_PORTS - 1, 0, false},
                         [A] = {"mcast_a", UINT16_MAX, 0, false},
                         [B] = {"mcast_b", UINT16_MAX, 0, false},
                         [CPU] = {"cpu", 1, 0, false},
                         [QID] = {"qid", 127, 0, false},
                         [COS] = {"cos", 7, 0, false},
                         [COLOR] = {"color", 3, 0, false},
                         [CPU_COS] = {"cpu_cos", 7, 0, false},
                         [HASH1] = {"hash1", 8191, 0, false},
                         [HASH2] = {"hash2", 8191, 0, false},
                         [XID1] = {"xid1", UINT16_MAX, 0, false},
                         [XID2] = {"xid2", 287, 0, false},
                         [RID] = {"rid", UINT16_MAX, 0, false},
                         [DEFLECT] = {"deflect", 1, 0, false},
                         [MAX] = {"max", UINT16_MAX, 0, false},
                         [HASH_CFG] = {"hash_cfg", 1, 0, false},
                         [HASH_CFG_P] = {"hash_cfg_p", 1, 0, false},
                         [ICOS_CFG] = {"icos_cfg", 1, 0, false},
                         [DOD_CFG] = {"dod_cfg", 1, 0, false},
                         [MC_CFG] = {"mc_cfg", 1, 0, false},
                         [EPIPE_CFG] = {"epipe_cfg", 1, 0, false}};
    uint16_t id = session_id(w);
    unsigned direction = stf_tm_choice(w, directions, "direction") + 1;
    take_keys(w, keys, sizeof keys / sizeof *keys);
    const struct sk_mirror_session s = {
        .enabled = true,
        .direction = (uint8_t)direction,
        .ucast_valid = keys[PORT].given,
        .ucast_port = (uint16_t)keys[PORT].value,
        .mcast_a_valid = keys[A].given,
        .mcast_grp_a = (uint16_t)keys[A].value,
        .mcast_b_valid = keys[B].given,
        .mcast_grp_b = (uint16_t)keys[B].value,
        .copy_to_cpu = keys[CPU].value,
        .deflect_on_drop = keys[DEFLECT].value,
        .qid = (uint8_t)keys[QID].value,
        .cos = (uint8_t)keys[COS].value,
        .color = (uint8_t)keys[COLOR].value,
        .icos_for_copy_to_cpu = (uint8_t)keys[CPU_COS].value,
        .level1_mcast_hash = (uint16_t)keys[HASH1].value,
        .level2_mcast_hash = (uint16_t)keys[HASH2].value,
        .level1_exclusion_id = (uint16_t)keys[XID1].value,
        .level2_exclusion_id = (uint16_t)keys[XID2].value,
        .rid = (uint16_t)keys[RID].value,
        .max_pkt_len = (uint16_t)keys[MAX].value,
        .hash_cfg = keys[HASH_CFG].value,
        .hash_cfg_p = keys[HASH_CFG_P].value,
        .icos_cfg = keys[ICOS_CFG].value,
        .dod_cfg = keys[DOD_CFG].value,
        .mc_cfg = keys[MC_CFG].value,
        .epipe_cfg = keys[EPIPE_CFG].value,
    };
    return stf_tm_ended(w) && stf_tm_set_session(w, id, &s);
}

static bool mirroring_add(struct words *w) {
    uint16_t id = session_id(w);
    const struct sk_mirror_session s = {.enabled = true,
                                        .direction = SK_MIRROR_IN | SK_MIRROR_OUT,
                                        .ucast_valid = true,
                                        .ucast_port = stf_tm_port(w)};
    return stf_tm_ended(w) && stf_tm_set_session(w, id, &s);
}

static bool mirroring_add_mc(struct words *w) {
    uint16_t id = session_id(w);
    const struct sk_mirror_session s = {.enabled = true,
                                        .direction = SK_MIRROR_IN | SK_MIRROR_OUT,
                                        .mcast_a_valid = true,
                                        .mcast_grp_a =
                                            (uint16_t)stf_tm_number(w, "the group", UINT16_MAX)};
    return stf_tm_ended(w) && stf_tm_set_session(w, id, &s);
}

static bool mirroring_delete(struct words *w) {
    uint16_t id = session_id(w);
    return stf_tm_ended(w) && stf_tm_set_session(w, id, &(struct sk_mirror_session){0});
}

// ---- digests ----

static int stf_tm_find_field(const struct sk_digest_desc *d, const char *name, size_t length) {
    for (uint32_t i = 0; i < d->n_fields; i++)
        if (strlen(d->fields[i].name) == length && memcmp(d->fields[i].name, name, length) == 0)
            return (int)i;
    return -1;
}

static bool stf_tm_check_field(struct words *w, const struct sk_digest *d, const char *word) {
    const char *colon = strrchr(word, ':');
    int i = colon ? stf_tm_find_field(d->desc, word, (size_t)(colon - word)) : -1;
    if (i < 0)
        return unusable(w->r, "'%.40s' is not FIELD:VALUE with a field of '%s'", word,
                        d->desc->name);
    const struct sk_field_desc *f = &d->desc->fields[i];
    uint64_t want[SK_DIGEST_BYTES / 8], got[SK_DIGEST_BYTES / 8];
    struct sk_error err;
    if (!done(w->r, sk_value_parse(colon + 1, f, want, &err), &err))
        return false;
    sk_digest_field(d, (uint32_t)i, got);
    if (memcmp(want, got, sk_words(f->width) * sizeof *got) != 0) {
        char text[160];
        sk_value_format(text, sizeof text, f, got);
        differs(w->r, "digest of '%s': %s is %s, expected %s", d->desc->name, f->name, text,
                colon + 1);
    }
    return true;
}

// Names are compared by suffix, as those of tables are.
static bool is_called(const char *full, const char *name) {
    size_t n = strlen(full), m = strlen(name);
    return n >= m && strcmp(full + n - m, name) == 0 && (n == m || full[n - m - 1] == '.');
}

static bool stf_tm_exists(struct run *r, const char *name) {
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        const struct sk_pipeline_desc *d = sk_switch_pipeline(r->sw, pipe);
        for (uint32_t i = 0; i < d->n_digests; i++)
            if (is_called(d->digests[i].name, name))
                return true;
    }
    return unusable(r, "the program has no digest '%s'", name);
}

static bool expect_digest(struct words *w) {
    struct run *r = w->r;
    struct sk_digest d;
    const char *name = stf_tm_next(w, "a digest's name");
    r->digests_expected = true;
    if (w->failed || !stf_tm_exists(r, name))
        return false;
    if (!sk_digest_read(r->sw, &r->digests, &d)) {
        differs(r, "no digest came");
        return true;
    }
    if (!is_called(d.desc->name, name)) {
        differs(r, "a digest of '%s' came", d.desc->name);
        return true;
    }
    while (w->at < w->s->n_words)
        if (!stf_tm_check_field(w, &d, w->s->words[w->at++]))
            return false;
    return true;
}

static bool no_digest(struct words *w) {
    struct sk_digest d;
    w->r->digests_expected = true;
    if (!stf_tm_ended(w))
        return false;
    if (sk_digest_read(w->r->sw, &w->r->digests, &d))
        differs(w->r, "a digest of '%s' came", d.desc->name);
    return true;
}

// ---- packet generator ----

static bool pktgen_buffer(struct words *w) {
    static const char digits[] = "0123456789abcdef";
    unsigned pipe = (unsigned)stf_tm_number(w, "the pipe", SK_PIPES - 1);
    uint32_t offset = (uint32_t)stf_tm_number(w, "the offset", SK_PKTGEN_BUFFER - 1), n = 0;
    static uint8_t nibbles[2 * SK_PKTGEN_BUFFER];
    while (!w->failed && w->at < w->s->n_words)
        for (const char *c = stf_tm_next(w, ""); *c; c++) {
            const char *digit = strchr(digits, tolower((unsigned char)*c));
            if (!digit || n == sizeof nibbles)
                return unusable(w->r, digit ? "more than the buffer holds"
                                            : "the packet is not in hexadecimal digits");
            nibbles[n++] = (uint8_t)(digit - digits);
        }
    if (n % 2)
        return unusable(w->r, "the last byte has only one digit");
    for (uint32_t i = 0; i < n / 2; i++)
        nibbles[i] = (uint8_t)(nibbles[2 * i] << 4 | nibbles[2 * i + 1]);
    return !w->failed && accepted(w, sk_pktgen_buffer(w->r->sw, pipe, offset, nibbles, n / 2));
}

static bool pktgen(struct words *w) {
    static const char *const triggers[] = {"one_shot", "periodic", "port_down", "recirculation",
                                           NULL};
    enum { LENGTH, OFFSET, TIMER, PATTERN, MASK, BATCHES, PACKETS, BATCH_GAP, PACKET_GAP, PORT };
    struct key keys[] = {[LENGTH] = {"length", SK_PKTGEN_BUFFER, 0, false},
                         [OFFSET] = {"offset", SK_PKTGEN_BUFFER - 1, 0, false},
                         [TIMER] = {"timer", UINT64_C(1) << 40, 0, false},
                         [PATTERN] = {"pattern", UINT32_MAX, 0, false},
                         [MASK] = {"mask", UINT32_MAX, UINT32_MAX, false},
                         [BATCHES] = {"batches", 65536, 1, false},
                         [PACKETS] = {"packets", 65536, 1, false},
                         [BATCH_GAP] = {"batch_gap", UINT32_MAX, 0, false},
                         [PACKET_GAP] = {"packet_gap", UINT32_MAX, 0, false},
                         [PORT] = {"port", SK_PIPE_PORTS - 1, SK_PKTGEN_USUAL, false}};
    unsigned pipe = (unsigned)stf_tm_number(w, "the pipe", SK_PIPES - 1);
    unsigned app = (unsigned)stf_tm_number(w, "the application", SK_PKTGEN_APPS - 1);
    unsigned trigger = stf_tm_choice(w, triggers, "trigger");
    take_keys(w, keys, sizeof keys / sizeof *keys);
    const struct sk_pktgen_app a = {.enabled = true,
                                    .trigger = (enum sk_pktgen_trigger)trigger,
                                    .timer_ns = keys[TIMER].value,
                                    .pattern = (uint32_t)keys[PATTERN].value,
                                    .mask = (uint32_t)keys[MASK].value,
                                    .length = (uint16_t)keys[LENGTH].value,
                                    .offset = (uint16_t)keys[OFFSET].value,
                                    .batches = (uint32_t)keys[BATCHES].value,
                                    .packets = (uint32_t)keys[PACKETS].value,
                                    .batch_gap_ns = (uint32_t)keys[BATCH_GAP].value,
                                    .packet_gap_ns = (uint32_t)keys[PACKET_GAP].value,
                                    .source_port = (uint8_t)keys[PORT].value};
    return stf_tm_ended(w) && accepted(w, sk_pktgen_set(w->r->sw, pipe, app, &a, w->r->clock_ns));
}

static bool stf_tm_pktgen_off(struct words *w) {
    unsigned pipe = (unsigned)stf_tm_number(w, "the pipe", SK_PIPES - 1);
    unsigned app = (unsigned)stf_tm_number(w, "the application", SK_PKTGEN_APPS - 1);
    return stf_tm_ended(w) &&
           accepted(w,
                    sk_pktgen_set(w->r->sw, pipe, app, &(struct sk_pktgen_app){0}, w->r->clock_ns));
}

// ---- all of them ----

static const struct {
    const char *word;
    bool (*run)(struct words *w);
} statements[] = {
    {"mc_lag", lag},
    {"mc_ecmp", ecmp},
    {"mc_ecmp_associate", ecmp_associate},
    {"mc_global_rid", global_rid},
    {"mc_backup", backup},
    {"port_up", stf_tm_port_up},
    {"port_down", port_down},
    {"port_speed", port_speed},
    {"port_queue", port_queue},
    {"pool", pool},
    {"flow_control", flow_control},
    {"deflect", stf_tm_deflect},
    {"cpu_port", cpu_port},
    {"mirror_session", mirror_session},
    {"mirroring_add", mirroring_add},
    {"mirroring_add_mc", mirroring_add_mc},
    {"mirroring_delete", mirroring_delete},
    {"expect_digest", expect_digest},
    {"no_digest", no_digest},
    {"pktgen_buffer", pktgen_buffer},
    {"pktgen", pktgen},
    {"pktgen_off", stf_tm_pktgen_off},
};

const char *stf_tm_keyword(const char *at, size_t n) {
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (strlen(statements[i].word) == n && strncasecmp(at, statements[i].word, n) == 0)
            return statements[i].word;
    return NULL;
}

bool run_tm(struct run *r, const struct stf_statement *s) {
    struct words w = {.r = r, .s = s};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (strcmp(statements[i].word, s->name) == 0)
            return statements[i].run(&w);
    return false;
}
