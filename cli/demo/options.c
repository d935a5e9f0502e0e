// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/options.h"

#include "cli/demo/dataset.h"
#include "cli/demo/fabric.h"
#include "hosts/atp/frame.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_LOSS 0.5

const char demo_usage[] =
    "usage: silken demo [OPTION]...\n\n"
    "Trains an image classifier with several worker processes whose gradients are summed by a P4\n"
    "program in a software switch, and checks every sum.\n\n"
    "  --protocol NAME   switchml; atp, which has parameter servers too; both: a job of each, "
    "side by\n"
    "                    side on one switch; or libra: a sparse model, whose parameters are at "
    "the\n"
    "                    switch and at parameter servers; or dlcp: workers and a server, whose\n"
    "                    packets may be lost within bounds (switchml)\n"
    "  --bound P         part of a gradient that may be missing; of what comes back a tenth (10%, "
    "dlcp)\n"
    "  --ring            gradients are summed over a ring, without a server (dlcp)\n"
    "  --network NAME    deep, eight layers; or convolutional (deep; dlcp)\n"
    "  --spines N        switches between racks, 1 to 4 (dlcp)\n"
    "  --servers N       parameter servers, 1 to 4 (atp: 1, libra: 2)\n"
    "  --sync            all workers' steps at the same parameters (libra)\n"
    "  --racks N         racks with a switch each, 1 to 4; servers are in the last one (1; "
    "switchml,\n"
    "                    atp, dlcp); or, with their hot parameters, in all of them (libra)\n"
    "  --levels N        levels of the racks' switches, 2 to 4: each sums what is below it (2; "
    "switchml)\n"
    "  --workers N       worker processes, 1 to 16 (4)\n"
    "  --lanes N         links and threads of each worker and server, 1 to 8 (1)\n"
    "  --elements N      gradient elements in a packet: 64 or 256 (256, with both 64; switchml)\n"
    "  --f16             16-bit floats to and from the switch: half the bytes (switchml)\n"
    "  --rdma            by RoCEv2, in messages of several packets (switchml)\n"
    "  --loss P          drop packets at random in both directions: 1% or 0.01 (0)\n"
    "  --links NAME      memif, shared memory; or veth, between network namespaces, as root "
    "(memif)\n"
    "  --epochs N        passes over the training images (1)\n"
    "  --steps N         stop after N steps instead\n"
    "  --batch N         images in a step, shared among the workers (128)\n"
    "  --images N        use the first N training images (all)\n"
    "  --seed N          seed of the initial weights and the order of images (1)\n"
    "  --program FILE    the P4 program (Silken's own switchml.p4, halves.p4, with_roce.p4,\n"
    "                    atp.p4 or ina.p4)\n"
    "  --data DIR        folder of the data set (" DATASET_FOLDER ")\n"
    "  --text FILE       train a model of next words on this text instead (libra)\n"
    "  --record FILE     record the packets of the (last rack's) switch (pcapng), for\n"
    "                    'silken replay'\n"
    "  --keep DIR        keep configuration and logs there\n"
    "  --limit SECONDS   give up after this time (300)\n"
    "  --quiet           print the result only\n"
    "  --help            print this\n";

struct parser {
    struct demo_options *o;
    char *error;
    size_t error_size;
    const char *name;  // of the option at hand
    const char *value; // of it
};

__attribute__((format(printf, 2, 3))) static int demo_options_fail(const struct parser *p,
                                                                   const char *format, ...) {
    va_list args;

    va_start(args, format);
    vsnprintf(p->error, p->error_size, format, args);
    va_end(args);
    return -1;
}

// ---- kinds of values ----------------------------------------------------------------------------

static int parse_number(const struct parser *p, uint64_t low, uint64_t high, uint64_t *out) {
    char *end;
    unsigned long long v;

    errno = 0;
    v = strtoull(p->value, &end, 0);
    if (p->value[0] < '0' || p->value[0] > '9' || *end || errno || v < low || v > high) {
        return demo_options_fail(p, "%s takes a number from %llu to %llu, not '%s'", p->name,
                                 (unsigned long long)low, (unsigned long long)high, p->value);
    }
    *out = v;
    return 0;
}

static int parse_unsigned(const struct parser *p, unsigned low, unsigned high, unsigned *out) {
    uint64_t v = 0;

    if (parse_number(p, low, high, &v)) {
        return -1;
    }
    *out = (unsigned)v;
    return 0;
}

// "1%" or "0.01".
static int parse_share(const struct parser *p, double *out) {
    char *end;
    double v;

    errno = 0;
    v = strtod(p->value, &end);
    if (end != p->value && *end == '%') {
        v /= 100;
        end++;
    }
    if (end == p->value || *end || errno || !(v >= 0 && v <= LARGEST_LOSS)) {
        return demo_options_fail(p,
                                 "%s takes a share from 0 to %g%%, such as 1%% or 0.01, not '%s'",
                                 p->name, 100 * LARGEST_LOSS, p->value);
    }
    *out = v;
    return 0;
}

static int parse_text(const struct parser *p, const char **out) {
    if (!p->value[0]) {
        return demo_options_fail(p, "%s takes a name, not an empty one", p->name);
    }
    *out = p->value;
    return 0;
}

// ---- the options --------------------------------------------------------------------------------

static int set_protocol(const struct parser *p) {
    bool atp = strcmp(p->value, "atp") == 0, both = strcmp(p->value, "both") == 0;
    bool libra = strcmp(p->value, "libra") == 0, dlcp = strcmp(p->value, "dlcp") == 0;

    if (!atp && !both && !libra && !dlcp && strcmp(p->value, "switchml") != 0) {
        return demo_options_fail(p, "--protocol takes switchml, atp, both, libra or dlcp, not '%s'",
                                 p->value);
    }
    p->o->protocol = atp ? SILKEN_ATP : SILKEN_SWITCHML;
    p->o->both = both;
    p->o->libra = libra;
    p->o->dlcp = dlcp;
    return 0;
}

static int set_servers(const struct parser *p) {
    return parse_unsigned(p, 1, DEMO_MAX_SERVERS, &p->o->servers);
}

static int set_racks(const struct parser *p) {
    return parse_unsigned(p, 1, DEMO_MAX_RACKS, &p->o->racks);
}

static int set_levels(const struct parser *p) {
    return parse_unsigned(p, 2, DEMO_MAX_RACKS, &p->o->levels);
}

static int set_links(const struct parser *p) {
    if (strcmp(p->value, "memif") != 0 && strcmp(p->value, "veth") != 0) {
        return demo_options_fail(p, "--links takes memif or veth, not '%s'", p->value);
    }
    p->o->veth = strcmp(p->value, "veth") == 0;
    return 0;
}

static int set_workers(const struct parser *p) {
    return parse_unsigned(p, 1, DEMO_MAX_WORKERS, &p->o->workers);
}

static int set_lanes(const struct parser *p) {
    return parse_unsigned(p, 1, DEMO_MAX_LANES, &p->o->lanes);
}

static int set_f16(const struct parser *p) {
    p->o->f16 = true;
    return 0;
}

static int set_rdma(const struct parser *p) {
    p->o->rdma = true;
    return 0;
}

static int set_elements(const struct parser *p) {
    uint64_t v = 0;

    if (parse_number(p, 1, UINT32_MAX, &v)) {
        return -1;
    }
    if (v != 64 && v != 256) {
        return demo_options_fail(p, "--elements takes 64 or 256, not %s", p->value);
    }
    p->o->elements = (unsigned)v;
    return 0;
}

static int set_loss(const struct parser *p) {
    return parse_share(p, &p->o->loss);
}

static int set_epochs(const struct parser *p) {
    return parse_unsigned(p, 1, 1000, &p->o->epochs);
}

static int set_steps(const struct parser *p) {
    return parse_unsigned(p, 1, 1000000, &p->o->steps);
}

static int set_batch(const struct parser *p) {
    return parse_unsigned(p, 1, 10000000, &p->o->batch);
}

static int set_images(const struct parser *p) {
    return parse_unsigned(p, 1, 10000000, &p->o->images);
}

static int set_seed(const struct parser *p) {
    return parse_number(p, 0, UINT64_MAX, &p->o->seed);
}

static int set_program(const struct parser *p) {
    return parse_text(p, &p->o->program);
}

static int set_text(const struct parser *p) {
    return parse_text(p, &p->o->text);
}

static int set_data(const struct parser *p) {
    return parse_text(p, &p->o->data);
}

static int set_record(const struct parser *p) {
    return parse_text(p, &p->o->record);
}

static int set_keep(const struct parser *p) {
    return parse_text(p, &p->o->keep);
}

static int demo_options_set_limit(const struct parser *p) {
    return parse_unsigned(p, 1, 86400, &p->o->limit);
}

static int set_sync(const struct parser *p) {
    p->o->sync = true;
    return 0;
}

static int set_ring(const struct parser *p) {
    p->o->ring = true;
    return 0;
}

static int set_bound(const struct parser *p) {
    return parse_share(p, &p->o->bound);
}

static int set_spines(const struct parser *p) {
    return parse_unsigned(p, 1, DEMO_MAX_RACKS, &p->o->spines);
}

static int set_network(const struct parser *p) {
    p->o->convolutional = strcmp(p->value, "convolutional") == 0;
    if (!p->o->convolutional && strcmp(p->value, "deep") != 0) {
        return demo_options_fail(p, "--network takes deep or convolutional, not '%s'", p->value);
    }
    return 0;
}

static int set_quiet(const struct parser *p) {
    p->o->quiet = true;
    return 0;
}

static int set_help(const struct parser *p) {
    p->o->help = true;
    return 0;
}

static const struct option {
    const char *name;
    bool takes_value;
    int (*set)(const struct parser *p);
} options[] = {
    {"--protocol", true, set_protocol},
    {"--servers", true, set_servers},
    {"--racks", true, set_racks},
    {"--levels", true, set_levels},
    {"--links", true, set_links},
    {"--workers", true, set_workers},
    {"--elements", true, set_elements},
    {"--f16", false, set_f16},
    {"--rdma", false, set_rdma},
    {"--lanes", true, set_lanes},
    {"--loss", true, set_loss},
    {"--epochs", true, set_epochs},
    {"--steps", true, set_steps},
    {"--batch", true, set_batch},
    {"--images", true, set_images},
    {"--seed", true, set_seed},
    {"--program", true, set_program},
    {"--data", true, set_data},
    {"--text", true, set_text},
    {"--keep", true, set_keep},
    {"--record", true, set_record},
    {"--limit", true, demo_options_set_limit},
    {"--quiet", false, set_quiet},
    {"-q", false, set_quiet},
    {"--sync", false, set_sync},
    {"--ring", false, set_ring},
    {"--bound", true, set_bound},
    {"--spines", true, set_spines},
    {"--network", true, set_network},
    {"--help", false, set_help},
    {"-h", false, set_help},
};

// 'length' is that of the name in "--name=value".
static const struct option *demo_options_find(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strlen(options[i].name) == length && memcmp(options[i].name, name, length) == 0) {
            return &options[i];
        }
    }
    return NULL;
}

// Takes the option at argv[*i], and its value.
static int parse_option(struct parser *p, int argc, char **argv, int *i) {
    const char *arg = argv[*i], *equals = strchr(arg, '=');
    const struct option *option =
        demo_options_find(arg, equals ? (size_t)(equals - arg) : strlen(arg));

    if (!option) {
        return demo_options_fail(p, "there is no option '%s'; see silken demo --help", arg);
    }
    if (equals && !option->takes_value) {
        return demo_options_fail(p, "%s takes no value", option->name);
    }
    p->name = option->name;
    p->value = equals ? equals + 1 : NULL;
    if (option->takes_value && !equals) {
        if (*i + 1 >= argc) {
            return demo_options_fail(p, "%s needs a value", option->name);
        }
        p->value = argv[++*i];
    }
    return option->set(p);
}

static int demo_options_check_together(const struct parser *p) {
    if (p->o->batch < p->o->workers) {
        return demo_options_fail(p, "a batch of %u images cannot be shared among %u workers",
                                 p->o->batch, p->o->workers);
    }
    if (p->o->libra && p->o->servers < p->o->racks) {
        return demo_options_fail(p, "%u servers cannot be spread over %u racks", p->o->servers,
                                 p->o->racks);
    }
    if (p->o->workers < p->o->racks) {
        return demo_options_fail(p, "%u workers cannot be spread over %u racks", p->o->workers,
                                 p->o->racks);
    }
    return 0;
}

static int check_ports(const struct parser *p) {
    const struct demo_options *o = p->o;
    unsigned links = (o->workers + o->servers) * o->lanes, ports = links + o->racks - 1;

    if (ports > FABRIC_PORTS) {
        return demo_options_fail(p, "%u workers%s with %u lanes need %u ports; there are %d",
                                 o->workers, o->servers ? " and their servers" : "", o->lanes,
                                 ports, FABRIC_PORTS);
    }
    return 0;
}

// What a sparse model has not.
static int check_libra(const struct parser *p) {
    const struct demo_options *o = p->o;
    const struct {
        bool given;
        const char *name;
    } others[] = {{o->lanes != 1, "--lanes"}, {o->elements, "--elements"},
                  {o->veth, "--links veth"},  {o->epochs != 1, "--epochs"},
                  {o->images, "--images"},    {o->record, "--record"}};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].given) {
            return demo_options_fail(p, "--protocol libra does not take %s", others[i].name);
        }
    }
    return 0;
}

// What DLCP has not, and what it needs.
static int check_dlcp(const struct parser *p) {
    const struct demo_options *o = p->o;
    const struct {
        bool given;
        const char *name;
    } others[] = {{o->servers, "--servers"},
                  {o->lanes != 1, "--lanes"},
                  {o->elements, "--elements"},
                  {o->record, "--record"}};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].given) {
            return demo_options_fail(p, "--protocol dlcp does not take %s", others[i].name);
        }
    }
    if ((o->racks > 1) != (o->spines > 0)) {
        return demo_options_fail(p,
                                 "several racks need --spines, and --spines needs several racks");
    }
    return 0;
}

static bool has_dlcp_option(const struct demo_options *o) {
    return o->ring || o->convolutional || o->spines || o->bound >= 0;
}

// What SwitchML over several racks has not.
static int check_levels(const struct parser *p) {
    const struct demo_options *o = p->o;

    if (o->f16 || o->rdma || o->lanes > 1) {
        return demo_options_fail(p,
                                 "--racks and --levels of SwitchML go with one lane, and without "
                                 "--f16 and --rdma");
    }
    if (o->racks && o->levels > o->racks) {
        return demo_options_fail(p, "%u racks do not have %u levels: each level has a rack",
                                 o->racks, o->levels);
    }
    return 0;
}

// What belongs to one protocol.
static int check_protocol(const struct parser *p) {
    const struct demo_options *o = p->o;
    bool atp = o->both || o->protocol == SILKEN_ATP;

    if (o->f16 && (o->libra || o->dlcp || atp)) {
        return demo_options_fail(p, "--f16 needs --protocol switchml");
    }
    if (o->rdma && (o->libra || o->dlcp || atp)) {
        return demo_options_fail(p, "--rdma needs --protocol switchml");
    }
    if (o->rdma && (o->f16 || o->lanes > 1)) {
        return demo_options_fail(p, "--rdma goes with one lane, and without --f16");
    }

    if (o->levels && (o->libra || o->dlcp || atp)) {
        return demo_options_fail(p, "--levels needs --protocol switchml");
    }
    if (o->libra) {
        return has_dlcp_option(o)
                   ? demo_options_fail(p, "--ring, --bound, --network and --spines need --protocol "
                                          "dlcp")
                   : check_libra(p);
    }
    if (o->sync) {
        return demo_options_fail(p, "--sync needs --protocol libra");
    }
    if (o->text) {
        return demo_options_fail(p, "--text needs --protocol libra");
    }
    if (o->dlcp) {
        return check_dlcp(p);
    }
    if (has_dlcp_option(o)) {
        return demo_options_fail(p, "--ring, --bound, --network and --spines need --protocol dlcp");
    }
    if (!atp && o->servers) {
        return demo_options_fail(p, "--servers needs --protocol atp or libra");
    }
    if (!atp && (o->racks > 1 || o->levels)) {
        return check_levels(p);
    }
    if (o->both && o->racks > 1) {
        return demo_options_fail(p, "both protocols share the switch of one rack");
    }
    if (!o->both && atp && o->elements) {
        return demo_options_fail(p, "--elements needs --protocol switchml: packets of ATP have %d",
                                 ATP_VALUES);
    }
    if (o->both && o->elements > 64) {
        return demo_options_fail(
            p, "on a switch for both protocols, SwitchML's packets have 64 elements");
    }
    return 0;
}

// The defaults that the protocol determines.
static void demo_options_settle(struct demo_options *o) {
    const char *program = "p4/switchml/switchml.p4";
    unsigned elements = 256;

    if (o->libra) {
        program = "p4/libra/libra.p4";
        o->servers = o->servers ? o->servers : 2;
    } else if (o->dlcp) {
        program = "p4/dlcp/dlcp.p4";
        o->bound = o->bound >= 0 ? o->bound : 0.1;
    } else if (o->both) {
        program = "p4/ina/ina.p4";
        elements = 64;
    } else if (o->protocol == SILKEN_ATP) {
        program = "p4/atp/atp.p4";
        elements = ATP_VALUES;
    } else if (o->rdma) {
        program = "p4/switchml/with_roce.p4";
    } else if (o->f16) {
        program = "p4/switchml/halves.p4";
    } else if (o->racks > 1 || o->levels) {
        program = "p4/switchml/with_levels.p4";
    }
    if ((o->both || o->protocol == SILKEN_ATP) && !o->servers) {
        o->servers = 1;
    }
    o->elements = o->elements ? o->elements : elements;
    o->racks = o->racks ? o->racks : o->levels ? o->levels : 1;
    o->levels = o->levels ? o->levels : o->racks > 1 ? 2 : 1;
    o->own_program = !o->program;
    o->program = o->program ? o->program : program;
}

int demo_options_parse(struct demo_options *o, int argc, char **argv, char *error,
                       size_t error_size) {
    struct parser p = {.o = o, .error = error, .error_size = error_size};

    *o = (struct demo_options){
        .workers = 4,
        .lanes = 1,
        .batch = 128,
        .epochs = 1,
        .limit = 300,
        .seed = 1,
        .bound = -1, // not given
        .data = DATASET_FOLDER,
    };
    for (int i = 1; i < argc; i++) {
        if (parse_option(&p, argc, argv, &i)) {
            return -1;
        }
    }
    if (check_protocol(&p)) {
        return -1;
    }
    demo_options_settle(o);
    return demo_options_check_together(&p) || check_ports(&p) ? -1 : 0;
}
