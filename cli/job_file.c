// SPDX-License-Identifier: Apache-2.0
#include "cli/job_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/address.h"
#include "hosts/atp/worker.h"

struct job_file_memory {
    struct sk_json doc;
    json_t *root;
};

static void *keep_list(const struct sk_at *at, size_t n, size_t size) {
    return sk_json_keep(at->doc, n ? n * size : 1);
}

// Of a station, or what parameters are sent to: then of a group (the switch makes the copies, but a
// host's network card and kernel take only what is for a group or for them).
static struct silken_address checked_address(const struct sk_at *mac, const struct sk_at *ip,
                                             bool of_group) {
    struct silken_address out = {sk_at_string(mac, true), sk_at_string(ip, true)};
    uint8_t bytes[6];
    uint32_t number;

    if (!out.mac || !out.ip) {
        return out; // and the message is there
    }
    if (!sk_mac_parse(out.mac, bytes)) {
        sk_at_fail(mac, "a MAC address is like 02:00:00:00:01:01, not '%s'", out.mac);
    } else if ((bytes[0] & 1) != of_group) {
        sk_at_fail(mac, of_group ? "%s is not a group's address" : "%s is a group's address",
                   out.mac);
    }
    if (!sk_ip_parse(out.ip, &number)) {
        sk_at_fail(ip, "an IP address is like 10.0.0.1, not '%s'", out.ip);
    } else if ((number >> 28 == 14) != of_group) {
        sk_at_fail(ip, of_group ? "%s is not a group's address" : "%s is a group's address",
                   out.ip);
    }
    return out;
}

static struct silken_address job_file_read_address(const struct sk_at *at, bool of_group) {
    static const char *const keys[] = {"mac", "ip", NULL};
    struct sk_at mac = sk_at_member(at, "mac"), ip = sk_at_member(at, "ip");

    sk_at_keys(at, keys);
    return checked_address(&mac, &ip, of_group);
}

struct job_address {
    uint32_t ip;
    const struct sk_at *list;
    size_t number; // in the list
};

static int by_ip(const void *a, const void *b) {
    const struct job_address *x = a, *y = b;

    return (x->ip > y->ip) - (x->ip < y->ip);
}

// No two lanes of the job have the same address: packets are told apart by it.
static void check_distinct(const struct job_file *j, const struct sk_at *workers,
                           const struct sk_at *servers) {
    size_t n_workers = (size_t)j->workers * j->lanes, n_servers = (size_t)j->servers * j->lanes,
           n = n_workers + n_servers;
    struct job_address *all = calloc(n, sizeof *all);

    if (!all) {
        abort();
    }
    for (size_t i = 0; i < n; i++) {
        bool worker = i < n_workers;
        size_t k = worker ? i : i - n_workers;
        all[i].list = worker ? workers : servers;
        all[i].number = k % (worker ? j->workers : j->servers);
        sk_ip_parse((worker ? j->worker : j->server)[k].ip, &all[i].ip);
    }
    qsort(all, n, sizeof *all, by_ip);
    for (size_t i = 1; i < n; i++) {
        if (all[i].ip == all[i - 1].ip) {
            struct sk_at station = sk_at_item(all[i].list, all[i].number);
            sk_at_fail(&station, "two devices of the job have the address %u.%u.%u.%u",
                       all[i].ip >> 24, all[i].ip >> 16 & 255, all[i].ip >> 8 & 255,
                       all[i].ip & 255);
            break;
        }
    }
    free(all);
}

// A list of stations. '*lanes' is how many each has to have; 0: as the first.
static uint32_t read_stations(const struct sk_at *list, uint32_t most, uint32_t *lanes,
                              uint32_t **racks, struct silken_address **addresses) {
    static const char *const keys[] = {"rack", "lanes", NULL};
    size_t n = sk_at_length(list);

    if (n == 0 || n > most) {
        sk_at_fail(list, "a job has 1 to %u of them", most);
        return 0;
    }
    *racks = keep_list(list, n, sizeof **racks);
    for (size_t i = 0; i < n; i++) {
        struct sk_at station = sk_at_item(list, i), rack = sk_at_member(&station, "rack"),
                     each = sk_at_member(&station, "lanes");
        size_t count = sk_at_length(&each);
        sk_at_keys(&station, keys);
        (*racks)[i] = (uint32_t)sk_at_number(&rack, false, UINT32_MAX);
        if (*lanes == 0 && count > 0 && count <= SILKEN_MAX_LANES) {
            *lanes = (uint32_t)count;
        }
        if (count == 0 || count != *lanes) {
            sk_at_fail(&station, "all stations need the same number of lanes, 1 to %d",
                       SILKEN_MAX_LANES);
            return 0;
        }
        if (i == 0) {
            *addresses = keep_list(list, n * *lanes, sizeof **addresses);
        }
        for (size_t lane = 0; lane < count; lane++) {
            struct sk_at one = sk_at_item(&each, lane);
            (*addresses)[lane * n + i] = job_file_read_address(&one, false);
        }
    }
    return (uint32_t)n;
}

static void job_file_read_groups(struct job_file *j, const struct sk_at *list) {
    if (sk_at_length(list) != j->lanes) {
        sk_at_fail(list, "it needs one for each lane; stations have %u", j->lanes);
        return;
    }
    j->group = keep_list(list, j->lanes, sizeof *j->group);
    for (uint32_t i = 0; i < j->lanes; i++) {
        struct sk_at one = sk_at_item(list, i);
        j->group[i] = job_file_read_address(&one, true);
    }
}

const struct silken_address *job_file_switch(const struct job_file *j, uint32_t rack) {
    for (uint32_t i = 0; i < j->switches; i++) {
        if (j->switch_rack[i] == rack) {
            return &j->switch_at[i];
        }
    }
    return NULL;
}

// Every rack has one, or none has.
static void check_switches(const struct job_file *j, const struct sk_at *list) {
    for (uint32_t i = 0; j->switches > 0 && i < j->workers + j->servers; i++) {
        uint32_t rack = i < j->workers ? j->rack[i] : j->server_rack[i - j->workers];
        if (!job_file_switch(j, rack)) {
            sk_at_fail(list, "rack %u has no switch", rack);
            return;
        }
    }
}

static void read_switches(struct job_file *j, const struct sk_at *root) {
    static const char *const keys[] = {"rack", "mac", "ip", NULL};
    struct sk_at list = sk_at_member(root, "switches");
    size_t n = sk_at_length(&list);

    if (!list.value) {
        sk_at_fail(root, "\"switches\" is missing: the switch in each rack that starts the job's "
                         "sessions (rack, mac, ip); [] if no switch adds");
        return;
    }
    j->switch_rack = keep_list(&list, n, sizeof *j->switch_rack);
    j->switch_at = keep_list(&list, n, sizeof *j->switch_at);
    for (size_t i = 0; i < n && !list.doc->failed; i++) {
        struct sk_at one = sk_at_item(&list, i), rack = sk_at_member(&one, "rack"),
                     mac = sk_at_member(&one, "mac"), ip = sk_at_member(&one, "ip");
        uint32_t number = (uint32_t)sk_at_number(&rack, false, UINT32_MAX);
        sk_at_keys(&one, keys);
        if (job_file_switch(j, number)) {
            sk_at_fail(&one, "rack %u has a switch already", number);
        }
        j->switch_rack[i] = number;
        j->switch_at[i] = checked_address(&mac, &ip, false);
        j->switches++;
    }
    check_switches(j, &list);
}

// A number that may be left out.
static uint32_t job_file_read_number(const struct sk_at *root, const char *key, uint32_t otherwise,
                                     uint32_t max) {
    struct sk_at at = sk_at_member(root, key);

    return at.value ? (uint32_t)sk_at_number(&at, true, max) : otherwise;
}

static void check_numbers(const struct job_file *j, const struct sk_at *root) {
    struct sk_at indices = sk_at_member(root, "indices"), window = sk_at_member(root, "window"),
                 window_max = sk_at_member(root, "window_max");

    if (j->indices == 0 || j->indices > ATP_INDICES - j->first_index) {
        sk_at_fail(&indices, "from index %u on there are 1 to %u aggregators", j->first_index,
                   ATP_INDICES - j->first_index);
    }
    if (j->window == 0 || j->window > j->window_max) {
        sk_at_fail(window.value ? &window : &window_max,
                   "a window of %u is out of range; it is 1 to window_max, which is %u", j->window,
                   j->window_max);
    }
}

static enum silken_type read_type(const struct sk_at *root) {
    struct sk_at at = sk_at_member(root, "type");
    const char *word = at.value ? sk_at_string(&at, true) : "f32";

    if (word && strcmp(word, "f32") != 0 && strcmp(word, "i32") != 0) {
        sk_at_fail(&at, "a type must be f32 or i32, not '%s'", word);
    }
    return word && strcmp(word, "i32") == 0 ? SILKEN_I32 : SILKEN_F32;
}

static void job_file_read_root(struct job_file *j, const struct sk_at *root) {
    static const char *const keys[] = {"job",        "type",        "workers", "servers",
                                       "groups",     "first_index", "indices", "window",
                                       "window_max", "switches",    NULL};
    struct sk_at job = sk_at_member(root, "job"), workers = sk_at_member(root, "workers"),
                 servers = sk_at_member(root, "servers"), groups = sk_at_member(root, "groups");

    sk_at_keys(root, keys);
    j->job = (uint8_t)sk_at_number(&job, true, ATP_MAX_JOB);
    if (j->job == 0) {
        sk_at_fail(&job, "a job's number is 1 to %d", ATP_MAX_JOB);
    }
    j->type = read_type(root);
    j->workers = read_stations(&workers, ATP_MAX_WORKERS, &j->lanes, &j->rack, &j->worker);
    if (!root->doc->failed) {
        j->servers = read_stations(&servers, SILKEN_MAX_FLOWS / j->lanes, &j->lanes,
                                   &j->server_rack, &j->server);
    }
    if (!root->doc->failed) {
        job_file_read_groups(j, &groups);
    }
    j->first_index = job_file_read_number(root, "first_index", 0, ATP_INDICES - 1);
    j->indices = job_file_read_number(root, "indices", ATP_INDICES - j->first_index, ATP_INDICES);
    j->window = job_file_read_number(root, "window", 200, ATP_WINDOW_LIMIT);
    j->window_max = job_file_read_number(root, "window_max", 1024, ATP_WINDOW_LIMIT);
    check_numbers(j, root);
    if (!root->doc->failed) {
        check_distinct(j, &workers, &servers);
    }
    if (!root->doc->failed) {
        read_switches(j, root);
    }
}

int job_file_parse(struct job_file *j, const char *name, const char *text, size_t length,
                   struct sk_error *err) {
    json_t *root = sk_json_parse(name, text, length, err);
    struct job_file_memory *m;

    *j = (struct job_file){0};
    if (!root) {
        return -1;
    }
    m = calloc(1, sizeof *m);
    if (!m) {
        abort();
    }
    m->root = root;
    m->doc = (struct sk_json){.name = name, .text = text, .length = length, .err = err};
    j->memory = m;
    job_file_read_root(j, &(struct sk_at){.doc = &m->doc, .value = root});
    if (m->doc.failed) {
        job_file_free(j);
        return -1;
    }
    return 0;
}

int job_file_read(struct job_file *j, const char *path, struct sk_error *err) {
    size_t length;
    char *text = sk_read_file(path, &length, err);
    int status = text ? job_file_parse(j, path, text, length, err) : -1;

    free(text);
    return status;
}

void job_file_free(struct job_file *j) {
    if (j->memory) {
        sk_json_release(&j->memory->doc);
        json_decref(j->memory->root);
        free(j->memory);
    }
    *j = (struct job_file){0};
}

void job_file_worker(const struct job_file *j, uint32_t rank, struct silken_config *config,
                     struct silken_lane *lane) {
    config->protocol = SILKEN_ATP;
    config->rank = rank;
    config->workers = j->workers;
    config->job = j->job;
    config->atp = (struct silken_atp){
        .type = j->type,
        .servers = j->servers,
        .server = j->server,
        .group = j->group,
        .server_rack = j->server_rack,
        .rack = j->rack,
        .first_index = j->first_index,
        .indices = j->indices,
        .window = j->window,
        .window_max = j->window_max,
        .first = config->atp.first,
    };
    config->atp.no_switch = j->switches == 0;
    if (j->switches > 0) {
        const struct silken_address *at = job_file_switch(j, j->rack[rank]);
        config->switch_mac = at->mac;
        config->switch_ip = at->ip;
    }
    config->lanes = j->lanes;
    config->lane = lane;
    for (uint32_t i = 0; i < j->lanes; i++) {
        const struct silken_address *a = &j->worker[i * j->workers + rank];
        lane[i].worker_mac = a->mac;
        lane[i].worker_ip = a->ip;
    }
}
