// SPDX-License-Identifier: Apache-2.0
//
// script: what one dump has that another, of the same program, has not, as Python for BF Runtime's
// client (bfrt_grpc.client). The script is a list of updates, in an order in which each finds what
// it names, and a few lines that make them.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "twin/items.h"
#include "twin/schema.h"

struct script {
    FILE *out;
    struct sk_error *err;
    const json_t *table;
    uint64_t n; // updates
    bool bad;   // 'err' has a sentence
};

static const char script_head[] =
    "#!/usr/bin/env python3\n"
    "\"\"\"What a switch has, by BF Runtime: written by `silken twin pack`.\n\n"
    "    setup.py [ADDRESS]        (127.0.0.1:50052)\n\n"
    "For a switch that runs the program and has nothing else. Ports that it has already stay as\n"
    "they are.\"\"\"\n"
    "import sys\n\n"
    "import bfrt_grpc.client as gc\n\n";

static const char script_tail[] =
    "\n\n"
    "def key(table, fields):\n"
    "    return table.make_key([gc.KeyTuple(name, **value) for name, value in "
    "fields.items()])\n\n\n"
    "def data(table, action, fields):\n"
    "    return table.make_data([gc.DataTuple(name, **value) for name, value in fields.items()],\n"
    "                           action)\n\n\n"
    "def has_port(info, target, port):\n"
    "    for name in (\"$PORT\", \"$PORT_STAT\"):\n"
    "        table = info.table_get(name)\n"
    "        try:\n"
    "            wanted = key(table, {\"$DEV_PORT\": {\"value\": port}})\n"
    "            if list(table.entry_get(target, [wanted], {\"from_hw\": False})):\n"
    "                return True\n"
    "        except gc.BfruntimeRpcException:\n"
    "            pass  # it has no such entry\n"
    "    return False\n\n\n"
    "def add_port(info, port, speed):\n"
    "    target = gc.Target(device_id=0, pipe_id=0xffff)\n"
    "    if has_port(info, target, port):\n"
    "        return\n"
    "    table = info.table_get(\"$PORT\")\n"
    "    fields = {\"$SPEED\": {\"str_val\": speed}, \"$FEC\": {\"str_val\": "
    "\"BF_FEC_TYP_NONE\"},\n"
    "              \"$PORT_ENABLE\": {\"bool_val\": True}}\n"
    "    table.entry_add(target, [key(table, {\"$DEV_PORT\": {\"value\": port}})],\n"
    "                    [data(table, None, fields)])\n\n\n"
    "def update(info, name, pipe, what, key_fields, action, fields):\n"
    "    table = info.table_get(name)\n"
    "    target = gc.Target(device_id=0, pipe_id=pipe)\n"
    "    values = data(table, action, fields)\n"
    "    if what == \"default\":\n"
    "        table.default_entry_set(target, values)\n"
    "        return\n"
    "    change = table.entry_add if what == \"add\" else table.entry_mod\n"
    "    change(target, [key(table, key_fields)] if key_fields else None, [values])\n\n\n"
    "def main():\n"
    "    address = sys.argv[1] if len(sys.argv) > 1 else \"127.0.0.1:50052\"\n"
    "    interface = gc.ClientInterface(address, client_id=0, device_id=0)\n"
    "    interface.bind_pipeline_config(PROGRAM)\n"
    "    info = interface.bfrt_info_get(PROGRAM)\n"
    "    for one in PORTS:\n"
    "        add_port(info, *one)\n"
    "    for one in UPDATES:\n"
    "        try:\n"
    "            update(info, *one)\n"
    "        except gc.BfruntimeRpcException as e:\n"
    "            sys.exit(f\"{one}: {e}\")\n"
    "    interface.tear_down_stream()\n"
    "    print(f\"{len(PORTS)} ports and {len(UPDATES)} updates\")\n\n\n"
    "if __name__ == \"__main__\":\n"
    "    main()\n";

static void script_fail(struct script *s, const char *what) {
    if (!s->bad)
        sk_fail(s->err, "table '%s': %s", twin_schema_name(s->table), what);
    s->bad = true;
}

// ---- values ----

static void script_print(const json_t *value, FILE *out) {
    if (json_is_boolean(value))
        fputs(json_is_true(value) ? "True" : "False", out);
    else if (json_is_array(value) && json_is_boolean(json_array_get(value, 0))) {
        for (size_t i = 0; i < json_array_size(value); i++)
            fprintf(out, "%s%s", i ? ", " : "[",
                    json_is_true(json_array_get(value, i)) ? "True" : "False");
        fputc(']', out);
    } else {
        twin_decode_print(value, out);
    }
}

static void script_key(struct script *s, const json_t *key) {
    const char *name, *between = "";
    json_t *value;
    fputc('{', s->out);
    json_object_foreach((json_t *)key, name, value) {
        const json_t *list = json_object_get(s->table, "key");
        const char *match = "", *first = "value", *second = NULL;
        for (size_t i = 0; i < json_array_size(list); i++)
            if (strcmp(twin_schema_name(json_array_get(list, i)), name) == 0)
                match = sk_json_text(json_array_get(list, i), "match_type");
        if (strcmp(match, "Range") == 0)
            first = "low";
        if (json_is_array(value))
            second = strcmp(match, "LPM") == 0        ? "prefix_len"
                     : strcmp(match, "Range") == 0    ? "high"
                     : strcmp(match, "Optional") == 0 ? "is_valid"
                                                      : "mask";
        fputs(between, s->out);
        twin_decode_quote(name, s->out);
        fprintf(s->out, ": {\"%s\": ", first);
        script_print(second ? json_array_get(value, 0) : value, s->out);
        if (second) {
            fprintf(s->out, ", \"%s\": ", second);
            script_print(json_array_get(value, 1), s->out);
        }
        fputc('}', s->out);
        between = ", ";
    }
    fputc('}', s->out);
}

// How the client's DataTuple calls a value of this field; null: it takes none.
static const char *script_kind(const json_t *field) {
    const char *type = twin_schema_type(field);
    const bool several = sk_json_is(field, "repeated");
    if (strcmp(type, "container") == 0)
        return NULL;
    if (strcmp(type, "bool") == 0)
        return several ? "bool_arr_val" : "bool_val";
    if (strcmp(type, "string") == 0)
        return several ? "str_arr_val" : "str_val";
    if (strcmp(type, "float") == 0)
        return several ? NULL : "float_val";
    return several ? "int_arr_val" : "val";
}

// What a new entry has when nobody says it.
static bool script_is_default(const json_t *field, const json_t *value) {
    const json_t *of = json_object_get(json_object_get(field, "type"), "default_value");
    const char *text = json_string_value(of), *own = json_string_value(value);
    if (own && own[0] == TWIN_BIG[0])
        own++;
    return of && (text && own ? strcmp(text, own) == 0 : json_equal(of, value));
}

// What BF Runtime reads of a switch, and cannot write as it is.
static void script_check(struct script *s, const json_t *entry) {
    const json_t *data = json_object_get(entry, "data");
    const bool has_limits =
        json_object_get(data, "drop_limit_yellow") && json_object_get(data, "drop_limit_red");
    if (strcmp(sk_json_text(s->table, "table_type"), "TmQueueColor") == 0 &&
        sk_json_is(data, "drop_enable") && !has_limits)
        script_fail(s, "a queue's limits of yellow and red are eighths of that of green, or BF "
                       "Runtime cannot say them");
}

// A filter or early drop of an entry that nobody configured reads as zeros, and would be configured
// by them.
static bool script_is_unset(const json_t *data, const char *name) {
    static const struct {
        const char *begin, *zero;
    } parts[] = {{"$LPF_SPEC_", "$LPF_SPEC_GAIN_TIME_CONSTANT_NS"},
                 {"$WRED_SPEC_", "$WRED_SPEC_TIME_CONSTANT_NS"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strncmp(name, parts[i].begin, strlen(parts[i].begin)) == 0)
            return !(json_number_value(json_object_get(data, parts[i].zero)) > 0);
    return false;
}

// Which fields an update says: all, or those that are not what 'before' has; what a client cannot
// write is left out, and of a 'fresh' entry what it has anyway. 'pipe': of a register's values.
static void script_data(struct script *s, const json_t *action, const json_t *data,
                        const json_t *before, size_t pipe, bool fresh) {
    const char *name, *between = "";
    json_t *value;
    fputc('{', s->out);
    json_object_foreach((json_t *)data, name, value) {
        const json_t *field = twin_schema_data_named(s->table, action, name);
        if (twin_schema_read_only(s->table, action, name) || json_is_null(value) ||
            strcmp(name, "$ENTRY_HIT_STATE") == 0 ||
            (fresh && (script_is_default(field, value) || script_is_unset(data, name))) ||
            (before && json_equal(value, json_object_get(before, name))))
            continue;
        const char *kind = script_kind(field);
        if (!kind)
            script_fail(s, "BF Runtime's client does not write fields with containers");
        fputs(between, s->out);
        twin_decode_quote(name, s->out);
        fprintf(s->out, ": {\"%s\": ", kind ? kind : "");
        script_print(twin_schema_is_register(field) ? json_array_get(value, pipe) : value, s->out);
        fputc('}', s->out);
        between = ", ";
    }
    fputc('}', s->out);
}

// ---- updates ----

static void script_update(struct script *s, const json_t *entry, const char *what, int pipe,
                          const json_t *before) {
    const char *action = json_string_value(json_object_get(entry, "action"));
    const json_t *spec = action ? twin_schema_action_named(s->table, action) : NULL,
                 *key = json_object_get(entry, "key");
    fputs("    (", s->out);
    twin_decode_quote(twin_schema_name(s->table), s->out);
    fprintf(s->out, ", %d, \"%s\", ", pipe < 0 ? 0xffff : pipe, what);
    script_key(s, key);
    fputs(", ", s->out);
    if (action)
        twin_decode_quote(action, s->out);
    else
        fputs("None", s->out);
    fputs(", ", s->out);
    script_data(s, spec, json_object_get(entry, "data"), before, pipe < 0 ? 0 : (size_t)pipe,
                strcmp(what, "add") == 0);
    fputs("),\n", s->out);
    s->n++;
}

// How many pipes its registers' values are of; 0: it has none, or they are alike in all.
static size_t script_pipes(const struct script *s, const json_t *entry) {
    const char *action = json_string_value(json_object_get(entry, "action")), *name;
    const json_t *spec = action ? twin_schema_action_named(s->table, action) : NULL;
    json_t *value;
    json_object_foreach(json_object_get(entry, "data"), name, value) {
        const json_t *field = twin_schema_data_named(s->table, spec, name);
        for (size_t i = 1; twin_schema_is_register(field) && i < json_array_size(value); i++)
            if (!json_equal(json_array_get(value, i), json_array_get(value, 0)))
                return json_array_size(value);
    }
    return 0;
}

static bool script_is_writable(const struct script *s, const json_t *entry) {
    const char *action = json_string_value(json_object_get(entry, "action")), *name;
    const json_t *spec = action ? twin_schema_action_named(s->table, action) : NULL;
    json_t *value;
    json_object_foreach(json_object_get(entry, "data"), name, value) {
        if (!twin_schema_read_only(s->table, spec, name))
            return true;
    }
    return json_object_size(json_object_get(entry, "data")) == 0;
}

static void script_entry(struct script *s, const json_t *entry, const json_t *before) {
    const json_t *of = json_object_get(entry, "pipe");
    const bool is_default = sk_json_is(entry, "default");
    const size_t pipes = script_pipes(s, entry);
    // of an entry with an action all is said; of another what changes
    const bool parts = before && json_is_null(json_object_get(entry, "action")) && !pipes &&
                       strncmp(twin_schema_name(s->table), "pipe", 4) != 0;
    const char *what = is_default ? "default" : before ? "mod" : "add";
    if (before && !script_is_writable(s, entry))
        return;
    script_check(s, entry);
    if (pipes && !before)
        script_fail(s, "an entry whose registers differ by pipe cannot be added at once");
    for (size_t pipe = 0; pipe < pipes; pipe++)
        script_update(s, entry, what, (int)pipe, NULL);
    if (!pipes)
        script_update(s, entry, what, of ? (int)json_integer_value(of) : -1,
                      parts ? json_object_get(before, "data") : NULL);
}

// By key and pipe.
static char *script_index(const json_t *entry) {
    json_t *index = json_pack("[O, O*, b]", json_object_get(entry, "key"),
                              json_object_get(entry, "pipe"), sk_json_is(entry, "default"));
    char *text = json_dumps(index, JSON_SORT_KEYS | JSON_COMPACT);
    json_decref(index);
    if (!text)
        abort();
    return text;
}

static void script_table(struct script *s, const json_t *empty, const json_t *full) {
    const json_t *there = json_object_get(empty, "entries"),
                 *list = json_object_get(full, "entries");
    json_t *known = json_object();
    for (size_t i = 0; i < json_array_size(there); i++) {
        char *index = script_index(json_array_get(there, i));
        json_object_set(known, index, json_array_get(there, i));
        free(index);
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        char *index = script_index(entry);
        const json_t *before = json_object_get(known, index);
        if (!before || !json_equal(before, entry))
            script_entry(s, entry, before);
        free(index);
    }
    json_decref(known);
}

// ---- their order ----

// Table types, each after those that its entries name; others come last.
static const char *const script_order[] = {"PreLag",
                                           "PreNode",
                                           "PreEcmp",
                                           "PreMgid",
                                           "PrePrune",
                                           "PrePort",
                                           "MirrorCfg",
                                           "TmPoolCfg",
                                           "TmPoolApp",
                                           "TmPortBuffer",
                                           "TmPortSchedCfg",
                                           "TmQueueMap",
                                           "TmQueueBuffer",
                                           "TmQueueColor",
                                           "TmQueueSchedCfg",
                                           "PktgenPortCfg",
                                           "PktgenPktBufferCfg",
                                           "PktgenAppCfg",
                                           "Action",
                                           "Selector"};
#define SCRIPT_LAST (sizeof script_order / sizeof *script_order)
// What follows from other tables, counts at a moment, or is the device's own.
static const char *const script_left[] = {
    "PortConfigure",   "PortStat",      "PortHdlInfo",     "PortFpIdxInfo", "PortStrInfo",
    "DevConfigure",    "SnapshotCfg",   "SnapshotTrigger", "SnapshotData",  "SnapshotLiveness",
    "TmCounterEgPort", "TmCounterPool", "TmCounterQueue"};

static size_t script_rank(const char *type) {
    size_t i = 0;
    while (i < SCRIPT_LAST && strcmp(script_order[i], type) != 0)
        i++;
    return i;
}

static bool script_is_left(const char *type) {
    for (size_t i = 0; i < sizeof script_left / sizeof *script_left; i++)
        if (strcmp(script_left[i], type) == 0)
            return true;
    return false;
}

int twin_script(const struct twin_tables *empty, const struct twin_tables *full,
                const struct twin_script_ports *ports, FILE *out, struct sk_error *err) {
    struct script s = {.out = out, .err = err};
    fputs(script_head, out);
    fputs("PROGRAM = ", out);
    twin_decode_quote(full->program, out);
    fputs("\n# device port, speed\nPORTS = [", out);
    for (size_t i = 0; i < ports->n; i++)
        fprintf(out, "%s(%u, \"%s\")", i ? ", " : "", ports->list[i], ports->speed);
    fputs("]\n# table, pipe, what, key, action, data\nUPDATES = [\n", out);
    for (size_t rank = 0; rank <= SCRIPT_LAST; rank++)
        for (size_t i = 0; i < json_array_size(full->schema); i++) {
            s.table = json_array_get(full->schema, i);
            const char *type = sk_json_text(s.table, "table_type"),
                       *name = twin_schema_name(s.table);
            if (script_rank(type) == rank && !script_is_left(type))
                script_table(&s, json_object_get(empty->tables, name),
                             json_object_get(full->tables, name));
        }
    fputs("]\n", out);
    fputs(script_tail, out);
    if (!s.bad && (fflush(out) || ferror(out)))
        return sk_fail(err, "cannot write the script: %s", strerror(errno));
    return s.bad ? -1 : 0;
}

static bool script_has_default(const struct twin_tables *full, const char *table) {
    const char *name;
    json_t *of;
    json_object_foreach(full->tables, name, of) {
        const size_t n = strlen(name), length = strlen(table);
        const json_t *list = json_object_get(of, "entries");
        const bool same =
            strcmp(name, table) == 0 ||
            (n == length + 5 && strncmp(name, "pipe.", 5) == 0 && strcmp(name + 5, table) == 0);
        for (size_t i = 0; same && i < json_array_size(list); i++)
            if (sk_json_is(json_array_get(list, i), "default"))
                return true;
    }
    return false;
}

int twin_script_defaults(const struct twin_tables *full, const char *state, size_t length,
                         struct sk_error *err) {
    static const char section[] = "defaults ";
    struct twin_side *s = twin_side_new("state");
    int rc = twin_read_text(s, "state", state, length, err);
    for (size_t i = 0; rc == 0 && i < s->n_tables; i++) {
        const char *name = s->tables[i].name;
        if (strncmp(name, section, sizeof section - 1) == 0 &&
            !script_has_default(full, name + sizeof section - 1))
            rc = sk_fail(err, "table '%s': BF Runtime's client cannot say its default action",
                         name + sizeof section - 1);
    }
    twin_side_free(s);
    return rc;
}
