// SPDX-License-Identifier: Apache-2.0
#include "control/socket/recording.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What is made beside the pipes.
struct making {
    struct sk_recorder_options opt;
    bool ports[SK_PORTS];
    atomic_bool done;
    struct sk_recorder *made; // null: what 'error' says
    char error[256];
    pthread_t thread;
};

struct sk_recording {
    struct sk_switch *sw;
    struct making *making;  // or null
    bool unwanted;          // the client of what is being made is gone
    struct sk_recorder *on; // that the switch records into; or null
    bool own;               // for this process
};

int sk_thread_anywhere(pthread_t *thread, void *(*run)(void *aux), void *aux) {
    cpu_set_t all;
    pthread_attr_t attr;
    CPU_ZERO(&all);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        CPU_SET(cpu, &all);
    if (pthread_attr_init(&attr))
        abort();
    // processors that are not there do no harm
    pthread_attr_setaffinity_np(&attr, sizeof all, &all);
    int rc = pthread_create(thread, &attr, run, aux);
    pthread_attr_destroy(&attr);
    return rc;
}

struct sk_recording *sk_recording_new(struct sk_switch *sw) {
    struct sk_recording *r = calloc(1, sizeof *r);
    if (!r)
        abort();
    r->sw = sw;
    return r;
}

unsigned sk_recording_cores(const struct sk_recording *r) {
    return sk_switch_cores(r->sw);
}

// ---- memory ----

static void *recording_make(void *aux) {
    struct making *m = aux;
    m->made = sk_recorder_new(&m->opt, m->error, sizeof m->error);
    // Release: what was made is there for who sees that it is done.
    atomic_store_explicit(&m->done, true, memory_order_release);
    return NULL;
}

static void *recording_give_back(void *aux) {
    sk_recorder_free(aux);
    return NULL;
}

static void recording_release(struct sk_recorder *recorder) {
    pthread_t thread;
    if (recorder && sk_thread_anywhere(&thread, recording_give_back, recorder) == 0)
        pthread_detach(thread);
    else
        sk_recorder_free(recorder);
}

static int begin_making(struct sk_recording *r, const struct sk_recorder_options *opt,
                        struct sk_error *err) {
    struct making *m = calloc(1, sizeof *m);
    if (!m)
        abort();
    m->opt = *opt;
    m->opt.n_cores = sk_switch_cores(r->sw);
    if (opt->ports) {
        memcpy(m->ports, opt->ports, sizeof m->ports);
        m->opt.ports = m->ports;
    }
    int rc = sk_thread_anywhere(&m->thread, recording_make, m);
    if (rc) {
        sk_filter_free(opt->filter);
        free(m);
        return sk_fail(err, "cannot start a thread to record with: %s", strerror(rc));
    }
    r->making = m;
    r->unwanted = false;
    return 0;
}

static struct sk_recorder *end_making(struct sk_recording *r, struct sk_error *err) {
    struct making *m = r->making;
    pthread_join(m->thread, NULL);
    struct sk_recorder *made = m->made;
    if (!made)
        sk_fail(err, "%s", m->error);
    free(m);
    r->making = NULL;
    return made;
}

static bool recording_is_made(const struct sk_recording *r) {
    return r->making && atomic_load_explicit(&r->making->done, memory_order_acquire);
}

// ---- for a client ----

bool sk_recording_is_on(const struct sk_recording *r, struct sk_error *err) {
    if (!r->on && !(r->making && !r->unwanted))
        return false;
    sk_fail(err, r->own ? "the switch is recording already, since it was started with --record"
                        : "another client is recording this switch already");
    return true;
}

int sk_recording_start(struct sk_recording *r, const struct sk_recorder_options *opt, int *fd,
                       struct sk_error *err) {
    struct sk_error ignored;
    if (r->making && r->unwanted && recording_is_made(r))
        recording_release(end_making(r, &ignored));
    if (!r->on && !r->making)
        return begin_making(r, opt, err);
    sk_filter_free(opt->filter); // what is being made has its own
    if (r->on)
        return sk_fail(err, "it is recorded already");
    if (r->unwanted || !recording_is_made(r))
        return 0;
    r->on = end_making(r, err);
    if (!r->on)
        return -1;
    sk_switch_record(r->sw, r->on);
    *fd = sk_recorder_fd(r->on);
    return 1;
}

void sk_recording_stop(struct sk_recording *r) {
    r->unwanted = true;
    if (!r->on || r->own)
        return;
    sk_switch_record(r->sw, NULL);
    recording_release(r->on);
    r->on = NULL;
}

// ---- for this process ----

void sk_recording_own(struct sk_recording *r, struct sk_recorder *recorder) {
    sk_switch_record(r->sw, recorder);
    r->on = recorder;
    r->own = true;
}

void sk_recording_own_stop(struct sk_recording *r) {
    if (!r->own)
        return;
    sk_switch_record(r->sw, NULL);
    r->own = false;
    r->on = NULL;
}

void sk_recording_free(struct sk_recording *r) {
    struct sk_error ignored;
    if (!r)
        return;
    sk_recording_own_stop(r);
    if (r->on) {
        sk_switch_record(r->sw, NULL);
        sk_recorder_free(r->on);
    }
    if (r->making)
        sk_recorder_free(end_making(r, &ignored));
    free(r);
}
