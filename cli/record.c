// SPDX-License-Identifier: Apache-2.0
//
// silken record: what the ports of a running switch receive and send, into files.
//
// The switch copies into memory that it hands over through its control socket; files are written
// here, with the rights, the working folder and the disk of who asked for them.
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "control/socket/socket.h"
#include "filter/filter.h"
#include "pcap/record/record.h"

static const char usage[] =
    "usage: silken record [-s SOCKET] --out FILE.pcapng [OPTION]...\n\n"
    "Records the packets that the ports of a running switch receive and send, until it is "
    "interrupted,\n"
    "the switch ends or a limit is reached. 'silken replay PROG.p4 --in FILE.pcapng' replays them; "
    "to\n"
    "record from the first packet on, use 'silken run --record FILE.pcapng'.\n\n"
    "  -s SOCKET        the control socket (default: $SILKEN_SOCKET)\n"
    "  --out FILE       pcapng; '-' is standard output\n"
    "  --file-size N    continue in FILE-00002.pcapng, FILE-00003.pcapng... after N MB\n"
    "  --files N        keep only the last N files\n"
    "  --port N...      record only these ports\n"
    "  --filter EXPR    record only frames that match, received or sent: tcpdump's language\n"
    "  --snaplen N      record only the first N bytes of each packet\n"
    "  --duration S     end after S seconds\n"
    "  --packets N      end after N records (packets received and packets sent)\n"
    "  --ring MB        memory for the records of each core of the switch (64)\n"
    "  --quiet          print nothing unless something fails\n\n"
    "The exit status is 1 when records are missing because the disk or this program was too "
    "slow.\n";

enum { OUT = 256, FILE_SIZE, FILES, PORT, FILTER, SNAPLEN, DURATION, PACKETS, RING, QUIET };

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"out", required_argument, NULL, OUT},
    {"file-size", required_argument, NULL, FILE_SIZE},
    {"files", required_argument, NULL, FILES},
    {"port", required_argument, NULL, PORT},
    {"filter", required_argument, NULL, FILTER},
    {"snaplen", required_argument, NULL, SNAPLEN},
    {"duration", required_argument, NULL, DURATION},
    {"packets", required_argument, NULL, PACKETS},
    {"ring", required_argument, NULL, RING},
    {"quiet", no_argument, NULL, QUIET},
    {NULL, 0, NULL, 0},
};

#define IDLE_US     500
#define PROGRESS_NS UINT64_C(500000000)
#define STDOUT      "/dev/stdout"

struct command {
    struct record_options files;
    const char *socket;
    json_t *request; // record.start
    uint64_t duration_ns;
    bool quiet, ports; // ports: words may be more of them
    struct sk_client *client;
    struct record_files *out;
    struct sk_record_reader *reader;
    uint64_t ends_at, told_at;
    bool stopped, gone; // by us; the switch
};

static volatile sig_atomic_t interrupted;

static void cmd_record_interrupt(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

static bool cmd_record_say(const char *sentence) {
    fprintf(stderr, "silken record: %s\n", sentence);
    return false;
}

// ---- the command line ----

static int cmd_record_add_port(struct command *c, const char *word) {
    uint64_t n;
    if (!cli_decimal(word, 0, SK_PORTS - 1, &n) || !sk_port_exists((unsigned)n))
        return cli_misused("record", "'%s' is not a device port", word);
    json_t *list = json_object_get(c->request, "ports");
    if (!list)
        json_object_set_new(c->request, "ports", list = json_array());
    json_array_append_new(list, json_integer((json_int_t)n));
    c->ports = true;
    return 0;
}

static int set_duration(struct command *c, const char *word) {
    char *end;
    double s = strtod(word, &end);
    if (word[0] < '0' || word[0] > '9' || *end || !(s > 0 && s <= 1e9))
        return cli_misused("record", "--duration takes a number of seconds, not '%s'", word);
    c->duration_ns = (uint64_t)(s * 1e9);
    return 0;
}

static int cmd_record_set_number(struct command *c, int option, const char *word) {
    const bool mib = option == FILE_SIZE || option == RING;
    const uint64_t most = option == RING      ? SK_RECORDER_MAX_RING >> 20
                          : option == FILES   ? 99999
                          : option == SNAPLEN ? 65535
                          : mib               ? 1 << 20
                                              : UINT64_MAX;
    const char *name = option == RING      ? "ring"
                       : option == FILES   ? "files"
                       : option == SNAPLEN ? "snaplen"
                       : mib               ? "file-size"
                                           : "packets";
    uint64_t n;
    if (!cli_decimal(word, 1, most, &n) && most == UINT64_MAX)
        return cli_misused("record", "--%s takes a number of packets, not '%s'", name, word);
    if (!cli_decimal(word, 1, most, &n))
        return cli_misused("record", "--%s takes a number from 1 to %" PRIu64 ", not '%s'", name,
                           most, word);
    if (option == FILE_SIZE)
        c->files.file_bytes = n << 20;
    else if (option == FILES)
        c->files.files = (unsigned)n;
    else if (option == PACKETS)
        c->files.packets = n;
    else
        json_object_set_new(c->request, option == RING ? "ring" : "snaplen",
                            json_integer((json_int_t)n));
    return 0;
}

static int cmd_record_set_filter(struct command *c, const char *expression) {
    struct sk_filter *filter = NULL;
    const int status = cli_filter("record", expression, &filter);
    if (filter)
        json_object_set_new(c->request, "filter", sk_filter_json(filter));
    sk_filter_free(filter);
    return status;
}

static bool cmd_record_repeats(int option) {
    return option == PORT;
}

static int cmd_record_set_option(void *aux, int option) {
    struct command *c = aux;
    const bool more = c->ports && option == 1;
    c->ports = false;
    switch (option) {
    case 1:
        return more ? cmd_record_add_port(c, optarg)
                    : cli_misused("record", "unexpected argument '%s'", optarg);
    case OUT:
        c->files.path = strcmp(optarg, "-") == 0 ? STDOUT : optarg;
        return 0;
    case PORT:
        return cmd_record_add_port(c, optarg);
    case FILTER:
        return cmd_record_set_filter(c, optarg);
    case DURATION:
        return set_duration(c, optarg);
    case QUIET:
        c->quiet = true;
        return 0;
    case 's':
        c->socket = optarg;
        return 0;
    default:
        return cmd_record_set_number(c, option, optarg);
    }
}

static int cmd_record_check(const struct command *c) {
    if (!c->files.path)
        return cli_misused("record", "a file is missing (--out FILE.pcapng)");
    if (!c->socket || !*c->socket)
        return cli_misused("record",
                           "no switch is named; give its control socket with -s or SILKEN_SOCKET");
    if (c->files.file_bytes && strcmp(c->files.path, STDOUT) == 0)
        return cli_misused(
            "record", "standard output cannot be a ring of files: --file-size needs --out FILE");
    if (c->files.files && !c->files.file_bytes)
        return cli_misused("record", "--files needs --file-size");
    return 0;
}

// ---- recording ----

static void cmd_record_describe_ports(struct command *c, json_t *ports) {
    size_t n = 0, i;
    json_t *p;
    struct record_port *list = calloc(json_array_size(ports) + 1, sizeof *list);
    const json_t *only = json_object_get(c->request, "ports");
    if (!list)
        abort();
    json_array_foreach(ports, i, p) {
        json_int_t port = json_integer_value(json_object_get(p, "port"));
        bool wanted = !only;
        for (size_t k = 0; k < json_array_size(only); k++)
            wanted |= json_integer_value(json_array_get(only, k)) == port;
        if (wanted && port >= 0 && port < (json_int_t)SK_PORTS)
            list[n++] =
                (struct record_port){.port = (uint16_t)port,
                                     .device = json_string_value(json_object_get(p, "device")),
                                     .name = json_string_value(json_object_get(p, "name"))};
    }
    record_ports(c->out, list, n);
    free(list);
}

static bool is_of_device(const struct command *c, const json_t *ports) {
    size_t i;
    json_t *p;
    json_array_foreach(ports, i, p) {
        const char *device = json_string_value(json_object_get(p, "device"));
        if (device && !c->files.file_bytes && record_is_of_device(c->files.path, device)) {
            fprintf(stderr, "silken record: %s is used by the switch's device '%s'\n",
                    c->files.path, device);
            return true;
        }
    }
    return false;
}

static bool open_files(struct command *c) {
    struct sk_error err;
    if (!c->out)
        c->out = record_open(&c->files, &err);
    return c->out || cmd_record_say(err.text);
}

// What is no regular file has nothing in it to lose, and a pipe's reader may have to be waited for:
// that is done before there are packets.
static bool opens_early(const struct command *c) {
    struct stat st;
    return !c->files.file_bytes && stat(c->files.path, &st) == 0 && !S_ISREG(st.st_mode);
}

static bool cmd_record_start(struct command *c) {
    struct sk_error err;
    char error[256];
    json_t *result = NULL;
    // the switch takes its memory beside its work
    while (!interrupted) {
        result = sk_client_call(c->client, json_incref(c->request), &err);
        if (!result)
            return cmd_record_say(err.text);
        const char *state = json_string_value(json_object_get(result, "state"));
        if (state && strcmp(state, "recording") == 0)
            break;
        json_decref(result);
        result = NULL;
        usleep(2000);
    }
    if (!result)
        return false;
    int fd = sk_client_passed(c->client);
    c->reader = sk_record_reader_open(fd, error, sizeof error);
    if (fd >= 0)
        close(fd);
    // Only now that it records for us: the file may be that of who records already, or an older
    // one.
    json_t *ports = json_object_get(result, "ports");
    const bool good = c->reader ? !is_of_device(c, ports) && open_files(c) : cmd_record_say(error);
    if (good)
        cmd_record_describe_ports(c, ports);
    if (good && !c->quiet)
        fprintf(stderr, "recording %s into %s\n",
                json_string_value(json_object_get(result, "program")), record_path(c->out));
    json_decref(result);
    return good;
}

// Asks the switch to record no more; what it has recorded is still to be read.
static void cmd_record_stop(struct command *c) {
    struct sk_error err;
    if (c->stopped || c->gone)
        return;
    c->stopped = true;
    json_t *result = sk_client_call(c->client, json_pack("{s:s}", "op", "record.stop"), &err);
    c->gone = !result;
    if (c->gone)
        sk_record_abandoned(c->reader);
    json_decref(result);
}

static void progress(struct command *c, uint64_t now) {
    struct record_counts n;
    if (c->quiet || now < c->told_at || !isatty(STDERR_FILENO))
        return;
    record_counts(c->out, c->reader, &n);
    fprintf(stderr, "\r%" PRIu64 " packets, %" PRIu64 " MB, %" PRIu64 " missing ",
            n.received + n.sent, n.bytes / 1000000, n.lost);
    c->told_at = now + PROGRESS_NS;
}

static bool cmd_record_record(struct command *c) {
    struct sk_error err;
    const uint64_t began = sk_clock_now();
    for (;;) {
        enum record_progress p = record_pump(c->out, c->reader, &err);
        if (p == RECORD_FAILED) {
            cmd_record_stop(c);
            return cmd_record_say(err.text);
        }
        if (p == RECORD_DONE) {
            cmd_record_stop(c);
            return true;
        }
        uint64_t now = sk_clock_now();
        progress(c, now);
        if (interrupted || (c->duration_ns && now - began >= c->duration_ns))
            cmd_record_stop(c);
        if (!c->stopped && !c->gone && sk_client_is_alone(c->client)) {
            c->gone = true;
            sk_record_abandoned(c->reader);
        }
        if (p == RECORD_IDLE)
            usleep(IDLE_US);
    }
}

static int cmd_record_report(const struct command *c, const struct record_counts *n) {
    if (!c->quiet && isatty(STDERR_FILENO))
        fputc('\n', stderr);
    if (!c->quiet && c->gone)
        fputs("the switch ended\n", stderr);
    if (!c->quiet)
        fprintf(stderr, "%" PRIu64 " received, %" PRIu64 " sent, %" PRIu64 " dropped; %u file%s\n",
                n->received, n->sent, n->dropped, n->files, n->files == 1 ? "" : "s");
    if (n->lost)
        fprintf(stderr,
                "silken record: %" PRIu64 " records are missing: the ring was full; "
                "see --ring, --snaplen and --port\n",
                n->lost);
    return n->lost ? EXIT_FAILED : EXIT_GOOD;
}

static int cmd_record_run(struct command *c) {
    struct sk_error err;
    struct record_counts n = {0};
    c->client = sk_client_open(c->socket, &err);
    if (!c->client || record_check(&c->files, &err)) {
        cmd_record_say(err.text);
        return EXIT_UNUSABLE;
    }
    if ((opens_early(c) && !open_files(c)) || !cmd_record_start(c))
        return interrupted ? EXIT_GOOD : EXIT_UNUSABLE;
    bool good = cmd_record_record(c);
    record_counts(c->out, c->reader, &n);
    int rc = record_close(c->out, c->reader, &err);
    c->out = NULL;
    if (rc && good)
        good = cmd_record_say(err.text);
    int status = cmd_record_report(c, &n);
    return good ? status : EXIT_FAILED;
}

int cmd_record(int argc, char **argv) {
    struct command c = {.socket = getenv("SILKEN_SOCKET")};
    const struct sigaction action = {.sa_handler = cmd_record_interrupt};
    c.request = json_pack("{s:s}", "op", "record.start");
    int status = cli_each_word(&(struct cli_words){"record", usage, "-:hs:", options,
                                                   cmd_record_set_option, cmd_record_repeats},
                               &c, argc, argv);
    if (status == CLI_HELPED) {
        json_decref(c.request);
        return EXIT_GOOD;
    }
    if (!status)
        status = cmd_record_check(&c);
    if (!status) {
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        signal(SIGPIPE, SIG_IGN);
        status = cmd_record_run(&c);
    }
    record_close(c.out, c.reader, NULL);
    sk_record_reader_close(c.reader);
    sk_client_close(c.client);
    json_decref(c.request);
    return status;
}
