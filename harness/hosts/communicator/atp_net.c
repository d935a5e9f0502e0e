// SPDX-License-Identifier: Apache-2.0
#include "harness/hosts/communicator/atp_net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/compile.h"
#include "control/tables/control.h"
#include "harness/hosts/communicator/together.h"
#include "base/clock.h"

#define RING  2048
#define GROUP 100
#define JOB   9

static _Noreturn void die(const char *what, const char *why) {
    fprintf(stderr, "atp_net: %s: %s\n", what, why);
    abort();
}

static void must(int rc, const char *what) {
    if (rc != 0)
        die(what, silken_strerror(rc));
}

// ---- names: a link is a lane of a station, workers first -------------------------------------

struct name {
    char mac[18], ip[16];
};

static uint32_t links(const struct atp_net *n) {
    return (n->workers + n->servers) * n->lanes;
}

static uint32_t port_of(const struct atp_net *n, uint32_t station, uint32_t lane) {
    return station * n->lanes + lane + 1;
}

static uint32_t uplink_of(uint32_t rack) {
    return ATP_NET_PORTS - 1 - rack;
}

static struct name name_of(uint32_t port) {
    struct name name;

    snprintf(name.mac, sizeof name.mac, "02:00:00:00:01:%02x", port & 255);
    snprintf(name.ip, sizeof name.ip, "10.0.0.%u", port & 255);
    return name;
}

static struct name group_name(uint32_t lane) {
    struct name name;

    snprintf(name.mac, sizeof name.mac, "01:00:5e:00:01:%02x", lane & 255);
    snprintf(name.ip, sizeof name.ip, "239.0.1.%u", lane & 255);
    return name;
}

// ---- switches --------------------------------------------------------------------------------

static void add_mac(struct sk_switch *sw, const char *mac, const char *action,
                    const char *parameter, uint32_t value) {
    char text[16];
    struct sk_named_value key = {"hdr.ethernet.dst_addr", mac}, arg = {parameter, text};
    struct sk_entry_spec e = {.table = "macs",
                              .keys = &key,
                              .n_keys = 1,
                              .action = action,
                              .args = &arg,
                              .n_args = 1,
                              .pipe = -1};
    struct sk_error err;

    snprintf(text, sizeof text, "%u", value);
    if (sk_control_entry_add(sw, &e, &err) < 0)
        die("macs", err.text);
}

static void add_node(struct sk_switch *sw, uint32_t port) {
    uint16_t number = (uint16_t)port;

    if (sk_pre_node_set(sw, port, number, &number, 1) < 0)
        die("multicast", "node refused");
    sk_switch_port_up(sw, number, true);
}

// All workers are in all racks' groups: where nothing is connected, a copy goes nowhere.
static void add_group(const struct atp_net *n, uint32_t rack, uint32_t lane) {
    struct sk_pre_member member[ATP_NET_WORKERS + ATP_NET_RACKS] = {0};
    size_t count = 0;

    for (uint32_t w = 0; w < n->workers; w++)
        member[count++].node = port_of(n, w, lane);
    for (uint32_t other = 0; rack == n->racks - 1 && other < rack; other++)
        member[count++].node = uplink_of(other);
    if (sk_pre_group_set(n->sw[rack], GROUP + lane, member, count) < 0)
        die("multicast", "group refused");
    add_mac(n->sw[rack], group_name(lane).mac, "to_group", "group", GROUP + lane);
}

static bool tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    const struct atp_net_out *out = aux;
    struct sk_transport *t = port < ATP_NET_PORTS ? out->net->port[out->rack][port] : NULL;
    struct sk_frame one = {(uint8_t *)(uintptr_t)frame, length};

    if (t)
        sk_transport_send(t, &one, 1);
    return true;
}

static void make_switch(struct atp_net *n, uint32_t rack) {
    struct sk_switch_options opt = {
        .tx = tx, .aux = &n->out[rack], .packet_bytes = 2048, .n_packets = 4096, .seed = 1};
    bool last = rack == n->racks - 1;
    char error[256];

    n->out[rack] = (struct atp_net_out){n, rack};
    n->sw[rack] = sk_switch_new(n->program, &opt, error, sizeof error);
    if (!n->sw[rack])
        die("switch", error);
    for (uint32_t link = 0; link < links(n); link++) {
        bool server = link >= n->workers * n->lanes;
        add_node(n->sw[rack], link + 1);
        if (server) {
            add_mac(n->sw[rack], name_of(link + 1).mac, "to_port", "port",
                    last ? link + 1 : uplink_of(rack));
        }
    }
    for (uint32_t other = 0; other + 1 < n->racks; other++)
        if (last || other == rack)
            add_node(n->sw[rack], uplink_of(other));
    for (uint32_t lane = 0; lane < n->lanes; lane++)
        add_group(n, rack, lane);
}

static size_t serve_port(struct atp_net *n, uint32_t rack, uint32_t port) {
    struct sk_frame frames[SK_BURST];
    size_t count = sk_transport_recv(n->port[rack][port], frames, SK_BURST);

    for (size_t i = 0; i < count; i++) {
        uint64_t now = sk_clock_now();
        sk_switch_rx(n->sw[rack], (uint16_t)port, frames[i].data, frames[i].len, now);
        sk_switch_run(n->sw[rack], now);
    }
    return count;
}

static void *run_switches(void *argument) {
    const struct timespec pause = {.tv_nsec = 100000};
    struct atp_net *n = argument;
    size_t moved;

    pthread_mutex_lock(&n->lock);
    while (!n->stop) {
        moved = 0;
        for (uint32_t rack = 0; rack < n->racks; rack++)
            for (uint32_t port = 0; port < ATP_NET_PORTS; port++)
                moved += n->port[rack][port] ? serve_port(n, rack, port) : 0;
        pthread_mutex_unlock(&n->lock);
        if (moved == 0)
            nanosleep(&pause, NULL);
        pthread_mutex_lock(&n->lock);
    }
    pthread_mutex_unlock(&n->lock);
    return NULL;
}

// ---- stations --------------------------------------------------------------------------------

// A station's end of a new ring to that port.
static struct sk_transport *connect_port(struct atp_net *n, uint32_t rack, uint32_t port) {
    struct sk_transport *ends[2], *t;

    must(sk_transport_ring_open(ends, RING), "ring");
    pthread_mutex_lock(&n->lock);
    n->port[rack][port] = ends[1];
    pthread_mutex_unlock(&n->lock);
    t = ends[0];
    if (n->faults) {
        struct sk_faults faults = *n->faults;
        faults.seed += port;
        must(sk_transport_faulty_open(&t, ends[0], &faults), "faults");
    }
    return t;
}

static void disconnect_port(struct atp_net *n, uint32_t rack, uint32_t port) {
    struct sk_transport *t;

    pthread_mutex_lock(&n->lock);
    t = n->port[rack][port];
    n->port[rack][port] = NULL;
    pthread_mutex_unlock(&n->lock);
    sk_transport_close(t);
}

static void open_server(struct atp_net *n, uint32_t number) {
    struct silken_server_lane lane[ATP_NET_LANES] = {0};
    struct name own[ATP_NET_LANES], group[ATP_NET_LANES];
    struct silken_server_config config;
    char why[256] = "";

    silken_server_config_init(&config);
    config.no_session = true;
    for (uint32_t i = 0; i < n->lanes; i++) {
        uint32_t port = port_of(n, n->workers + number, i);
        own[i] = name_of(port);
        group[i] = group_name(i);
        lane[i] = (struct silken_server_lane){
            .address = {own[i].mac, own[i].ip},
            .group = {group[i].mac, group[i].ip},
            .cpu = -1,
            .transport = connect_port(n, n->racks - 1, port),
        };
    }
    config.job = JOB;
    config.workers = n->workers;
    config.rack = n->rack;
    config.server_rack = n->racks - 1;
    config.servers = n->servers;
    config.number = number;
    config.type = n->config.atp.type;
    config.indices = n->config.atp.indices;
    config.window_max = n->config.atp.window_max;
    config.lanes = n->lanes;
    config.lane = lane;
    must(silken_server_open(&n->server[number], &config, why, sizeof why), why);
}

void atp_net_open(struct atp_net *n, uint32_t rank, const struct silken_first *first) {
    struct silken_address server[ATP_NET_LANES * ATP_NET_SERVERS], group[ATP_NET_LANES];
    struct name servers[ATP_NET_LANES * ATP_NET_SERVERS], groups[ATP_NET_LANES];
    struct silken_lane lane[ATP_NET_LANES] = {0};
    struct name own[ATP_NET_LANES];
    struct silken_config config = n->config;
    char why[256] = "";

    for (uint32_t i = 0; i < n->lanes; i++) {
        uint32_t port = port_of(n, rank, i);
        own[i] = name_of(port);
        groups[i] = group_name(i);
        group[i] = (struct silken_address){groups[i].mac, groups[i].ip};
        lane[i] = (struct silken_lane){
            .worker_mac = own[i].mac,
            .worker_ip = own[i].ip,
            .cpu = -1,
            .transport = connect_port(n, n->rack[rank], port),
        };
        for (uint32_t s = 0; s < n->servers; s++) {
            uint32_t flow = i * n->servers + s;
            servers[flow] = name_of(port_of(n, n->workers + s, i));
            server[flow] = (struct silken_address){servers[flow].mac, servers[flow].ip};
        }
    }
    config.protocol = SILKEN_ATP;
    config.job = JOB;
    config.rank = rank;
    config.lane = lane;
    config.atp.rack = n->rack;
    config.atp.server = server;
    config.atp.server_rack = n->server_rack;
    config.atp.group = group;
    config.atp.first = first;
    must(silken_open(&n->comm[rank], &config, why, sizeof why), why);
}

void atp_net_kill(struct atp_net *n, uint32_t rank) {
    silken_close(n->comm[rank]);
    n->comm[rank] = NULL;
    for (uint32_t i = 0; i < n->lanes; i++)
        disconnect_port(n, n->rack[rank], port_of(n, rank, i));
}

// ---- the whole -------------------------------------------------------------------------------

static void make_switches(struct atp_net *n) {
    struct compile_options opt = {.path = "p4/atp/atp.p4"};
    char error[256], *object = compile_p4(&opt, stderr);

    if (!object)
        die(opt.path, "does not compile");
    n->program = sk_program_load(object, error, sizeof error);
    if (!n->program)
        die(object, error);
    free(object);
    for (uint32_t rack = 0; rack < n->racks; rack++)
        make_switch(n, rack);
    for (uint32_t rack = 0; rack + 1 < n->racks; rack++) {
        struct sk_transport *ends[2];
        must(sk_transport_ring_open(ends, RING), "ring");
        n->port[rack][uplink_of(rack)] = ends[0];
        n->port[n->racks - 1][uplink_of(rack)] = ends[1];
    }
}

void atp_net_start(struct atp_net *n, const struct silken_config *config, uint32_t racks,
                   const struct sk_faults *faults) {
    memset(n, 0, sizeof *n);
    pthread_mutex_init(&n->lock, NULL);
    n->config = *config;
    n->config.lanes = n->lanes = config->lanes ? config->lanes : 1;
    n->workers = config->workers;
    n->servers = config->atp.servers;
    n->racks = racks;
    n->faults = faults;
    for (uint32_t w = 0; w < n->workers; w++)
        n->rack[w] = config->atp.rack ? config->atp.rack[w] : 0;
    for (uint32_t s = 0; s < n->servers; s++)
        n->server_rack[s] = racks - 1;
    make_switches(n);
    for (uint32_t s = 0; s < n->servers; s++)
        open_server(n, s);
    for (uint32_t w = 0; w < n->workers; w++)
        atp_net_open(n, w, NULL);
    must(pthread_create(&n->thread, NULL, run_switches, n), "thread");
}

void atp_net_stop(struct atp_net *n) {
    pthread_mutex_lock(&n->lock);
    n->stop = true;
    pthread_mutex_unlock(&n->lock);
    pthread_join(n->thread, NULL);
    for (uint32_t w = 0; w < n->workers; w++)
        silken_close(n->comm[w]);
    for (uint32_t s = 0; s < n->servers; s++)
        silken_server_close(n->server[s]);
    for (uint32_t rack = 0; rack < n->racks; rack++) {
        for (uint32_t port = 0; port < ATP_NET_PORTS; port++)
            sk_transport_close(n->port[rack][port]);
        sk_switch_free(n->sw[rack]);
    }
    sk_program_free(n->program);
    pthread_mutex_destroy(&n->lock);
    memset(n, 0, sizeof *n);
}

void atp_net_run(struct atp_net *n, void (*work)(void *context, unsigned rank), void *context) {
    run_together(n->workers, work, context);
}
