// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/captures.h"
#include "base/file.h"
#include "pcap/capture/capture.h"
#include "pcap/explain/explain.h"
#include "pcap/packet/text.h"

#define PLAIN_WIDTH    100u // of lines that go to no terminal
#define NARROWEST      60u
#define DEFAULT_PORT   1u
#define MAX_FILE_WORDS 64u

static const char usage[] =
    "usage: silken explain [OPTION]... PROGRAM.p4 PACKET\n"
    "       silken explain [OPTION]... PROGRAM.p4 --in PORT=CAPTURE... --packet NUMBER\n"
    "       silken explain [OPTION]... PROGRAM.p4 --in PORT=CAPTURE... --filter EXPR\n\n"
    "Explains everything that happens to one packet: parser, tables, registers, traffic manager,\n"
    "egress, and the packets that leave, with their differences from the received packet.\n\n"
    "PACKET is hexadecimal digits, FILE, FILE:NUMBER for a packet of a capture, or '-' (standard\n"
    "input). A FILE contains digits, a dump like that of hexdump -C, xxd, tcpdump -xx or "
    "Wireshark,\n"
    "the bytes of a frame, or a capture.\n\n"
    "  --hex DIGITS              explain these hexadecimal digits, also with spaces or colons\n"
    "  --raw FILE                explain the frame whose bytes FILE contains\n"
    "  --pcap FILE:NUMBER        explain packet NUMBER of the capture FILE, counted from 1; '-' "
    "is\n"
    "                            standard input\n"
    "  --port N                  the port that receives it (1)\n"
    "  --map MAP                 the ports of a capture's packets, as for 'silken replay'; "
    "without\n"
    "                            it, a pcapng whose interfaces are called port-N gives them\n"
    "  --in PORT=CAPTURE...      captures whose packets run before the explained packet, merged "
    "by\n"
    "                            time; without PORT as for 'silken replay'\n"
    "  --packet NUMBER           explain this packet of the captures\n"
    "  --filter EXPR             explain the first packet that matches (tcpdump's language), or "
    "with\n"
    "                            --packet the NUMBERth that does; all packets before it run\n"
    "  --after K                 run only the K packets that precede the explained packet in its\n"
    "                            capture (default: all of them, so that registers have their\n"
    "                            values)\n"
    "  --alone                   run none of them\n"
    "  --entries FILE            as for 'silken replay'\n"
    "  --config FILE             as for 'silken replay'\n"
    "  -I DIR, -D NAME[=VALUE], --target CHIP\n"
    "                            as for 'silken build'\n"
    "  --json                    one JSON document\n"
    "  --width N                 width of a line in columns (the terminal's, else 100)\n"
    "  --color WHEN              always, never or auto: on a terminal, if NO_COLOR is not set\n";

enum {
    HEX = 256,
    RAW,
    PCAP,
    PORT,
    MAP,
    IN,
    PACKET,
    FILTER,
    AFTER,
    ALONE,
    ENTRIES,
    CONFIG,
    JSON,
    WIDTH,
    COLOR
};

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"hex", required_argument, NULL, HEX},
    CLI_TARGET_OPTION,
    {"raw", required_argument, NULL, RAW},
    {"pcap", required_argument, NULL, PCAP},
    {"port", required_argument, NULL, PORT},
    {"map", required_argument, NULL, MAP},
    {"in", required_argument, NULL, IN},
    {"packet", required_argument, NULL, PACKET},
    {"filter", required_argument, NULL, FILTER},
    {"after", required_argument, NULL, AFTER},
    {"alone", no_argument, NULL, ALONE},
    {"entries", required_argument, NULL, ENTRIES},
    {"config", required_argument, NULL, CONFIG},
    {"json", no_argument, NULL, JSON},
    {"width", required_argument, NULL, WIDTH},
    {"color", required_argument, NULL, COLOR},
    {NULL, 0, NULL, 0},
};

enum source { FROM_NOTHING, FROM_WORD, FROM_HEX, FROM_RAW, FROM_CAPTURE, FROM_MERGED };

struct command {
    struct replay_options replay;
    struct compile_options compile;
    struct cli_flags flags;
    enum source source;
    const char *word;     // what --hex, --raw, --pcap or no option said
    char *words;          // of no option, put together, malloc'ed
    struct cli_list each; // of them
    char *path;           // of a capture, malloc'ed
    uint64_t number, after;
    uint64_t turn; // of the packet among those that are replayed: 'number', but for those left out
    struct sk_filter *filter; // or null
    bool has_after, has_port, json, in_words;
    uint16_t port;
    struct replay_packet packet;
    uint8_t *bytes; // its own, malloc'ed
    unsigned width;
    const char *colour;
};

static int cmd_explain_unusable(const char *sentence) {
    fprintf(stderr, "silken explain: %s\n", sentence);
    return EXIT_UNUSABLE;
}

// ---- the command line: 0, or the exit status after a message ----

static int cmd_explain_add_input(struct command *c, const char *word) {
    c->in_words = true;
    if (cli_begins_with_port(word))
        return cli_add_port_file("explain", &c->replay.in, "PORT=CAPTURE", word);
    cli_push_file(&c->replay.in, REPLAY_MAPPED, word);
    return 0;
}

static int add_word(struct command *c, const char *word) {
    char *more;
    if (c->in_words && cli_begins_with_port(word))
        return cmd_explain_add_input(c, word);
    c->in_words = false;
    if (!c->compile.path) {
        c->compile.path = word;
        return 0;
    }
    if (c->source != FROM_NOTHING && c->source != FROM_WORD)
        return cli_misused("explain", "unexpected argument '%s' after the packet", word);
    c->source = FROM_WORD;
    cli_push(&c->each, word);
    if (asprintf(&more, "%s%s%s", c->words ? c->words : "", c->words ? " " : "", word) < 0)
        abort();
    free(c->words);
    c->word = c->words = more;
    return 0;
}

static int set_source(struct command *c, enum source source, const char *word) {
    if (c->source != FROM_NOTHING)
        return cli_misused("explain", "only one packet can be given; '%s' is a second one", word);
    c->source = source;
    c->word = word;
    return 0;
}

// Captures may be several; that the packet is one is said in other words.
static bool cmd_explain_repeats(int option) {
    return option == IN || option == HEX || option == RAW || option == PCAP || option == PACKET;
}

static int cmd_explain_set_option(void *aux, int option) {
    struct command *c = aux;
    uint64_t n = 0;
    switch (option) {
    case 1:
        return add_word(c, optarg);
    case IN:
        return cmd_explain_add_input(c, optarg);
    case HEX:
        return set_source(c, FROM_HEX, optarg);
    case RAW:
        return set_source(c, FROM_RAW, optarg);
    case PCAP:
        return set_source(c, FROM_CAPTURE, optarg);
    case PORT:
        if (!cli_decimal(optarg, 0, SK_PORTS, &n) || !sk_port_exists((unsigned)n))
            return cli_misused("explain",
                               "'%s' is not a device port (0 to 71 in a pipe, pipes are 128 apart)",
                               optarg);
        c->port = (uint16_t)n;
        c->has_port = true;
        return 0;
    case MAP:
        c->replay.map = optarg;
        return 0;
    case PACKET:
        if (!cli_decimal(optarg, 0, UINT64_MAX, &c->number) || c->number == 0)
            return cli_misused("explain", "'%s' is not the number of a packet; the first is 1",
                               optarg);
        return set_source(c, FROM_MERGED, optarg);
    case FILTER:
        return cli_filter("explain", optarg, &c->filter);
    case AFTER:
    case ALONE:
        if (c->has_after)
            return cli_misused("explain", "--after and --alone exclude each other");
        c->has_after = true;
        c->after = 0;
        if (option == AFTER && !cli_decimal(optarg, 0, UINT64_MAX - 1, &c->after))
            return cli_misused("explain", "--after takes a number of packets, not '%s'", optarg);
        return 0;
    case ENTRIES:
        c->replay.config_paths[1] = optarg;
        return 0;
    case CONFIG:
        c->replay.config_paths[0] = optarg;
        return 0;
    case JSON:
        c->json = true;
        return 0;
    case WIDTH:
        if (!cli_decimal(optarg, 0, 10000, &n) || n < NARROWEST)
            return cli_misused("explain", "--width takes %u to 10000, not '%s'", NARROWEST, optarg);
        c->width = (unsigned)n;
        return 0;
    case COLOR:
        c->colour = optarg;
        return strcmp(optarg, "always") == 0 || strcmp(optarg, "never") == 0 ||
                       strcmp(optarg, "auto") == 0
                   ? 0
                   : cli_misused("explain", "--color takes always, never or auto, not '%s'",
                                 optarg);
    case CLI_TARGET:
        return cli_take_target("explain", &c->flags, optarg);
    default:
        cli_push_flag(&c->flags, option, optarg);
        return 0;
    }
}

// ---- the packet ----

static int cmd_explain_take_text(struct command *c, const char *name, const char *text,
                                 size_t length) {
    struct sk_error err;
    uint32_t n = 0;
    c->bytes = packet_text_read(name, text, length, &n, &err);
    if (!c->bytes)
        return cmd_explain_unusable(err.text);
    c->packet = (struct replay_packet){.bytes = c->bytes, .length = n};
    return 0;
}

static int take_raw(struct command *c, const char *name, const char *text, size_t length) {
    struct sk_error err;
    if (length == 0)
        sk_fail(&err, "%s: it contains no bytes", name);
    else if (length > PACKET_LONGEST)
        sk_fail(&err, "%s: a packet of %zu bytes; a switch accepts at most %u", name, length,
                PACKET_LONGEST);
    else
        err.text[0] = '\0';
    if (err.text[0])
        return cmd_explain_unusable(err.text);
    c->bytes = malloc(length);
    if (!c->bytes)
        abort();
    memcpy(c->bytes, text, length);
    c->packet = (struct replay_packet){.bytes = c->bytes, .length = (uint32_t)length};
    return 0;
}

// pcap in both byte orders and precisions, with a modified record; pcapng; gzip.
static bool is_capture(const char *text, size_t length) {
    static const unsigned char magics[][4] = {{0xa1, 0xb2, 0xc3, 0xd4}, {0xd4, 0xc3, 0xb2, 0xa1},
                                              {0xa1, 0xb2, 0x3c, 0x4d}, {0x4d, 0x3c, 0xb2, 0xa1},
                                              {0xa1, 0xb2, 0xcd, 0x34}, {0x34, 0xcd, 0xb2, 0xa1},
                                              {0x0a, 0x0d, 0x0d, 0x0a}};
    for (size_t i = 0; length >= 4 && i < sizeof magics / sizeof *magics; i++)
        if (memcmp(text, magics[i], 4) == 0)
            return true;
    return length >= 3 && memcmp(text, "\x1f\x8b\x08", 3) == 0;
}

// What is no file can be read once, by the replay.
static int cmd_explain_check_file(const struct command *c, const char *how) {
    struct stat st;
    struct sk_error err;
    if (stat(c->path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
        return 0; // or it is said what is wrong with it
    sk_fail(&err, "%s is not a file, but must be read more than once; %s", c->path, how);
    return cmd_explain_unusable(err.text);
}

// The capture's only packet.
static int only_packet(struct command *c) {
    struct sk_error err;
    if (cmd_explain_check_file(c, "name the packet: FILE:NUMBER"))
        return EXIT_UNUSABLE;
    struct capture_frame f;
    struct capture *capture = capture_open(c->path, &err);
    int n = 0, rc = capture ? 1 : -1;
    while (n < 2 && rc > 0 && (rc = capture_next(capture, &f, &err)) > 0)
        n++;
    capture_close(capture);
    if (rc < 0)
        return cmd_explain_unusable(err.text);
    if (n != 1) {
        sk_fail(&err, "%s: %s", c->path,
                n ? "it has several packets; name one: FILE:NUMBER" : "it has no packet");
        return cmd_explain_unusable(err.text);
    }
    c->number = 1;
    return 0;
}

static int find_turn(struct command *c) {
    struct sk_error err;
    struct stat st;
    c->turn = c->number;
    if (c->has_port && stat(c->path, &st) == 0 && S_ISREG(st.st_mode))
        return explain_turn_of_port(c->path, c->number, &c->turn, &err)
                   ? cmd_explain_unusable(err.text)
                   : 0;
    if (c->has_port || (strcmp(c->path, "-") == 0 && !c->replay.map))
        return 0; // what can be read once only is counted without what carries neither
    if (strcmp(c->path, "-") == 0)
        return cli_misused("explain", "--map is only for captures in files");
    if (cmd_explain_check_file(c, "--port gives the port that receives its packets"))
        return EXIT_UNUSABLE;
    bool mapped = false;
    if (explain_turn(c->path, c->replay.map, c->number, &c->turn, &mapped, &err))
        return cmd_explain_unusable(err.text);
    if (mapped)
        cli_push_file(&c->replay.in, REPLAY_MAPPED, c->path);
    return 0;
}

// "FILE:NUMBER", or a capture of one packet.
static int take_capture(struct command *c, const char *word) {
    const char *colon = strrchr(word, ':');
    c->source = FROM_CAPTURE;
    c->path = strdup(word);
    if (!c->path)
        abort();
    if (!colon || access(word, F_OK) == 0) {
        if (strcmp(word, "-") == 0)
            return cli_misused("explain", "name the packet of standard input: -:NUMBER");
        return only_packet(c);
    }
    if (!cli_decimal(colon + 1, 0, UINT64_MAX, &c->number) || c->number == 0)
        return cli_misused("explain", "'%s' is not the number of a packet; the first is 1",
                           colon + 1);
    c->path[colon - word] = '\0';
    return 0;
}

static bool first_bytes(const char *path, char bytes[4], size_t *n) {
    FILE *f = fopen(path, "re");
    const bool opened = f;
    *n = f ? fread(bytes, 1, 4, f) : 0;
    if (f)
        fclose(f);
    return opened;
}

static int take_file(struct command *c, const char *path) {
    struct sk_error err;
    size_t length;
    const bool standard_input = strcmp(path, "-") == 0;
    char *text = sk_read_file(standard_input ? "/dev/stdin" : path, &length, &err);
    if (!text)
        return cmd_explain_unusable(err.text);
    const char *name = standard_input ? "standard input" : path;
    int status;
    if (c->source != FROM_RAW && is_capture(text, length))
        status = cli_misused("explain", "%s is a capture; name the packet: %s:NUMBER", name, path);
    else if (c->source != FROM_RAW && (length == 0 || packet_text_is(text, length)))
        status = cmd_explain_take_text(c, name, text, length);
    else
        status = take_raw(c, name, text, length);
    free(text);
    return status;
}

// Whether a word alone is a packet in a file: FILE or FILE:NUMBER, which there is, or which is not
// written in what digits are.
static bool is_file_word(const char *word) {
    const char *colon = strrchr(word, ':');
    const bool has_number = colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")];
    const bool other = word[strspn(word, "0123456789abcdefABCDEFxX:,-.")];
    char *path = strndup(word, has_number ? (size_t)(colon - word) : strlen(word));
    if (!path)
        abort();
    const bool there = access(path, F_OK) == 0;
    free(path);
    return there ? other || has_number : other && has_number;
}

// Several words are the digits of one packet, and no files.
static int check_words(const struct command *c) {
    for (size_t i = 1; i < c->each.n; i++)
        if (is_file_word(c->each.items[0]) || is_file_word(c->each.items[i]))
            return cli_misused("explain", "only one packet can be given; '%s' is %s",
                               c->each.items[i],
                               is_file_word(c->each.items[i]) ? "a second one" : "an extra word");
    return 0;
}

// What is a file is one; a capture's packet may be after a colon; else the words are digits.
static int cmd_explain_take_word(struct command *c) {
    struct stat st;
    char bytes[4];
    size_t n;
    const char *colon = strrchr(c->word, ':');
    if (strcmp(c->word, "-") == 0)
        return take_file(c, c->word);
    if (stat(c->word, &st) == 0) {
        if (S_ISREG(st.st_mode) && first_bytes(c->word, bytes, &n) && is_capture(bytes, n))
            return take_capture(c, c->word);
        return take_file(c, c->word);
    }
    const int status = check_words(c);
    if (status)
        return status;
    if (colon && colon[1] && colon[1 + strspn(colon + 1, "0123456789")] == '\0') {
        char *path = strndup(c->word, (size_t)(colon - c->word));
        bool there = path && access(path, F_OK) == 0;
        const int error = errno;
        free(path);
        if (there)
            return take_capture(c, c->word);
        if (strspn(c->word, "0123456789abcdefABCDEFxX:,-. \\\t\n") != strlen(c->word))
            return cli_misused("explain", "cannot open %.*s: %s", (int)(colon - c->word), c->word,
                               strerror(error));
    }
    if (!packet_text_is(c->word, strlen(c->word)) ||
        (!strpbrk(c->word, " \t\n") &&
         c->word[strspn(c->word, "0123456789abcdefABCDEFxX:,-.\\")]) ||
        strchr(c->word, '/'))
        return cli_misused("explain", "'%s' is neither a file nor hexadecimal digits", c->word);
    return cmd_explain_take_text(c, "the packet", c->word, strlen(c->word));
}

static int cmd_explain_take_packet(struct command *c) {
    switch (c->source) {
    case FROM_WORD:
        return cmd_explain_take_word(c);
    case FROM_HEX:
        return cmd_explain_take_text(c, "--hex", c->word, strlen(c->word));
    case FROM_RAW:
        return take_file(c, c->word);
    case FROM_CAPTURE:
        return take_capture(c, c->word);
    default:
        return 0;
    }
}

// The number of the packet that the filter and --packet mean.
static int cmd_explain_find_match(struct command *c) {
    const uint64_t nth = c->number ? c->number : 1;
    struct sk_error err;
    struct stat st;
    for (size_t i = 0; i < c->replay.in.n; i++) {
        const char *path = c->replay.in.items[i].path;
        if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
            return cli_misused("explain", "--filter reads the captures twice, which cannot be done "
                                          "with standard input or a pipe");
    }
    c->number = replay_find(&c->replay, c->filter, nth, &err);
    if (!c->number && !err.text[0])
        sk_fail(&err, "fewer than %" PRIu64 " packet%s of the captures match the filter", nth,
                nth == 1 ? "" : "s");
    return c->number ? 0 : cmd_explain_unusable(err.text);
}

// What goes together; fills the replay's options.
static int cmd_explain_settle(struct command *c) {
    struct replay_options *r = &c->replay;
    if (c->filter && c->source != FROM_MERGED)
        return cli_misused("explain", "--filter chooses among packets of captures; another one is "
                                      "given");
    if (c->source == FROM_MERGED && r->in.n == 0)
        return cli_misused("explain", "%s needs captures (--in PORT=CAPTURE...)",
                           c->filter ? "--filter" : "--packet");
    if (c->source == FROM_CAPTURE && r->in.n)
        return cli_misused("explain", "--in names captures that run before a packet; --packet "
                                      "NUMBER explains one of their packets");
    if (c->source == FROM_MERGED && c->has_port)
        return cli_misused("explain", "--in gives the port already; --port is not allowed");
    if (c->has_after && c->source != FROM_CAPTURE && c->source != FROM_MERGED)
        return cli_misused("explain", "--after and --alone are only for packets of captures");
    if (c->has_port && r->map && c->source == FROM_CAPTURE)
        return cli_misused("explain", "--port and --map exclude each other");
    if (r->map && c->source != FROM_CAPTURE && r->in.n == 0)
        return cli_misused("explain", "--map is only for captures");
    const int found = c->filter ? cmd_explain_find_match(c) : 0;
    if (found)
        return found;
    c->turn = c->number;
    if (c->source == FROM_CAPTURE) {
        int status = find_turn(c);
        if (status)
            return status;
        if (r->in.n == 0)
            cli_push_file(&r->in, c->port, c->path);
    }
    r->only_last = true;
    if (c->number) {
        uint64_t before = c->turn - 1;
        r->skip = c->has_after && c->after < before ? before - c->after : 0;
        r->limit = c->turn - r->skip;
    } else {
        c->packet.port = c->port;
        r->then = &c->packet;
    }
    r->command = "explain";
    return 0;
}

// ---- running ----

static struct explain_style style(const struct command *c) {
    struct explain_style s = {.width = c->width};
    struct winsize w;
    bool terminal = isatty(STDOUT_FILENO);
    s.colour = strcmp(c->colour, "always") == 0 ||
               (strcmp(c->colour, "auto") == 0 && cli_in_colour(STDOUT_FILENO));
    if (!s.width && terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col)
        s.width = w.ws_col < NARROWEST ? NARROWEST : w.ws_col;
    if (!s.width)
        s.width = PLAIN_WIDTH;
    return s;
}

static int cmd_explain_missing(const struct command *c, const struct replay_counts *counts) {
    struct sk_error err;
    const uint64_t n = c->replay.skip + counts->in;
    const char *what = c->source == FROM_CAPTURE ? c->path : "the captures";
    if (counts->last_left_out && counts->in == c->replay.limit)
        sk_fail(&err,
                "%s: packet %" PRIu64 " is one that a ToR's control plane sent; the control plane "
                "here sends its own",
                what, c->number);
    else if (n == 0 || counts->in == 0) // the packets before it were skipped, or there was none
        sk_fail(&err, "%s: there is no packet %" PRIu64, what, c->number);
    else
        sk_fail(&err, "%s: there is no packet %" PRIu64 "; the last one is %" PRIu64, what,
                c->number, n);
    return cmd_explain_unusable(err.text);
}

static int cmd_explain_show(const struct command *c, const struct explain *x) {
    const struct explain_style s = style(c);
    if (c->json)
        explain_json(x, stdout, c->compile.path, c->source == FROM_CAPTURE ? c->path : NULL);
    else
        explain_text(x, stdout, &s);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_GOOD;
    struct sk_error err;
    sk_fail(&err, "cannot write: %s", strerror(errno));
    return cmd_explain_unusable(err.text);
}

static int cmd_explain_run(struct command *c) {
    struct replay_counts counts = {0};
    struct explain *x =
        explain_new(&counts, c->replay.limit, c->number ? NULL : c->packet.bytes, c->number);
    c->replay.observer = explain_observer(x);
    // what a replay says of captures as a whole is of no interest here
    char *messages = NULL;
    size_t length = 0;
    FILE *f = open_memstream(&messages, &length);
    if (!f)
        abort();
    const enum replay_result result = replay_run(&c->replay, &counts, f);
    if (fclose(f) != 0)
        abort();
    int status = EXIT_UNUSABLE;
    if (result == REPLAY_UNUSABLE)
        fputs(messages, stderr);
    else
        status = explain_found(x) ? cmd_explain_show(c, x) : cmd_explain_missing(c, &counts);
    free(messages);
    explain_free(x);
    return status;
}

static int cmd_explain_load_and_run(struct command *c) {
    c->compile.checked = true;
    cli_use_flags(&c->compile, &c->flags);
    int status = cli_load("explain", &c->replay, &c->compile) ? cmd_explain_run(c) : EXIT_UNUSABLE;
    cli_unload(&c->replay);
    return status;
}

static void cmd_explain_free_command(struct command *c) {
    cli_free_flags(&c->flags);
    free(c->replay.in.items);
    free(c->words);
    free(c->each.items);
    free(c->path);
    free(c->bytes);
    sk_filter_free(c->filter);
}

// A packet of standard input, "-:NUMBER", is no option, though getopt takes it for one: it becomes
// --pcap's. Returns the word that was made, to be freed, or null.
static char *name_standard_input(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        char *word = NULL;
        if (strncmp(argv[i], "-:", 2) != 0 || strcmp(argv[i - 1], "--pcap") == 0)
            continue;
        if (asprintf(&word, "--pcap=%s", argv[i]) < 0)
            abort();
        return argv[i] = word;
    }
    return NULL;
}

int cmd_explain(int argc, char **argv) {
    struct command c = {
        .compile = {.colour = cli_in_colour(STDERR_FILENO), .sanitize = CLI_SANITIZED},
        .port = DEFAULT_PORT,
        .colour = "auto"};
    char *made = name_standard_input(argc, argv);
    int status = cli_each_word(&(struct cli_words){"explain", usage, "-:hI:D:", options,
                                                   cmd_explain_set_option, cmd_explain_repeats},
                               &c, argc, argv);
    if (status == CLI_HELPED) {
        cmd_explain_free_command(&c);
        free(made);
        return EXIT_GOOD;
    }
    if (!status && !c.compile.path)
        status = cli_misused("explain", "a P4 file is missing");
    if (c.source == FROM_NOTHING && c.filter)
        c.source = FROM_MERGED;
    if (!status && c.source == FROM_NOTHING)
        status = cli_misused("explain", "a packet is missing");
    if (!status)
        status = cmd_explain_take_packet(&c);
    if (!status)
        status = cmd_explain_settle(&c);
    if (!status)
        status = cmd_explain_load_and_run(&c);
    cmd_explain_free_command(&c);
    free(made);
    return status;
}
