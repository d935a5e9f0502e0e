// SPDX-License-Identifier: Apache-2.0
//
// twin: a chip and its twin, compared: what one switch's tables, registers and captures have that
// another's have not; reading a switch's tables by BF Runtime; and a switch's configuration as a
// script of BF Runtime's Python client.
//
// A dump is a JSON text in one of these forms:
//
//     {"silken_twin": 1, "program": NAME, "table": NAME, "entries": [ENTRY...]}   of twin_dump()
//     {"silken_twin": 1, "program": NAME, "table": NAME, "unread": SENTENCE}      the same
//     [ENTRY...], or several of these     of bfrt_python's dump(table=True, json=True), as it is
//         returned, printed or shown by the shell; or of the Python client's entries:
//         {"table_name": NAME, "key": key.to_dict(), "data": data.to_dict()}
//     {"silken_state": 1, ...}            of `silken ctl state dump` (control/state/state.h)
//
//     ENTRY = {"table_name": NAME, "pipe": N, "default": true, "action": NAME,
//              "key": {FIELD: NUMBER | TEXT | [VALUE, MASK | PREFIX | HIGH]
//                      | {"value":, "mask" | "prefix_len" | "is_valid":} | {"low":, "high":}},
//              "data": {FIELD: VALUE}}
//
// Numbers may have any size, as Python's have. Entries are compared by table (with and without
// "pipe." before its name), pipe and key; a dump that has a key twice is refused.
//
// Thread-safety: different sides, callers and dumps on different threads.
//
// Files:
//
//     text.c      dumps as text: what shells print around them, numbers of any size
//     read.c      dumps and folders into items (items.h)
//     compare.c   items of two sides
//     captures.c  captures of two sides, through the aligner of replays
//     report.c    differences, and what is not compared, as lines or JSON
//     schema.c    tables and fields by their ids, from the JSON that a server sends (schema.h)
//     decode.c    entries of a server's replies as JSON
//     dump.c      all tables of a server
//     local.c     a switch of this process as such a server
//     script.c    what one dump has that another has not, as a script
#ifndef SILKEN_TWIN_TWIN_H
#define SILKEN_TWIN_TWIN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

// ---- comparing ----

struct twin_side;
// What a folder or a single file has: dumps (*.json, *.txt, *.dump) and captures (*.pcap, *.pcapng,
// *.cap, also gzipped). Null with a sentence that has file and line.
struct twin_side *twin_side_read(const char *path, struct sk_error *err);
void twin_side_free(struct twin_side *s); // null allowed

struct twin_diff_options {
    bool json;                 // as one JSON object
    bool everything;           // what may differ is compared, too
    const char *const *ignore; // fields or tables that are not compared, by their names
    size_t n_ignore;
    FILE *out;
};
// Writes each difference as a line: table, key, field, A's and B's value; then what was not
// compared, and a count. The number of differences, or -1 with a sentence: a capture cannot be
// read.
int64_t twin_diff(const struct twin_side *a, const struct twin_side *b,
                  const struct twin_diff_options *opt, struct sk_error *err);

// ---- reading a server ----

// Makes a call of the BF Runtime service: 'method' is its last word ("Read"). 'message' is told
// each message of the reply. 0; 1 with the server's sentence: the call failed; -1 with a sentence:
// no further call can be made.
struct twin_caller {
    int (*call)(void *aux, const char *method, const uint8_t *bytes, size_t length,
                void (*message)(void *aux, const uint8_t *bytes, size_t length), void *message_aux,
                struct sk_error *err);
    void *aux;
};

// What a server's tables have.
struct twin_tables {
    char *program;
    json_t *schema; // tables, an array: the program's, then those that every switch has
    json_t *tables; // by name: {"entries": [ENTRY...]} or {"unread": SENTENCE}
};
// A name of a program, or null: the server's first. -1 with a sentence.
int twin_dump(const struct twin_caller *caller, const char *program, struct twin_tables *out,
              struct sk_error *err);
void twin_tables_free(struct twin_tables *t);
// One table as a dump. False: writing failed (errno).
bool twin_tables_write(const struct twin_tables *t, const char *name, FILE *out);
// Whether a table's name can be a file's.
bool twin_name_is_file(const char *name);

// A service in this process.
struct brt;
struct twin_caller twin_local(struct brt *b);

// A server at an address (rpc/client.h). Null with a sentence.
struct rpc_client;
struct twin_caller twin_remote(struct rpc_client *c);

// ---- a script ----

struct twin_script_ports {
    const uint16_t *list; // device ports
    size_t n;
    const char *speed; // as $PORT has it: "BF_SPEED_100G"
};
// Writes Python that makes a switch that has what 'empty' has into one that has what 'full' has,
// and adds ports that it does not have. -1 with a sentence: BF Runtime's client cannot say that, or
// writing failed.
int twin_script(const struct twin_tables *empty, const struct twin_tables *full,
                const struct twin_script_ports *ports, FILE *out, struct sk_error *err);
// Whether BF Runtime shows all default actions that the state of the switch (control/state/state.h)
// has: of tables with action profiles it does not show each. -1 with a sentence: it does not.
int twin_script_defaults(const struct twin_tables *full, const char *state, size_t length,
                         struct sk_error *err);

#endif
