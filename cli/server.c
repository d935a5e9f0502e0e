// SPDX-License-Identifier: Apache-2.0
//
// silken server: a parameter server of an ATP job. The library is hosts/include/silken/server.h.
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/job_file.h"
#include "base/error.h"
#include "silken/server.h"

static const char usage[] =
    "usage: silken server [OPTION]... --job-file FILE --device DEVICE...\n\n"
    "Runs a parameter server of an ATP job: completes the sums of the switches, and sends them to "
    "all\n"
    "workers, until it is interrupted; then it prints statistics.\n\n"
    "  --job-file FILE     the job's description, common to all stations (see the manual). On "
    "SIGHUP it\n"
    "                      is read again, since workers may have moved to other racks. The server "
    "then\n"
    "                      prints the progress of each flow, from which a new worker starts\n"
    "  --number N          this server's number in the job, from 0 (0)\n"
    "  --device DEVICE     how to reach the switch, as for 'silken worker'; one for each lane, in\n"
    "                      order\n"
    "  --cpu N             processor for the thread of the preceding device (any)\n"
    "  --fixed-indices     assign no new aggregators after collisions\n"
    "  --dynamic-scale     adapt the scale of floats to overflows\n"
    "  --no-session        the job has no sessions; its workers need this option, too\n";

enum { JOB_FILE = 256, NUMBER, DEVICE, CPU, FIXED, DYNAMIC, NO_SESSION };

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"job-file", required_argument, NULL, JOB_FILE},
    {"number", required_argument, NULL, NUMBER},
    {"device", required_argument, NULL, DEVICE},
    {"cpu", required_argument, NULL, CPU},
    {"fixed-indices", no_argument, NULL, FIXED},
    {"dynamic-scale", no_argument, NULL, DYNAMIC},
    {"no-session", no_argument, NULL, NO_SESSION},
    {NULL, 0, NULL, 0},
};

struct serving {
    const char *path;
    struct silken_server_config config;
    struct silken_server_lane lane[SILKEN_MAX_LANES];
    struct silken_server *server;
};

// ---- options ------------------------------------------------------------------------------------

static int take_device(struct serving *s, const char *value) {
    if (s->config.lanes == SILKEN_MAX_LANES) {
        return cli_misused("server", "there can be %d devices", SILKEN_MAX_LANES);
    }
    s->lane[s->config.lanes++] = (struct silken_server_lane){.device = value, .cpu = -1};
    return 0;
}

static int cmd_server_take_option(struct serving *s, int option, const char *value) {
    uint64_t n = 0;

    if ((option == NUMBER || option == CPU) && !cli_number(value, 1023, &n)) {
        return cli_misused("server", "'%s' is not a number from 0 to 1023", value);
    }
    switch (option) {
    case JOB_FILE:
        s->path = value;
        return 0;
    case NUMBER:
        s->config.number = (uint32_t)n;
        return 0;
    case DEVICE:
        return take_device(s, value);
    case CPU:
        if (s->config.lanes == 0) {
            return cli_misused("server", "--cpu must come after a --device");
        }
        s->lane[s->config.lanes - 1].cpu = (int)n;
        return 0;
    case NO_SESSION:
        s->config.no_session = true;
        return 0;
    case FIXED:
        s->config.fixed_indices = true;
        return 0;
    default:
        s->config.dynamic_scale = true;
        return 0;
    }
}

static int take_options(struct serving *s, int argc, char **argv) {
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        int status = c == '?' || c == ':' ? cli_bad_option("server", c, argv)
                     : c == 'h'           ? -1
                                          : cmd_server_take_option(s, c, optarg);
        if (status) {
            return status;
        }
    }
    if (optind != argc) {
        return cli_misused("server", "unexpected argument '%s'", argv[optind]);
    }
    if (!s->path || s->config.lanes == 0) {
        return cli_misused("server", "--job-file and at least one --device are needed");
    }
    return 0;
}

// ---- the job ------------------------------------------------------------------------------------

static int cmd_server_fail(const char *sentence) {
    fprintf(stderr, "silken server: %s\n", sentence);
    return EXIT_UNUSABLE;
}

// Fills in what the file says. The strings stay the file's.
static int cmd_server_take_job(struct serving *s, const struct job_file *j) {
    struct silken_server_config *c = &s->config;
    char why[160];

    if (c->number >= j->servers || c->lanes != j->lanes) {
        snprintf(why, sizeof why,
                 "%s has %u servers with %u devices each; this is number %u with %u", s->path,
                 j->servers, j->lanes, c->number, c->lanes);
        return cmd_server_fail(why);
    }
    c->job = j->job;
    c->workers = j->workers;
    c->rack = j->rack;
    c->server_rack = j->server_rack[c->number];
    c->servers = j->servers;
    c->type = j->type;
    c->first_index = j->first_index;
    c->indices = j->indices;
    c->window_max = j->window_max;
    for (uint32_t i = 0; i < j->lanes; i++) {
        s->lane[i].address = j->server[i * j->servers + c->number];
        s->lane[i].group = j->group[i];
    }
    c->lane = s->lane;
    c->first = j->server[0];
    c->no_switch = j->switches == 0;
    if (j->switches > 0) {
        const struct silken_address *at = job_file_switch(j, c->server_rack);
        c->switch_mac = at->mac;
        c->switch_ip = at->ip;
    }
    return 0;
}

// The first fragments, once the flows have taken the new shape.
static void say_first(struct serving *s) {
    const struct timespec pause = {.tv_nsec = 1000000};

    for (uint32_t i = 0; i < s->config.lanes; i++) {
        struct silken_first first;
        while (!silken_server_first(s->server, i, &first)) {
            nanosleep(&pause, NULL);
        }
        printf("first %u:%llu:%llu\n", i * s->config.servers + s->config.number,
               (unsigned long long)first.complete, (unsigned long long)first.number);
    }
}

// What cannot be is said, and changes nothing.
static void cmd_server_reshape(struct serving *s) {
    struct sk_error err = {{0}};
    char why[256] = "";
    struct job_file j;

    if (job_file_read(&j, s->path, &err)) {
        cmd_server_fail(err.text);
        return;
    }
    if (j.workers != s->config.workers || j.servers != s->config.servers ||
        j.server_rack[s->config.number] != s->config.server_rack) {
        cmd_server_fail(
            "a running job keeps its number of workers and servers, and a server its rack");
    } else if (silken_server_reshape(s->server, j.rack, why, sizeof why)) {
        cmd_server_fail(why);
    } else {
        say_first(s);
    }
    job_file_free(&j);
}

// ---- serving ------------------------------------------------------------------------------------

static void cmd_server_print_end(struct serving *s) {
    struct silken_server_stats t;

    silken_server_stats(s->server, &t);
    printf("%llu fragments: %llu complete sums of switches, %llu partial sums and %llu gradients\n",
           (unsigned long long)t.completed, (unsigned long long)t.from_all,
           (unsigned long long)t.from_some, (unsigned long long)t.from_one);
    printf("%llu packets of parameters, %llu of them again; %llu collisions answered, %llu marks, "
           "%llu overflows\n",
           (unsigned long long)t.parameters_sent, (unsigned long long)t.repeated,
           (unsigned long long)t.rehashed, (unsigned long long)t.marks,
           (unsigned long long)t.overflows);
    for (unsigned kind = 0; kind < SILKEN_IGNORED_KINDS; kind++) {
        if (t.ignored[kind] > 0) {
            printf("  ignored: %-20s %llu\n", silken_ignored_name(SILKEN_ATP, kind),
                   (unsigned long long)t.ignored[kind]);
        }
    }
}

static int cmd_server_serve(struct serving *s, const struct job_file *j) {
    sigset_t awaited;
    char why[512] = "";
    int signal = 0;

    if (cmd_server_take_job(s, j)) {
        return EXIT_UNUSABLE;
    }
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGINT);
    sigaddset(&awaited, SIGTERM);
    sigaddset(&awaited, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &awaited, NULL); // also for the threads to come
    if (silken_server_open(&s->server, &s->config, why, sizeof why)) {
        return cmd_server_fail(why);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("ready");
    while (signal != SIGINT && signal != SIGTERM) {
        sigwait(&awaited, &signal);
        if (signal == SIGHUP) {
            cmd_server_reshape(s);
        }
    }
    cmd_server_print_end(s);
    silken_server_close(s->server);
    return EXIT_GOOD;
}

int cmd_server(int argc, char **argv) {
    static struct serving s;
    struct sk_error err = {{0}};
    struct job_file j = {0};
    int status;

    silken_server_config_init(&s.config);
    status = take_options(&s, argc, argv);
    if (status < 0) {
        fputs(usage, stdout);
        return EXIT_GOOD;
    }
    if (status == 0) {
        status =
            job_file_read(&j, s.path, &err) ? cmd_server_fail(err.text) : cmd_server_serve(&s, &j);
    }
    job_file_free(&j);
    return status;
}
