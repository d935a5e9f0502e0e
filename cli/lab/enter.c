// SPDX-License-Identifier: Apache-2.0
//
// Commands in a running lab: in the namespaces of a station.
#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/lab/lab.h"
#include "cli/lab/place.h"

// ---- namespaces ----

static int enter_space(pid_t pid, const char *what, int kind) {
    char path[80], own[80];
    char a[64] = "", b[64] = "";
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
    snprintf(own, sizeof own, "/proc/self/%s", what);
    if (readlink(path, a, sizeof a - 1) > 0 && readlink(own, b, sizeof b - 1) > 0 &&
        strcmp(a, b) == 0)
        return 0; // it is this one
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const int status = fd >= 0 ? setns(fd, kind) : -1;
    if (fd >= 0)
        close(fd);
    return status;
}

// The namespace that 'of' names as its space. With 'processes' all that are begun afterwards belong
// to the lab, and end with it.
static int enter_network(const json_t *lab, const json_t *of, bool processes) {
    const pid_t pid = place_pid(lab);
    char fd[32];
    snprintf(fd, sizeof fd, "fd/%d", (int)json_integer_value(json_object_get(of, "space")));
    if (enter_space(pid, "ns/user", CLONE_NEWUSER) < 0)
        return -1;
    if (processes && enter_space(pid, "ns/pid", CLONE_NEWPID) < 0)
        return -1;
    return enter_space(pid, fd, CLONE_NEWNET);
}

static json_t *enter_find(const char *name) {
    struct sk_error err;
    json_t *lab = place_find(name, &err);
    if (lab && !place_lives(lab)) {
        sk_fail(&err, "lab '%s' is not up any more", name);
        json_decref(lab);
        lab = NULL;
    }
    if (!lab)
        fprintf(stderr, "silken lab: %s\n", err.text);
    return lab;
}

static ssize_t enter_index(const json_t *list, const char *name) {
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one) {
        const char *its = json_string_value(json_object_get(one, "name"));
        if (its && strcmp(its, name) == 0)
            return (ssize_t)i;
    }
    return -1;
}

// ---- exec ----

static int enter_status(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int lab_exec(const char *name, int argc, char **argv) {
    if (argc < 2)
        return cli_misused("lab", "exec needs a station and a command");
    json_t *lab = enter_find(name);
    if (!lab)
        return EXIT_UNUSABLE;
    const ssize_t station = enter_index(json_object_get(lab, "stations"), argv[0]);
    int status = EXIT_UNUSABLE;
    if (station < 0)
        fprintf(stderr, "silken lab: there is no station '%s' in the lab\n", argv[0]);
    else if (enter_network(lab, json_array_get(json_object_get(lab, "stations"), (size_t)station),
                           true) < 0)
        fprintf(stderr, "silken lab: cannot enter %s: %s\n", argv[0], strerror(errno));
    else {
        const pid_t pid = fork(); // in the lab's PID namespace: the kernel ends it with the lab
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGTERM); // it ends with `silken lab exec`, too
            execvp(argv[1], argv + 1);
            fprintf(stderr, "silken lab: cannot run %s: %s\n", argv[1], strerror(errno));
            _exit(127);
        }
        // what the terminal sends both get; this one waits for the other
        signal(SIGINT, SIG_IGN);
        signal(SIGQUIT, SIG_IGN);
        if (pid > 0 && waitpid(pid, &status, 0) == pid)
            status = enter_status(status);
    }
    json_decref(lab);
    return status;
}

// ---- pcap ----

static pcap_t *enter_capturing;
static void enter_on_end(int signal) {
    (void)signal;
    pcap_breakloop(enter_capturing);
}

static int enter_capture_failed(pcap_t *p, const char *why) {
    fprintf(stderr, "silken lab: %s\n", why);
    if (p)
        pcap_close(p);
    return EXIT_UNUSABLE;
}

static int enter_capture(const struct lab_capture *c, const char *interface) {
    char error[PCAP_ERRBUF_SIZE] = "";
    struct bpf_program filter;
    pcap_t *p = pcap_open_live(interface, 65535, 1, 100, error);
    if (!p)
        return enter_capture_failed(NULL, error);
    if (c->filter && (pcap_compile(p, &filter, c->filter, 1, PCAP_NETMASK_UNKNOWN) < 0 ||
                      pcap_setfilter(p, &filter) < 0))
        return enter_capture_failed(p, pcap_geterr(p));
    pcap_dumper_t *d = pcap_dump_open(p, c->out ? c->out : "-");
    if (!d)
        return enter_capture_failed(p, pcap_geterr(p));
    const struct sigaction end = {.sa_handler = enter_on_end};
    enter_capturing = p;
    sigaction(SIGINT, &end, NULL);
    sigaction(SIGTERM, &end, NULL);
    fprintf(stderr, "capturing\n");
    const int done = pcap_loop(p, c->count ? (int)c->count : -1, pcap_dump, (u_char *)d);
    const bool good = done != -1 && pcap_dump_flush(d) == 0;
    if (!good)
        fprintf(stderr, "silken lab: %s\n", pcap_geterr(p));
    pcap_dump_close(d);
    if (c->filter)
        pcap_freecode(&filter);
    pcap_close(p);
    return good ? EXIT_GOOD : EXIT_FAILED;
}

int lab_pcap(const char *name, const char *wanted, const struct lab_capture *c) {
    json_t *lab = enter_find(name);
    if (!lab)
        return EXIT_UNUSABLE;
    const json_t *links = json_object_get(lab, "links");
    const ssize_t link = enter_index(links, wanted);
    int status = EXIT_UNUSABLE;
    if (link < 0) {
        fprintf(stderr, "silken lab: there is no link '%s' in the lab\n", wanted);
    } else {
        const char *tap =
            json_string_value(json_object_get(json_array_get(links, (size_t)link), "tap"));
        if (!tap || enter_network(lab, lab, false) < 0)
            fprintf(stderr, "silken lab: cannot enter the lab: %s\n", strerror(errno));
        else
            status = enter_capture(c, tap);
    }
    json_decref(lab);
    return status;
}
