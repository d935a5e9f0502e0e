// SPDX-License-Identifier: Apache-2.0
//
// The process that is a lab: the first one of a PID namespace, from its birth to its end.
//
// Who begins it reads a socket: "up", which it confirms, or a sentence about what went wrong. A
// beginner that ends before that takes the lab along.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/address.h"
#include "cli/cli.h"
#include "cli/lab/lab.h"
#include "cli/lab/place.h"
#include "control/tables/names.h"
#include "sim/own/own.h"
#include "sim/real.h"
#include "stages/state.h"

// ---- what a lab says of itself ----

static json_t *begin_station(const struct lab *l, uint32_t i) {
    const struct sim_station *st = &l->sim->stations[i];
    char mac[SK_MAC_TEXT], ip[20], path[256];
    sk_mac_text(st->mac, mac);
    json_t *o = json_pack("{s:s, s:s, s:i}", "name", st->as->name, "kind",
                          st->as->is_switch ? "switch" : "host", "space", l->spaces.space[i]);
    if (st->as->is_switch) {
        lab_path(l, st->as->name, ".sock", path);
        json_object_set_new(o, "control_socket", json_string(path));
        json_object_set_new(o, "program", json_string(l->sc->programs[st->as->program]));
    } else {
        lab_kernel_address(st, ip);
        json_object_set_new(o, "mac", json_string(mac));
        json_object_set_new(o, "address", json_string(st->as->address ? st->as->address : ip));
    }
    return o;
}

static json_t *begin_link(const struct lab *l, uint32_t cable) {
    const struct scn_cable *c = &l->sc->cables[cable];
    char name[140], a[LAB_INTERFACE], b[LAB_INTERFACE];
    snprintf(name, sizeof name, "%.64s-%.64s", l->sc->stations[c->a].name,
             l->sc->stations[c->b].name);
    lab_interface(l->sc, cable, c->a, a);
    lab_interface(l->sc, cable, c->b, b);
    // where all frames of the cable pass: opposite a switch, since jobs' do not enter a namespace
    char tap[LAB_INTERFACE];
    lab_far_end(2 * cable + l->sc->stations[c->a].is_switch, tap);
    return json_pack("{s:s, s:s, s:[{s:i, s:s}, {s:i, s:s}]}", "name", name, "tap", tap, "ends",
                     "station", (int)c->a, "interface", a, "station", (int)c->b, "interface", b);
}

// While it comes up it has no stations yet.
static int begin_announce(const struct lab *l, struct sk_error *err) {
    const pid_t self = place_self();
    json_t *lab =
        json_pack("{s:s, s:s, s:i, s:I, s:[], s:[]}", "name", l->o->name, "file", l->o->file, "pid",
                  (int)self, "began", (json_int_t)place_began(self), "stations", "links");
    const int status = place_write(l->folder, "lab.json", lab, err);
    json_decref(lab);
    return status;
}

static int begin_say(const struct lab *l, struct sk_error *err) {
    const pid_t self = place_self();
    json_t *stations = json_array(), *links = json_array();
    for (uint32_t i = 0; i < l->sc->n_stations; i++)
        json_array_append_new(stations, begin_station(l, i));
    for (uint32_t c = 0; c < l->sc->n_cables; c++)
        json_array_append_new(links, begin_link(l, c));
    char *file = realpath(l->o->file, NULL);
    json_t *lab = json_pack(
        "{s:s, s:s, s:I, s:f, s:i, s:I, s:b, s:i, s:o, s:o}", "name", l->o->name, "file",
        file ? file : l->o->file, "seed", (json_int_t)l->sim->seed, "slower", l->slower, "pid",
        (int)self, "began", (json_int_t)place_began(self), "jobs", l->o->jobs, "space",
        l->spaces.space[lab_carrier_space(l)], "stations", stations, "links", links);
    free(file);
    const int status = place_write(l->folder, "lab.json", lab, err);
    json_decref(lab);
    return status;
}

// ---- its life ----

static void begin_order(struct lab *l, const char *line) {
    struct sk_error err;
    const uint32_t which = (uint32_t)strtoul(line, NULL, 10);
    const bool on = strchr(line, '+') != NULL;
    if (which < l->sc->n_stations && l->switches[which] && !on)
        lab_switch_stop(l, which);
    else if (which < l->sc->n_stations && !l->switches[which] && on &&
             lab_switch_start(l, which, &err) < 0)
        fprintf(stderr, "%s\n", err.text);
}

static void begin_orders(struct lab *l) {
    char text[4096], *rest = NULL;
    const ssize_t n = read(l->ordered, text, sizeof text - 1);
    if (n <= 0) {
        close(l->ordered);
        l->ordered = -1;
        return;
    }
    text[n] = 0; // lines are short, and a pipe keeps each whole
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        begin_order(l, line);
}

// The first process of a namespace is the parent of all orphans in it.
static void begin_collect(struct lab *l) {
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        const char *who = pid == l->carrier ? "the carrier" : NULL;
        if (pid == l->carrier)
            l->carrier = 0;
        for (uint32_t i = 0; i < l->sc->n_stations; i++)
            if (l->switches[i] == pid) {
                l->switches[i] = 0;
                who = l->sc->stations[i].name;
            }
        if (who)
            fprintf(stderr, "%s has ended by itself, %s %d\n", who,
                    WIFSIGNALED(status) ? "signal" : "status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
}

static void begin_live(struct lab *l, int signals) {
    for (;;) {
        struct pollfd wait[] = {{.fd = signals, .events = POLLIN},
                                {.fd = l->ordered, .events = POLLIN}};
        if (poll(wait, l->ordered < 0 ? 1 : 2, -1) < 0 && errno != EINTR)
            return;
        struct signalfd_siginfo signal;
        if (wait[0].revents && read(signals, &signal, sizeof signal) == sizeof signal) {
            if (signal.ssi_signo != SIGCHLD)
                return;
            begin_collect(l);
            if (!l->carrier) // without cables it is no network: whoever waits shall know
                return;
        }
        if (l->ordered >= 0 && wait[1].revents)
            begin_orders(l);
    }
}

static void begin_stop(struct lab *l) {
    if (l->carrier > 0) {
        kill(l->carrier, SIGTERM);
        for (int i = 0; i < 200 && waitpid(l->carrier, NULL, WNOHANG) == 0; i++)
            poll(NULL, 0, 10);
    }
    for (uint32_t i = 0; i < l->sc->n_stations; i++)
        if (l->switches[i])
            kill(l->switches[i], SIGTERM);
    for (uint32_t i = 0; i < l->sc->n_stations; i++)
        lab_switch_stop(l, i);
}

// ---- its birth ----

static int begin_simulate(struct lab *l, struct sk_error *err) {
    l->sim =
        sim_new(l->sc, l->programs, l->o->has_seed ? l->o->seed : l->sc->seed, 1024, NULL, err);
    return l->sim ? 0 : -1;
}

// The switches are configured for jobs that are not the scenario's to run; nothing begins, and
// nothing goes wrong.
static int begin_without_jobs(struct lab *l, struct sk_error *err) {
    sim_free(l->sim);
    own_close(l->sc);
    l->sc->n_jobs = l->sc->n_libra = l->sc->n_own = l->sc->n_background = l->sc->n_faults = 0;
    l->sc->controller = NULL;
    return begin_simulate(l, err);
}

static int begin_load(struct lab *l, struct sk_error *err) {
    l->programs = calloc(l->sc->n_programs + 1, sizeof(struct sk_program *));
    l->switches = calloc(l->sc->n_stations + 1, sizeof *l->switches);
    if (!l->programs || !l->switches)
        abort();
    for (size_t i = 0; i < l->sc->n_programs; i++) {
        const struct compile_options opt = {.path = l->sc->programs[i],
                                            .colour = cli_in_colour(STDERR_FILENO)};
        l->programs[i] = cli_load_program(&opt);
        if (!l->programs[i])
            return sk_fail(err, "%s is refused", l->sc->programs[i]);
    }
    if (begin_simulate(l, err) < 0)
        return -1;
    l->slower = l->o->slower > 0 ? l->o->slower : lab_slower(l->sim);
    return 0;
}

static bool begin_is_alone(int told) {
    struct pollfd p = {.fd = told};
    return poll(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLHUP);
}

static bool begin_is_ended(int signals) {
    struct pollfd p = {.fd = signals, .events = POLLIN};
    struct signalfd_siginfo signal;
    while (poll(&p, 1, 0) > 0 && read(signals, &signal, sizeof signal) == sizeof signal)
        if (signal.ssi_signo != SIGCHLD)
            return true;
    return false;
}

static int begin_make(struct lab *l, int told, int signals, struct sk_error *err) {
    if (begin_announce(l, err) < 0)
        return -1;
    int (*const steps[])(struct lab *, struct sk_error *) = {begin_load, lab_net_make,
                                                             lab_switches_make};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (begin_is_alone(told))
            return sk_fail(err, "who began the lab has ended");
        if (begin_is_ended(signals))
            return sk_fail(err, "it was told to end");
        if (steps[i](l, err) < 0)
            return -1;
    }
    if (!l->o->jobs && begin_without_jobs(l, err) < 0)
        return -1;
    return lab_carrier_start(l, err) < 0 ? -1 : begin_say(l, err);
}

static void begin_tell(int told, const char *text) {
    const size_t n = strlen(text);
    if (write(told, text, n) != (ssize_t)n)
        _exit(1);
}

// A socket for each end of a cable, and a namespace for each station.
static void begin_want_descriptors(void) {
    struct rlimit most;
    if (getrlimit(RLIMIT_NOFILE, &most) < 0)
        return;
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
}

static void begin_first_process(struct lab *l, int told) {
    struct sk_error err;
    sigset_t all;
    begin_want_descriptors();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGPIPE, SIG_IGN);
    const int signals = signalfd(-1, &all, SFD_CLOEXEC);
    // who began it waits for nothing but the socket; messages of the compiler are for the terminal
    if (!freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout))
        _exit(1);
    if (signals < 0 || begin_make(l, told, signals, &err) < 0) {
        begin_tell(told, signals < 0 ? "signalfd() is refused" : err.text);
        if (l->switches)
            begin_stop(l);
        _exit(1);
    }
    char heard;
    begin_tell(told, "up");
    if (read(told, &heard, 1) != 1) { // nobody knows of this lab
        begin_stop(l);
        _exit(1);
    }
    close(told);
    char log[256];
    lab_path(l, "lab", ".log", log);
    if (!freopen(log, "a", stderr) || setvbuf(stderr, NULL, _IONBF, 0))
        _exit(1);
    begin_live(l, signals);
    begin_stop(l);
    _exit(0);
}

// ---- namespaces ----

static bool begin_put(const char *path, const char *text) {
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return good;
}

// Without root: one's own user is root in a user namespace.
static int begin_as_root(struct sk_error *err) {
    char map[64];
    const unsigned uid = (unsigned)geteuid(), gid = (unsigned)getegid();
    if (uid == 0)
        return 0;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
        return sk_fail(err, "a lab needs root, or user namespaces, which this system refuses: %s",
                       strerror(errno));
    snprintf(map, sizeof map, "0 %u 1", uid);
    const bool good =
        begin_put("/proc/self/setgroups", "deny") && begin_put("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "0 %u 1", gid);
    return good && begin_put("/proc/self/gid_map", map)
               ? 0
               : sk_fail(err, "cannot become root in a user namespace: %s", strerror(errno));
}

// A process of the new namespace's parent, which only begins the first one of it.
static void begin_between(struct lab *l, int told) {
    struct sk_error err;
    setsid();
    if (begin_as_root(&err) == 0 && unshare(CLONE_NEWPID) == 0) {
        const pid_t first = fork();
        if (first == 0)
            begin_first_process(l, told);
        if (first > 0)
            _exit(0);
    } else if (geteuid() == 0) {
        sk_fail(&err, "cannot make a PID namespace: %s", strerror(errno));
    }
    begin_tell(told, err.text);
    _exit(1);
}

static int begin_read(int told, const char *name) {
    char text[PIPE_BUF]; // what is written in one piece
    const ssize_t got = read(told, text, sizeof text - 1);
    const size_t n = got > 0 ? (size_t)got : 0;
    text[n] = 0;
    if (strcmp(text, "up") == 0 && write(told, "!", 1) == 1)
        return EXIT_GOOD;
    fprintf(stderr, "silken lab: %s: %s\n", name, n ? text : "the lab has ended");
    return EXIT_UNUSABLE;
}

// Names of stations are names of files and, for switches, of ports.
static int begin_refuses(const struct scenario *sc, struct sk_error *err) {
    static const char *const ours[] = {"lab", "carrier", "result"};
    if (sc->n_stations >= SPACES_MAX)
        return sk_fail(err, "%zu stations, and a lab has %d at most", sc->n_stations,
                       SPACES_MAX - 1);
    for (size_t i = 0; i < sc->n_stations; i++) {
        const char *name = sc->stations[i].name;
        bool good = place_is_name(name) && !sk_is_number(name) && strlen(name) <= 40;
        for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
            good &= strcmp(name, ours[k]) != 0;
        if (!good)
            return sk_fail(err,
                           "station '%s' must have another name in a lab: letters, digits, '-', "
                           "'_', '.', at most 40, no number, and not lab, carrier or result",
                           name);
    }
    return 0;
}

int lab_begin(const struct lab_options *o) {
    struct lab l = {.o = o, .ordered = -1};
    for (int fd = 0; fd >= 0 && fd <= 2;) // who closed them gets none of the lab's in their place
        if ((fd = open("/dev/null", O_RDWR)) > 2)
            close(fd);
    struct sk_error err;
    char folder[PLACE_PATH];
    int told[2], lock = -1; // the lab inherits the lock
    l.sc = sim_scenario_read(o->file, &err);
    if (!l.sc) {
        fprintf(stderr, "silken lab: %s\n", err.text);
        return EXIT_UNUSABLE;
    }
    int status = EXIT_UNUSABLE;
    if (begin_refuses(l.sc, &err) < 0)
        fprintf(stderr, "silken lab: %s: %s\n", o->file, err.text);
    else if (o->jobs && real_refuses(l.sc, &err) < 0)
        fprintf(stderr, "silken lab: %s: %s\n", o->file, err.text);
    else if (place_make(o->name, folder, &lock, &err) < 0)
        fprintf(stderr, "silken lab: %s\n", err.text);
    else if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, told) < 0)
        fprintf(stderr, "silken lab: no descriptor is left\n");
    else {
        l.folder = folder;
        const pid_t between = fork();
        if (between == 0) {
            close(told[0]);
            begin_between(&l, told[1]);
        }
        close(told[1]);
        status = between < 0 ? EXIT_UNUSABLE : begin_read(told[0], o->file);
        close(told[0]);
        if (between > 0)
            waitpid(between, NULL, 0);
        if (status != EXIT_GOOD && between > 0)
            fprintf(stderr, "silken lab: its logs are in %s\n", folder);
    }
    if (lock >= 0)
        close(lock);
    sim_scenario_free(l.sc);
    return status;
}
