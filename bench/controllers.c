// SPDX-License-Identifier: Apache-2.0
//
// controllers: clients of BF Runtime at a running switch (bench/controllers.p4): a process
// `silken run` with all four pipes on one lcore, and this one, which is the client and, over memif,
// the traffic. The lcore has one processor; the switch's control thread, the client and the traffic
// share another. Figures are of the wall's clock.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "bench/grpc.h"
#include "brt/bfruntime.pb-c.h"
#include "memif/memif.h"
#include "rpc/rpc.h"

#define FORWARD  65536u
#define SOURCES  100000u
#define BATCH    1000u
#define ATOMIC   64u // updates in one step: the most
#define RUNNING  8u  // single writes on their way
#define FRAME    64u
#define BURST    32u
#define KEY      6u
#define ATTEMPTS 300
#define SERVICE  "/bfrt_proto.BfRuntime/"
#define WRITE    SERVICE "Write"
#define LOOP     2u // the port with a ring
#define FLOWS    1000u
#define LATE     256u // packets that the traffic may be late with

static void controllers_fail(const char *what, const char *why) __attribute__((noreturn));
static void controllers_fail(const char *what, const char *why) {
    fprintf(stderr, "bench: %s: %s\n", what, why);
    exit(1);
}

struct ids {
    uint32_t table, field, action, data;
};
struct controllers {
    char folder[512], socket[600], memif[600];
    pid_t sw;
    int cpu, other; // the lcore's; everybody else's
    uint16_t metrics;
    struct grpc *client;
    struct ids forward, sources;
    uint8_t *description; // what GetForwardingPipelineConfig says
    size_t n_description;
};

// ---- pauses ----

// The port that the switch's metrics are at: its log has "metrics ... port N".
static uint16_t controllers_metrics(const struct controllers *c) {
    char path[700], line[512];
    unsigned port = 0;
    snprintf(path, sizeof path, "%s/run.log", c->folder);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *at = strncmp(line, "metrics", 7) == 0 ? strstr(line, "port ") : NULL;
        if (at)
            port = (unsigned)strtoul(at + 5, NULL, 10);
    }
    if (!f || fclose(f) || port == 0 || port > UINT16_MAX)
        controllers_fail(path, "names no port of metrics");
    return (uint16_t)port;
}

// All of the switch's metrics, as text; the caller frees it.
static char *metrics_text(const struct controllers *c) {
    static const char ask[] = "GET /metrics HTTP/1.0\r\n\r\n";
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons(c->metrics),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    char part[4096], *text = NULL;
    size_t n = 0;
    ssize_t got;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        abort();
    if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof to) ||
        write(fd, ask, sizeof ask - 1) != (ssize_t)sizeof ask - 1)
        controllers_fail("metrics", strerror(errno));
    while ((got = read(fd, part, sizeof part)) > 0)
        fwrite(part, 1, (size_t)got, f);
    close(fd);
    fclose(f);
    return text;
}

static double metric(const char *text, const char *name) {
    char line[128];
    snprintf(line, sizeof line, "\n%s ", name);
    const char *at = strstr(text, line);
    if (!at)
        controllers_fail(name, "is no metric of the switch");
    return strtod(at + strlen(line), NULL);
}

// Of all pauses since the switch began: how many, their time, the longest, and the most that the
// control thread itself took of one; seconds.
struct pauses_seen {
    double n, all, longest, own;
};
static struct pauses_seen pauses_seen(const struct controllers *c) {
    char *text = metrics_text(c);
    const struct pauses_seen p = {metric(text, "silken_pauses_total"),
                                  metric(text, "silken_paused_seconds_total"),
                                  metric(text, "silken_longest_pause_seconds"),
                                  metric(text, "silken_longest_pause_cpu_seconds")};
    free(text);
    return p;
}

static double pause_mean_us(const struct pauses_seen *from, const struct pauses_seen *to) {
    return to->n > from->n ? (to->all - from->all) / (to->n - from->n) * 1e6 : 0;
}

// ---- the switch ----

static void controllers_configuration(const struct controllers *c, const char *path) {
    json_t *all = json_pack(
        "{s:[{s:i, s:o}, {s:i, s:s}], s:{s:o}, s:[i], s:s, s:{s:s}, s:i, s:i}", "ports", "port", 0,
        "device", json_sprintf("net_memif0,role=server,socket=%s,socket-abstract=no", c->memif),
        "port", LOOP, "device", "net_ring0", "bfrt", "listen", json_sprintf("unix:%s", c->socket),
        "cpus", c->cpu, "control_socket", "c.sock", "metrics", "listen", "127.0.0.1:0", "pipes", 4,
        "idle_sleep", 0);
    char *program = realpath("bench/controllers.p4", NULL);
    if (!all || !program)
        abort();
    json_object_set_new(all, "program", json_string(program));
    if (json_dump_file(all, path, JSON_INDENT(2)))
        controllers_fail(path, "cannot be written");
    json_decref(all);
    free(program);
}

static void controllers_pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    if (cpu >= 0 && sched_setaffinity(0, sizeof set, &set))
        controllers_fail("sched_setaffinity", strerror(errno));
}

// All threads of the switch but the lcore's, which has a processor already, to the other one.
static void controllers_apart(const struct controllers *c) {
    char path[64];
    cpu_set_t set, other;
    snprintf(path, sizeof path, "/proc/%d/task", (int)c->sw);
    DIR *d = opendir(path);
    CPU_ZERO(&other);
    CPU_SET((unsigned)c->other, &other);
    for (struct dirent *e; d && (e = readdir(d));) {
        const pid_t thread = (pid_t)atoi(e->d_name);
        if (thread > 0 && sched_getaffinity(thread, sizeof set, &set) == 0 && CPU_COUNT(&set) > 1 &&
            sched_setaffinity(thread, sizeof other, &other))
            controllers_fail(path, strerror(errno));
    }
    if (!d || closedir(d))
        controllers_fail(path, strerror(errno));
}

static void controllers_start(struct controllers *c, const char *self) {
    char path[700], log[700], silken[1024];
    snprintf(path, sizeof path, "%s/run.json", c->folder);
    snprintf(log, sizeof log, "%s/run.log", c->folder);
    snprintf(silken, sizeof silken, "%.*s/../silken", (int)(strrchr(self, '/') - self), self);
    snprintf(c->socket, sizeof c->socket, "%s/b.sock", c->folder);
    snprintf(c->memif, sizeof c->memif, "%s/m.sock", c->folder);
    controllers_configuration(c, path);
    c->sw = fork();
    if (c->sw == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        bench_unpin();
        if (!freopen(log, "w", stdout) || dup2(1, 2) != 2)
            _exit(127);
        execl(silken, silken, "run", "-c", path, (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < ATTEMPTS && access(c->socket, F_OK); i++) {
        if (c->sw < 0 || waitpid(c->sw, NULL, WNOHANG) == c->sw || i == ATTEMPTS - 1)
            controllers_fail("silken run", log);
        usleep(100000);
    }
    controllers_apart(c);
    c->metrics = controllers_metrics(c);
    c->client = grpc_open(c->socket);
}

static uint64_t status_field(pid_t pid, const char *name) { // KiB
    char path[64], line[256];
    uint64_t value = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtoull(line + strlen(name) + 1, NULL, 10);
    if (f)
        fclose(f);
    return value;
}

// ---- ids ----

static uint32_t id_of(const json_t *list, const char *name) {
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one) {
        const json_t *of =
            json_object_get(one, "singleton") ? json_object_get(one, "singleton") : one;
        if (strcmp(json_string_value(json_object_get(of, "name")), name) == 0)
            return (uint32_t)json_integer_value(json_object_get(of, "id"));
    }
    return 0;
}

static struct ids ids_of(const json_t *description, const char *table, const char *field,
                         const char *action, const char *data) {
    size_t i, k;
    const json_t *t, *a;
    json_array_foreach(json_object_get(description, "tables"), i, t) {
        if (strcmp(json_string_value(json_object_get(t, "name")), table) != 0)
            continue;
        struct ids ids = {.table = (uint32_t)json_integer_value(json_object_get(t, "id")),
                          .field = id_of(json_object_get(t, "key"), field)};
        json_array_foreach(json_object_get(t, "action_specs"), k, a) {
            if (strcmp(json_string_value(json_object_get(a, "name")), action) != 0)
                continue;
            ids.action = (uint32_t)json_integer_value(json_object_get(a, "id"));
            ids.data = data ? id_of(json_object_get(a, "data"), data) : 0;
        }
        return ids;
    }
    controllers_fail(table, "there is no such table");
}

static void controllers_learn(struct controllers *c) {
    static const uint8_t nothing[1];
    size_t n;
    const uint8_t *bytes =
        grpc_call(c->client, SERVICE "GetForwardingPipelineConfig", nothing, 0, &n, NULL);
    c->description = malloc(n);
    if (!c->description)
        abort();
    memcpy(c->description, bytes, n);
    c->n_description = n;
    BfrtProto__GetForwardingPipelineConfigResponse *r =
        bfrt_proto__get_forwarding_pipeline_config_response__unpack(NULL, n, bytes);
    json_error_t e;
    json_t *d = r && r->n_config ? json_loadb((const char *)r->config[0]->bfruntime_info.data,
                                              r->config[0]->bfruntime_info.len, 0, &e)
                                 : NULL;
    if (!d)
        controllers_fail("the switch's description", "cannot be read");
    c->forward = ids_of(d, "pipe.Ingress.forward", "hdr.ethernet.dst_addr", "Ingress.send", "port");
    c->sources = ids_of(d, "pipe.Ingress.sources", "hdr.ethernet.src_addr", "Ingress.known", NULL);
    json_decref(d);
    bfrt_proto__get_forwarding_pipeline_config_response__free_unpacked(r, NULL);
}

// ---- messages ----

static void address(uint32_t i, uint8_t mac[KEY]) {
    const uint64_t v = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 16;
    for (unsigned b = 0; b < KEY; b++)
        mac[b] = (uint8_t)(v >> (8 * b));
    mac[0] = (uint8_t)((mac[0] & 0xfc) | 2);
}

struct update_parts {
    BfrtProto__Update update, *pointer;
    BfrtProto__Entity entity;
    BfrtProto__TableEntry entry;
    BfrtProto__TableKey key;
    BfrtProto__KeyField field, *fields;
    BfrtProto__KeyField__Exact exact;
    BfrtProto__TableData data;
    BfrtProto__DataField value, *values;
    uint8_t mac[KEY], port[2];
};

static void update_make(struct update_parts *u, const struct ids *ids, BfrtProto__Update__Type type,
                        uint32_t i, uint16_t port) {
    bfrt_proto__update__init(&u->update);
    bfrt_proto__entity__init(&u->entity);
    bfrt_proto__table_entry__init(&u->entry);
    bfrt_proto__table_key__init(&u->key);
    bfrt_proto__key_field__init(&u->field);
    bfrt_proto__key_field__exact__init(&u->exact);
    bfrt_proto__table_data__init(&u->data);
    bfrt_proto__data_field__init(&u->value);
    address(i, u->mac);
    u->port[0] = (uint8_t)(port >> 8), u->port[1] = (uint8_t)port;
    u->exact.value = (ProtobufCBinaryData){KEY, u->mac};
    u->field.field_id = ids->field;
    u->field.match_type_case = BFRT_PROTO__KEY_FIELD__MATCH_TYPE_EXACT;
    u->field.exact = &u->exact;
    u->fields = &u->field;
    u->key.n_fields = 1, u->key.fields = &u->fields;
    u->value.field_id = ids->data;
    u->value.value_case = BFRT_PROTO__DATA_FIELD__VALUE_STREAM;
    u->value.stream = (ProtobufCBinaryData){2, u->port};
    u->values = &u->value;
    u->data.action_id = ids->action;
    u->data.n_fields = ids->data != 0, u->data.fields = &u->values;
    u->entry.table_id = ids->table;
    u->entry.value_case = BFRT_PROTO__TABLE_ENTRY__VALUE_KEY;
    u->entry.key = &u->key;
    u->entry.data = &u->data;
    u->entity.entity_case = BFRT_PROTO__ENTITY__ENTITY_TABLE_ENTRY;
    u->entity.table_entry = &u->entry;
    u->update.type = type;
    u->update.entity = &u->entity;
    u->pointer = &u->update;
}

static BfrtProto__WriteRequest__Atomicity atomicity; // of the next one

// A Write of 'n' updates of entries from 'first' on.
static size_t write_make(const struct ids *ids, BfrtProto__Update__Type type, uint32_t first,
                         uint32_t n, uint16_t port, uint8_t **out) {
    static struct update_parts parts[BATCH];
    static BfrtProto__Update *updates[BATCH];
    static uint8_t bytes[BATCH * 128];
    static char name[] = "controllers";
    BfrtProto__WriteRequest w = BFRT_PROTO__WRITE_REQUEST__INIT;
    BfrtProto__TargetDevice all = BFRT_PROTO__TARGET_DEVICE__INIT;
    for (uint32_t i = 0; i < n; i++) {
        update_make(&parts[i], ids, type, first + i, port);
        updates[i] = parts[i].pointer;
    }
    all.pipe_id = 0xffff, all.direction = 0xff, all.prsr_id = 0xff;
    w.target = &all;
    w.atomicity = atomicity;
    w.p4_name = name;
    w.n_updates = n, w.updates = updates;
    if (bfrt_proto__write_request__get_packed_size(&w) > sizeof bytes)
        abort();
    *out = bytes;
    return bfrt_proto__write_request__pack(&w, bytes);
}

static void write_all(const struct controllers *c, const struct ids *ids,
                      BfrtProto__Update__Type type, uint32_t entries, uint16_t port,
                      unsigned running) {
    for (uint32_t at = 0; at < entries; at += BATCH) {
        uint8_t *bytes;
        const uint32_t n = entries - at < BATCH ? entries - at : BATCH;
        const size_t length = write_make(ids, type, at, n, port, &bytes);
        grpc_wait(c->client, running - 1);
        grpc_start(c->client, WRITE, bytes, length);
    }
    grpc_wait(c->client, 0);
}

// ---- figures: writes and reads ----

static void put_one(json_t *result, const char *field, double value) {
    json_object_set_new(result, field, json_real(value));
}

// Updates a second, of rounds that fill the table, change it and empty it.
static void measure_batches(const struct controllers *c, double seconds, json_t *result) {
    static const struct {
        BfrtProto__Update__Type type;
        const char *field;
    } steps[] = {{BFRT_PROTO__UPDATE__TYPE__INSERT, "inserts_per_second"},
                 {BFRT_PROTO__UPDATE__TYPE__MODIFY, "changes_per_second"},
                 {BFRT_PROTO__UPDATE__TYPE__DELETE, "deletes_per_second"}};
    double rates[3][100], all[100];
    size_t n = 0;
    for (const double end = bench_wall_ns() + seconds * 1e9;
         n < 100 && (n < 3 || bench_wall_ns() < end); n++) {
        const double from = bench_wall_ns();
        for (unsigned s = 0; s < 3; s++) {
            const double begin = bench_wall_ns();
            write_all(c, &c->forward, steps[s].type, FORWARD, 0, 2);
            rates[s][n] = FORWARD / (bench_wall_ns() - begin) * 1e9;
        }
        all[n] = 3.0 * FORWARD / (bench_wall_ns() - from) * 1e9;
    }
    for (unsigned s = 0; s < 3; s++)
        bench_put(result, steps[s].field, bench_stat(rates[s], n));
    bench_put(result, "updates_per_second", bench_stat(all, n));
    bench_note(result,
               "updates: %u in a call, two calls on their way, into a table of %u in four "
               "pipes, which is filled, changed and emptied",
               BATCH, FORWARD);
}

static void measure_singles(const struct controllers *c, double seconds, json_t *result) {
    double rates[100];
    size_t n = 0;
    write_all(c, &c->forward, BFRT_PROTO__UPDATE__TYPE__INSERT, FORWARD, 0, 2);
    for (const double end = bench_wall_ns() + seconds * 1e9;
         n < 100 && (n < 5 || bench_wall_ns() < end); n++) {
        const double begin = bench_wall_ns();
        for (uint32_t i = 0; i < 4000; i++) {
            uint8_t *bytes;
            const size_t length = write_make(&c->forward, BFRT_PROTO__UPDATE__TYPE__MODIFY,
                                             i * 7919 % FORWARD, 1, 0, &bytes);
            grpc_wait(c->client, RUNNING - 1);
            grpc_start(c->client, WRITE, bytes, length);
        }
        grpc_wait(c->client, 0);
        rates[n] = 4000 / (bench_wall_ns() - begin) * 1e9;
    }
    bench_put(result, "writes_per_second", bench_stat(rates, n));
    bench_note(result, "writes: one update in a call, %u calls on their way", RUNNING);
}

static void measure_read(const struct controllers *c, json_t *result) {
    BfrtProto__ReadRequest r = BFRT_PROTO__READ_REQUEST__INIT;
    BfrtProto__TargetDevice all = BFRT_PROTO__TARGET_DEVICE__INIT;
    BfrtProto__Entity entity = BFRT_PROTO__ENTITY__INIT, *entities = &entity;
    BfrtProto__TableEntry entry = BFRT_PROTO__TABLE_ENTRY__INIT;
    BfrtProto__TableReadFlag flag = BFRT_PROTO__TABLE_READ_FLAG__INIT;
    static char name[] = "controllers";
    uint8_t bytes[256];
    double took[7], grew[7];
    uint64_t length = 0;
    char path[64];
    write_all(c, &c->sources, BFRT_PROTO__UPDATE__TYPE__INSERT, SOURCES, 0, 2);
    all.pipe_id = 0xffff, all.direction = 0xff, all.prsr_id = 0xff;
    flag.from_hw = true;
    entry.table_id = c->sources.table;
    entry.table_read_flag = &flag;
    entity.entity_case = BFRT_PROTO__ENTITY__ENTITY_TABLE_ENTRY;
    entity.table_entry = &entry;
    r.target = &all;
    r.p4_name = name;
    r.n_entities = 1, r.entities = &entities;
    const size_t n = bfrt_proto__read_request__pack(&r, bytes);
    snprintf(path, sizeof path, "/proc/%d/clear_refs", (int)c->sw);
    for (unsigned i = 0; i < 7; i++) {
        const int fd = open(path, O_WRONLY);
        if (fd < 0 || write(fd, "5", 1) != 1) // the highest size begins again
            controllers_fail(path, strerror(errno));
        close(fd);
        const uint64_t before = status_field(c->sw, "VmRSS:");
        const double begin = bench_wall_ns();
        size_t last;
        grpc_call(c->client, SERVICE "Read", bytes, n, &last, &length);
        took[i] = (bench_wall_ns() - begin) / 1e9;
        grew[i] = ((double)status_field(c->sw, "VmHWM:") - (double)before) / 1024;
    }
    bench_put(result, "read_seconds", bench_stat(took, 7));
    bench_put(result, "read_mib", bench_stat(grew, 7));
    put_one(result, "read_first_mib", grew[0]);
    bench_note(result,
               "read: %u entries with counters, one Read, %.1f MB; read_mib: what the "
               "switch's process grew by meanwhile",
               SOURCES, (double)length / 1e6);
}

// ---- traffic ----

struct traffic {
    struct memif *m;
    pthread_t thread;
    atomic_bool stop;
    double pps;
    uint64_t sent, received, refused;
    double seconds;
};

// Ahead of others on its processor, where that is allowed: a sender that comes late would send what
// no ring holds.
static void traffic_first(void) {
    const struct sched_param first = {.sched_priority = 1};
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
}

static void *traffic_run(void *aux) {
    struct traffic *t = aux;
    static uint8_t out[FLOWS][FRAME], in[BURST][2048];
    struct memif_frame send[BURST], got[BURST];
    unsigned flow = 0;
    for (unsigned i = 0; i < FLOWS; i++)
        address(i * 617 % FLOWS, out[i]);
    for (unsigned i = 0; i < BURST; i++)
        got[i] = (struct memif_frame){in[i], 0};
    traffic_first();
    const double begin = bench_wall_ns();
    double quiet = 0, next = begin;
    t->sent = t->received = t->refused = 0;
    for (;;) {
        const double now = bench_wall_ns();
        const bool stopping = atomic_load(&t->stop);
        unsigned n;
        // what is due, but not more than a ring may hold: what it was late for is not sent at all
        next = now - next > LATE * 1e9 / t->pps ? now - LATE * 1e9 / t->pps : next;
        while (!stopping && next < now) {
            for (unsigned i = 0; i < BURST; i++, flow = (flow + 1) % FLOWS)
                send[i] = (struct memif_frame){out[flow], FRAME};
            const unsigned taken = memif_send(t->m, send, BURST);
            t->sent += taken;
            t->refused += BURST - taken; // lost: there was no room
            next += BURST * 1e9 / t->pps;
        }
        while ((n = memif_receive(t->m, 0, got, BURST, sizeof in[0])) > 0)
            t->received += n, quiet = 0;
        if (stopping) {
            t->seconds = t->seconds > 0 ? t->seconds : (now - begin) / 1e9;
            quiet = quiet > 0 ? quiet : now;
            if (t->received == t->sent || now - quiet > 3e8)
                return NULL;
        }
        usleep(20);
    }
}

static void traffic_start(struct traffic *t, double pps) {
    atomic_store(&t->stop, false);
    t->pps = pps;
    t->seconds = 0;
    if (pthread_create(&t->thread, NULL, traffic_run, t))
        abort();
}

static void traffic_end(struct traffic *t) {
    atomic_store(&t->stop, true);
    pthread_join(t->thread, NULL);
}

static void traffic_open(struct traffic *t, const struct controllers *c) {
    struct memif_options o;
    char text[700], error[256] = "";
    snprintf(text, sizeof text, "role=client,socket=%s,socket-abstract=no", c->memif);
    if (!memif_options_parse(text, &o, error, sizeof error) ||
        !(t->m = memif_open(&o, error, sizeof error)))
        controllers_fail("memif", error);
    for (int i = 0; !memif_link(t->m); i++) {
        if (i == ATTEMPTS)
            controllers_fail("memif", "no link");
        usleep(10000);
    }
    usleep(100000); // the switch looks at its links
}

// Writes at so many updates a second, 'batch' in a call, for so long; 'took': of each call, or
// null.
static size_t write_paced(const struct controllers *c, double rate, uint32_t batch, double seconds,
                          double *took, size_t most) {
    const double begin = bench_wall_ns();
    size_t calls = 0;
    for (;;) {
        const double now = bench_wall_ns(), due = begin + (double)calls * batch / rate * 1e9;
        uint8_t *bytes;
        size_t reply;
        if (now - begin > seconds * 1e9 || (took && calls == most))
            return calls;
        if (due > now)
            usleep((useconds_t)((due - now) / 1e3));
        // never the entries that the traffic needs
        const size_t length = write_make(
            &c->forward, BFRT_PROTO__UPDATE__TYPE__MODIFY,
            FLOWS + (uint32_t)(calls * batch % (FORWARD - FLOWS - batch)), batch, LOOP, &bytes);
        const double from = bench_wall_ns();
        grpc_call(c->client, WRITE, bytes, length, &reply, NULL);
        if (took)
            took[calls] = (bench_wall_ns() - from) / 1e3;
        calls++;
    }
}

// Lists that packets meet as one step: the call's time is above that of its only pause.
static void measure_atomic(const struct controllers *c, json_t *result) {
    double took[500];
    size_t reply;
    const struct pauses_seen from = pauses_seen(c);
    for (unsigned i = 0; i < 500; i++) {
        uint8_t *bytes;
        atomicity = BFRT_PROTO__WRITE_REQUEST__ATOMICITY__DATAPLANE_ATOMIC;
        const size_t length =
            write_make(&c->forward, BFRT_PROTO__UPDATE__TYPE__MODIFY,
                       FLOWS + i * ATOMIC % (FORWARD - FLOWS - ATOMIC), ATOMIC, LOOP, &bytes);
        atomicity = BFRT_PROTO__WRITE_REQUEST__ATOMICITY__CONTINUE_ON_ERROR;
        const double from = bench_wall_ns();
        grpc_call(c->client, WRITE, bytes, length, &reply, NULL);
        took[i] = (bench_wall_ns() - from) / 1e3;
    }
    const struct pauses_seen to = pauses_seen(c);
    put_one(result, "atomic_pause_us", pause_mean_us(&from, &to));
    put_one(result, "atomic_p50_us", bench_quantile(took, 500, 0.5));
    put_one(result, "atomic_p99_us", bench_quantile(took, 500, 0.99));
    bench_note(
        result,
        "atomic_p50_us, atomic_p99_us: a call of %u updates with DATAPLANE_ATOMIC, of which "
        "its only pause is a part, while the ring has packets all the time; atomic_pause_us: "
        "the pauses' mean",
        ATOMIC);
}

// ns in which the lcore, the switch's first thread, was ready and another had its processor.
static double lcore_waited(const struct controllers *c) {
    char path[64];
    double ran, waited;
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)c->sw, (int)c->sw);
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%lf %lf", &ran, &waited) != 2 || fclose(f))
        controllers_fail(path, "cannot be read");
    return waited;
}

static void measure_pauses(const struct controllers *c, struct traffic *t, double seconds,
                           json_t *result) {
    const double waited = lcore_waited(c);
    traffic_start(t, 1e6);
    usleep(200000);
    const struct pauses_seen from = pauses_seen(c);
    const size_t calls = write_paced(c, 1e9, BATCH, seconds, NULL, 0);
    const struct pauses_seen to = pauses_seen(c);
    traffic_end(t);
    put_one(result, "pause_us", pause_mean_us(&from, &to));
    put_one(result, "longest_pause_us", to.longest * 1e6);
    put_one(result, "longest_pause_cpu_us", to.own * 1e6);
    bench_note(
        result,
        "pause_us: the mean of %.0f pauses meanwhile; longest_pause_us: the longest of all %.0f "
        "until then, lists, single writes and a Read among them, by the wall's clock, and "
        "longest_pause_cpu_us by the control thread's processor time",
        to.n - from.n, to.n);
    put_one(result, "lost_packets", (double)(t->sent - t->received));
    put_one(result, "refused_packets", (double)t->refused);
    put_one(result, "lcore_waited_ms", (lcore_waited(c) - waited) / 1e6);
    bench_note(result,
               "lost_packets: of %" PRIu64 " at 1 Mpps, rings of 1,024, while %zu calls of "
               "%u updates each change the table; refused_packets: those for which the "
               "ring to the switch had no room, for a pause or for lcore_waited_ms, in which "
               "something else had the lcore's processor (1,000 packets come in each)",
               t->sent, calls, BATCH);
}

// ---- what circulates in the switch ----

static uint64_t loop_sent(const struct controllers *c) {
    char command[700];
    uint64_t sent = 0;
    snprintf(command, sizeof command, "build/silken ctl -s %s/c.sock port --json", c->folder);
    FILE *f = popen(command, "r");
    json_t *all = f ? json_loadf(f, 0, NULL) : NULL;
    size_t i;
    json_t *one;
    const json_t *list = json_object_get(all, "ports") ? json_object_get(all, "ports") : all;
    json_array_foreach(list, i, one) {
        if (json_integer_value(json_object_get(one, "port")) == LOOP)
            sent = (uint64_t)json_integer_value(json_object_get(one, "tx_packets"));
    }
    if (!f || pclose(f) || !all)
        controllers_fail("silken ctl port", "failed");
    json_decref(all);
    return sent;
}

static double loop_rate(const struct controllers *c, double seconds, bool writes) {
    const uint64_t from = loop_sent(c);
    const double begin = bench_wall_ns();
    if (writes)
        write_paced(c, 10000, 100, seconds, NULL, 0);
    else
        usleep((useconds_t)(seconds * 1e6));
    const uint64_t to = loop_sent(c);
    return (double)(to - from) / (bench_wall_ns() - begin) * 1e9;
}

// The traffic's destinations are on the ring from now on, and what comes to them stays there.
static void loop_begin(const struct controllers *c, struct traffic *t) {
    uint8_t *bytes;
    size_t reply;
    const size_t length =
        write_make(&c->forward, BFRT_PROTO__UPDATE__TYPE__MODIFY, 0, FLOWS, LOOP, &bytes);
    grpc_call(c->client, WRITE, bytes, length, &reply, NULL);
    traffic_start(t, 50000);
    usleep(5000);
    traffic_end(t);
}

static void measure_throughput(const struct controllers *c, double seconds, json_t *result) {
    double without[50], with[50];
    size_t n = 0;
    for (const double end = bench_wall_ns() + seconds * 1e9;
         n < 50 && (n < 3 || bench_wall_ns() < end); n++) {
        without[n] = loop_rate(c, 0.5, false) / 1e6;
        with[n] = loop_rate(c, 0.5, true) / 1e6;
    }
    bench_put(result, "loop_mpps", bench_stat(without, n));
    bench_put(result, "throughput_ratio", bench_ratio(with, without, n));
    bench_note(result,
               "throughput_ratio: packets of %u destinations that a ring returns to the "
               "switch, with 10,000 updates a second (100 in a call) to those without, by "
               "turns of half a second",
               FLOWS);
}

static void measure_write_latency(const struct controllers *c, double seconds, json_t *result) {
    static double took[200000];
    const size_t n = write_paced(c, 2000, 1, seconds, took, 200000);
    put_one(result, "write_p50_us", bench_quantile(took, n, 0.5));
    put_one(result, "write_p99_us", bench_quantile(took, n, 0.99));
    bench_note(result,
               "write_p50_us, write_p99_us: of %zu single writes, one at a time, 2,000 a "
               "second, while the ring has packets all the time: the lcore forwards as "
               "many as it can",
               n);
}

// ---- a server that does nothing ----

static struct {
    const uint8_t *description;
    size_t n_description;
} null_knows;

static void null_write(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    (void)bytes, (void)length;
    rpc_send(call, "", 0);
    rpc_end(call, RPC_OK, NULL, NULL, 0);
}

static void null_get(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    (void)bytes, (void)length;
    rpc_send(call, null_knows.description, null_knows.n_description);
    rpc_end(call, RPC_OK, NULL, NULL, 0);
}

static void null_stream(struct rpc_call *call, const uint8_t *bytes, size_t length) {
    BfrtProto__StreamMessageResponse r = BFRT_PROTO__STREAM_MESSAGE_RESPONSE__INIT;
    BfrtProto__Subscribe subscribe = BFRT_PROTO__SUBSCRIBE__INIT;
    Google__Rpc__Status ok = GOOGLE__RPC__STATUS__INIT;
    uint8_t packed[64];
    (void)bytes, (void)length;
    subscribe.status = &ok;
    r.update_case = BFRT_PROTO__STREAM_MESSAGE_RESPONSE__UPDATE_SUBSCRIBE;
    r.subscribe = &subscribe;
    rpc_send(call, packed, bfrt_proto__stream_message_response__pack(&r, packed));
}

static void null_closed(struct rpc_call *call) {
    rpc_end(call, RPC_OK, NULL, NULL, 0);
}

static void null_serve(const char *address) {
    static const struct rpc_method methods[] = {
        {.path = WRITE, .message = null_write},
        {.path = SERVICE "SetForwardingPipelineConfig", .message = null_write},
        {.path = SERVICE "GetForwardingPipelineConfig", .message = null_get},
        {.path = SERVICE "StreamChannel",
         .stream_in = true,
         .message = null_stream,
         .closed = null_closed},
        {.path = NULL},
    };
    struct sk_error err;
    struct rpc_server *s =
        rpc_open(&(struct rpc_options){.address = address, .methods = methods}, &err);
    if (!s)
        controllers_fail(address, err.text);
    for (;;) {
        struct pollfd fd = {.fd = rpc_fd(s), .events = POLLIN};
        poll(&fd, 1, rpc_due(s) == 0 ? 0 : 100);
        rpc_poll(s, sk_clock_now());
    }
}

// ---- the Python client ----

static void measure_python(const struct controllers *c, double seconds, json_t *result) {
    char command[2048], null_address[700];
    write_all(c, &c->forward, BFRT_PROTO__UPDATE__TYPE__DELETE, FORWARD, 0, 2);
    snprintf(null_address, sizeof null_address, "unix:%s/null.sock", c->folder);
    const pid_t null_server = fork();
    if (null_server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        null_knows.description = c->description;
        null_knows.n_description = c->n_description;
        null_serve(null_address);
    }
    snprintf(command, sizeof command,
             "/usr/bin/python3 bench/controllers.py unix:%s %s %g %d %d %d", c->socket,
             null_address, seconds, c->cpu, (int)c->sw, (int)null_server);
    FILE *f = popen(command, "r");
    json_error_t e;
    json_t *got = f ? json_loadf(f, 0, &e) : NULL;
    const int status = f ? pclose(f) : -1;
    kill(null_server, SIGTERM);
    waitpid(null_server, NULL, 0);
    write_all(c, &c->forward, BFRT_PROTO__UPDATE__TYPE__INSERT_OR_MODIFY, FORWARD, 0, 2);
    const char *field;
    json_t *value;
    if (!got || status) {
        bench_error(result, "python_ratio", "bench/controllers.py failed");
        return;
    }
    json_object_foreach(got, field, value) {
        if (json_is_string(value))
            bench_note(result, "%s", json_string_value(value));
        else
            json_object_set(result, field, value);
    }
    json_decref(got);
}

void measure_controllers(const struct bench_options *opt, json_t *result) {
    static struct controllers c;
    static struct traffic t;
    char made[] = "/tmp/silken-bench-XXXXXX";
    if (!mkdtemp(made))
        controllers_fail("mkdtemp", strerror(errno));
    snprintf(c.folder, sizeof c.folder, "%s", made);
    c.cpu = bench_pin();
    c.other = bench_other_cpu(c.cpu);
    if (c.other < 0)
        controllers_fail("controllers", "needs two processors");
    controllers_start(&c, opt->self);
    controllers_pin(c.other);
    controllers_learn(&c);
    const double part = opt->seconds / 7;
    measure_batches(&c, part, result);
    measure_singles(&c, part, result);
    measure_read(&c, result);
    traffic_open(&t, &c);
    measure_pauses(&c, &t, part, result);
    measure_python(&c, part, result);
    loop_begin(&c, &t);
    measure_throughput(&c, part, result);
    measure_write_latency(&c, part, result);
    measure_atomic(&c, result);
    bench_note(result,
               "the lcore of all four pipes on processor %d, the switch's other threads, "
               "the client and the traffic on processor %d",
               c.cpu, c.other);
    memif_close(t.m);
    grpc_close(c.client);
    kill(c.sw, SIGTERM);
    int status = 0;
    if (waitpid(c.sw, &status, 0) != c.sw || status)
        bench_error(result, "switch", "it ended with status %d", status);
    free(c.description);
    char command[600];
    snprintf(command, sizeof command, "rm -rf %s", c.folder);
    if (system(command))
        controllers_fail(c.folder, "is left");
}
