// SPDX-License-Identifier: Apache-2.0
//
// record: "record", and the configuration that is kept beside a recording.
#include <stdlib.h>
#include <string.h>

#include "control/config/record.h"
#include "control/tables/json_switch.h"
#include "pipeline/observe/recorder.h"

void sk_config_check_recorded(const struct sk_config_port *all, size_t n_all,
                              const struct sk_at *list, const uint16_t *ports, size_t n) {
    for (size_t i = 0; i < n && !list->doc->failed; i++) {
        size_t k = 0;
        while (k < n_all && all[k].port != ports[i])
            k++;
        const struct sk_at item = sk_at_item(list, i);
        if (k == n_all)
            sk_at_fail(&item, "the switch has no port %u", ports[i]);
    }
}

void sk_config_read_record(const struct sk_at *root, struct sk_config *c) {
    static const char *const keys[] = {"file",    "file_size", "files", "ports",
                                       "snaplen", "ring",      NULL};
    struct sk_at at = sk_at_member(root, "record");
    if (!at.value)
        return;
    sk_at_keys(&at, keys);
    struct sk_at file = sk_at_member(&at, "file"), size = sk_at_member(&at, "file_size"),
                 files = sk_at_member(&at, "files"), ports = sk_at_member(&at, "ports"),
                 snaplen = sk_at_member(&at, "snaplen"), ring = sk_at_member(&at, "ring");
    struct sk_config_record *r = &c->record;
    r->file = sk_at_string(&file, true);
    r->file_mib = sk_at_number(&size, false, 1 << 20);
    r->files = (unsigned)sk_at_number(&files, false, 99999);
    r->snaplen = (uint32_t)sk_at_number(&snaplen, false, UINT16_MAX);
    r->ring_mib = sk_at_number(&ring, false, SK_RECORDER_MAX_RING >> 20);
    r->ports = sk_at_ports(&ports, &r->n_ports);
    sk_config_check_recorded(c->ports, c->n_ports, &ports, r->ports, r->n_ports);
    if (r->files && !r->file_mib)
        sk_at_fail(&files, "it needs \"file_size\"");
}

char *sk_config_for_replay(const struct sk_config *c, const char *program, uint64_t clock) {
    json_t *root = json_copy(sk_config_json(c)); // its members are the configuration's
    json_object_del(root, "record");
    json_object_del(root, "control_socket");
    json_object_del(root, "daemon");
    json_object_del(root, "metrics");
    json_object_del(root, "page");
    json_object_del(root, "bfrt");
    json_object_del(root, "p4runtime");
    json_object_del(root, "alarms");
    json_object_del(root, "sampling");
    json_object_set_new(root, "program", json_string(program));
    json_object_set_new(root, "clock", json_integer((json_int_t)clock));
    char *text = json_dumps(root, JSON_INDENT(1));
    json_decref(root);
    if (!text)
        abort();
    return text;
}
