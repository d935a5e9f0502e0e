// SPDX-License-Identifier: Apache-2.0
//
// The demo's switches and parameter servers: their network namespaces, starting them and seeing
// that they are there.
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/demo/demo_impl.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>

#define SWITCH_SECONDS 90 // for a switch to come up

// Packet buffers of the switch.
#define SWITCH_MIB 192
#define PORT_MIB   36

// ---- network namespaces -------------------------------------------------------------------------

// The racks' come first.
unsigned demo_space(const struct demo *d, const struct demo_job *job, unsigned station) {
    for (const struct demo_job *before = d->job; before < job; before++) {
        station += before->fabric.workers + before->fabric.servers;
    }
    return d->o.racks + station;
}

static int join_stations(struct demo *d, const struct demo_job *job, char *error, size_t size) {
    const struct fabric *f = &job->fabric;
    int rc = 0;

    for (unsigned link = 0; link < fabric_links(f) && rc == 0; link++) {
        const struct fabric_address a = fabric_address(f, link);
        rc = spaces_join(&d->spaces, a.rack, a.switch_end, demo_space(d, job, link / f->lanes),
                         a.station_end, error, size);
    }
    return rc;
}

int demo_make_spaces(struct demo *d) {
    char error[256];

    if (!d->o.veth) {
        return 0;
    }
    int rc = spaces_make(&d->spaces, demo_space(d, d->job + d->jobs, 0), error, sizeof error);
    for (unsigned j = 0; j < d->jobs && rc == 0; j++) {
        rc = join_stations(d, &d->job[j], error, sizeof error);
    }
    for (unsigned rack = 0; rack + 1 < d->o.racks && rc == 0; rack++) {
        char name[16];
        fabric_uplink_end(rack, name);
        rc = spaces_join(&d->spaces, fabric_above(&d->job[0].fabric, rack), name, rack, name, error,
                         sizeof error);
    }
    return rc ? demo_fail(d, "%s", error) : 0;
}

// ---- the switch ---------------------------------------------------------------------------------

static bool demo_racks_is_last(const struct demo *d, unsigned rack) {
    return rack + 1 == d->o.racks;
}

static int start_switch(struct demo *d, unsigned rack) {
    char error[512], config[PATH_MAX], memory[16], name[32] = "switch";
    char *argv[] = {"silken", "run", "-c", config, "--memory", memory, NULL, NULL, NULL};
    const struct fabric *fabric[DEMO_MAX_JOBS];
    unsigned ports = d->o.racks - 1;

    if (d->o.racks > 1) {
        snprintf(name, sizeof name, "switch-%u", rack);
    }
    for (unsigned i = 0; i < d->jobs; i++) {
        fabric[i] = &d->job[i].fabric;
        ports += fabric_links(fabric[i]);
    }
    snprintf(memory, sizeof memory, "%u", SWITCH_MIB + ports * PORT_MIB);
    snprintf(config, sizeof config, "%s/%s.json", d->supervisor.logs, name);
    if (fabric_write_config(fabric, d->jobs, rack, config, error, sizeof error)) {
        return demo_cannot_start(d, error);
    }
    if (d->o.record && demo_racks_is_last(d, rack)) {
        argv[6] = "--record";
        argv[7] = (char *)d->o.record;
    }
    spaces_enter(&d->spaces, rack);
    d->rack_switch[rack] = supervise_self(&d->supervisor, name, argv, error, sizeof error);
    spaces_leave(&d->spaces);
    return d->rack_switch[rack] ? 0 : demo_cannot_start(d, error);
}

// One that has ended, or null.
const struct child *demo_ended_switch(const struct demo *d) {
    for (unsigned rack = 0; rack < d->o.racks; rack++) {
        if (d->rack_switch[rack] && !d->rack_switch[rack]->running) {
            return d->rack_switch[rack];
        }
    }
    return NULL;
}

static bool is_ready(const struct demo *d, unsigned rack) {
    bool ready = true;
    char line[64];

    if (d->o.veth) {
        return supervise_find(d->rack_switch[rack], "ready", line, sizeof line);
    }
    for (unsigned i = 0; i < d->jobs; i++) {
        ready &= fabric_ready(&d->job[i].fabric, rack);
    }
    return ready;
}

static int wait_for_switch(struct demo *d, unsigned rack) {
    int status = 0;

    d->phase_began = sk_clock_now();
    while (!status && !is_ready(d, rack)) {
        report_line(&d->report, sk_clock_now(), "starting the switch");
        status = demo_tick(d);
        if (!status && demo_seconds_since(d->phase_began) > SWITCH_SECONDS) {
            status = demo_fail(
                d, "the switch is not ready after %d seconds; its last words:", SWITCH_SECONDS);
            supervise_tail(d->rack_switch[rack], 20, "    ", stderr);
        }
        if (!status && demo_ended_switch(d)) {
            status = demo_fail_child(d, demo_ended_switch(d));
        }
    }
    return status;
}

// One above is there before those below: it makes the sockets of the links between them. Those of
// the lowest level start together.
int demo_start_switches(struct demo *d) {
    unsigned lowest = d->o.racks > 1 ? d->o.racks - d->o.levels + 1 : 0;
    int status = 0;

    for (unsigned rack = d->o.racks; rack-- > lowest && !status;) {
        status = start_switch(d, rack);
        status = status ? status : wait_for_switch(d, rack);
    }
    for (unsigned rack = 0; rack < lowest && !status; rack++) {
        status = start_switch(d, rack);
    }
    for (unsigned rack = 0; rack < lowest && !status; rack++) {
        status = wait_for_switch(d, rack);
    }
    return status;
}

// ---- the parameter servers ----------------------------------------------------------------------

static void show_server(struct board_server *b, struct silken_server *server) {
    struct silken_server_stats s;

    silken_server_stats(server, &s);
    b->completed = s.completed;
    b->in_switches = s.from_all;
    b->from_one = s.from_one;
    b->from_some = s.from_some;
    b->rehashed = s.rehashed;
    b->marks = s.marks;
    b->overflows = s.overflows;
    b->repeated = s.repeated;
}

static int run_server(void *argument) {
    const struct station_argument *a = argument;
    const struct timespec pause = {.tv_nsec = 20000000};
    struct board *b = a->job->board;
    struct silken_server *server;
    char error[2048];

    if (fabric_serve(&a->job->fabric, a->number, &server, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    b->server[a->number].ready = true;
    while (!b->release) { // after the switches, as the workers
        nanosleep(&pause, NULL);
        show_server(&b->server[a->number], server);
    }
    silken_server_close(server);
    return 0;
}

static int start_servers(struct demo *d, struct demo_job *job) {
    char error[256], name[32];
    int status = 0;

    for (unsigned i = 0; i < job->fabric.servers; i++) {
        snprintf(name, sizeof name, "%sserver-%u", job->prefix, i);
        job->server_argument[i] = (struct station_argument){d, job, i};
        spaces_enter(&d->spaces, demo_space(d, job, job->fabric.workers + i));
        job->server[i] = supervise_call(&d->supervisor, name, run_server, &job->server_argument[i],
                                        error, sizeof error);
        spaces_leave(&d->spaces);
        if (!job->server[i]) {
            return demo_cannot_start(d, error);
        }
    }
    for (unsigned i = 0; i < job->fabric.servers && !status; i++) {
        while (!status && !job->board->server[i].ready) {
            status = demo_tick(d);
        }
    }
    return status;
}

int demo_start_servers(struct demo *d) {
    int status = 0;

    for (unsigned i = 0; i < d->jobs && !status; i++) {
        status = start_servers(d, &d->job[i]);
    }
    return status;
}
