// SPDX-License-Identifier: Apache-2.0
//
// What `silken worker` can be told.
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/worker.h"

const char work_usage[] =
    "usage: silken worker [OPTION]... --rank N --workers N --device DEVICE --mac MAC --ip IP...\n"
    "       silken worker [OPTION]... --controller HOST:PORT --rank N --workers N --device DEVICE\n"
    "       silken worker [OPTION]... --protocol atp --job-file FILE --rank N --device "
    "DEVICE...\n\n"
    "Runs one worker of a job: sums generated tensors with the other workers, through the switch, "
    "checks\n"
    "every element and prints the time. All workers need the same options except rank, devices "
    "and\n"
    "addresses.\n\n"
    "  --protocol NAME     switchml or atp (switchml)\n"
    "  --rank N            this worker's number, from 0\n"
    "  --workers N         workers of the job\n"
    "  --device DEVICE     how to reach the switch: a DPDK device such as\n"
    "                      net_memif0,role=client,id=0,socket=/run/w0.sock, or "
    "afpacket:INTERFACE,\n"
    "                      or udp: (kernel sockets; no privileges, and --mac is not needed), or\n"
    "                      roce:INTERFACE (SwitchML by RoCEv2, as --rdma).\n"
    "                      Each further device starts another lane with its own thread; --mac, "
    "--ip\n"
    "                      and --cpu apply to the preceding device\n"
    "  --lanes N           lanes of one device udp:, each with its own thread and sockets, 1 to 16 "
    "(1)\n"
    "  --cpu N             processor of that lane's thread (any)\n"
    "  --no-segments       a device udp: gives packets to the kernel one by one, not those of a "
    "burst\n"
    "                      as one frame: for a switch in software that does not know such frames\n"
    "  --elements N        elements of a tensor (25000000)\n"
    "  --rounds N          tensors to sum (5)\n"
    "  --seed N            seed of the values; the same at all workers (0)\n"
    "  --rto-min US, --rto-max US   bounds of the retransmission timeout\n"
    "  --limit MS          give up after this time without progress (30000)\n"
    "  --no-session        do not join a session: for a switch without sessions. Before a job is\n"
    "                      started a second time, its state in the switch must be cleared\n\n"
    "With a job service (\"job_service\" of `silken run`), which assigns addresses, job and "
    "slots:\n"
    "  --controller HOST:PORT   address of the service; --mac, --ip, --port and --pool need not be "
    "given\n"
    "  --job-name NAME     the job's name (SILKEN_JOB_NAME of the environment)\n"
    "  --token-file FILE   its first line is the service's token (SILKEN_TOKEN_FILE, or "
    "SILKEN_TOKEN\n"
    "                      with the token itself)\n"
    "  --wait MS           how long to wait for the job's other workers (the service's time)\n\n"
    "For SwitchML:\n"
    "  --mac MAC --ip IP   the worker's addresses on that device\n"
    "  --port N            the worker's UDP port, 0xbee0 to 0xbeef (0xbee0)\n"
    "  --switch-mac MAC    the switch's MAC address (02:00:00:00:00:fe)\n"
    "  --switch-ip IP      the switch's IP address (10.0.0.254)\n"
    "  --job N             the job's number (1)\n"
    "  --pool N            the job's slots: packets in flight (128)\n"
    "  --packet N          elements in a packet: 32, 64, 128 or 256 (256)\n"
    "  --type f32|f16|i32  type of the elements (f32)\n"
    "  --f16               the switch adds 16-bit floats (p4/switchml/halves.p4): f16 go as they "
    "are, f32\n"
    "                      are rounded to f16, and there are no i32\n"
    "  --rdma              by RoCEv2 (p4/switchml/with_roce.p4), over each --device as frames\n"
    "  --pairs N           queue pairs, which share the job's slots, with --rdma (8)\n"
    "  --queue-pair N      the switch's first queue pair for this worker, a multiple of 64 (0)\n\n"
    "For ATP:\n"
    "  --job-file FILE     the job's description, common to all stations (see the manual). On "
    "SIGHUP it\n"
    "                      is read again, since workers may have moved to other racks\n"
    "  --first F:C:N       for a worker that replaces a failed one: flow F has C complete "
    "fragments, and\n"
    "                      the next one has number N, as `silken server` prints after SIGHUP; "
    "once\n"
    "                      for each flow\n";

enum {
    RANK = 256,
    WORKERS,
    DEVICE,
    MAC,
    IP,
    CPU,
    PORT,
    SWITCH_MAC,
    SWITCH_IP,
    JOB,
    POOL,
    PACKET,
    ELEMENTS,
    TYPE,
    F16,
    ROUNDS,
    RTO_MIN,
    RTO_MAX,
    LIMIT,
    PROTOCOL,
    JOB_FILE,
    FIRST,
    NO_SESSION,
    SEED,
    CONTROLLER,
    JOB_NAME,
    TOKEN_FILE,
    WAIT,
    LANES,
    PAIRS,
    QUEUE_PAIR,
    NO_SEGMENTS,
    RDMA
};

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"rank", required_argument, NULL, RANK},
    {"workers", required_argument, NULL, WORKERS},
    {"device", required_argument, NULL, DEVICE},
    {"mac", required_argument, NULL, MAC},
    {"ip", required_argument, NULL, IP},
    {"cpu", required_argument, NULL, CPU},
    {"port", required_argument, NULL, PORT},
    {"switch-mac", required_argument, NULL, SWITCH_MAC},
    {"switch-ip", required_argument, NULL, SWITCH_IP},
    {"job", required_argument, NULL, JOB},
    {"pool", required_argument, NULL, POOL},
    {"packet", required_argument, NULL, PACKET},
    {"elements", required_argument, NULL, ELEMENTS},
    {"type", required_argument, NULL, TYPE},
    {"f16", no_argument, NULL, F16},
    {"rounds", required_argument, NULL, ROUNDS},
    {"rto-min", required_argument, NULL, RTO_MIN},
    {"rto-max", required_argument, NULL, RTO_MAX},
    {"limit", required_argument, NULL, LIMIT},
    {"protocol", required_argument, NULL, PROTOCOL},
    {"job-file", required_argument, NULL, JOB_FILE},
    {"first", required_argument, NULL, FIRST},
    {"seed", required_argument, NULL, SEED},
    {"no-session", no_argument, NULL, NO_SESSION},
    {"controller", required_argument, NULL, CONTROLLER},
    {"job-name", required_argument, NULL, JOB_NAME},
    {"token-file", required_argument, NULL, TOKEN_FILE},
    {"wait", required_argument, NULL, WAIT},
    {"lanes", required_argument, NULL, LANES},
    {"no-segments", no_argument, NULL, NO_SEGMENTS},
    {"rdma", no_argument, NULL, RDMA},
    {"pairs", required_argument, NULL, PAIRS},
    {"queue-pair", required_argument, NULL, QUEUE_PAIR},
    {NULL, 0, NULL, 0},
};

// An option of a lane.
static int take_lane_option(struct work *w, int option, char *value) {
    struct silken_lane *lane = &w->lane[w->config.lanes ? w->config.lanes - 1 : 0];
    uint64_t n;

    if (option == DEVICE) {
        if (w->config.lanes == SILKEN_MAX_LANES) {
            return cli_misused("worker", "there can be %d devices", SILKEN_MAX_LANES);
        }
        w->lane[w->config.lanes++] = (struct silken_lane){.device = value, .cpu = -1};
        return 0;
    }
    if (w->config.lanes == 0) {
        return cli_misused("worker", "--mac, --ip and --cpu must come after a --device");
    }
    if (option == CPU) {
        if (!cli_number(value, 1023, &n)) {
            return cli_misused("worker", "'%s' is not a processor", value);
        }
        lane->cpu = (int)n;
    } else {
        *(option == MAC ? &lane->worker_mac : &lane->worker_ip) = value;
    }
    return 0;
}

static int worker_options_take_number(struct work *w, int option, const char *value) {
    static const uint64_t largest[] = {
        [RANK - RANK] = 4095,        [WORKERS - RANK] = 4096,
        [PORT - RANK] = 65535,       [JOB - RANK] = 255,
        [POOL - RANK] = 16384,       [PACKET - RANK] = 256,
        [ELEMENTS - RANK] = 1 << 30, [ROUNDS - RANK] = 1000000000,
        [RTO_MIN - RANK] = 60000000, [RTO_MAX - RANK] = 60000000,
        [LIMIT - RANK] = 86400000,   [SEED - RANK] = UINT32_MAX,
        [WAIT - RANK] = 86400000,    [LANES - RANK] = 16,
        [PAIRS - RANK] = 64,         [QUEUE_PAIR - RANK] = 0xffffff,
    };
    struct silken_config *c = &w->config;
    uint64_t n;

    if (!cli_number(value, largest[option - RANK], &n)) {
        return cli_misused("worker", "'%s' is not a number from 0 to %llu", value,
                           (unsigned long long)largest[option - RANK]);
    }
    switch (option) {
    case RANK:
        c->rank = (uint32_t)n;
        break;
    case WORKERS:
        c->workers = (uint32_t)n;
        break;
    case PORT:
        c->worker_port = w->service.port = (uint16_t)n;
        break;
    case JOB:
        c->job = (uint8_t)n;
        break;
    case POOL:
        c->pool_size = w->service.slots = (uint32_t)n;
        break;
    case PACKET:
        c->k = (uint16_t)n;
        break;
    case ELEMENTS:
        w->elements = n;
        break;
    case ROUNDS:
        w->rounds = n;
        break;
    case SEED:
        w->seed = n;
        break;
    case WAIT:
        w->service.wait_ms = (uint32_t)n;
        break;
    case LANES:
        w->shared = (uint32_t)n;
        break;
    case PAIRS:
        c->rdma.pairs = (uint32_t)n;
        break;
    case QUEUE_PAIR:
        c->rdma.queue_pair = (uint32_t)n;
        break;
    case RTO_MIN:
        c->rto_min_us = (uint32_t)n;
        break;
    case RTO_MAX:
        c->rto_max_us = (uint32_t)n;
        break;
    default:
        c->hard_limit_ms = (uint32_t)n;
    }
    return 0;
}

// "2:1000:1000": of flow 2, fragments complete and the next one's number.
static int worker_options_take_first(struct work *w, const char *value) {
    unsigned long long complete, next;
    unsigned flow;
    char rest;

    if (sscanf(value, "%3u:%18llu:%18llu%c", &flow, &complete, &next, &rest) != 3 ||
        flow >= SILKEN_MAX_FLOWS) {
        return cli_misused("worker", "--first takes a value like 0:1000:1000, not '%s'", value);
    }
    w->first[flow] = (struct silken_first){complete, next};
    w->firsts |= UINT64_C(1) << flow;
    return 0;
}

static int take_protocol(struct work *w, const char *value) {
    bool atp = strcmp(value, "atp") == 0;

    if (!atp && strcmp(value, "switchml") != 0) {
        return cli_misused("worker", "--protocol takes switchml or atp, not '%s'", value);
    }
    w->config.protocol = atp ? SILKEN_ATP : SILKEN_SWITCHML;
    return 0;
}

// ATP's job file has these.
static bool is_only_switchml(int option) {
    return option == WORKERS || option == MAC || option == IP || option == PORT ||
           option == SWITCH_MAC || option == SWITCH_IP || option == JOB || option == POOL ||
           option == PACKET || option == TYPE || option == F16 || option == LANES ||
           option == RDMA || option == PAIRS || option == QUEUE_PAIR;
}

static bool take_service_option(struct silken_service *s, int option, const char *value) {
    const char **member = option == CONTROLLER   ? &s->controller
                          : option == JOB_NAME   ? &s->job
                          : option == TOKEN_FILE ? &s->token_file
                                                 : NULL;
    if (member) {
        *member = value;
    }
    if (option == TOKEN_FILE) {
        s->token = NULL;
    }
    return member;
}

static int worker_options_take(struct work *w, int option, char *value) {
    if (is_only_switchml(option) || option == CONTROLLER) {
        w->only_switchml = option;
    }
    w->given |= option == SWITCH_MAC || option == SWITCH_IP || option == JOB || option == PACKET ||
                option == NO_SESSION;
    if (take_service_option(&w->service, option, value)) {
        return 0;
    }
    switch (option) {
    case PROTOCOL:
        return take_protocol(w, value);
    case JOB_FILE:
        w->path = value;
        return 0;
    case FIRST:
        return worker_options_take_first(w, value);
    case NO_SEGMENTS:
        w->config.no_segments = true;
        return 0;
    case NO_SESSION:
        w->config.no_session = true;
        return 0;
    case DEVICE:
    case MAC:
    case IP:
    case CPU:
        return take_lane_option(w, option, value);
    case SWITCH_MAC:
        w->config.switch_mac = value;
        return 0;
    case SWITCH_IP:
        w->config.switch_ip = value;
        return 0;
    case TYPE:
        w->integers = strcmp(value, "i32") == 0;
        w->halves = strcmp(value, "f16") == 0;
        return w->integers || w->halves || strcmp(value, "f32") == 0
                   ? 0
                   : cli_misused("worker", "--type takes f32, f16 or i32, not '%s'", value);
    case F16:
        w->config.f16 = true;
        return 0;
    case RDMA:
        w->rdma = true;
        return 0;
    default:
        return worker_options_take_number(w, option, value);
    }
}

static const char *worker_options_name_of(int option) {
    for (const struct option *o = options; o->name; o++) {
        if (o->val == option) {
            return o->name;
        }
    }
    return "";
}

static int worker_options_check_switchml(const struct work *w) {
    if (w->path || w->firsts) {
        return cli_misused("worker", "--job-file and --first need --protocol atp");
    }
    if (w->service.controller && (w->given || w->config.lanes > 1)) {
        return cli_misused("worker",
                           "--controller goes with one --device, and without --switch-mac, "
                           "--switch-ip, --job, --packet and --no-session");
    }
    if (w->config.f16 && w->integers) {
        return cli_misused("worker", "--f16 takes no --type i32: the switch adds 16-bit floats");
    }
    if (w->config.lanes == 0 || w->config.workers == 0) {
        return cli_misused("worker", "--workers and at least one --device are needed");
    }
    if (w->shared > 1 && w->config.lanes > 1) {
        return cli_misused("worker", "--lanes goes with one --device, which is udp:");
    }
    return 0;
}

static int check_atp(const struct work *w) {
    if (w->only_switchml) {
        return cli_misused("worker", "--%s needs --protocol switchml",
                           worker_options_name_of(w->only_switchml));
    }
    if (w->config.lanes == 0 || !w->path) {
        return cli_misused("worker", "--job-file and at least one --device are needed");
    }
    return 0;
}

int work_take_options(struct work *w, int argc, char **argv) {
    opterr = 0;
    silken_service_from_env(&w->service);
    w->service.controller = NULL; // only if asked for
    for (int c; (c = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        int status = c == '?' || c == ':' ? cli_bad_option("worker", c, argv)
                     : c == 'h'           ? -1
                                          : worker_options_take(w, c, optarg);
        if (status) {
            return status;
        }
    }
    if (optind != argc) {
        return cli_misused("worker", "unexpected argument '%s'", argv[optind]);
    }
    if (w->config.rto_min_us > w->config.rto_max_us) {
        return cli_misused("worker", "--rto-min is above --rto-max");
    }
    return w->config.protocol == SILKEN_ATP ? check_atp(w) : worker_options_check_switchml(w);
}
