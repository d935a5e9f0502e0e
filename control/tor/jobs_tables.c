// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tables/control.h"
#include "control/tables/names.h"
#include "control/sessions/clear.h"
#include "control/tor/jobs_impl.h"
#include "hosts/libra/worker.h"
#include "util.h"
#include "wire/switchml.h"

#define TO_SWITCHML 325u         // the port by which p4/rack's SwitchML sees all workers
#define SPLIT       65522u       // its multicast group of what becomes two results,
#define SPLIT_PORTS "324", "326" // and the ports in it
#define LAST_JOB    255u         // of a SwitchML job's numbers
#define TO_JOB      0u           // p4/switchml/headers.p4: where the sums of a slot go
#define TO_ABOVE    2u
#define DEEPEST     ((1u << 19) - 1) // that a queue can be, in cells of 80 bytes

// ---- the program ----

#define AUDIENCES "admission.audiences" // of programs without levels
static const char *const tables[] = {
    "guarded", "registered",         "admission.workers",  AUDIENCES,      "receivers", "tagged",
    "returns", "leaving.atp.queues", SESSIONS_OF_SWITCHML, SESSIONS_OF_ATP};
static const char *const tables_of_libra[] = {JOBS_LIBRA_MEMBERS, JOBS_LIBRA_RECEIVES};

int jobs_supported(struct tor *t, struct sk_error *err) {
    const bool levels = jobs_has_levels(t);
    struct sk_error why;
    struct sk_object o;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!(levels && strcmp(tables[i], AUDIENCES) == 0) &&
            sk_find_object(t->host.sw, SK_TABLE, tables[i], &o, &why))
            return sk_fail(err,
                           "the running program has no aggregation jobs, as p4/rack has: %.200s",
                           why.text);
    return 0;
}

static struct sessions_switch jobs_tables_switch_of(const struct tor *t) {
    return (struct sessions_switch){t->host.sw, t->host.pause, t->host.resume, t->host.aux};
}

uint32_t jobs_room(struct tor *t, enum jobs_protocol protocol) {
    const struct sessions_switch sw = jobs_tables_switch_of(t);
    return protocol == JOBS_ATP     ? sessions_aggregators(&sw)
           : protocol == JOBS_LIBRA ? sessions_cells(&sw)
                                    : sessions_slots(&sw);
}

void jobs_clear(struct tor *t, const struct jobs_job *job) {
    const struct sessions_switch sw = jobs_tables_switch_of(t);
    if (job->protocol == JOBS_ATP)
        sessions_clear_aggregators(&sw, job->first, job->count);
    else if (job->protocol == JOBS_SWITCHML)
        sessions_clear_slots(&sw, job->first, job->count);
}

// Each is in a control of its own; that of ATP has none. (Those of Libra: jobs_libra.c.)
void jobs_clear_counts(struct tor *t, const struct jobs_job *job) {
    static const char *const names[] = {"admission.wrong_checksums", "repetitions", "steps.resent"};
    static const struct sk_counter_cell zero;
    struct sk_error ignored;
    struct sk_object o;
    char name[512];
    if (job->protocol != JOBS_SWITCHML ||
        sk_find_object(t->host.sw, SK_TABLE, "admission.workers", &o, &ignored))
        return;
    const char *workers = sk_object_name(&o), *at = strstr(workers, "admission.workers");
    if (t->host.pause)
        t->host.pause(t->host.aux);
    for (size_t i = 0; at && i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "%.*s%s", (int)(at - workers), workers, names[i]);
        for (size_t k = 0; k < job->n_workers; k++)
            sk_control_counter_write(t->host.sw, name, job->workers[k].rid, &zero, &ignored);
    }
    if (t->host.resume)
        t->host.resume(t->host.aux);
}

// ---- what follows from a job ----
// All of it is said in the same words when it is wanted and when it no longer is.

struct saying {
    struct tor *t;
    bool wanted, levels; // 'levels': of the program
};

static void jobs_tables_say(const struct saying *s, const char *as, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void jobs_tables_say(const struct saying *s, const char *as, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *object = xvasprintf(format, args);
    va_end(args);
    if (s->wanted)
        tor_want(s->t->wanted, TOR_JOBS, "%s -> %s", object, as);
    else
        tor_unwant(s->t->wanted, "%s", object);
    free(object);
}

static void jobs_tables_guard(const struct saying *s, const struct in6_addr *address,
                              unsigned port) {
    char text[TOR_TEXT];
    tor_address_text(address, text);
    jobs_tables_say(s, "guard", "entry guarded dst_addr=%s dst_port=%u", text, port);
    jobs_tables_say(s, "guard", "entry guarded dst_addr=%s dst_port=0",
                    text); // IPv4 options hide the port
}

// All ports by which SwitchML is sent to this address.
static void jobs_tables_guard_all(const struct saying *s, const struct in6_addr *address) {
    for (unsigned port = JOBS_UDP_LOW; port <= JOBS_UDP_HIGH; port++)
        jobs_tables_guard(s, address, port);
}

// At all ports of the host's link.
static void jobs_tables_admit(const struct saying *s, const struct jobs_job *job,
                              const struct jobs_host *host, unsigned number, int is_ack,
                              const char *as) {
    // Kbit/s; bursts of 10 ms, at least some dozens of packets.
    const unsigned rate = job->rate * 1000, burst = job->rate < 10 ? 100 : job->rate * 10;
    char text[TOR_TEXT], limited[512];
    tor_address_text(&host->address, text);
    if (job->rate && host != &job->above) { // what all have sent below has passed already
        snprintf(limited, sizeof limited,
                 "%s $METER_SPEC_CIR_KBPS=%u $METER_SPEC_PIR_KBPS=%u $METER_SPEC_CBS_KBITS=%u "
                 "$METER_SPEC_PBS_KBITS=%u",
                 as, rate, rate, burst, burst);
        as = limited;
    }
    for (size_t i = 0; i < host->n_ports; i++)
        jobs_tables_say(
            s, as,
            "entry registered ingress_port=%u tag=%u src_addr=%s protocol=%d job=%u is_ack=%d",
            host->ports[i], host->tag, text, (int)job->protocol, number, is_ack);
}

uint16_t jobs_port_of(const struct jobs_host *host) {
    for (size_t i = 0; host->link && i < host->n_ports; i++)
        if (host->link->active[i])
            return host->ports[i];
    return host->ports[0];
}

// ---- SwitchML ----

static unsigned jobs_tables_node_in(uint16_t group, const struct jobs_host *w) {
    return group * 1024u + w->rid; // as those of other groups: by group, then by member (mcast.c)
}

// How packets leave to it.
static void jobs_tables_say_node(const struct saying *s, uint16_t group,
                                 const struct jobs_host *w) {
    char as[64];
    snprintf(as, sizeof as, w->lag < 0 ? "rid=%u ports=%u" : "rid=%u lags=%u", w->rid,
             w->lag < 0 ? w->ports[0] : (unsigned)w->lag);
    jobs_tables_say(s, as, "node %u", jobs_tables_node_in(group, w));
    if (w->tag) {
        snprintf(as, sizeof as, "tag vid=%u", w->vid);
        jobs_tables_say(s, as, "entry tagged rid=%u", w->rid);
    }
}

static void say_switchml_worker(const struct saying *s, const struct jobs_job *job, size_t i) {
    const struct jobs_host *w = &job->workers[i];
    char ip[TOR_TEXT], mac[TOR_TEXT], as[256], levels[64] = "";
    tor_address_text(&w->address, ip);
    // A switch takes results at any of the ports, so nobody else may send to one.
    if (i < job->n_hosts)
        jobs_tables_guard(s, &w->address, job->udp_port);
    else
        jobs_tables_guard_all(s, &w->address);
    jobs_tables_guard_all(s, &w->to);
    jobs_tables_say_node(s, job->mgid, w);
    if (w->known || !s->wanted) {
        snprintf(as, sizeof as, "address mac=%s ip=%s udp_port=%u", tor_mac_text(w->mac, mac), ip,
                 job->udp_port);
        jobs_tables_say(s, as, "entry receivers rid=%u", w->rid);
    }
    if (s->levels)
        snprintf(levels, sizeof levels, " way=%u above=%u", job->has_above ? TO_ABOVE : TO_JOB,
                 job->above_group);
    snprintf(as, sizeof as,
             "admit worker_bit=%u num_workers=%zu group=%u rid=%u port=%u pool_base=%u "
             "pool_last=%u%s",
             1u << i, job->n_workers, job->mgid, w->rid, jobs_port_of(w), job->first,
             job->count - 1, levels);
    const unsigned last = job->all_numbers ? LAST_JOB : job->number;
    for (unsigned number = job->number; number <= last; number++) {
        jobs_tables_say(s, as, "entry admission.workers job_number=%u src_addr=%s ingress_port=%u",
                        number, ip, TO_SWITCHML);
        if (!job->resume || !s->wanted)
            jobs_tables_admit(s, job, w, number, 0, "switchml");
    }
}

// The switch above: partial sums go to it alone, from an address of this switch; who else sends to
// it what it takes for such is refused. What it sends are the sums of all.
static void say_above(const struct saying *s, const struct jobs_job *job) {
    const struct jobs_host *above = &job->above;
    char ip[TOR_TEXT], mac[TOR_TEXT], own[TOR_TEXT], own_mac[TOR_TEXT], as[256];
    tor_address_text(&above->address, ip);
    jobs_tables_guard_all(s, &above->address);
    jobs_tables_guard_all(s, &above->to);
    jobs_tables_say_node(s, job->above_group, above);
    snprintf(as, sizeof as, "%u", jobs_tables_node_in(job->above_group, above));
    jobs_tables_say(s, as, "mcast %u", job->above_group);
    if (above->known || !s->wanted) {
        snprintf(as, sizeof as, "above mac=%s ip=%s own_mac=%s own_ip=%s",
                 tor_mac_text(above->mac, mac), ip, tor_mac_text(s->t->section->mac.bytes, own_mac),
                 tor_address_text(&above->to, own));
        jobs_tables_say(s, as, "entry receivers rid=%u", above->rid);
    }
    snprintf(as, sizeof as, "result group=%u pool_base=%u pool_last=%u", job->mgid, job->first,
             job->count - 1);
    jobs_tables_say(s, as, "entry admission.workers job_number=%u src_addr=%s ingress_port=%u",
                    job->number, ip, TO_SWITCHML);
    jobs_tables_admit(s, job, above, job->number, 0, "switchml");
}

// A group of worker 'i' alone, or of all others, with nodes of its own.
static void say_group(const struct saying *s, const struct jobs_job *job, uint16_t group, size_t i,
                      bool rest) {
    char nodes[JOBS_WORKERS * 12] = "", as[64];
    size_t n = 0;
    if (!group)
        return;
    for (size_t k = 0; k < job->n_workers; k++) {
        const struct jobs_host *w = &job->workers[k];
        if ((k == i) == rest)
            continue;
        snprintf(as, sizeof as, w->lag < 0 ? "rid=%u ports=%u" : "rid=%u lags=%u", w->rid,
                 w->lag < 0 ? w->ports[0] : (unsigned)w->lag);
        jobs_tables_say(s, as, "node %u", jobs_tables_node_in(group, w));
        n += (size_t)snprintf(nodes + n, sizeof nodes - n, "%s%u", n ? " " : "",
                              jobs_tables_node_in(group, w));
    }
    jobs_tables_say(s, nodes, "mcast %u", group);
}

static void say_audience(const struct saying *s, const struct jobs_job *job, unsigned audience,
                         unsigned group, unsigned brief_group) {
    char as[64];
    snprintf(as, sizeof as, "audience group=%u brief_group=%u", group, brief_group);
    jobs_tables_say(s, as, "entry admission.audiences job_number=%u audience=%u", job->number,
                    audience);
}

// Who gets what of collective operations (p4/switchml/README.md).
static void say_audiences(const struct saying *s, const struct jobs_job *job) {
    static const char *const ports[] = {SPLIT_PORTS};
    char as[64];
    for (unsigned i = 0; i < 2; i++) {
        snprintf(as, sizeof as, "rid=0 ports=%s", ports[i]);
        jobs_tables_say(s, as, "node %u", SPLIT * 1024u + i);
    }
    snprintf(as, sizeof as, "%u %u", SPLIT * 1024u, SPLIT * 1024u + 1);
    jobs_tables_say(s, as, "mcast %u", SPLIT);
    for (size_t i = 0; i < job->n_workers; i++) {
        say_group(s, job, job->one[i], i, false);
        say_group(s, job, job->rest[i], i, true);
        say_audience(s, job, (unsigned)i, job->one[i], job->rest[i]);
        say_audience(s, job, SWML_ALL_BUT + (unsigned)i, job->rest[i], job->one[i]);
    }
    say_audience(s, job, SWML_NOBODY, 0, job->mgid);
}

static void say_switchml(const struct saying *s, const struct jobs_job *job) {
    char nodes[JOBS_WORKERS * 12] = "";
    for (size_t i = 0, n = 0; i < job->n_workers; i++) {
        say_switchml_worker(s, job, i);
        n += (size_t)snprintf(nodes + n, sizeof nodes - n, "%s%u", i ? " " : "",
                              jobs_tables_node_in(job->mgid, &job->workers[i]));
    }
    jobs_tables_say(s, nodes, "mcast %u", job->mgid);
    if (job->has_above)
        say_above(s, job);
    if (!s->levels && !job->all_numbers) // whose hosts know no collective operations
        say_audiences(s, job);
}

// ---- ATP ----

// 01:00:5e and the lower 23 bits (RFC 1112).
static const char *group_mac(const struct in6_addr *group, char out[TOR_TEXT]) {
    const uint8_t *a = &group->s6_addr[12];
    const uint8_t mac[6] = {0x01, 0x00, 0x5e, a[1] & 0x7f, a[2], a[3]};
    return tor_mac_text(mac, out);
}

static void say_atp_returns(const struct saying *s, const struct jobs_job *job) {
    const struct jobs_host *server = &job->server;
    const uint16_t vid = job->workers[0].vid;
    char ip[TOR_TEXT], mac[TOR_TEXT], as[256];
    // The server's own port, so that nobody else can have its address; or by the tables, where it
    // is a LAG or behind the switch as a router.
    if (server->vid != vid)
        snprintf(as, sizeof as, "into vid=%u dst_addr=%s", vid,
                 tor_mac_text(s->t->section->mac.bytes, mac));
    else if (server->n_ports > 1)
        snprintf(as, sizeof as, "into vid=%u dst_addr=%s", vid, tor_mac_text(server->mac, mac));
    else
        snprintf(as, sizeof as, "out_by port=%u vid=%u dst_addr=%s", server->ports[0], vid,
                 tor_mac_text(server->mac, mac));
    if (server->known || server->vid != vid || !s->wanted)
        jobs_tables_say(s, as, "entry returns job=%u is_ack=0 dst_addr=%s", job->number,
                        tor_address_text(&server->address, ip));
    snprintf(as, sizeof as, "into vid=%u dst_addr=%s", vid, group_mac(&job->group, mac));
    jobs_tables_say(s, as, "entry returns job=%u is_ack=1 dst_addr=%s", job->number,
                    tor_address_text(&job->group, ip));
    snprintf(as, sizeof as, "group group=%u", job->mgid);
    jobs_tables_say(s, as, "entry destinations vid=%u dst_addr=%s", vid, mac);
}

// A rack without the server sees nothing of the others'.
static bool jobs_tables_takes_part(const struct jobs_job *job, const struct jobs_host *w) {
    return w->rack == job->rack || job->rack == job->server_rack;
}

// A worker of this rack says its own bits. In the server's rack those of another one's switch come
// in by the port towards it, from the address of any of its workers: its bit of bitmap1, and all of
// theirs.
static void say_atp_worker(const struct saying *s, const struct jobs_job *job,
                           const struct jobs_host *w, unsigned minus_first, unsigned last) {
    char as[256];
    if (w->rack == job->rack)
        snprintf(as, sizeof as, "worker bitmap0=%u bitmap1=%u marks=%u minus_first=%u last=%u",
                 w->bitmap0, w->bitmap1, w->marks, minus_first, last);
    else
        snprintf(as, sizeof as, "switch_of others0=%u bitmap1=%u marks=%u minus_first=%u last=%u",
                 w->others0, w->bitmap1, w->marks | JOBS_EDGE, minus_first, last);
    jobs_tables_admit(s, job, w, job->number, 0, as);
}

static void say_atp(const struct saying *s, const struct jobs_job *job) {
    const unsigned minus_first = (65536 - job->first) % 65536, last = job->first + job->count - 1;
    struct tor_link *links[JOBS_WORKERS];
    size_t n = 0;
    char as[256];
    jobs_tables_guard(s, &job->server.address, JOBS_UDP_ATP);
    jobs_tables_guard(s, &job->group, JOBS_UDP_ATP);
    for (size_t i = 0; i < job->n_workers; i++)
        jobs_tables_guard(s, &job->workers[i].address, JOBS_UDP_ATP);
    if (job->ecn_cells)
        jobs_tables_say(s, "mark", "entry leaving.atp.queues enq_qdepth=%u..%u priority=1",
                        job->ecn_cells, DEEPEST);
    say_atp_returns(s, job);
    // Parameters go to the workers here, and from the server's rack on to the other racks'
    // switches.
    for (size_t i = 0; i < job->n_workers; i++)
        if (jobs_tables_takes_part(job, &job->workers[i]))
            links[n++] = job->workers[i].link;
    if (s->wanted)
        tor_mcast_want(s->t, TOR_JOBS, job->mgid, links, n);
    else
        tor_mcast_unwant(s->t, job->mgid);
    snprintf(as, sizeof as, "server minus_first=%u last=%u", minus_first, last);
    jobs_tables_admit(s, job, &job->server, job->number, 1, as);
    for (size_t i = 0; i < job->n_workers; i++)
        if (jobs_tables_takes_part(job, &job->workers[i]))
            say_atp_worker(s, job, &job->workers[i], minus_first, last);
}

// ---- Libra ----

// Answers go to the member's own port, or by the tables, where it is a LAG.
static void say_libra_member(const struct saying *s, const struct jobs_job *job, size_t i) {
    const struct jobs_host *w = &job->workers[i];
    const uint32_t window = w->record * LIBRA_WINDOW_MOST;
    char ip[TOR_TEXT], mac[TOR_TEXT], as[256];
    tor_address_text(&w->address, ip);
    jobs_tables_guard(s, &w->address, job->udp_port);
    jobs_tables_guard(s, &w->to, LIBRA_PORT);
    tor_mac_text(w->mac, mac);
    if (w->n_ports > 1)
        snprintf(as, sizeof as, "into vid=%u dst_addr=%s", w->vid, mac);
    else
        snprintf(as, sizeof as, "out_by port=%u vid=%u dst_addr=%s", w->ports[0], w->vid, mac);
    if (w->known || !s->wanted)
        jobs_tables_say(s, as, "entry " JOBS_LIBRA_RECEIVES " job=%u dst_addr=%s", job->number, ip);
    if (job->waits && s->wanted)
        return;
    snprintf(as, sizeof as, "admit cell_base=%u cell_last=%u record_base=%u epoch=%u", job->first,
             job->count - 1, window, job->epoch);
    jobs_tables_say(s, as,
                    "entry " JOBS_LIBRA_MEMBERS " job=%u worker=%zu src_addr=%s ingress_port=%u",
                    job->number, i, ip, JOBS_LIBRA_PORT);
    jobs_tables_admit(s, job, w, job->number, 0, "libra");
}

static void say_libra(const struct saying *s, const struct jobs_job *job) {
    for (size_t i = 0; i < job->n_workers; i++)
        say_libra_member(s, job, i);
}

// What packets of the job need to pass.
static void say_session(const struct saying *s, const struct jobs_job *job) {
    const bool atp = job->protocol == JOBS_ATP;
    char as[32] = "closed";
    if (!job->has_sessions)
        return;
    if (job->session)
        snprintf(as, sizeof as, "session %s=%u", atp ? "port" : "number", job->session);
    if (atp)
        jobs_tables_say(s, as, "entry " SESSIONS_OF_ATP " job=%u", job->number);
    else
        jobs_tables_say(s, as, "entry " SESSIONS_OF_SWITCHML " job_number=%u", job->number);
}

static void say_job(struct tor *t, const struct jobs_job *job, bool wanted) {
    const struct saying s = {t, wanted, jobs_has_levels(t)};
    say_session(&s, job);
    if (job->protocol == JOBS_ATP)
        say_atp(&s, job);
    else if (job->protocol == JOBS_LIBRA)
        say_libra(&s, job);
    else
        say_switchml(&s, job);
}

void jobs_want(struct tor *t, const struct jobs_job *job) {
    say_job(t, job, true);
}

void jobs_unwant(struct tor *t, const struct jobs_job *job) {
    say_job(t, job, false);
}

// ---- writing ----

struct refusal {
    struct tor *t;
    struct sk_error *err;
    bool any;
};

static bool is_entry_of(const char *object, const char *const *list, size_t n) {
    const char *name = strncmp(object, "entry ", 6) == 0 ? object + 6 : "";
    for (size_t i = 0; i < n; i++)
        if (strncmp(name, list[i], strlen(list[i])) == 0 && name[strlen(list[i])] == ' ')
            return true;
    return false;
}

static bool is_of_jobs(const char *object) {
    return is_entry_of(object, tables, sizeof tables / sizeof *tables) ||
           is_entry_of(object, tables_of_libra, sizeof tables_of_libra / sizeof *tables_of_libra);
}

static void jobs_tables_refused(void *aux, const char *object, const char *why) {
    struct refusal *r = aux;
    if (!is_of_jobs(object)) {
        tor_event(r->t, "alarm", "{s:s, s:s, s:s}", "alarm", "refused", "object", object, "why",
                  why);
        return;
    }
    if (!r->any)
        sk_fail(r->err, "%.200s", why);
    r->any = true;
}

int jobs_flush(struct tor *t, struct sk_error *err) {
    struct refusal r = {.t = t, .err = err};
    while (tor_wanted_waits(t->wanted))
        tor_flush_once(t, jobs_tables_refused, &r);
    return r.any ? -1 : 0;
}
