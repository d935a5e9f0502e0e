// SPDX-License-Identifier: Apache-2.0
//
// trace: the paths of some packets through the program, namely of packets that differ from golden
// captures.
//
// A difference is found when the packet is sent, after the events of its trace. To write the trace
// of every packet in case it is needed costs several times as much as running the packet, and the
// traces of all packets that wait for a port with a speed would have to be kept. So no trace is
// kept: the replay runs a second time, as far as the last packet to be traced, and traces only
// these packets. A replay is deterministic, so they take the same path. A replay without
// differences, which is the usual case, costs nothing; the captures must be readable twice.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pcap/replay/replay_impl.h"
#include "pipeline/observe/tracer.h"

struct traced {
    struct replay_wanted wanted;
    struct sk_tracer *tracer;
    FILE *file; // to the two below
    char *text;
    size_t length;
    bool sent;
};

struct replay_trace {
    struct sk_observer observer; // first: its address is ours
    uint64_t sent[SK_PORTS];
    struct traced *list;
    size_t n, left; // left: not yet sent
};

static void replay_trace_on_event(struct sk_observer *o, const struct sk_packet *p,
                                  const struct sk_event *e) {
    struct replay_trace *t = (struct replay_trace *)o;
    if (e->kind == SK_EV_SENT)
        t->sent[e->port]++;
    for (size_t i = 0; i < t->n; i++) {
        struct traced *one = &t->list[i];
        if (one->wanted.serial == p->serial) {
            struct sk_observer *to = sk_tracer_observer(one->tracer);
            to->event(to, p, e);
        }
        if (e->kind == SK_EV_SENT && !one->sent && one->wanted.port == e->port &&
            one->wanted.number == t->sent[e->port]) {
            one->sent = true;
            t->left--;
        }
    }
}

bool replay_trace_possible(const struct replay_options *opt) {
    struct stat st;
    for (size_t i = 0; i < opt->in.n; i++)
        if (stat(opt->in.items[i].path, &st) || !S_ISREG(st.st_mode))
            return false;
    return true;
}

struct replay_trace *replay_trace_new(const struct replay_wanted *wanted, size_t n) {
    struct replay_trace *t = calloc(1, sizeof *t);
    if (!t || !(t->list = calloc(n + 1, sizeof *t->list)))
        abort();
    t->observer = (struct sk_observer){.everything = true, .event = replay_trace_on_event};
    t->n = t->left = n;
    for (size_t i = 0; i < n; i++) {
        struct traced *one = &t->list[i];
        one->wanted = wanted[i];
        one->file = open_memstream(&one->text, &one->length);
        if (!one->file || !(one->tracer = sk_tracer_new(one->file, SK_TRACE_TEXT, NULL)))
            abort();
    }
    return t;
}

struct sk_observer *replay_trace_observer(struct replay_trace *t) {
    return &t->observer;
}

bool replay_trace_done(const struct replay_trace *t) {
    return t && t->left == 0;
}

const char *replay_trace_text(struct replay_trace *t, size_t i) {
    if (!t || i >= t->n || fflush(t->list[i].file))
        return "";
    return t->list[i].text;
}

void replay_trace_free(struct replay_trace *t) {
    if (!t)
        return;
    for (size_t i = 0; i < t->n; i++) {
        sk_tracer_free(t->list[i].tracer);
        fclose(t->list[i].file);
        free(t->list[i].text);
    }
    free(t->list);
    free(t);
}
