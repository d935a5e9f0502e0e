// SPDX-License-Identifier: Apache-2.0
//
// Sessions of jobs in a switch without a ToR: frames by the inside port, and requests.
#include <stdlib.h>
#include <string.h>

#include "cli/run/run.h"
#include "base/json.h"
#include "base/random.h"
#include "control/sessions/sessions.h"

// Frames from the switch in one turn: what comes faster waits in the port's ring, and then is
// dropped there.
#define FRAMES_AT_ONCE 32u
#define FRAMES_A_TURN  256u

static bool run_sessions_send_frame(void *aux, const uint8_t *frame, uint32_t length) {
    return sk_ports_inside_give(((struct run *)aux)->ports, frame, length);
}

static uint64_t run_sessions_random_number(void *aux) {
    (void)aux;
    return sk_random_secret();
}

static struct sessions_host run_sessions_host_of(struct run *r, bool running) {
    return (struct sessions_host){.on = {.sw = r->sw,
                                         .pause = running ? run_pause : NULL,
                                         .resume = running ? run_resume : NULL,
                                         .aux = r},
                                  .send = run_sessions_send_frame,
                                  .event = run_event,
                                  .random = run_sessions_random_number,
                                  .aux = r};
}

bool run_sessions_start(struct run *r) {
    const uint16_t cpu = r->config->has_cpu_port ? r->config->cpu_port : SK_CPU_PORT;
    const struct sessions_host beforehand = run_sessions_host_of(r, false);
    struct sk_error err;
    if (!r->config->sessions)
        return true;
    r->sessions = sessions_new(&beforehand, r->config->sessions, cpu, run_now(), &err);
    if (!r->sessions)
        return run_say(err.text);
    const struct sessions_host host = run_sessions_host_of(r, true);
    sessions_host_changed(r->sessions, &host);
    return true;
}

void run_sessions_turn(struct run *r, uint64_t now) {
    struct sk_inside_frame frames[FRAMES_AT_ONCE];
    if (!r->sessions)
        return;
    for (unsigned done = 0, n; done < FRAMES_A_TURN; done += n) {
        n = sk_ports_inside_take(r->ports, frames, FRAMES_AT_ONCE);
        for (unsigned i = 0; i < n; i++)
            sessions_frame(r->sessions, frames[i].bytes, frames[i].length, now);
        if (n < FRAMES_AT_ONCE)
            break;
    }
    sessions_run(r->sessions, now);
}

void run_sessions_program_changed(struct run *r, bool kept) {
    const struct sessions_host paused = run_sessions_host_of(r, false),
                               host = run_sessions_host_of(r, true);
    if (!r->sessions)
        return;
    sessions_switch_replaced(r->sessions, &paused, kept, run_now());
    sessions_host_changed(r->sessions, &host);
}

json_t *run_sessions_request(struct run *r, const char *op, const struct sk_at *at, bool *known) {
    static const char *const keys[] = {"op", NULL};
    *known = strcmp(op, "sessions") == 0;
    if (!*known)
        return NULL;
    sk_at_keys(at, keys);
    if (!at->doc->failed && !r->sessions)
        sk_at_fail(at,
                   "this switch coordinates no sessions: its configuration has no \"sessions\"");
    return at->doc->failed ? NULL
                           : json_pack("{s:o}", "sessions", sessions_json(r->sessions, run_now()));
}

void run_sessions_end(struct run *r) {
    sessions_free(r->sessions);
    r->sessions = NULL;
}
