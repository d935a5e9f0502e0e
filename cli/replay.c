// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/captures.h"
#include "pipeline/observe/violations.h"

static const char usage[] =
    "usage: silken replay [OPTION]... PROGRAM.p4 --in [PORT=]CAPTURE... [--out DIR] [--expect "
    "DIR]\n\n"
    "Replays captures through a P4 program. The timestamps in the captures are the switch's clock, "
    "so\n"
    "the same captures give the same output, to the byte. The exit status is 1 if the output "
    "differs\n"
    "from golden captures, 2 if an input cannot be used or an output cannot be written.\n\n"
    "  --in PORT=CAPTURE...      the packets that the port receives: pcap or pcapng, also "
    "gzipped;\n"
    "                            '-' is standard input; several are merged by time\n"
    "  --in CAPTURE              a capture of several ports; without --map, a pcapng whose "
    "interfaces\n"
    "                            are called port-N, such as a recording\n"
    "  --map interface:NAME=PORT,... | vlan:ID=PORT,... | src-mac:MAC[/BITS]=PORT,...\n"
    "        | src-ip:IP[/BITS]=PORT,...   the port that received a packet of such a capture ('*': "
    "all\n"
    "                            other packets)\n"
    "  --strict-map              a packet without a port is an error (default: it is skipped)\n"
    "  --speed asap|real|xN      as fast as possible, at the captures' speed, or N times as fast;\n"
    "                            the output is the same\n"
    "  --entries FILE            contents of tables, registers... (JSON as for 'silken run', "
    "without\n"
    "                            a program)\n"
    "  --config FILE             a configuration of 'silken run'; its program is ignored\n"
    "  --out DIR                 write port-N.pcap of each port N that sends, and drops.jsonl\n"
    "  --out PORT=FILE...        or write only what these ports send\n"
    "  --format pcap|pcapng      format that --out writes (default: by the ending of a FILE's "
    "name)\n"
    "  --drops FILE              write a line of JSON for each dropped packet: the reason, and "
    "the\n"
    "                            table or parser state that dropped it; if any packet was\n"
    "                            dropped, the checked build runs the packets a second time to "
    "find\n"
    "                            these places\n"
    "  --expect DIR              compare the packets that each port sends with port-N.pcap, but\n"
    "                            not their times; runs the checked build, which knows the fields\n"
    "  --expect PORT=FILE...     or compare only what these ports send\n"
    "  --expect-recorded         compare with the packets that were sent in a recorded run (--in)\n"
    "  --ignore FIELD,...        do not compare these fields, for example ipv4.identification\n"
    "  --dump-state FILE         write the final contents of registers, counters, tables... "
    "(JSON)\n"
    "  --expect-state FILE       compare these contents with the file\n"
    "  --update                  rewrite the golden captures or the expected state instead of\n"
    "                            comparing\n"
    "  --show N                  show at most N differences, each packet with its path through "
    "the\n"
    "                            program as printed by --trace (5)\n"
    "  --fast                    run only the fast build: differences are shown as bytes, and "
    "drops\n"
    "                            without their place in the program\n"
    "  --threads N               run the pipes on N threads (1, 2 or 4); the output is the same.\n"
    "                            Pipes that pass packets to each other run on one, except with\n"
    "  --crossing NS             a packet for another pipe arrives NS ns later, not immediately\n"
    "  --filter EXPR             run only the packets that match: tcpdump's language\n"
    "  --limit N                 end after N packets\n"
    "  -I DIR, -D NAME[=VALUE], --target CHIP\n"
    "                            as for 'silken build'\n"
    "  --checked                 run the checked build, which reports forbidden accesses\n"
    "  --trace[=json]            --checked, and print the path of every packet\n";

enum {
    IN = 256,
    MAP,
    STRICT_MAP,
    SPEED,
    OUT,
    ENTRIES,
    CONFIG,
    DROPS,
    LIMIT,
    CHECKED,
    TRACE,
    EXPECT,
    IGNORE,
    UPDATE,
    FAST,
    FORMAT,
    SHOW,
    DUMP_STATE,
    EXPECT_STATE,
    EXPECT_RECORDED,
    THREADS,
    CROSSING,
    FILTER
};

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"in", required_argument, NULL, IN},
    CLI_TARGET_OPTION,
    {"map", required_argument, NULL, MAP},
    {"strict-map", no_argument, NULL, STRICT_MAP},
    {"speed", required_argument, NULL, SPEED},
    {"out", required_argument, NULL, OUT},
    {"entries", required_argument, NULL, ENTRIES},
    {"config", required_argument, NULL, CONFIG},
    {"drops", required_argument, NULL, DROPS},
    {"filter", required_argument, NULL, FILTER},
    {"limit", required_argument, NULL, LIMIT},
    {"checked", no_argument, NULL, CHECKED},
    {"trace", optional_argument, NULL, TRACE},
    {"expect", required_argument, NULL, EXPECT},
    {"ignore", required_argument, NULL, IGNORE},
    {"update", no_argument, NULL, UPDATE},
    {"fast", no_argument, NULL, FAST},
    {"format", required_argument, NULL, FORMAT},
    {"show", required_argument, NULL, SHOW},
    {"dump-state", required_argument, NULL, DUMP_STATE},
    {"expect-state", required_argument, NULL, EXPECT_STATE},
    {"expect-recorded", no_argument, NULL, EXPECT_RECORDED},
    {"threads", required_argument, NULL, THREADS},
    {"crossing", required_argument, NULL, CROSSING},
    {NULL, 0, NULL, 0},
};

struct command {
    struct replay_options replay;
    struct compile_options compile;
    struct cli_flags flags;
    struct cli_list ignore;    // malloc'ed
    struct sk_program *places; // the checked build, once drops asked for it
    bool checked, trace, update, fast;
    enum sk_trace_form form;
    struct replay_files *list; // that words PORT=FILE belong to
    struct sk_filter *filter;  // or null
};

// ---- the command line ----

// 0, or the exit status after a message.
static int cmd_replay_add_file(const struct command *c, struct replay_files *list,
                               const char *word) {
    const bool once = list != &c->replay.in;
    int status = cli_add_port_file("replay", list, "PORT=FILE", word);
    if (status)
        return status;
    const uint16_t port = list->items[list->n - 1].port;
    if (list == &c->replay.out && strcmp(list->items[list->n - 1].path, "-") == 0)
        return cli_misused("replay", "'%s': a capture must be written to a file, not to '-'", word);
    for (size_t i = 0; once && i < list->n - 1; i++)
        if (list->items[i].port == port)
            return cli_misused("replay", "port %u is given a second file, '%s'", port, word);
    return 0;
}

static bool ends_in(const char *word, const char *ending) {
    const size_t n = strlen(word), m = strlen(ending);
    return n > m && strcmp(word + n - m, ending) == 0;
}

// Of what is written: a file's name where a folder's is meant, and what would not be what its name
// says.
static int cmd_replay_check_name(int option, const char *word) {
    static const char *const files[] = {".pcap", ".pcapng", ".cap", ".gz"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (option == OUT && !strchr(word, '=') && access(word, F_OK) && ends_in(word, files[i]))
            return cli_misused(
                "replay", "--out takes one folder, or PORT=FILE; '%s' would be a second folder",
                word);
    if (option == OUT && cli_begins_with_port(word) && ends_in(word, ".gz"))
        return cli_misused("replay", "'%s': captures are written as pcap or pcapng, not compressed",
                           word);
    return 0;
}

// What does not begin with a port and is not there either.
static int check_no_port(int option, const char *word) {
    if (strcmp(word, "-") == 0 && option != IN)
        return cli_misused("replay", "--%s takes a folder or PORT=FILE, not '-'",
                           option == OUT ? "out" : "expect");
    if (!strchr(word, '=') || access(word, F_OK) == 0)
        return 0;
    return cli_misused("replay", "'%s' is not PORT=FILE: a device port is a decimal number", word);
}

static int cmd_replay_set_list(struct command *c, int option, const char *word) {
    const int wrong = cmd_replay_check_name(option, word);
    if (wrong)
        return wrong;
    if (!cli_begins_with_port(word)) {
        const int status = check_no_port(option, word);
        if (status)
            return status;
    }
    c->list = option == IN ? &c->replay.in : option == OUT ? &c->replay.out : &c->replay.expect;
    if (option == IN && !cli_begins_with_port(word)) {
        cli_push_file(c->list, REPLAY_MAPPED, word);
        return 0;
    }
    if (option != IN && !cli_begins_with_port(word)) {
        const char **dir = option == OUT ? &c->replay.out_dir : &c->replay.expect_dir;
        if (*dir)
            return cli_misused("replay", "only one folder can be given; '%s' is a second one",
                               word);
        c->list = NULL;
        *dir = word;
        return 0;
    }
    return cmd_replay_add_file(c, c->list, word);
}

static int set_word(struct command *c, const char *word) {
    if (c->list && cli_begins_with_port(word)) {
        const int wrong = cmd_replay_check_name(c->list == &c->replay.out ? OUT : IN, word);
        return wrong ? wrong : cmd_replay_add_file(c, c->list, word);
    }
    if (c->compile.path)
        return cli_misused("replay", "unexpected argument '%s' after the program", word);
    c->compile.path = word;
    return 0;
}

static int cmd_replay_set_limit(struct command *c, const char *word) {
    char *end;
    errno = 0;
    c->replay.limit = strtoull(word, &end, 10);
    if (errno || *end || word[0] < '0' || word[0] > '9' || c->replay.limit == 0)
        return cli_misused("replay", "--limit takes a number of packets, not '%s'", word);
    return 0;
}

static int set_show(struct command *c, const char *word) {
    if (strspn(word, "0123456789") != strlen(word) || strlen(word) > 4 || !*word)
        return cli_misused("replay", "--show takes a number of differences, 0 to 9999, not '%s'",
                           word);
    c->replay.show = strtoul(word, NULL, 10);
    return 0;
}

static int set_speed(struct command *c, const char *word) {
    char *end = NULL;
    if (strcmp(word, "asap") == 0 || strcmp(word, "real") == 0) {
        c->replay.speed = word[0] == 'r';
        return 0;
    }
    if (word[0] == 'x' && strspn(word + 1, "0123456789.") == strlen(word + 1))
        c->replay.speed = strtod(word + 1, &end);
    if (!end || end == word + 1 || *end || !(c->replay.speed >= 1e-6 && c->replay.speed <= 1e6))
        return cli_misused("replay", "--speed takes asap, real or xN (x2, x0.5), not '%s'", word);
    return 0;
}

static int set_format(struct command *c, const char *word) {
    bool ng = strcmp(word, "pcapng") == 0;
    if (!ng && strcmp(word, "pcap") != 0)
        return cli_misused("replay", "--format takes pcap or pcapng, not '%s'", word);
    c->replay.form = ng ? REPLAY_PCAPNG : REPLAY_PCAP;
    return 0;
}

static int set_threads(struct command *c, const char *word) {
    const char *at = word[0] ? strchr("124", word[0]) : NULL;
    if (!at || word[1])
        return cli_misused("replay", "--threads takes 1, 2 or 4, not '%s'", word);
    c->replay.threads = (unsigned)(*at - '0');
    return 0;
}

// Up to a second.
static int set_crossing(struct command *c, const char *word) {
    char *end;
    errno = 0;
    unsigned long ns = strtoul(word, &end, 10);
    if (errno || *end || word[0] < '0' || word[0] > '9' || ns > 1000000000)
        return cli_misused("replay", "--crossing takes a number of ns, 0 to 1000000000, not '%s'",
                           word);
    c->replay.crossing_ns = (uint32_t)ns;
    return 0;
}

static int set_ignore(struct command *c, const char *words) {
    const char *word = words;
    for (size_t n;; word += n + 1) {
        n = strcspn(word, ",");
        if (n == 0)
            return cli_misused(
                "replay",
                "--ignore takes names of fields, separated by commas; a name in '%s' is empty",
                words);
        char *name = strndup(word, n);
        if (!name)
            abort();
        cli_push(&c->ignore, name);
        if (!word[n])
            return 0;
    }
}

static bool cmd_replay_repeats(int option) {
    return option == IN || option == OUT || option == EXPECT || option == IGNORE;
}

static const char *cmd_replay_name_of(int option) {
    size_t i = 0;
    while (options[i].name && options[i].val != option)
        i++;
    return options[i].name;
}

static int cmd_replay_set_option(void *aux, int option) {
    struct command *c = aux;
    if (option != 1 && option != TRACE && optarg && !*optarg && cmd_replay_name_of(option))
        return cli_misused("replay", "--%s has an empty argument", cmd_replay_name_of(option));
    switch (option) {
    case 1:
        return set_word(c, optarg);
    case IN:
    case OUT:
    case EXPECT:
        return cmd_replay_set_list(c, option, optarg);
    case LIMIT:
        return cmd_replay_set_limit(c, optarg);
    case SPEED:
        return set_speed(c, optarg);
    case THREADS:
        return set_threads(c, optarg);
    case CROSSING:
        return set_crossing(c, optarg);
    case MAP:
        c->replay.map = optarg;
        return 0;
    case STRICT_MAP:
        c->replay.strict_map = true;
        return 0;
    case FORMAT:
        return set_format(c, optarg);
    case CLI_TARGET:
        return cli_take_target("replay", &c->flags, optarg);
    case 'I':
    case 'D':
        cli_push_flag(&c->flags, option, optarg);
        return 0;
    case ENTRIES:
        c->replay.config_paths[1] = optarg;
        return 0;
    case CONFIG:
        c->replay.config_paths[0] = optarg;
        return 0;
    case DROPS:
        c->replay.drops = optarg;
        return strcmp(optarg, "-") ? 0 : cli_misused("replay", "--drops takes a file, not '-'");
    case IGNORE:
        return set_ignore(c, optarg);
    case DUMP_STATE:
        c->replay.dump_state[0] = optarg;
        return 0;
    case EXPECT_RECORDED:
        c->replay.expect_recorded = true;
        return 0;
    case EXPECT_STATE:
        c->replay.expect_state = optarg;
        return 0;
    case FILTER: {
        const int status = cli_filter("replay", optarg, &c->filter);
        c->replay.filter = c->filter;
        return status;
    }
    case SHOW:
        return set_show(c, optarg);
    case UPDATE:
        c->update = true;
        return 0;
    case FAST:
        c->fast = true;
        return 0;
    case TRACE:
        c->trace = true;
        if (!cli_trace_form(optarg, &c->form))
            return cli_misused("replay", "a trace is text or json, not '%s'", optarg);
        break;
    default:
        break;
    }
    c->checked = true;
    return 0;
}

// ---- running ----

// ---- signals: the first one ends the replay with its outputs closed, the second one at once ----

static volatile sig_atomic_t stop;
static const int stopping[] = {SIGINT, SIGTERM};
#define N_STOPPING (sizeof stopping / sizeof *stopping)

static void cmd_replay_on_signal(int number) {
    (void)number;
    stop = 1;
}

static void cmd_replay_take_signals(struct sigaction *before, bool traces) {
    const struct sigaction action = {.sa_handler = cmd_replay_on_signal,
                                     .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < N_STOPPING; i++)
        sigaction(stopping[i], &action, &before[i]);
    // an output that no one reads any more is an error like others, but a trace is read as far as
    // one likes
    const struct sigaction pipe = {.sa_handler = traces ? SIG_DFL : SIG_IGN};
    sigaction(SIGPIPE, &pipe, &before[N_STOPPING]);
}

static void leave_signals(const struct sigaction *before) {
    for (size_t i = 0; i < N_STOPPING; i++)
        sigaction(stopping[i], &before[i], NULL);
    sigaction(SIGPIPE, &before[N_STOPPING], NULL);
}

static enum replay_result replay(struct command *c, struct replay_counts *counts, FILE *messages) {
    struct sigaction before[N_STOPPING + 1];
    c->replay.stop = &stop;
    cmd_replay_take_signals(before, c->trace);
    enum replay_result result = replay_run(&c->replay, counts, messages);
    leave_signals(before);
    return result;
}

// Whether what went to standard output, a trace or the state, is there.
static bool printed(FILE *messages) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    fprintf(messages, "silken replay: cannot write standard output%s%s\n", errno ? ": " : "",
            errno ? strerror(errno) : "");
    return false;
}

static int cmd_replay_run(struct command *c) {
    // a trace would go through the line
    bool shown = isatty(STDERR_FILENO) && !(c->trace && isatty(STDOUT_FILENO));
    c->replay.progress = shown ? replay_progress_new(STDERR_FILENO) : NULL;
    FILE *messages = shown ? replay_progress_messages(c->replay.progress) : stderr;
    struct sk_violations *violations = c->checked ? sk_violations_new(messages) : NULL;
    struct sk_observer *o = violations ? sk_violations_observer(violations) : NULL;
    struct sk_tracer *tracer = c->trace ? sk_tracer_new(stdout, c->form, o) : NULL;
    struct replay_counts counts;
    c->replay.observer = tracer ? sk_tracer_observer(tracer) : o;
    enum replay_result result = replay(c, &counts, messages);
    if (result != REPLAY_UNUSABLE && !printed(messages))
        result = REPLAY_UNUSABLE;
    if (result != REPLAY_UNUSABLE)
        fprintf(messages, "%" PRIu64 " packet%s in, %" PRIu64 " out, %" PRIu64 " dropped\n",
                counts.in, counts.in == 1 ? "" : "s", counts.out, counts.dropped);
    sk_tracer_free(tracer);
    sk_violations_free(violations);
    replay_progress_free(c->replay.progress);
    return result == REPLAY_GOOD      ? EXIT_GOOD
           : result == REPLAY_DIFFERS ? EXIT_FAILED
                                      : EXIT_UNUSABLE;
}

// What is odd with the program was said already.
static const struct sk_program *checked_build(void *aux) {
    struct command *c = aux;
    char *text = NULL, error[512];
    size_t length;
    struct compile_options opt = c->compile;
    FILE *messages = c->places ? NULL : open_memstream(&text, &length);
    if (!messages)
        return c->places;
    opt.checked = true;
    char *object = compile_p4(&opt, messages);
    fclose(messages);
    if (!object)
        fputs(text, stderr);
    else if (!(c->places = sk_program_load(object, error, sizeof error)))
        fprintf(stderr, "silken replay: %s\n", error);
    free(object);
    free(text);
    return c->places;
}

static int cmd_replay_load_and_run(struct command *c) {
    c->compile.checked = c->checked;
    cli_use_flags(&c->compile, &c->flags);
    c->replay.program_path = c->compile.path;
    if (!c->checked && !c->fast) {
        c->replay.checked = checked_build;
        c->replay.checked_aux = c;
    }
    int status = cli_load("replay", &c->replay, &c->compile) ? cmd_replay_run(c) : EXIT_UNUSABLE;
    sk_program_free(c->places);
    cli_unload(&c->replay);
    return status;
}

static int cmd_replay_check_inputs(const struct command *c) {
    const struct replay_options *r = &c->replay;
    size_t mapped = 0;
    for (size_t i = 0; i < r->in.n; i++)
        mapped += r->in.items[i].port == REPLAY_MAPPED;
    size_t standard = 0;
    for (size_t i = 0; i < r->in.n; i++)
        standard += strcmp(r->in.items[i].path, "-") == 0;
    for (size_t i = 0; !c->update && i < r->expect.n; i++)
        standard += strcmp(r->expect.items[i].path, "-") == 0;
    if (r->expect_recorded && mapped == 0)
        return cli_misused("replay", "--expect-recorded needs a recorded run (--in CAPTURE)");
    return standard > 1
               ? cli_misused("replay", "standard input ('-') is read once, not %zu times", standard)
           : (r->map || r->strict_map) && mapped == 0
               ? cli_misused("replay", "--map needs a capture without a port (--in CAPTURE)")
               : 0;
}

// What golden captures ask for; 0, or the exit status after a message.
static int set_golden(struct command *c) {
    struct replay_options *r = &c->replay;
    if (r->expect_recorded && (r->expect_dir || r->expect.n || c->update))
        return cli_misused("replay", "--expect-recorded compares with the packets of the "
                                     "recording; it excludes --expect and --update");
    if (r->expect_recorded && r->crossing_ns)
        return cli_misused("replay", "in the recorded run, packets took no time from pipe to pipe: "
                                     "--expect-recorded excludes --crossing");
    if (r->expect_recorded && r->filter)
        return cli_misused("replay", "a recorded run had all packets: --expect-recorded excludes "
                                     "--filter");
    bool expects = r->expect_dir || r->expect.n || r->expect_recorded;
    if (!expects && c->ignore.n)
        return cli_misused("replay", "--ignore needs --expect");
    if (c->update && expects && r->limit)
        return cli_misused(
            "replay",
            "--update with --limit would remove all later packets from the golden captures");
    if (!expects && !r->expect_state && c->update)
        return cli_misused("replay", "--update needs --expect or --expect-state");
    if (c->fast && (c->checked || c->ignore.n))
        return cli_misused("replay", "the fast build (--fast) does not report fields or checks");
    if (c->update && expects && (r->out_dir || r->out.n))
        return cli_misused("replay", "--update writes the golden captures only; it excludes --out");
    c->checked |= expects && !c->fast && !c->update;
    r->update = c->update;
    for (size_t i = 0; c->update && i < r->expect.n; i++)
        if (strcmp(r->expect.items[i].path, "-") == 0)
            return cli_misused("replay", "--update writes golden captures to files, not to '-'");
    if (c->update && expects) {
        r->out = r->expect;
        r->out_dir = r->expect_dir;
        r->golden = true;
        r->expect = (struct replay_files){0};
        r->expect_dir = NULL;
    }
    if (c->update) {
        r->dump_state[1] = r->expect_state;
        r->expect_state = NULL;
    }
    r->ignore = c->ignore.items;
    r->n_ignore = c->ignore.n;
    return 0;
}

static void cmd_replay_free_command(struct command *c) {
    for (size_t i = 0; i < c->ignore.n; i++)
        free((char *)c->ignore.items[i]);
    free(c->ignore.items);
    free(c->replay.expect.items);
    sk_filter_free(c->filter);
    cli_free_flags(&c->flags);
    free(c->replay.in.items);
    free(c->replay.out.items);
}

int cmd_replay(int argc, char **argv) {
    struct command c = {
        .replay.show = 5,
        .compile = {.colour = cli_in_colour(STDERR_FILENO), .sanitize = CLI_SANITIZED}};
    int status = cli_each_word(&(struct cli_words){"replay", usage, "-:hI:D:", options,
                                                   cmd_replay_set_option, cmd_replay_repeats},
                               &c, argc, argv);
    if (status == CLI_HELPED) {
        cmd_replay_free_command(&c);
        return EXIT_GOOD;
    }
    if (!status && !c.compile.path)
        status = cli_misused("replay", "a P4 file is missing");
    if (!status && c.replay.in.n == 0)
        status = cli_misused("replay", "a capture is missing (--in [PORT=]CAPTURE)");
    if (!status)
        status = cmd_replay_check_inputs(&c);
    if (!status)
        status = set_golden(&c);
    if (!status)
        status = cmd_replay_load_and_run(&c);
    cmd_replay_free_command(&c);
    return status;
}
