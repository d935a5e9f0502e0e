// SPDX-License-Identifier: Apache-2.0
//
// The switches of a lab: what the simulator's control plane would write is their configuration, and
// each runs as `silken run` in its namespace.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/lab/lab.h"
#include "cli/lab/place.h"
#include "control/socket/socket.h"
#include "sim/libra/libra.h"
#include "sim/libra/scenario.h"
#include "sim/notes.h"

#define SECONDS    120 // for a switch to come up
#define BASE_MIB   192 // packet buffers of a switch, and of each port
#define PORT_MIB   36
#define LEAST_MBPS 1
// Frames of 2 KB in the rings of a switch, of a port at most and at least: a switch that waits for
// a processor shall not lose what the scenario's links have not lost.
#define RING_FRAMES 32768u
#define MOST        8192u
#define LEAST       256u // what is between is a multiple of it

void lab_path(const struct lab *l, const char *station, const char *suffix, char out[256]) {
    snprintf(out, 256, "%s/%s%s", l->folder, station, suffix);
}

double lab_slower(const struct sim *s) {
    uint32_t fastest = 0;
    for (size_t i = 0; i < s->n_links; i++)
        fastest = s->links[i].rate_mbps > fastest ? s->links[i].rate_mbps : fastest;
    return fastest > 1000 ? fastest / 1000.0 : 1;
}

// ---- configuration ----

// Ports' rates are real ones.
static void switches_slow(const struct lab *l, json_t *config) {
    size_t i;
    json_t *q;
    json_array_foreach(json_object_get(config, "queues"), i, q) {
        const double mbps = json_number_value(json_object_get(q, "speed")) / l->slower;
        if (json_object_get(q, "speed"))
            json_object_set_new(
                q, "speed",
                json_integer(mbps < LEAST_MBPS ? LEAST_MBPS : (json_int_t)(mbps + 0.5)));
    }
}

static json_t *switches_ports(const struct lab *l, uint32_t station) {
    const struct sim_node *n = l->sim->stations[station].node;
    json_t *ports = json_array();
    for (size_t i = 0; i < n->n_ports; i++) {
        const uint32_t link = (uint32_t)(n->ports[i].out - l->sim->links);
        const size_t share = RING_FRAMES / n->n_ports & ~(size_t)255,
                     frames = share > MOST ? MOST : share;
        char name[LAB_INTERFACE], device[80];
        lab_interface(l->sc, link / 2, station, name);
        snprintf(device, sizeof device, "net_af_packet%zu,iface=%s,framecnt=%zu", i, name,
                 frames < LEAST ? (size_t)LEAST : frames);
        json_array_append_new(ports, json_pack("{s:i, s:s, s:s}", "port", n->ports[i].dev_port,
                                               "device", device, "name",
                                               l->sc->stations[link_to(l->sim, link)].name));
    }
    return ports;
}

int lab_switch_configure(struct lab *l, uint32_t station, struct sk_error *err) {
    struct sim_station *st = &l->sim->stations[station];
    char path[256], *real = realpath(l->sc->programs[st->as->program], NULL);
    json_t *config = note_switch(l->sim, st, err);
    if (!config || !real) {
        free(real);
        json_decref(config);
        return config ? sk_fail(err, "%s is gone", l->sc->programs[st->as->program]) : -1;
    }
    switches_slow(l, config);
    lab_path(l, st->as->name, ".sock", path);
    json_object_set_new(config, "program", json_string(real));
    json_object_set_new(config, "ports", switches_ports(l, station));
    json_object_set_new(config, "control_socket", json_string(path));
    if (st->as->pipes > 1)
        json_object_set_new(config, "pipes", json_integer(st->as->pipes));
    free(real);
    snprintf(path, sizeof path, "%s.json", st->as->name);
    const int status = place_write(l->folder, path, config, err);
    json_decref(config);
    return status;
}

static int switches_layouts(const struct lab *l, struct sk_error *err) {
    for (size_t i = 0; i < l->sc->n_libra; i++) {
        if (l->sc->libra[i].hot == 0)
            continue;
        char name[64], path[256];
        snprintf(name, sizeof name, LIBRA_LAYOUT, i);
        lab_path(l, name, "", path);
        FILE *f = fopen(path, "we");
        const bool written = f && libra_write_layout(l->sim, i, f);
        if ((f && fclose(f) != 0) || !written)
            return sk_fail(err, "cannot write %s", path);
    }
    return 0;
}

// ---- processes ----

int lab_switch_start(struct lab *l, uint32_t station, struct sk_error *err) {
    const struct sim_station *st = &l->sim->stations[station];
    char config[256], log[256], memory[16];
    lab_path(l, st->as->name, ".json", config);
    lab_path(l, st->as->name, ".log", log);
    snprintf(memory, sizeof memory, "%zu", BASE_MIB + st->node->n_ports * PORT_MIB);
    char *argv[] = {"silken", "run", "-c", config, "--memory", memory, NULL};
    spaces_enter(&l->spaces, station);
    const pid_t pid = fork();
    if (pid == 0) {
        const int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        if (out >= 0 && dup2(out, 1) == 1 && dup2(out, 2) == 2)
            execv("/proc/self/exe", argv);
        _exit(127);
    }
    spaces_leave(&l->spaces);
    if (pid < 0)
        return sk_fail(err, "no process is left for switch %s", st->as->name);
    l->switches[station] = pid;
    return 0;
}

void lab_switch_stop(struct lab *l, uint32_t station) {
    const pid_t pid = l->switches[station];
    if (!pid)
        return;
    kill(pid, SIGTERM);
    for (int i = 0; i < 500 && waitpid(pid, NULL, WNOHANG) == 0; i++) {
        if (i == 300)
            kill(pid, SIGKILL);
        poll(NULL, 0, 10);
    }
    l->switches[station] = 0;
}

static int switches_wait(struct lab *l, uint32_t station, struct sk_error *err) {
    const char *name = l->sc->stations[station].name;
    const uint64_t began = sk_clock_now();
    char path[256];
    lab_path(l, name, ".sock", path);
    for (;;) {
        struct sk_client *c = access(path, F_OK) == 0 ? sk_client_open(path, err) : NULL;
        json_t *reply = c ? sk_client_call(c, json_pack("{s:s}", "op", "hello"), err) : NULL;
        sk_client_close(c);
        json_decref(reply);
        if (reply)
            return 0;
        if (waitpid(l->switches[station], NULL, WNOHANG) > 0) {
            l->switches[station] = 0;
            lab_path(l, name, ".log", path);
            return sk_fail(err, "switch %s has ended; %s says why", name, path);
        }
        if (sk_clock_now() - began > SECONDS * UINT64_C(1000000000))
            return sk_fail(err, "switch %s does not come up within %d seconds", name, SECONDS);
        poll(NULL, 0, 20);
    }
}

int lab_switches_make(struct lab *l, struct sk_error *err) {
    if (switches_layouts(l, err) < 0)
        return -1;
    for (uint32_t i = 0; i < l->sc->n_stations; i++)
        if (l->sc->stations[i].is_switch &&
            (lab_switch_configure(l, i, err) < 0 || lab_switch_start(l, i, err) < 0))
            return -1;
    for (uint32_t i = 0; i < l->sc->n_stations; i++)
        if (l->sc->stations[i].is_switch && switches_wait(l, i, err) < 0)
            return -1;
    return 0;
}
