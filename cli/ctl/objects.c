// SPDX-License-Identifier: Apache-2.0
#include "cli/ctl/ctl_impl.h"

#include <stdlib.h>
#include <string.h>

#include "cli/ctl/print.h"

// Reads what hangs on an entry, or with "set" writes it.
static int table_data(struct ctl *c) {
    ctl_op(c, "entry.read");
    ctl_set_text(c, "table", ctl_next_word(c, "a table"));
    if (*c->words && sk_is_number(*c->words))
        ctl_set_number(c, "priority", *c->words++);
    ctl_take_pairs(c, "key");
    bool set = *c->words && ctl_is(*c->words, "set");
    if (set) {
        ctl_op(c, "entry.write");
        c->words++;
        ctl_take_pairs(c, "data");
    }
    ctl_take_pipe(c);
    return ctl_finish(c, set ? NULL : ctl_print_data);
}

// Without a pipe, the first that has the table and every pipe whose entries are others.
static int ctl_objects_dump_table(struct ctl *c) {
    bool one = json_object_get(c->request, "pipe");
    int status = ctl_finish_pages(c, "entries", ctl_print_entries);
    unsigned differ = one ? 0 : c->differ;
    for (int pipe = 0; differ >> pipe && status == EXIT_GOOD; pipe++) {
        if (!(differ >> pipe & 1))
            continue;
        json_object_del(c->request, "from");
        json_object_set_new(c->request, "pipe", json_integer(pipe));
        status = ctl_finish_pages(c, "entries", ctl_print_entries);
    }
    return status;
}

// The masks of a table's keys; with pairs or "whole" sets them.
static int table_mask(struct ctl *c) {
    ctl_op(c, "table.mask");
    ctl_set_text(c, "table", ctl_next_word(c, "a table"));
    bool whole = *c->words && ctl_is(*c->words, "whole");
    bool set = whole || (*c->words && ctl_is_pair(*c->words));
    if (set)
        ctl_op(c, "table.mask.set");
    if (whole)
        c->words++;
    else
        ctl_take_pairs(c, "masks");
    ctl_take_pipe(c);
    return ctl_finish(c, set ? NULL : ctl_print_masks);
}

static int ctl_objects_reset_default(struct ctl *c) {
    ctl_op(c, "table.default.reset");
    ctl_set_text(c, "table", ctl_next_word(c, "a table"));
    c->words++;
    ctl_take_pipe(c);
    return ctl_finish(c, NULL);
}

int ctl_table(struct ctl *c) {
    static const struct {
        const char *word, *op;
        unsigned parts;
    } changes[] = {
        {"add", "table.add", CTL_KEY | CTL_ACTION},
        {"modify", "table.modify", CTL_KEY | CTL_ACTION},
        {"delete", "table.delete", CTL_KEY},
        {"default", "table.default", CTL_ACTION},
        {"clear", "table.clear", 0},
    };
    const char *word =
        ctl_next_word(c, "list, dump, data, mask, add, modify, delete, default or clear");
    if (ctl_is(word, "data"))
        return table_data(c);
    if (ctl_is(word, "mask"))
        return table_mask(c);
    if (ctl_is(word, "list")) {
        ctl_op(c, "objects");
        return ctl_finish(c, ctl_print_tables);
    }
    if (ctl_is(word, "dump")) {
        ctl_op(c, "table.dump");
        ctl_take_entry(c, 0);
        return ctl_objects_dump_table(c);
    }
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        if (!ctl_is(word, changes[i].word))
            continue;
        ctl_op(c, changes[i].op);
        if (ctl_is(word, "default") && c->words[0] && c->words[1] && ctl_is(c->words[1], "reset"))
            return ctl_objects_reset_default(c);
        ctl_take_entry(c, changes[i].parts);
        return ctl_finish(c, NULL);
    }
    return ctl_unknown(c, "table", word);
}

static void take_register_values(struct ctl *c) {
    ctl_set_number(c, "index", ctl_next_word(c, "an index"));
    if (*c->words && ctl_is_pair(*c->words)) {
        for (; *c->words && ctl_is_pair(*c->words); c->words++)
            ctl_add_pair(c, "value", *c->words, strlen(*c->words));
    } else {
        ctl_set_text(c, "value", ctl_next_word(c, "a value"));
    }
    ctl_take_pipe(c);
}

int ctl_register(struct ctl *c) {
    const char *word = ctl_next_word(c, "list, read or write");
    if (ctl_is(word, "list")) {
        ctl_op(c, "objects");
        return ctl_finish(c, ctl_print_registers);
    }
    if (ctl_is(word, "read")) {
        ctl_op(c, "register.read");
        ctl_set_text(c, "name", ctl_next_word(c, "a register"));
        ctl_take_range(c);
        return ctl_finish_pages(c, "cells", ctl_print_register);
    }
    if (ctl_is(word, "write")) {
        ctl_op(c, "register.write");
        ctl_set_text(c, "name", ctl_next_word(c, "a register"));
        take_register_values(c);
        return ctl_finish(c, NULL);
    }
    return ctl_unknown(c, "register", word);
}

int ctl_meter(struct ctl *c) {
    const char *word = ctl_next_word(c, "list, read, write or reset");
    if (ctl_is(word, "list")) {
        ctl_op(c, "objects");
        return ctl_finish(c, ctl_print_meters);
    }
    if (ctl_is(word, "read")) {
        ctl_op(c, "meter.read");
        ctl_set_text(c, "name", ctl_next_word(c, "a meter"));
        ctl_take_range(c);
        return ctl_finish_pages(c, "cells", ctl_print_meter);
    }
    if (!ctl_is(word, "write") && !ctl_is(word, "reset"))
        return ctl_unknown(c, "meter", word);
    ctl_op(c, ctl_is(word, "write") ? "meter.write" : "meter.reset");
    ctl_set_text(c, "name", ctl_next_word(c, "a meter"));
    ctl_take_cells(c);
    if (ctl_is(word, "write"))
        ctl_take_pairs(c, "spec");
    ctl_take_pipe(c);
    return ctl_finish(c, NULL);
}

int ctl_idle(struct ctl *c) {
    const char *word = ctl_next_word(c, "poll or update");
    if (ctl_is(word, "poll")) {
        ctl_op(c, "idle.poll");
        return ctl_finish(c, ctl_print_events);
    }
    if (!ctl_is(word, "update"))
        return ctl_unknown(c, "idle", word);
    ctl_op(c, "idle.update");
    ctl_set_text(c, "table", ctl_next_word(c, "a table"));
    return ctl_finish(c, NULL);
}

static int counter_change(struct ctl *c, bool write) {
    ctl_op(c, write ? "counter.write" : "counter.clear");
    ctl_set_text(c, "name", ctl_next_word(c, "a counter"));
    if (write) {
        ctl_set_number(c, "index", ctl_next_word(c, "an index"));
        ctl_set_number(c, "packets", ctl_next_word(c, "the packets"));
        if (*c->words)
            ctl_set_number(c, "bytes", *c->words++);
    }
    return ctl_finish(c, NULL);
}

int ctl_counter(struct ctl *c) {
    const char *word = ctl_next_word(c, "list, read, write or clear");
    if (ctl_is(word, "write") || ctl_is(word, "clear"))
        return counter_change(c, ctl_is(word, "write"));
    if (ctl_is(word, "list")) {
        ctl_op(c, "objects");
        return ctl_finish(c, ctl_print_counters);
    }
    if (!ctl_is(word, "read"))
        return ctl_unknown(c, "counter", word);
    ctl_op(c, "counter.read");
    ctl_set_text(c, "name", ctl_next_word(c, "a counter"));
    bool all = *c->words;
    ctl_take_range(c);
    return ctl_finish_pages(c, "cells", all ? ctl_print_counter : ctl_print_counter_above_zero);
}

// "MEMBER[:down] ... [max N]"
static int change_group(struct ctl *c, const char *name) {
    ctl_op(c, name);
    ctl_set_text(c, "selector", ctl_next_word(c, "a selector"));
    ctl_set_number(c, "id", ctl_next_word(c, "a group's id"));
    json_t *members = json_array();
    for (; *c->words && strcmp(*c->words, "max") != 0 && strcmp(*c->words, "pipe") != 0;
         c->words++) {
        size_t n = strcspn(*c->words, ":");
        char *id = strndup(*c->words, n);
        ctl_set_number(c, "member", id); // checks it
        free(id);
        bool down = strcmp(*c->words + n, ":down") == 0;
        if (!down && (*c->words)[n] && !c->bad)
            c->bad = cli_misused("ctl", "'%s' should be MEMBER or MEMBER:down", *c->words);
        json_t *number = json_incref(json_object_get(c->request, "member"));
        json_array_append_new(members, json_pack("{s:o?, s:b}", "member", number, "up", !down));
    }
    json_object_del(c->request, "member");
    json_object_set_new(c->request, "members", members);
    if (*c->words && ctl_is(*c->words, "max")) {
        c->words++;
        ctl_set_number(c, "max_size", ctl_next_word(c, "the group's size"));
    }
    ctl_take_pipe(c);
    return ctl_finish(c, NULL);
}

int ctl_group(struct ctl *c) {
    const char *word = ctl_next_word(c, "dump, add, modify, delete, clear or member");
    if (ctl_is(word, "add"))
        return change_group(c, "group.add");
    if (ctl_is(word, "modify"))
        return change_group(c, "group.modify");
    bool dump = ctl_is(word, "dump"), clear = ctl_is(word, "clear"),
         member = ctl_is(word, "member");
    if (!dump && !clear && !member && !ctl_is(word, "delete"))
        return ctl_unknown(c, "group", word);
    ctl_op(c, dump     ? "group.dump"
              : clear  ? "group.clear"
              : member ? "group.member"
                       : "group.delete");
    ctl_set_text(c, "selector", ctl_next_word(c, "a selector"));
    if (!dump && !clear)
        ctl_set_number(c, "id", ctl_next_word(c, "a group's id"));
    if (member)
        ctl_set_number(c, "hash", ctl_next_word(c, "a hash"));
    ctl_take_pipe(c);
    if (dump)
        return ctl_finish_pages(c, "list", ctl_print_groups);
    return ctl_finish(c, member ? ctl_print_member : NULL);
}

int ctl_hash(struct ctl *c) {
    const char *word = ctl_next_word(c, "list, fields, algorithm, reset or compute");
    if (ctl_is(word, "list")) {
        ctl_op(c, "objects");
        return ctl_finish(c, ctl_print_hashes);
    }
    bool fields = ctl_is(word, "fields"), algorithm = ctl_is(word, "algorithm"),
         compute = ctl_is(word, "compute");
    if (!fields && !algorithm && !compute && !ctl_is(word, "reset"))
        return ctl_unknown(c, "hash", word);
    ctl_op(c, fields      ? "hash.fields"
              : algorithm ? "hash.algorithm"
              : compute   ? "hash.compute"
                          : "hash.reset");
    ctl_set_text(c, "name", ctl_next_word(c, "a hash"));
    if (algorithm || compute)
        ctl_take_pairs(c, algorithm ? "algorithm" : "values");
    json_t *list = fields ? json_array() : NULL;
    for (; fields && *c->words && !ctl_is(*c->words, "pipe"); c->words++)
        json_array_append_new(list, json_string(*c->words));
    if (fields)
        json_object_set_new(c->request, "fields", list);
    ctl_take_pipe(c);
    return ctl_finish(c, compute ? ctl_print_hash : NULL);
}
