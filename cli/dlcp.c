// SPDX-License-Identifier: Apache-2.0
//
// silken dlcp: what a network for DLCP is told. thresholds: from which depths a switch's queues
// drop, for a model (DLCP, appendix B).
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli/cli.h"
#include "hosts/dlcp/tags.h"
#include "sim/models.h"
#include "sim/transport/thresholds.h"

#define FRAME_CELLS 19u // of 80 bytes: a frame of 1,514 bytes with its FCS
#define CELL        80u

static const char usage[] =
    "usage: silken dlcp thresholds [OPTION]... MODEL\n\n"
    "Finds the depths from which a switch's queues drop small and large gradients of a model, so "
    "that\n"
    "what is lost costs training least (appendix B of the DLCP paper), and prints them, with what "
    "is\n"
    "lost then by the model of queues. MODEL is one of those of silken sim.\n\n"
    "  --load R          packets that come, of those that a port can send, above 0, below 1 (0.9)\n"
    "  --buffer BYTES    room of a port for packets that wait (524288)\n"
    "  --small THETA     share of the packets that are not important, above 0, below 1 (0.5)\n"
    "  --tolerance S,L   percent of small and of large gradients whose loss costs one unit of "
    "rounds\n"
    "                    (1.6,0.1: figure 5b of the paper)\n"
    "  --layers F,B      the same of front and of back layers; those between lie between "
    "(1.1,0.4:\n"
    "                    figure 5a of the paper)\n"
    "  --json            print \"queues\" for a switch's configuration, without \"port\"\n";

enum { LOAD = 256, BUFFER, SMALL, TOLERANCE, LAYERS, JSON };

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"load", required_argument, NULL, LOAD},
    {"buffer", required_argument, NULL, BUFFER},
    {"small", required_argument, NULL, SMALL},
    {"tolerance", required_argument, NULL, TOLERANCE},
    {"layers", required_argument, NULL, LAYERS},
    {"json", no_argument, NULL, JSON},
    {NULL, 0, NULL, 0},
};

struct asked {
    double load, small, buffer;
    double tolerance[2], layers[2]; // small, large; front, back
    bool json;
};

// A number between two bounds, which it does not reach.
static bool dlcp_number(const char *text, double above, double below, double *out, char **end) {
    errno = 0;
    *out = strtod(text, end);
    return *end != text && errno == 0 && *out > above && *out < below;
}

static bool dlcp_pair(const char *text, double out[2]) {
    char *end;
    return dlcp_number(text, 0, 100.0001, &out[0], &end) && *end == ',' &&
           dlcp_number(end + 1, 0, 100.0001, &out[1], &end) && *end == 0;
}

static bool dlcp_option(int option, const char *text, struct asked *a) {
    char *end = NULL;
    switch (option) {
    case LOAD:
        return dlcp_number(text, 0, 1, &a->load, &end) && *end == 0;
    case BUFFER:
        return dlcp_number(text, 2 * THRESHOLDS_CLASSES * FRAME_CELLS * CELL - 1, 1e9, &a->buffer,
                           &end) &&
               *end == 0;
    case SMALL:
        return dlcp_number(text, 0, 1, &a->small, &end) && *end == 0;
    case TOLERANCE:
        return dlcp_pair(text, a->tolerance);
    case LAYERS:
        return dlcp_pair(text, a->layers);
    case JSON:
        a->json = true;
        return true;
    default:
        return false;
    }
}

static void dlcp_describe(const struct scn_model *m, const struct asked *a,
                          struct thresholds_config *c) {
    *c = (struct thresholds_config){
        .load = a->load, .small = a->small, .places = (uint32_t)(a->buffer / (FRAME_CELLS * CELL))};
    for (uint32_t x = 0; x < m->n; x++) // the model's list has the last layer first
        c->size[dlcp_class(x, (uint32_t)m->n)] += m->layers[m->n - 1 - x].bytes;
    for (uint32_t i = 0; i < THRESHOLDS_CLASSES; i++) {
        const double back = i / (THRESHOLDS_CLASSES - 1.0),
                     of_layer = a->layers[0] + back * (a->layers[1] - a->layers[0]);
        // relative to a layer in the middle, of which the tolerances by magnitude are taken to be
        const double factor = of_layer / ((a->layers[0] + a->layers[1]) / 2) / 100;
        c->small_tolerance[i] = a->tolerance[0] * factor;
        c->large_tolerance[i] = a->tolerance[1] * factor;
    }
}

static uint32_t dlcp_cells(double packets) {
    return (uint32_t)(packets * FRAME_CELLS + 0.5);
}

static void dlcp_print(const struct thresholds_config *c, const struct thresholds_class *q,
                       double cost) {
    double all = 0;
    for (size_t i = 0; i < THRESHOLDS_CLASSES; i++)
        all += c->size[i];
    printf(
        "class  size %%    rho   small: limit  cells  lost %%      large: limit  cells  lost %%\n");
    for (size_t i = 0; i < THRESHOLDS_CLASSES; i++)
        if (q[i].rho > 0)
            printf("%5zu  %6.2f  %5.3f  %13.1f  %5u  %-8.3g  %14.1f  %5u  %-8.3g\n", i,
                   100 * c->size[i] / all, q[i].rho, q[i].small_limit, dlcp_cells(q[i].small_limit),
                   100 * q[i].small_loss, q[i].large_limit, dlcp_cells(q[i].large_limit),
                   100 * q[i].large_loss);
    printf("%u packets of room; the loss costs %.4g units of rounds\n", c->places, cost);
}

static void dlcp_print_json(const struct thresholds_class *q) {
    json_t *schedule = json_array();
    json_array_append_new(schedule, json_pack("{s:i, s:i}", "qid", 7, "priority", 7));
    for (int i = 0; i < (int)THRESHOLDS_CLASSES; i++)
        if (q[i].rho > 0)
            json_array_append_new(schedule,
                                  json_pack("{s:i, s:i, s:I, s:I, s:I}", "qid", 6 - i, "priority",
                                            6 - i, "red", (json_int_t)dlcp_cells(q[i].small_limit),
                                            "yellow", (json_int_t)dlcp_cells(q[i].small_limit),
                                            "green", (json_int_t)dlcp_cells(q[i].large_limit)));
    json_t *all = json_pack("{s:[{s:o}]}", "queues", "schedule", schedule);
    if (!all)
        abort();
    json_dumpf(all, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(all);
}

static int dlcp_thresholds(const char *name, const struct asked *a) {
    static struct scn_model model;
    struct thresholds_config c;
    struct thresholds_class q[THRESHOLDS_CLASSES];
    if (!scn_model(name, &model)) {
        fprintf(stderr, "silken dlcp: there is no model '%s'; the models are:", name);
        for (size_t i = 0; scn_model_names[i]; i++)
            fprintf(stderr, " %s", scn_model_names[i]);
        fputc('\n', stderr);
        return 2;
    }
    dlcp_describe(&model, a, &c);
    const double cost = thresholds_find(&c, q);
    if (a->json)
        dlcp_print_json(q);
    else
        dlcp_print(&c, q, cost);
    return 0;
}

int cmd_dlcp(int argc, char **argv) {
    struct asked a = {
        .load = 0.9, .small = 0.5, .buffer = 524288, .tolerance = {1.6, 0.1}, .layers = {1.1, 0.4}};
    int option;
    if (argc < 2 || strcmp(argv[1], "thresholds") != 0) {
        const bool help =
            argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
        fputs(usage, help ? stdout : stderr);
        return help ? 0 : 2;
    }
    optind = 1;
    opterr = 0;
    argc--;
    argv++;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) >= 0) {
        if (option == '?' || option == ':')
            return cli_bad_option("dlcp", option, argv);
        if (option == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (!dlcp_option(option, optarg, &a)) {
            fprintf(stderr,
                    "silken dlcp thresholds: '%s' is not a value that the option can have "
                    "(--help)\n",
                    optarg);
            return 2;
        }
    }
    if (argc - optind != 1) {
        fputs("silken dlcp thresholds: it needs one model (--help)\n", stderr);
        return 2;
    }
    return dlcp_thresholds(argv[optind], &a);
}
