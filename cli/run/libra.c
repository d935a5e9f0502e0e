// SPDX-License-Identifier: Apache-2.0
//
// Libra_s in the running switch: frames by the inside port, and requests.
#include "control/libra/libra.h"

#include <stdlib.h>

#include "base/random.h"
#include "cli/run/run.h"
#include "control/config/rights.h"

// Frames from the switch in one turn: what comes faster waits in the port's ring, and then is
// dropped there.
#define FRAMES_AT_ONCE 32u
#define FRAMES_A_TURN  512u

static bool run_libra_send_frame(void *aux, const uint8_t *frame, uint32_t length) {
    return sk_ports_inside_give(((struct run *)aux)->ports, frame, length);
}

static uint64_t run_libra_random(void *aux) {
    (void)aux;
    return sk_random_secret();
}

static char *run_libra_beside(void *aux, const char *path) {
    return run_beside_config(aux, path);
}

static int run_libra_may_read(void *aux, const char *path, struct sk_error *err) {
    struct run *r = aux;
    char *beside = run_beside_config(r, ".");
    const int rc = sk_rights_file(&r->config->requests, beside, path, err);
    free(beside);
    return rc;
}

static struct libra_s_host run_libra_host_of(struct run *r, bool running) {
    return (struct libra_s_host){.sw = r->sw,
                                 .cpu_port =
                                     r->config->has_cpu_port ? r->config->cpu_port : SK_CPU_PORT,
                                 .pause = running ? run_pause : NULL,
                                 .resume = running ? run_resume : NULL,
                                 .send = run_libra_send_frame,
                                 .random = run_libra_random,
                                 .beside = run_libra_beside,
                                 .may_read = run_libra_may_read,
                                 .aux = r};
}

// Before the lcores run: nobody pauses.
bool run_libra_start(struct run *r) {
    const struct libra_s_host beforehand = run_libra_host_of(r, false);
    struct sk_error err;
    if (!r->config->libra)
        return true;
    r->libra = libra_s_new(&beforehand, r->config->libra, &err);
    if (!r->libra)
        return run_say(err.text);
    const struct libra_s_host host = run_libra_host_of(r, true);
    libra_s_host_changed(r->libra, &host);
    return true;
}

void run_libra_turn(struct run *r, uint64_t now) {
    struct sk_inside_frame frames[FRAMES_AT_ONCE];
    if (!r->libra)
        return;
    for (unsigned done = 0, n; done < FRAMES_A_TURN; done += n) {
        n = sk_ports_inside_take(r->ports, frames, FRAMES_AT_ONCE);
        for (unsigned i = 0; i < n; i++)
            libra_s_frame(r->libra, frames[i].bytes, frames[i].length, now);
        if (n < FRAMES_AT_ONCE)
            break;
    }
    libra_s_run(r->libra, now);
}

json_t *run_libra_request(struct run *r, const char *op, const struct sk_at *at, bool *known) {
    *known = false;
    return r->libra ? libra_s_request(r->libra, op, at, known) : NULL;
}

void run_libra_end(struct run *r) {
    libra_s_free(r->libra);
    r->libra = NULL;
}
