// SPDX-License-Identifier: Apache-2.0
//
// The control plane of a ToR beside a replay: by the notes of a recorded run, or in the captures'
// time.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "control/tor/log.h"
#include "control/tor/tor.h"
#include "pcap/replay/replay_impl.h"

#define TICK_NS      UINT64_C(1000000)
#define LONG_TICK_NS UINT64_C(1000000000)
// Timers are looked at the less often the longer nothing has happened: late by a 1024th of that, or
// captures with days of silence would take hours. None of them is longer than REST_NS.
#define QUIET_SHARE UINT64_C(1024)
#define REST_NS     UINT64_C(3600000000000)
// A recorded control plane has taken, or its switch has received, everything that is so old: what
// is left then is not what was there when the run was recorded.
#define OLD_NS UINT64_C(1000000000)
// Frames that one frame may cause between switch and control plane before it is a loop.
#define ROUNDS      10000u
#define MOST_WRITES 64u // in a pause that the notes do not have
#define ALARMS      20u

struct waiting {
    struct waiting *next;
    uint64_t since;
    uint32_t length;
    uint8_t bytes[];
};
struct waiting_list {
    struct waiting *first, **end;
};

struct kept { // what a configuration of the notes points to
    struct kept *next;
    json_t *json;
    struct sk_json doc;
    struct sk_error err;
    struct sk_at root, at;
    struct sk_config_port *ports;
};

struct replay_tor {
    struct replay_tor_host on;
    struct tor_host host;
    struct tor *tor;
    struct replay_notes *notes; // null: in the captures' time
    struct kept *kept;
    bool down[SK_PORTS];
    struct waiting_list to_tor, to_switch;
    struct sk_digest_reader reader;
    struct sk_digest *digests; // that wait, from 'first_digest' on
    size_t first_digest, n_digests, room;
    char *state_folder, *state_path; // of the file of jobs; null: the notes have none
    uint64_t random;
    uint64_t sent, received; // frames of the recorded control plane: in notes, and by the CPU port
    uint64_t tick, happened; // the next tick; when something happened last
    unsigned alarms;
    uint64_t not_sent, fresh, late; // frames: recorded and not sent now; only now; not taken then
    bool ran, looped;
};

// ---- frames that wait ----

static void replay_tor_push(struct waiting_list *l, const uint8_t *bytes, uint32_t length,
                            uint64_t since) {
    struct waiting *w = malloc(sizeof *w + length);
    if (!w)
        abort();
    *w = (struct waiting){.length = length, .since = since};
    memcpy(w->bytes, bytes, length);
    if (!l->first)
        l->end = &l->first;
    *l->end = w;
    l->end = &w->next;
}

static struct waiting *replay_tor_pop(struct waiting_list *l) {
    struct waiting *w = l->first;
    if (w)
        l->first = w->next;
    return w;
}

void replay_tor_frame(struct replay_tor *t, const uint8_t *frame, uint32_t length, uint64_t now) {
    replay_tor_push(&t->to_tor, frame, length, now);
}

static bool replay_tor_hears(struct replay_tor *t, uint64_t now) {
    struct waiting *w = replay_tor_pop(&t->to_tor);
    if (w)
        tor_frame(t->tor, w->bytes, w->length, now);
    const bool any = w;
    free(w);
    return any;
}

static bool replay_tor_gives(struct replay_tor *t) {
    struct waiting *w = replay_tor_pop(&t->to_switch);
    if (w)
        sk_switch_rx(t->on.sw, t->on.cpu_port, w->bytes, w->length, sk_switch_now(t->on.sw));
    const bool any = w;
    free(w);
    return any;
}

static void collect_digests(struct replay_tor *t) {
    struct sk_digest d;
    while (sk_digest_read(t->on.sw, &t->reader, &d)) {
        if (t->first_digest == t->n_digests)
            t->first_digest = t->n_digests = 0;
        t->digests = sk_grow(t->digests, t->n_digests, &t->room, sizeof *t->digests);
        t->digests[t->n_digests++] = d;
    }
}

static bool replay_tor_reads(struct replay_tor *t, uint64_t now) {
    collect_digests(t);
    if (t->first_digest == t->n_digests)
        return false;
    tor_digest(t->tor, &t->digests[t->first_digest++], now);
    return true;
}

// ---- what the control plane stands on ----

static const struct replay_note *next_note(struct replay_tor *t, enum journal_kind kind) {
    const struct replay_note *n = t->notes ? replay_notes_peek(t->notes) : NULL;
    return n && n->note.kind == kind ? n : NULL;
}

static void note_sent(struct replay_tor *t) {
    replay_notes_take(t->notes);
    t->sent++;
}

static void note_refused(struct replay_tor *t) {
    replay_notes_take(t->notes);
    t->sent--;
}

static bool replay_tor_send(void *aux, const uint8_t *frame, uint32_t length) {
    struct replay_tor *t = aux;
    if (next_note(t, JOURNAL_SENT))
        note_sent(t);
    if (next_note(t, JOURNAL_REFUSED)) {
        note_refused(t);
        return false;
    }
    replay_tor_push(&t->to_switch, frame, length, sk_switch_now(t->on.sw));
    return true;
}

static bool replay_tor_link(void *aux, uint16_t port) {
    return !((struct replay_tor *)aux)->down[port];
}

static void replay_tor_pause(void *aux) {
    struct replay_tor *t = aux;
    const struct replay_note *n = next_note(t, JOURNAL_PAUSE);
    if (!n)
        return;
    const uint64_t at = n->at;
    replay_notes_take(t->notes);
    t->on.advance(t->on.aux, at);
}

// What chance and the machine decide is decided here for both kinds of runs.
static bool replay_tor_recall(void *aux, enum tor_fact fact, uint64_t *value) {
    static const enum journal_kind kinds[] = {[TOR_FACT_WRITES] = JOURNAL_WRITES,
                                              [TOR_FACT_TOOK] = JOURNAL_TOOK,
                                              [TOR_FACT_RANDOM] = JOURNAL_RANDOM};
    struct replay_tor *t = aux;
    const struct replay_note *n = next_note(t, kinds[fact]);
    *value = n                         ? n->note.number
             : fact == TOR_FACT_WRITES ? MOST_WRITES
             : fact == TOR_FACT_RANDOM ? ++t->random
                                       : 0;
    if (n)
        replay_notes_take(t->notes);
    return true;
}

static void replay_tor_event(void *aux, json_t *event) {
    struct replay_tor *t = aux;
    const char *name = json_string_value(json_object_get(event, "event"));
    if (t->on.messages && name && strcmp(name, "alarm") == 0 && ++t->alarms <= ALARMS) {
        json_object_del(event, "event");
        char *text = json_dumps(event, JSON_COMPACT);
        fprintf(t->on.messages, "the ToR's control plane: alarm: %s\n", text ? text : "");
        free(text);
    }
    json_decref(event);
}

static char *replay_tor_beside(void *aux, const char *path) {
    (void)aux;
    return sk_copy_text(path);
}

// ---- what is kept ----

static struct kept *keep(struct replay_tor *t, json_t *json) {
    struct kept *k = calloc(1, sizeof *k);
    if (!k)
        abort();
    k->next = t->kept;
    k->json = json;
    k->doc.err = &k->err;
    k->doc.name = "the recording";
    k->root = (struct sk_at){.doc = &k->doc};
    k->at = (struct sk_at){.doc = &k->doc, .value = json, .parent = &k->root, .key = "tor"};
    return t->kept = k;
}

// A copy of the section, with the file of jobs as it was, or without one.
static const struct sk_at *section_of(struct replay_tor *t, const json_t *section) {
    json_t *own = json_deep_copy(section);
    json_object_del(own, "state");
    if (t->state_path)
        json_object_set_new(own, "state", json_string(t->state_path));
    return &keep(t, own)->at;
}

// In a folder of its own: what the control plane cannot understand it puts beside the file.
static int write_state(struct replay_tor *t, const char *text, struct sk_error *err) {
    const char *folder = getenv("TMPDIR");
    const size_t length = strlen(text);
    if (asprintf(&t->state_folder, "%s/silken-replay-XXXXXX", folder && *folder ? folder : "/tmp") <
        0)
        abort();
    if (!mkdtemp(t->state_folder)) {
        const int why = errno;
        free(t->state_folder);
        t->state_folder = NULL;
        return sk_fail(err, "cannot make a folder for the recorded jobs: %s", strerror(why));
    }
    if (asprintf(&t->state_path, "%s/jobs.json", t->state_folder) < 0)
        abort();
    const int fd = open(t->state_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool good = fd >= 0 && write(fd, text, length) == (ssize_t)length;
    const int why = errno;
    if (fd >= 0)
        close(fd);
    return good ? 0 : sk_fail(err, "cannot write %s: %s", t->state_path, strerror(why));
}

static void remove_state(struct replay_tor *t) {
    DIR *d = t->state_folder ? opendir(t->state_folder) : NULL;
    for (const struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    if (t->state_folder)
        rmdir(t->state_folder);
    free(t->state_folder);
    free(t->state_path);
}

static int begin_of_notes(struct replay_tor *t, struct sk_error *err) {
    const struct replay_note *n = next_note(t, JOURNAL_BEGIN);
    int rc = 0;
    if (!n)
        return 0;
    t->host.hash_secret = (uint32_t)n->note.number;
    t->host.pause_interval_ns = n->note.interval;
    for (size_t i = 0; i < n->note.n; i++) {
        t->down[n->note.list[i]] = true;
        sk_switch_port_up(t->on.sw, (uint16_t)n->note.list[i], false);
    }
    if (n->note.text)
        rc = write_state(t, n->note.text, err);
    replay_notes_take(t->notes);
    return rc;
}

// What it would log are its events, of which the alarms are told here.
static void be_quiet(void) {
    struct sk_error ignored;
    tor_log_set("ANY:ANY:off", &ignored);
}

static bool replay_tor_begin(struct replay_tor *t, const struct replay_options *opt,
                             struct sk_error *err) {
    // what is left out would be missing when its turn comes
    const bool whole = !opt->filter && opt->skip == 0;
    if (tor_program_check(t->on.sw, err) || (whole && replay_notes_open(opt, &t->notes, err)) ||
        (t->notes && begin_of_notes(t, err)))
        return false;
    struct sk_at at = *t->on.config->tor; // whose places are in sentences
    at.value = section_of(t, at.value)->value;
    t->tor = tor_new(&t->host, &at, err);
    if (!t->tor)
        return false;
    if (t->notes) {
        t->host.pause = replay_tor_pause;
        tor_host_changed(t->tor, &t->host);
    }
    return true;
}

struct replay_tor *replay_tor_new(const struct replay_tor_host *on,
                                  const struct replay_options *opt, struct sk_error *err) {
    struct replay_tor *t = calloc(1, sizeof *t);
    if (!t)
        abort();
    t->on = *on;
    t->host = (struct tor_host){.sw = on->sw,
                                .ports = on->config->ports,
                                .n_ports = on->config->n_ports,
                                .send = replay_tor_send,
                                .link = replay_tor_link,
                                .beside = replay_tor_beside,
                                .event = replay_tor_event,
                                .recall = replay_tor_recall,
                                .aux = t};
    t->happened = sk_switch_now(on->sw);
    t->tick = t->happened + TICK_NS;
    sk_digest_reader_init(on->sw, &t->reader);
    be_quiet();
    if (replay_tor_begin(t, opt, err))
        return t;
    replay_tor_free(t);
    return NULL;
}

void replay_tor_free(struct replay_tor *t) {
    if (!t)
        return;
    t->host.pause = NULL;
    if (t->tor)
        tor_host_changed(t->tor, &t->host);
    tor_free(t->tor);
    replay_notes_close(t->notes);
    while (t->to_tor.first)
        free(replay_tor_pop(&t->to_tor));
    while (t->to_switch.first)
        free(replay_tor_pop(&t->to_switch));
    for (struct kept *k; (k = t->kept);) {
        t->kept = k->next;
        sk_json_release(&k->doc);
        json_decref(k->json);
        free(k->ports);
        free(k);
    }
    remove_state(t);
    free(t->digests);
    free(t);
}

// ---- in the captures' time ----

void replay_tor_settle(struct replay_tor *t, uint64_t now) {
    if (t->notes)
        return;
    bool any = false, more = true;
    for (unsigned i = 0; more; i++) {
        if (i == ROUNDS) {
            t->looped = true;
            break;
        }
        more = false;
        while (replay_tor_reads(t, now))
            more = true;
        while (replay_tor_hears(t, now))
            more = true;
        tor_run(t->tor, now);
        while (replay_tor_gives(t)) {
            sk_switch_run(t->on.sw, now);
            more = true;
        }
        any |= more;
    }
    if (any || t->tick == UINT64_MAX) {
        t->happened = now;
        if (t->tick > now + TICK_NS)
            t->tick = now + TICK_NS;
    }
}

static void replay_tor_tick(struct replay_tor *t) {
    const uint64_t now = t->tick;
    const uint64_t quiet = now - t->happened, share = quiet / QUIET_SHARE;
    if (quiet > REST_NS) { // until a packet comes
        t->tick = UINT64_MAX;
        tor_run(t->tor, now);
        return;
    }
    t->tick += share < TICK_NS ? TICK_NS : share < LONG_TICK_NS ? share : LONG_TICK_NS;
    replay_tor_settle(t, now);
}

// ---- by notes ----

static int new_ports(struct replay_tor *t, json_t *list, struct sk_error *err) {
    const size_t n = json_array_size(list);
    struct kept *k = keep(t, json_incref(list));
    k->ports = calloc(n + 1, sizeof *k->ports);
    if (!k->ports)
        abort();
    for (size_t i = 0; i < n; i++) {
        const json_t *item = json_array_get(list, i);
        const json_int_t port = json_integer_value(json_object_get(item, "port"));
        if (port < 0 || port >= (json_int_t)SK_PORTS)
            return sk_fail(err, "the recording's list of ports has port %" PRId64, (int64_t)port);
        k->ports[i] = (struct sk_config_port){
            .port = (uint16_t)port, .name = json_string_value(json_object_get(item, "name"))};
    }
    t->host.ports = k->ports;
    t->host.n_ports = n;
    tor_host_changed(t->tor, &t->host);
    return 0;
}

static void replay_tor_run(struct replay_tor *t, uint64_t now) {
    // what it sent at its start waited for the pipes to begin
    for (struct waiting *w = t->ran ? NULL : t->to_switch.first; w; w = w->next)
        w->since = now;
    t->ran = true;
    collect_digests(t);
    while (t->first_digest < t->n_digests && t->digests[t->first_digest].time_ns + OLD_NS < now) {
        t->late++;
        replay_tor_reads(t, now);
    }
    while (t->to_tor.first && t->to_tor.first->since + OLD_NS < now) {
        t->late++;
        replay_tor_hears(t, now);
    }
    while (t->to_switch.first && t->to_switch.first->since + OLD_NS < now) {
        t->fresh++;
        replay_tor_gives(t);
        sk_switch_run(t->on.sw, sk_switch_now(t->on.sw));
    }
    tor_run(t->tor, now);
}

// Takes the note: what follows from it may have notes of its own, which are next.
static int replay_tor_do(struct replay_tor *t, struct journal_note n, struct sk_error *err) {
    struct sk_error ignored; // what was refused then is refused now
    const struct sk_at *section;
    switch (n.kind) {
    case JOURNAL_FRAMES:
        for (uint64_t i = 0; i < n.number && replay_tor_hears(t, n.now); i++)
            ;
        return 0;
    case JOURNAL_DIGEST:
        replay_tor_reads(t, n.now);
        return 0;
    case JOURNAL_RUN:
        replay_tor_run(t, n.now);
        return 0;
    case JOURNAL_PORT:
        t->down[n.port] = !n.up;
        sk_switch_port_up(t->on.sw, n.port, n.up);
        return 0;
    case JOURNAL_LINK:
        tor_link(t->tor, n.port, n.up, n.now);
        return 0;
    case JOURNAL_REQUEST:
        json_decref(tor_request(t->tor, n.text, n.value, n.now, &ignored));
        return 0;
    case JOURNAL_PORTS:
        return new_ports(t, n.value, err);
    case JOURNAL_SECTION:
        section = section_of(t, n.value);
        tor_reload(t->tor, &t->host, section, &ignored);
        return 0;
    case JOURNAL_REPLACED:
        return sk_fail(err, "the recorded switch got another program here; a replay runs one "
                            "program: replay what comes before with --limit");
    default:
        return 0; // facts that this run did not ask for
    }
}

static int replay_tor_do_note(struct replay_tor *t, struct sk_error *err) {
    const struct replay_note *next = replay_notes_peek(t->notes);
    if (!next)
        return replay_notes_failed(t->notes, err) ? -1 : 0;
    // facts that this run did not ask for
    if (next->note.kind == JOURNAL_SENT)
        return note_sent(t), 0;
    if (next->note.kind == JOURNAL_REFUSED)
        return note_refused(t), 0;
    // a copy: what follows reads on
    struct journal_note n = next->note;
    n.text = n.text ? sk_copy_text(n.text) : NULL;
    json_incref(n.value);
    replay_notes_take(t->notes);
    const int rc = replay_tor_do(t, n, err);
    free(n.text);
    json_decref(n.value);
    return rc;
}

// ---- both ----

uint64_t replay_tor_next(struct replay_tor *t) {
    if (!t->notes)
        return t->tick;
    const struct replay_note *n = replay_notes_peek(t->notes);
    return n ? n->at : replay_notes_failed(t->notes, NULL) ? 0 : UINT64_MAX;
}

int replay_tor_step(struct replay_tor *t, struct sk_error *err) {
    if (t->notes)
        return replay_tor_do_note(t, err);
    replay_tor_tick(t);
    return t->looped ? sk_fail(err, "the switch and the ToR's control plane send frames to each "
                                    "other without end")
                     : 0;
}

bool replay_tor_is_behind(struct replay_tor *t) {
    return t->notes && t->sent <= t->received && replay_notes_peek(t->notes);
}

bool replay_tor_takes(struct replay_tor *t, const struct replay_packet *p) {
    size_t before = 0;
    t->received++;
    const struct waiting *w = t->to_switch.first;
    if (!t->notes) { // it sends its own
        t->not_sent++;
        return false;
    }
    while (w && (w->length != p->length || memcmp(w->bytes, p->bytes, p->length) != 0)) {
        w = w->next;
        before++;
    }
    if (!w) {
        t->not_sent++;
        return false;
    }
    for (; before > 0; before--, t->fresh++)
        replay_tor_gives(t);
    free(replay_tor_pop(&t->to_switch));
    return true;
}

static void replay_tor_say(FILE *f, uint64_t n, const char *one, const char *more) {
    if (n)
        fprintf(f, "%" PRIu64 " %s\n", n, n == 1 ? one : more);
}

void replay_tor_report(const struct replay_tor *t, uint64_t notes, bool recorded, FILE *messages) {
    if (!t->notes) {
        if (!notes && recorded)
            fprintf(messages,
                    "the recording has no notes of its control plane, as those of `silken "
                    "record` and those without the CPU port; the one here ran in the "
                    "captures' time\n");
        if (notes)
            fprintf(messages,
                    "the recording's notes of its control plane were not used: they need all "
                    "of the recording, from its beginning, in files, without --filter; the "
                    "one here ran in the captures' time\n");
        replay_tor_say(messages, t->not_sent,
                       "packet that a control plane sent was left out: the one here sends its own",
                       "packets that a control plane sent were left out: the one here sends its "
                       "own");
        return;
    }
    replay_tor_say(messages, replay_notes_lost(t->notes),
                   "note of the recorded control plane is missing: the ring was full",
                   "notes of the recorded control plane are missing: the ring was full");
    replay_tor_say(messages, t->not_sent,
                   "packet that the recorded control plane sent was not sent by the one here",
                   "packets that the recorded control plane sent were not sent by the one here");
    replay_tor_say(messages, t->fresh,
                   "packet was sent by the control plane here and not by the recorded one",
                   "packets were sent by the control plane here and not by the recorded one");
    replay_tor_say(messages, t->late,
                   "packet for the control plane was not there in the recorded run",
                   "packets for the control plane were not there in the recorded run");
    if (t->alarms > ALARMS)
        fprintf(messages, "%u more alarms of the ToR's control plane\n", t->alarms - ALARMS);
}
