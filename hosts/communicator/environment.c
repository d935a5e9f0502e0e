// SPDX-License-Identifier: Apache-2.0
#include "hosts/communicator/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/core/text.h"
#include "silken/service.h"

// ---- the variables ---------------------------------------------------------------------------

enum environment_kind {
    ENVIRONMENT_TEXT,
    ENVIRONMENT_FLAG,
    ENVIRONMENT_NOT_FLAG,
    ENVIRONMENT_U8,
    ENVIRONMENT_U16,
    ENVIRONMENT_U32,
    ENVIRONMENT_INT
};

struct environment_variable {
    const char *name;
    enum environment_kind kind;
    size_t at; // in struct silken_config
    uint32_t least, most;
};

#define ENVIRONMENT_AT(member) offsetof(struct silken_config, member)

static const struct environment_variable environment_variables[] = {
    {"SILKEN_DEVICE", ENVIRONMENT_TEXT, ENVIRONMENT_AT(device), 0, 0},
    {"SILKEN_SWITCH_IP", ENVIRONMENT_TEXT, ENVIRONMENT_AT(switch_ip), 0, 0},
    {"SILKEN_SWITCH_MAC", ENVIRONMENT_TEXT, ENVIRONMENT_AT(switch_mac), 0, 0},
    {"SILKEN_SWITCH_PORT", ENVIRONMENT_U16, ENVIRONMENT_AT(switch_port), 1, 65535},
    {"SILKEN_WORKER_IP", ENVIRONMENT_TEXT, ENVIRONMENT_AT(worker_ip), 0, 0},
    {"SILKEN_WORKER_MAC", ENVIRONMENT_TEXT, ENVIRONMENT_AT(worker_mac), 0, 0},
    {"SILKEN_WORKER_PORT", ENVIRONMENT_U16, ENVIRONMENT_AT(worker_port), 1, 65535},
    {"SILKEN_JOB", ENVIRONMENT_U8, ENVIRONMENT_AT(job), 0, 255},
    {"SILKEN_POOL", ENVIRONMENT_U32, ENVIRONMENT_AT(pool_size), 1, 16384},
    {"SILKEN_K", ENVIRONMENT_U16, ENVIRONMENT_AT(k), 32, 256},
    {"SILKEN_CPU", ENVIRONMENT_INT, ENVIRONMENT_AT(cpu), 0, 1023},
    {"SILKEN_LANES", ENVIRONMENT_U32, ENVIRONMENT_AT(lanes), 1, 16},
    {"SILKEN_RTO_MIN_US", ENVIRONMENT_U32, ENVIRONMENT_AT(rto_min_us), 1, 60000000},
    {"SILKEN_RTO_MAX_US", ENVIRONMENT_U32, ENVIRONMENT_AT(rto_max_us), 1, 60000000},
    {"SILKEN_RTO_INITIAL_US", ENVIRONMENT_U32, ENVIRONMENT_AT(rto_initial_us), 1, 60000000},
    {"SILKEN_STALL_WARNING_MS", ENVIRONMENT_U32, ENVIRONMENT_AT(stall_warning_ms), 0, 86400000},
    {"SILKEN_HARD_LIMIT_MS", ENVIRONMENT_U32, ENVIRONMENT_AT(hard_limit_ms), 0, 86400000},
    {"SILKEN_PROGRESS_THREAD", ENVIRONMENT_FLAG, ENVIRONMENT_AT(progress_thread), 0, 1},
    {"SILKEN_SESSION", ENVIRONMENT_NOT_FLAG, ENVIRONMENT_AT(no_session), 0, 1},
    {"SILKEN_F16", ENVIRONMENT_FLAG, ENVIRONMENT_AT(f16), 0, 1},
    {"SILKEN_RDMA_PAIRS", ENVIRONMENT_U32, ENVIRONMENT_AT(rdma.pairs), 1, 64},
    {"SILKEN_RDMA_QUEUE_PAIR", ENVIRONMENT_U32, ENVIRONMENT_AT(rdma.queue_pair), 0, 0xffffc0},
    {"SILKEN_SEGMENTS", ENVIRONMENT_NOT_FLAG, ENVIRONMENT_AT(no_segments), 0, 1},
};

// Who starts processes tells them their places; ours go first.
static const struct {
    const char *rank, *workers;
} environment_launchers[] = {
    {"SILKEN_RANK", "SILKEN_WORKERS"},
    {"RANK", "WORLD_SIZE"},                           // torchrun
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, // Open MPI
    {"PMI_RANK", "PMI_SIZE"},                         // MPICH and others
    {"SLURM_PROCID", "SLURM_NTASKS"},                 // srun
};

// ---- reading ---------------------------------------------------------------------------------

struct environment_reader {
    struct silken_config *config;
    char *texts;
    size_t used; // of 'texts'
    sk_setting_get *get;
    void *aux;
    char *why;
    size_t why_cap;
};

static int environment_refuse(struct environment_reader *r, const char *name, const char *text,
                              const char *expected) {
    snprintf(r->why, r->why_cap, "%s is '%.80s': expected %s", name, text, expected);
    return SILKEN_ERR_INVALID;
}

// Digits alone, without a sign or spaces.
static bool environment_number(const char *text, uint32_t least, uint32_t most, uint32_t *n) {
    uint64_t value = 0;
    size_t i = 0;

    for (; text[i] >= '0' && text[i] <= '9' && value <= most; i++)
        value = value * 10 + (uint64_t)(text[i] - '0');
    *n = (uint32_t)value;
    return i > 0 && !text[i] && value >= least && value <= most;
}

static int environment_read_number(struct environment_reader *r, const char *name, const char *text,
                                   uint32_t least, uint32_t most, uint32_t *n) {
    char expected[64];

    if (environment_number(text, least, most, n))
        return 0;
    snprintf(expected, sizeof expected, "a number from %u to %u", least, most);
    return environment_refuse(r, name, text, expected);
}

// A copy of 'text' with the rank in place of %r.
static int environment_read_text(struct environment_reader *r, const char *name, const char *text,
                                 const char **copy) {
    struct sk_text out = SK_TEXT(r->texts + r->used, SILKEN_ENV_TEXTS - r->used);

    for (const char *p = text; *p; p++)
        if (*p != '%')
            sk_say(&out, "%c", *p);
        else if (*++p == 'r')
            sk_say(&out, "%u", r->config->rank);
        else if (*p == '%')
            sk_say(&out, "%%");
        else
            return environment_refuse(r, name, text, "%r for the rank or %% for % after each %");
    if (strlen(text) >= SILKEN_ENV_TEXTS / 4 || r->used + out.length + 2 > SILKEN_ENV_TEXTS)
        return environment_refuse(r, name, text, "a shorter text");
    *copy = r->texts + r->used;
    r->texts[r->used + out.length] = 0;
    r->used += out.length + 1;
    return 0;
}

static int environment_read_variable(struct environment_reader *r,
                                     const struct environment_variable *v) {
    char *member = (char *)r->config + v->at;
    const char *text = r->get(r->aux, v->name);
    uint32_t n = 0;
    int rc;

    if (!text || !*text)
        return 0;
    if (v->kind == ENVIRONMENT_TEXT)
        return environment_read_text(r, v->name, text, (const char **)(void *)member);
    rc = environment_read_number(r, v->name, text, v->least, v->most, &n);
    if (rc != 0)
        return rc;
    switch (v->kind) {
    case ENVIRONMENT_FLAG:
    case ENVIRONMENT_NOT_FLAG:
        *(bool *)member = (n == 1) == (v->kind == ENVIRONMENT_FLAG);
        break;
    case ENVIRONMENT_U8:
        *(uint8_t *)member = (uint8_t)n;
        break;
    case ENVIRONMENT_U16:
        *(uint16_t *)(void *)member = (uint16_t)n;
        break;
    case ENVIRONMENT_INT:
        *(int *)(void *)member = (int)n;
        break;
    default:
        *(uint32_t *)(void *)member = n;
    }
    return 0;
}

static bool environment_has(const struct environment_reader *r, const char *name) {
    const char *text = r->get(r->aux, name);

    return text && *text;
}

// Rank and number of workers, both of the first launcher that says one of them.
static int environment_read_place(struct environment_reader *r) {
    struct silken_config *c = r->config;

    for (size_t i = 0; i < sizeof environment_launchers / sizeof *environment_launchers; i++) {
        const char *names[] = {environment_launchers[i].rank, environment_launchers[i].workers};
        const bool rank = environment_has(r, names[0]), workers = environment_has(r, names[1]);
        int rc;
        if (!rank && !workers)
            continue;
        if (!rank || !workers) {
            snprintf(r->why, r->why_cap, "%s is set, but %s is not", names[!rank], names[rank]);
            return SILKEN_ERR_INVALID;
        }
        rc = environment_read_number(r, names[1], r->get(r->aux, names[1]), 1, 65535, &c->workers);
        return rc ? rc
                  : environment_read_number(r, names[0], r->get(r->aux, names[0]), 0,
                                            c->workers - 1, &c->rank);
    }
    snprintf(
        r->why, r->why_cap,
        "SILKEN_RANK and SILKEN_WORKERS are not set, nor those of a launcher (torchrun, Open MPI, "
        "PMI, Slurm)");
    return SILKEN_ERR_INVALID;
}

int sk_environment_read(struct silken_config *config, char *texts, sk_setting_get *get, void *aux,
                        char *why, size_t why_cap) {
    struct environment_reader r = {config, texts, 0, get, aux, why, why_cap};
    int rc;

    silken_config_init(config);
    config->device = "udp:";
    rc = environment_read_place(&r);
    for (size_t i = 0; rc == 0 && i < sizeof environment_variables / sizeof *environment_variables;
         i++)
        rc = environment_read_variable(&r, &environment_variables[i]);
    if (rc == 0 && !config->switch_ip && !environment_has(&r, "SILKEN_CONTROLLER")) {
        snprintf(
            why, why_cap,
            "neither SILKEN_SWITCH_IP, the switch's IP address, is set, nor SILKEN_CONTROLLER, a "
            "job service's");
        rc = SILKEN_ERR_INVALID;
    }
    if (rc == 0 && config->rto_min_us > config->rto_max_us) {
        snprintf(why, why_cap, "SILKEN_RTO_MIN_US is above SILKEN_RTO_MAX_US");
        rc = SILKEN_ERR_INVALID;
    }
    return rc;
}

// ---- the process's environment ---------------------------------------------------------------

static const char *environment_of_process(void *aux, const char *name) {
    (void)aux;
    return getenv(name);
}

static bool environment_has_rdma(void) {
    const char *pairs = getenv("SILKEN_RDMA_PAIRS"), *first = getenv("SILKEN_RDMA_QUEUE_PAIR");

    return (pairs && *pairs) || (first && *first);
}

int silken_config_env_sized(struct silken_config *config, size_t size, char *texts, char *why,
                            size_t why_cap) {
    struct silken_config all;
    int rc = sk_environment_read(&all, texts, environment_of_process, NULL, why, why_cap);

    if (rc == 0 && all.f16 && size <= offsetof(struct silken_config, f16)) {
        snprintf(why, why_cap,
                 "SILKEN_F16 is set, which this program does not know: it was built "
                 "for an earlier libsilken");
        return SILKEN_ERR_INVALID;
    }
    if (rc == 0 && size <= offsetof(struct silken_config, rdma) && environment_has_rdma()) {
        snprintf(why, why_cap,
                 "SILKEN_RDMA_PAIRS or SILKEN_RDMA_QUEUE_PAIR is set, which this program does not "
                 "know: it was built for an earlier libsilken");
        return SILKEN_ERR_INVALID;
    }
    if (rc == 0) {
        silken_config_init_sized(config, size);
        all.size = config->size;
        memcpy(config, &all, size < sizeof all ? size : sizeof all);
    }
    return rc;
}

int silken_config_admit(struct silken_config *config, char *why, size_t why_cap) {
    struct silken_service service = {.rank = config->rank,
                                     .workers = config->workers,
                                     .ip = config->worker_ip,
                                     .mac = config->worker_mac};
    const char *port = getenv("SILKEN_WORKER_PORT"), *pool = getenv("SILKEN_POOL");

    if (!silken_service_from_env(&service))
        return 0;
    service.port = port && *port ? config->worker_port : 0;
    service.slots = pool && *pool ? config->pool_size : 0;
    return silken_config_from_service(config, &service, why, why_cap);
}

int silken_open_env(struct silken_comm **comm, char *why, size_t why_cap) {
    char texts[SILKEN_ENV_TEXTS];
    struct silken_config config;
    int rc = silken_config_env_sized(&config, sizeof config, texts, why, why_cap);

    rc = rc ? rc : silken_config_admit(&config, why, why_cap);
    if (rc != 0)
        return rc;
    rc = silken_open(comm, &config, why, why_cap);
    if (rc != 0)
        silken_lease_close(config.lease);
    return rc;
}
