// SPDX-License-Identifier: Apache-2.0
//
// turn: a packet's number in its file, and its turn among those that are replayed.
#include <inttypes.h>
#include <string.h>

#include "pcap/explain/explain.h"
#include "pcap/replay/map.h"

// A pcapng of several ports, as 'silken record' writes them.
static bool has_port_names(struct capture *capture, const struct capture_frame *f) {
    return capture_form(capture) == CAPTURE_PCAPNG && f->interface && f->interface->name &&
           strncmp(f->interface->name, "port-", 5) == 0;
}

// Packets that carry neither Ethernet nor IP have no turn.
static int explain_turn_count(struct capture *capture, struct replay_map *map, bool always,
                              uint64_t number, uint64_t *turn, bool *mapped, struct sk_error *err) {
    struct capture_frame f;
    bool first = true;
    *turn = 0;
    *mapped = map != NULL;
    for (uint64_t i = 1; i <= number; i++) {
        int rc = capture_next(capture, &f, err);
        if (rc < 0)
            return -1;
        if (rc == 0)
            return sk_fail(err, "%s: there is no packet %" PRIu64 "; the last one is %" PRIu64,
                           capture_path(capture), number, i - 1);
        if (f.foreign) {
            if (i == number)
                return sk_fail(err, "%s: packet %" PRIu64 " carries neither Ethernet nor IP; %s",
                               capture_path(capture), i, f.foreign);
            continue;
        }
        if (first && *mapped && !always)
            *mapped = has_port_names(capture, &f);
        first = false;
        if (!*mapped) {
            ++*turn;
            continue;
        }
        uint16_t port = replay_map_port(map, &f);
        *turn += port < SK_PORTS;
        if (i == number && port >= SK_PORTS)
            return sk_fail(err, "%s: packet %" PRIu64 " %s", capture_path(capture), i,
                           port == REPLAY_SENT
                               ? "was sent, or is a note; only a received packet can be explained"
                               : "is not given a port by the map");
    }
    return 0;
}

int explain_turn(const char *path, const char *map, uint64_t number, uint64_t *turn, bool *mapped,
                 struct sk_error *err) {
    struct replay_map *m = replay_map_parse(map, err);
    struct capture *capture = m ? capture_open(path, err) : NULL;
    int rc = capture ? explain_turn_count(capture, m, map, number, turn, mapped, err) : -1;
    capture_close(capture);
    replay_map_free(m);
    return rc;
}

int explain_turn_of_port(const char *path, uint64_t number, uint64_t *turn, struct sk_error *err) {
    struct capture *capture = capture_open(path, err);
    bool mapped;
    int rc = capture ? explain_turn_count(capture, NULL, false, number, turn, &mapped, err) : -1;
    capture_close(capture);
    return rc;
}
