// SPDX-License-Identifier: Apache-2.0
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/run/journal.h"
#include "cli/run/run.h"
#include "control/tor/tor.h"
#include "control/socket/recording.h"
#include "control/tor/log.h"

#define KEPT_BYTES (64 << 20) // of memory without use: at most

static const char usage[] =
    "usage: silken run [OPTION]... -c CONFIG.json\n\n"
    "Runs a P4 program as a switch on the ports of a configuration file until it is interrupted.\n"
    "Prints 'ready' when packets flow and, at the end, counts of packets sent and dropped.\n\n"
    "  -c FILE         the configuration (program, ports, tables, multicast groups, ...)\n"
    "  --target CHIP   as for 'silken build'\n"
    "  --checked       run the checked build: it reports forbidden accesses on standard error, "
    "once per\n"
    "                  place, and counts them at the end; it is several times slower\n"
    "  --trace[=json]  --checked, and print the path of every packet; for tests, not for traffic\n"
    "  --strict        a host's large frames are cut into their packets, and packets are not "
    "joined to\n"
    "                  such: each passes by itself, as on the chip\n"
    "  --stats         print packet rates every second even if standard output is not a terminal\n"
    "  --lcores N      number of threads for the pipes, 1 to 4; pipe P runs on thread P modulo N\n"
    "  --cpu N[,N]...  run the pipes on this processor only, or on one processor for each thread\n"
    "  --idle-sleep US an idle thread sleeps for US microseconds (50); 0: it polls without "
    "sleeping\n"
    "  --memory MIB    memory for packet buffers of ports (default: as needed, at least 256)\n"
    "  --record FILE   record the packets of ports, from the first packet on, into a pcapng;\n"
    "                  FILE.config.json is the configuration for 'silken replay --config'\n"
    "  --user NAME     after opening ports, run with this user's rights (\"daemon\" in the "
    "configuration)\n"
    "  --pid-file FILE write the process id to this file\n"
    "  --log LEVELS    log levels of the control plane: 'tor:dbg', 'console:warn' (manual)\n"
    "  --verbose       show the messages of DPDK\n";

enum {
    STATS = 256,
    CPU,
    MEMORY,
    VERBOSE,
    CHECKED,
    TRACE,
    LCORES,
    IDLE_SLEEP,
    RECORD,
    USER,
    PID_FILE,
    LOG,
    STRICT
};

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"stats", no_argument, NULL, STATS},
    CLI_TARGET_OPTION,
    {"cpu", required_argument, NULL, CPU},
    {"memory", required_argument, NULL, MEMORY},
    {"verbose", no_argument, NULL, VERBOSE},
    {"checked", no_argument, NULL, CHECKED},
    {"strict", no_argument, NULL, STRICT},
    {"trace", optional_argument, NULL, TRACE},
    {"lcores", required_argument, NULL, LCORES},
    {"idle-sleep", required_argument, NULL, IDLE_SLEEP},
    {"record", required_argument, NULL, RECORD},
    {"user", required_argument, NULL, USER},
    {"pid-file", required_argument, NULL, PID_FILE},
    {"log", required_argument, NULL, LOG},
    {NULL, 0, NULL, 0},
};

static void catch_signals(void) {
    const struct sigaction action = {.sa_handler = run_stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &(const struct sigaction){.sa_handler = run_hang_up}, NULL);
    // a peer that goes away (of vhost, of the control socket) is no reason to end
    signal(SIGPIPE, SIG_IGN);
}

static bool cmd_run_loop(struct run *r) {
    char error[256];
    if (!run_control_start(r))
        return false;
    bool good = sk_lcores_run(r->lcores, error, sizeof error) || run_say(error);
    run_control_end(r);
    run_trace_end(r);
    run_sample_end(r);
    sk_switch_stop(r->sw, run_now());
    return good;
}

static int cmd_run_switch(struct run *r) {
    run_clock_start();
    if (sched_getaffinity(0, sizeof r->anywhere, &r->anywhere))
        memset(&r->anywhere, 0xff, sizeof r->anywhere);
    catch_signals();
    // The control thread makes entries all the time; memory of another thread's own grows by a
    // call of the kernel for each page.
    mallopt(M_ARENA_MAX, 1);
    // What removed entries leave is for the next ones: pages that go back to the kernel come again
    // one at a time, while packets wait.
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    mallopt(M_TOP_PAD, KEPT_BYTES / 64);
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES / 256); // replies to long reads go back
    setvbuf(stdout, NULL, _IOLBF, 0);
    bool started = run_start(r);
    int status = started ? EXIT_GOOD : EXIT_UNUSABLE;
    if (started) {
        run_print_start(r);
        run_notify("READY=1");
        status = cmd_run_loop(r) ? EXIT_GOOD : EXIT_UNUSABLE;
    }
    run_notify("STOPPING=1");
    run_compile_end(r);
    const uint32_t lost = sk_ports_end(r->ports); // what they lose now is recorded, too
    if (r->recording)
        sk_recording_own_stop(r->recording);
    run_journal_into(r->journal, NULL, 0);
    run_record_end(r->record);
    sk_server_close(r->server);
    run_page_end(r);
    run_watch_end(r);
    if (started && !run_print_end(r, lost))
        status = EXIT_FAILED;
    run_p4rt_end(r);
    run_brt_end(r);
    run_tor_stopped(r);
    run_jobs_end(r);
    run_published_end(r);
    run_tor_end(r);
    run_sessions_end(r);
    run_libra_end(r);
    run_free_port_list(r);
    sk_lcores_free(r->lcores);
    sk_recording_free(r->recording);
    sk_switch_free(r->sw);
    sk_tracer_free(r->tracer);
    sk_violations_free(r->violations);
    run_runs(r, NULL, NULL);
    tor_log_close(r->log);
    sk_config_free(r->config);
    run_service_end(r);
    free(r);
    return status;
}

static bool cmd_run_number(const char *text, long max, long *out) {
    char *end;
    *out = strtol(text, &end, 10);
    return *text && !*end && *out >= 0 && *out <= max;
}

// N or N,N,...: at most one for each pipe.
static bool cpus(struct run_options *o, const char *text) {
    for (;; text++) {
        char *end;
        long n = strtol(text, &end, 10);
        if (o->n_cpus == SK_PIPES || end == text || n < 0 || n > (long)SK_MAX_CPU)
            return false;
        o->cpus[o->n_cpus++] = (int)n;
        if (*end != ',')
            return !*end;
        text = end;
    }
}

static long most(int option) {
    return option == MEMORY ? 1 << 20 : option == LCORES ? (long)SK_PIPES : 1000000;
}

int cmd_run(int argc, char **argv) {
    struct run_options o = {.stats = isatty(STDOUT_FILENO), .ports.cpu = -1, .idle_sleep_us = -1};
    struct cli_flags flags = {0};
    long n = 0;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":hc:", options, NULL)) != -1;) {
        if (c == '?' || c == ':')
            return cli_bad_option("run", c, argv);
        if (c == 'h') {
            fputs(usage, stdout);
            return EXIT_GOOD;
        }
        bool numbers = c == MEMORY || c == LCORES || c == IDLE_SLEEP;
        if ((c == CPU && !cpus(&o, optarg)) || (numbers && !cmd_run_number(optarg, most(c), &n)) ||
            (c == LCORES && n == 0))
            return cli_misused("run", "'%s' is not a number in range", optarg);
        if (c == CLI_TARGET && cli_take_target("run", &flags, optarg))
            return EXIT_UNUSABLE;
        if (c == 'c')
            o.config_path = optarg;
        o.stats |= c == STATS;
        o.trace |= c == TRACE;
        o.checked |= c == CHECKED || c == TRACE;
        o.strict |= c == STRICT;
        if (c == TRACE && !cli_trace_form(optarg, &o.trace_form))
            return cli_misused("run", "a trace is text or json, not '%s'", optarg);
        o.ports.verbose |= c == VERBOSE;
        if (c == RECORD)
            o.record_path = optarg;
        if (c == USER)
            o.user = optarg;
        if (c == PID_FILE)
            o.pid_file = optarg;
        if (c == LOG)
            o.log = optarg;
        if (c == LCORES)
            o.n_lcores = (unsigned)n;
        if (c == IDLE_SLEEP)
            o.idle_sleep_us = n;
        if (c == MEMORY)
            o.ports.memory = (uint32_t)n;
    }
    if (optind != argc)
        return cli_misused("run", "unexpected argument '%s'", argv[optind]);
    if (!o.config_path)
        return cli_misused("run", "a configuration is missing (-c FILE)");
    struct run *r = calloc(1, sizeof *r);
    if (!r)
        abort();
    r->opt = o;
    r->opt.target = flags.target;
    return cmd_run_switch(r);
}
