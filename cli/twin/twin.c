// SPDX-License-Identifier: Apache-2.0
#include "cli/twin/twin.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: silken twin diff [OPTION]... A B\n"
    "       silken twin dump [OPTION]... ADDRESS DIR\n"
    "       silken twin pack [--speed SPEED] CONFIG.json DIR\n\n"
    "Compares what two switches have: a Tofino and Silken, or any two. A and B are folders, or "
    "single\n"
    "files, with dumps of tables (*.json, *.txt, *.dump) and captures (*.pcap, *.pcapng, *.cap). "
    "Dumps\n"
    "are those of 'silken ctl state dump', of bfrt_python's dump(table=True, json=True) and of BF\n"
    "Runtime's Python client (the manual has their forms). Each difference is a line: table, key,\n"
    "field, A's value, B's value. What may differ (times, port statistics) is not compared, and\n"
    "named. The exit status is 1 if they differ, 2 if an input cannot be read.\n\n"
    "  --all            compare also what may differ\n"
    "  --ignore NAME    do not compare this field or table, for example Ingress.counts\n"
    "  --json           print one JSON object\n\n"
    "'dump' reads all tables of a server by BF Runtime (gRPC) into DIR, a file for each. ADDRESS "
    "is\n"
    "HOST:PORT or unix:PATH.\n\n"
    "  --program NAME       the program (default: the server's first)\n"
    "  --tls                by TLS; the system's list says whose certificates count\n"
    "  --authority FILE     by TLS, and the server's certificate is signed by one of FILE (PEM)\n"
    "  --certificate FILE   by TLS, and this is the client's certificate (PEM)\n"
    "  --key FILE           its key (default: in the same file)\n"
    "  --server-name NAME   by TLS, and the server's certificate is of NAME (default: the host in\n"
    "                       ADDRESS)\n\n"
    "'pack' writes what one carries from 'silken run' to a chip: the program with what it "
    "includes, the\n"
    "compiler's command line (compile.sh), and ports and contents of tables as a script of BF "
    "Runtime's\n"
    "Python client (setup.py).\n\n"
    "  --speed SPEED    of ports: 10G, 25G, 40G, 50G, 100G (default), 200G or 400G\n";

enum { ALL = 256, IGNORE, JSON, PROGRAM, SPEED, TLS, AUTHORITY, CERTIFICATE, KEY, SERVER_NAME };

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"all", no_argument, NULL, ALL},
    {"ignore", required_argument, NULL, IGNORE},
    {"json", no_argument, NULL, JSON},
    {"program", required_argument, NULL, PROGRAM},
    {"speed", required_argument, NULL, SPEED},
    {"tls", no_argument, NULL, TLS},
    {"authority", required_argument, NULL, AUTHORITY},
    {"certificate", required_argument, NULL, CERTIFICATE},
    {"key", required_argument, NULL, KEY},
    {"server-name", required_argument, NULL, SERVER_NAME},
    {NULL, 0, NULL, 0},
};

bool twin_new_folder(const char *path) {
    unsigned n = 0;
    if (!cli_make_folders("twin", path))
        return false;
    DIR *folder = opendir(path);
    if (!folder) {
        fprintf(stderr, "silken twin: cannot read %s: %s\n", path, strerror(errno));
        return false;
    }
    while (readdir(folder))
        n++;
    closedir(folder);
    if (n > 2) // itself, and the one above
        fprintf(stderr, "silken twin: %s is not empty\n", path);
    return n <= 2;
}

// Any of the options of TLS says that there is TLS. False: 'option' is another one.
static bool twin_take_tls(struct twin_words *w, int option) {
    const char **to = option == AUTHORITY     ? &w->authority
                      : option == CERTIFICATE ? &w->certificate
                      : option == KEY         ? &w->key
                      : option == SERVER_NAME ? &w->server_name
                                              : NULL;
    if (!to && option != TLS)
        return false;
    if (to)
        *to = optarg;
    w->tls = true;
    return true;
}

static int twin_take(void *aux, int option) {
    struct twin_words *w = aux;
    if (twin_take_tls(w, option))
        return 0;
    switch (option) {
    case ALL:
        w->everything = true;
        return 0;
    case IGNORE:
        cli_push(&w->ignore, optarg);
        return 0;
    case JSON:
        w->json = true;
        return 0;
    case PROGRAM:
        w->program = optarg;
        return 0;
    case SPEED:
        w->speed = optarg;
        return 0;
    default:
        if (w->n == 2)
            return cli_misused("twin", "'%s' is one word too many", optarg);
        w->words[w->n++] = optarg;
        return 0;
    }
}

static bool twin_repeats(int option) {
    return option == IGNORE;
}

int cmd_twin(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(const struct twin_words *w);
    } commands[] = {{"diff", twin_run_diff}, {"dump", twin_run_dump}, {"pack", twin_run_pack}};
    struct twin_words w = {.n = 0};
    const char *command = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
    const int from = command ? 1 : 0;
    int (*run)(const struct twin_words *w) = NULL;
    for (size_t i = 0; command && i < sizeof commands / sizeof *commands; i++)
        if (strcmp(command, commands[i].name) == 0)
            run = commands[i].run;
    if (command && !run)
        return cli_misused("twin", "there is no command '%s'", command);
    int status =
        cli_each_word(&(struct cli_words){"twin", usage, "-:h", options, twin_take, twin_repeats},
                      &w, argc - from, argv + from);
    if (!status && !run)
        status = cli_misused("twin", "a command is missing");
    if (!status && w.n < 2)
        status = cli_misused("twin", "%s takes two words", command);
    if (!status && w.tls && run != twin_run_dump)
        status = cli_misused("twin", "%s does not connect to a server: TLS is for dump", command);
    if (!status)
        status = run(&w);
    free(w.ignore.items);
    return status == CLI_HELPED ? EXIT_GOOD : status;
}
