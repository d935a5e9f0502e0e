// SPDX-License-Identifier: Apache-2.0
#include "cli/lab/lab.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/lab/place.h"

static const char usage[] =
    "usage: silken lab up [OPTION]... SCENARIO.json\n"
    "       silken lab run [OPTION]... SCENARIO.json\n"
    "       silken lab exec [--lab NAME] STATION COMMAND [ARGUMENT]...\n"
    "       silken lab pcap [OPTION]... LINK\n"
    "       silken lab status [OPTION]...\n"
    "       silken lab wait [OPTION]...\n"
    "       silken lab down [OPTION]...\n\n"
    "The network of a scenario (docs/simulation.md) as processes of this machine: switches are\n"
    "`silken run`, hosts are network namespaces, cables are veth pairs. 'up' makes it, and its "
    "jobs\n"
    "begin; 'run' makes it, waits for the jobs, prints their result and takes it down. Needs root "
    "or\n"
    "user namespaces. However a lab ends, no process, interface or namespace of it is left.\n\n"
    "  --name NAME       call the lab so (the scenario's file)\n"
    "  --seed N          seed of all random choices (the scenario's seed, or 1)\n"
    "  --slower N        a second of the scenario takes N seconds (so many that the fastest link "
    "has\n"
    "                    1 Gbps)\n"
    "  --no-jobs         the network alone\n"
    "  --json FILE       write the result to this file ('-' is standard output)\n"
    "  --within SECONDS  'wait' and 'run': for so long at most\n"
    "  --lab NAME        which lab, when several are up\n"
    "  --filter EXPR     'pcap': packets in tcpdump's language\n"
    "  --count N         'pcap': so many packets, and then the end\n"
    "  -o FILE           'pcap': into this file (standard output)\n\n"
    "Exit status: 0 good, 1 sums or another check failed, 2 it could not be tried; of 'exec' the\n"
    "command's.\n";

// Its logs stay when something went wrong.
static int lab_end(const char *name, bool failed) {
    struct sk_error err;
    json_t *lab = place_find(name, &err);
    if (!lab) {
        fprintf(stderr, "silken lab: %s\n", err.text);
        return EXIT_UNUSABLE;
    }
    place_end(lab);
    for (int i = 0; i < 1000 && place_lives(lab); i++) {
        if (i == 800)
            kill(place_pid(lab), SIGKILL);
        poll(NULL, 0, 10);
    }
    const bool gone = !place_lives(lab);
    if (gone && failed)
        fprintf(stderr, "silken lab: its logs are in %s\n", place_folder(lab));
    else if (gone)
        place_remove(place_folder(lab));
    else
        fprintf(stderr, "silken lab: lab '%s' does not end\n",
                json_string_value(json_object_get(lab, "name")));
    json_decref(lab);
    return gone ? EXIT_GOOD : EXIT_FAILED;
}

volatile sig_atomic_t lab_interrupted;
static void lab_on_interrupt(int signal) {
    (void)signal;
    lab_interrupted = 1;
}

static int lab_run(const struct lab_options *o) {
    const struct sigaction interrupt = {.sa_handler = lab_on_interrupt};
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGTERM, &interrupt, NULL);
    int status = lab_begin(o);
    if (status != EXIT_GOOD)
        return status;
    status = lab_interrupted ? EXIT_FAILED : lab_wait(o);
    const int down = lab_end(o->name, status != EXIT_GOOD && !lab_interrupted);
    return status != EXIT_GOOD ? status : down;
}

// ---- options ----

struct lab_asked {
    struct lab_options o;
    struct lab_capture capture;
    const char *lab;
    char named[64];
};

static bool lab_number(const char *text, double *out) {
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    return end != text && *end == 0 && errno == 0 && *out >= 0.001 && *out <= 1e6;
}

enum {
    LAB_NAME = 256,
    LAB_SEED,
    LAB_SLOWER,
    LAB_NO_JOBS,
    LAB_JSON,
    LAB_WITHIN,
    LAB_LAB,
    LAB_FILTER,
    LAB_COUNT
};
static const struct option lab_long[] = {
    {"help", no_argument, NULL, 'h'},
    {"name", required_argument, NULL, LAB_NAME},
    {"seed", required_argument, NULL, LAB_SEED},
    {"slower", required_argument, NULL, LAB_SLOWER},
    {"no-jobs", no_argument, NULL, LAB_NO_JOBS},
    {"json", required_argument, NULL, LAB_JSON},
    {"within", required_argument, NULL, LAB_WITHIN},
    {"lab", required_argument, NULL, LAB_LAB},
    {"filter", required_argument, NULL, LAB_FILTER},
    {"count", required_argument, NULL, LAB_COUNT},
    {NULL, 0, NULL, 0},
};

static const char *lab_option(int c, struct lab_asked *a) {
    uint64_t n;
    switch (c) {
    case LAB_NAME:
        a->o.name = optarg;
        return place_is_name(optarg) ? NULL : "a name: letters, digits, '-', '_', '.'";
    case LAB_SEED:
        a->o.has_seed = true;
        return cli_decimal(optarg, 0, INT64_MAX, &a->o.seed) ? NULL : "a seed below 2^63";
    case LAB_SLOWER:
        return lab_number(optarg, &a->o.slower) ? NULL : "a number from 0.001 to 1000000";
    case LAB_NO_JOBS:
        a->o.jobs = false;
        return NULL;
    case LAB_JSON:
        a->o.json = optarg;
        return NULL;
    case LAB_WITHIN:
        if (!cli_decimal(optarg, 1, 1000000, &n))
            return "a number of seconds";
        a->o.within_s = (unsigned)n;
        return NULL;
    case LAB_FILTER:
        a->capture.filter = optarg;
        return NULL;
    case LAB_COUNT:
        return cli_decimal(optarg, 1, INT32_MAX, &a->capture.count) ? NULL : "a number of packets";
    case 'o':
        a->capture.out = optarg;
        return NULL;
    default:
        a->lab = optarg;
        return NULL;
    }
}

// Commands that begin a lab, and those that find one.
static int lab_begin_command(const char *command, struct lab_asked *a, int argc, char **argv) {
    if (argc != 1)
        return cli_misused("lab", "%s needs one scenario file", command);
    a->o.file = argv[0];
    if (!a->o.name && !place_name(argv[0], a->named))
        return cli_misused("lab", "'%s' gives no good name; --name gives one", argv[0]);
    if (!a->o.name)
        a->o.name = a->named;
    if (strcmp(command, "up") == 0)
        return lab_begin(&a->o);
    if (!a->o.jobs)
        return cli_misused("lab", "run waits for jobs; --no-jobs is for 'up'");
    return cli_can_write("lab", a->o.json) ? lab_run(&a->o) : EXIT_UNUSABLE;
}

// Options from here on; 'letters' say whether among other words ("+": before them). Returns
// EXIT_GOOD, or the exit status after a message; -1: help was printed.
static int lab_read_options(int argc, char **argv, const char *letters, struct lab_asked *a) {
    optind = 0; // this is another line than before
    for (int c; (c = getopt_long(argc, argv, letters, lab_long, NULL)) != -1;) {
        if (c == '?' || c == ':')
            return cli_bad_option("lab", c, argv);
        if (c == 'h') {
            fputs(usage, stdout);
            return -1;
        }
        const char *wanted = lab_option(c, a);
        if (wanted)
            return cli_misused("lab", "'%s' is not %s", optarg, wanted);
    }
    return EXIT_GOOD;
}

static int lab_command(const char *command, struct lab_asked *a, int argc, char **argv) {
    if (strcmp(command, "up") == 0 || strcmp(command, "run") == 0)
        return lab_begin_command(command, a, argc, argv);
    if (strcmp(command, "exec") == 0)
        return lab_exec(a->lab, argc, argv);
    if (strcmp(command, "pcap") == 0 && argc == 1)
        return lab_pcap(a->lab, argv[0], &a->capture);
    if (strcmp(command, "pcap") == 0)
        return cli_misused("lab", "pcap needs one link");
    a->o.name = a->lab;
    if (argc)
        return cli_misused("lab", "'%s' is one word too many", argv[0]);
    if (strcmp(command, "status") == 0)
        return lab_status(a->lab, a->o.json);
    if (strcmp(command, "down") == 0)
        return lab_end(a->lab, false);
    return cli_can_write("lab", a->o.json) ? lab_wait(&a->o) : EXIT_UNUSABLE;
}

int cmd_lab(int argc, char **argv) {
    static const char *const commands[] = {"up",     "run",  "exec", "pcap",
                                           "status", "wait", "down", NULL};
    struct lab_asked a = {.o = {.jobs = true}};
    opterr = 0;
    int status = lab_read_options(argc, argv, "+:ho:", &a);
    if (status != EXIT_GOOD)
        return status < 0 ? EXIT_GOOD : status;
    argc -= optind;
    argv += optind;
    if (argc == 0)
        return cli_misused("lab", "up, run, exec, pcap, status, wait or down is needed");
    const char *command = argv[0];
    size_t known = 0;
    while (commands[known] && strcmp(commands[known], command) != 0)
        known++;
    if (!commands[known])
        return cli_misused("lab", "there is no 'lab %s'", command);
    // what follows a station is somebody else's
    status = lab_read_options(argc, argv, strcmp(command, "exec") == 0 ? "+:ho:" : ":ho:", &a);
    if (status != EXIT_GOOD)
        return status < 0 ? EXIT_GOOD : status;
    return lab_command(command, &a, argc - optind, argv + optind);
}
