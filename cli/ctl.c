// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ctl_print.h"
#include "control/socket.h"

static const char usage[] =
    "usage: silken ctl [-s SOCKET] [--json] COMMAND...\n\n"
    "Reads and changes a running switch. Names are those of the P4 source or any unique suffix;\n"
    "values are written 123, 0x1f, 10.0.0.1, 00:11:22:33:44:55, 10.0.0.0/8, 1..5, 0x10 &&& "
    "0xf0.\n\n"
    "  table list                                  tables with their keys, actions, entries\n"
    "  table dump TABLE [pipe N]                   entries\n"
    "  table add TABLE [PRIORITY] KEY=VALUE... 'ACTION(ARG=VALUE, ...)' [pipe N]\n"
    "  table modify TABLE ...                      (the same)\n"
    "  table delete TABLE [PRIORITY] KEY=VALUE... [pipe N]\n"
    "  table default TABLE 'ACTION(...)' [pipe N]\n"
    "  table clear TABLE [pipe N]\n"
    "         'member(ID)' or 'group(ID)' for the action where the table has an action profile;\n"
    "         the profile's members: table add PROFILE '$ACTION_MEMBER_ID=ID' 'ACTION(...)'\n"
    "  group dump SELECTOR | group add|modify SELECTOR ID MEMBER[:down]... [max N]\n"
    "  group delete SELECTOR ID | group clear SELECTOR | group member SELECTOR ID HASH\n"
    "  register list | register read NAME [INDEX[-INDEX]]\n"
    "  register write NAME INDEX [FIELD=]VALUE... [pipe N]\n"
    "  counter list | counter read NAME [INDEX[-INDEX]]    without an index: those above zero\n"
    "  counter write NAME INDEX PACKETS [BYTES] | counter clear NAME\n"
    "  table data TABLE [PRIORITY] KEY=VALUE... [set FIELD=VALUE...] [pipe N]\n"
    "                                              an entry's counts, meter, ageing\n"
    "  meter list | meter read NAME [INDEX[-INDEX]]        meters, low-pass filters, early drop\n"
    "  meter write NAME INDEX|all FIELD=VALUE... [pipe N]  cir_kbps, cbs_kbits, pir_kbps...\n"
    "  meter reset NAME INDEX|all [pipe N]\n"
    "  idle poll                                   entries that became idle, or active again\n"
    "  idle update TABLE                           hit states\n"
    "  events                                      prints events as they come\n"
    "  port                                        ports with their counts\n"
    "  stats                                       packets of the whole switch, drops by reason\n"
    "  pre                                         multicast nodes and groups\n"
    "  pre node ID RID PORT... | pre group ID NODE[:XID]...\n"
    "  pre delete node ID | pre delete group ID | pre delete ecmp ID\n"
    "  pre lag id=N ports=P,P... [left=N] [right=N]    members on other switches\n"
    "  pre ecmp id=N nodes=N,N,-...                a '-' is an empty slot\n"
    "  pre backup port=P backup=P | pre global rid=N\n"
    "  mirror                                      sessions\n"
    "  mirror set id=N direction=ingress|egress|both [port=P] [mcast_a=N] [max=N] ... (manual)\n"
    "  mirror delete id=N\n"
    "  digest                                      prints digests as they come, until stopped\n"
    "  port up P | port down P | port queues\n"
    "  port queue port=P speed=MBPS [red=N] [yellow=N] [green=N] | port deflect port=P [qid=N]\n"
    "  pktgen                                      applications that are on, with their counts\n"
    "  pktgen buffer pipe=N offset=N bytes=HEX | pktgen off pipe=N app=N\n"
    "  pktgen set pipe=N app=N trigger=one_shot|periodic|port_down|recirculation length=N ...\n"
    "  job [JOB]                                   aggregation jobs: who is missing where\n\n"
    "  -s SOCKET    the control socket (default: $SILKEN_SOCKET)\n"
    "  --json       print the switch's reply as it is\n";

enum { JSON = 256 };
static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"json", no_argument, NULL, JSON},
    {NULL, 0, NULL, 0},
};

// A command being put together: its words, and the request that is made of them.
struct ctl {
    struct sk_client *client;
    bool json;
    char **words; // what is left
    json_t *request;
    bool bad;
};

static const char *next_word(struct ctl *c, const char *what) {
    if (*c->words)
        return *c->words++;
    if (!c->bad)
        cli_misused("ctl", "%s is missing", what);
    c->bad = true;
    return "";
}

static void set_text(struct ctl *c, const char *key, const char *text) {
    if (json_object_set_new(c->request, key, json_string(text)) && !c->bad) {
        cli_misused("ctl", "a name is no UTF-8 text");
        c->bad = true;
    }
}

// Decimal, or hexadecimal with 0x; a '-' may stand before it.
static bool is_number(const char *word) {
    word += *word == '-';
    bool hex = word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
    const char *digits = hex ? "0123456789abcdefABCDEF" : "0123456789";
    word += hex ? 2 : 0;
    return *word && strspn(word, digits) == strlen(word);
}

// Of a word that is one.
static long long number_of(const char *word) {
    const char *digits = word + (*word == '-');
    bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    return strtoll(word, NULL, hex ? 16 : 10);
}

static void set_number(struct ctl *c, const char *key, const char *word) {
    if (!is_number(word) || strlen(word) > 18) {
        if (!c->bad)
            cli_misused("ctl", "'%s' must be a number", word);
        c->bad = true;
        return;
    }
    json_object_set_new(c->request, key, json_integer(number_of(word)));
}

// "[pipe N]" at the end of what is left.
static void take_pipe(struct ctl *c) {
    if (*c->words && strcmp(*c->words, "pipe") == 0) {
        c->words++;
        set_number(c, "pipe", next_word(c, "the number of the pipe"));
    }
}

// ---- entries ----

static json_t *member_object(struct ctl *c, const char *key) {
    json_t *object = json_object_get(c->request, key);
    if (!object) {
        object = json_object();
        json_object_set_new(c->request, key, object);
    }
    return object;
}

static void add_pair(struct ctl *c, const char *object, const char *text, size_t n) {
    while (n > 0 && isspace((unsigned char)*text))
        text++, n--;
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        n--;
    const char *equals = memchr(text, '=', n);
    if (!equals) {
        if (!c->bad)
            cli_misused("ctl", "'%.*s' should be NAME=VALUE", (int)n, text);
        c->bad = true;
        return;
    }
    char *name = strndup(text, (size_t)(equals - text));
    if (json_object_get(member_object(c, object), name)) {
        if (!c->bad)
            cli_misused("ctl", "'%s' is given twice", name);
        c->bad = true;
        free(name);
        return;
    }
    json_t *value = json_stringn(equals + 1, n - (size_t)(equals - text) - 1);
    if (!value || json_object_set_new(member_object(c, object), name, value)) {
        c->bad = true;
        cli_misused("ctl", "'%.*s' is no UTF-8 text", (int)n, text);
    }
    free(name);
}

// "ACTION(ARG=VALUE, ...)" or "ACTION"
static void add_action(struct ctl *c, const char *text) {
    size_t name = strcspn(text, "("), n = strlen(text);
    bool member = strncmp(text, "member(", 7) == 0;
    if ((member || strncmp(text, "group(", 6) == 0) && !strchr(text, '=') && text[n - 1] == ')') {
        char *id = strndup(text + name + 1, n - name - 2);
        set_number(c, member ? "member" : "group", id);
        free(id);
        return;
    }
    char *action = strndup(text, name);
    set_text(c, "action", action);
    free(action);
    if (name == n)
        return;
    if (text[n - 1] != ')') {
        if (!c->bad)
            cli_misused("ctl", "')' is missing after '%s'", text);
        c->bad = true;
        return;
    }
    const char *at = text + name + 1, *end = text + n - 1;
    while (at < end && !c->bad) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        add_pair(c, "args", at, (size_t)(stop - at));
        at = stop + 1;
    }
}

static bool is_pair(const char *word) {
    size_t n = strcspn(word, "=(");
    return word[n] == '=';
}

enum { KEY = 1, ACTION = 2 };

static void take_entry(struct ctl *c, unsigned parts) {
    set_text(c, "table", next_word(c, "a table"));
    if (parts & KEY && *c->words && is_number(*c->words))
        set_number(c, "priority", *c->words++);
    while (parts & KEY && *c->words && is_pair(*c->words)) {
        add_pair(c, "key", *c->words, strlen(*c->words));
        c->words++;
    }
    if (parts & ACTION)
        add_action(c, next_word(c, "an action"));
    take_pipe(c);
}

// ---- talking ----

static json_t *call(struct ctl *c) {
    struct sk_error err;
    json_t *result = sk_client_call(c->client, json_deep_copy(c->request), &err);
    if (!result)
        fprintf(stderr, "silken ctl: %s\n", err.text);
    return result;
}

static int finish(struct ctl *c, void (*print)(const json_t *result)) {
    if (*c->words && !c->bad) {
        cli_misused("ctl", "there is nothing to do with '%s'", *c->words);
        c->bad = true;
    }
    if (c->bad)
        return EXIT_UNUSABLE;
    json_t *result = call(c);
    if (!result)
        return EXIT_FAILED;
    if (c->json)
        ctl_print_json(result);
    else if (print)
        print(result);
    json_decref(result);
    return EXIT_GOOD;
}

// Page by page: 'list' of each result is printed as it comes.
static int finish_pages(struct ctl *c, const char *list,
                        void (*print)(const json_t *result, bool first)) {
    if (*c->words && !c->bad)
        return cli_misused("ctl", "there is nothing to do with '%s'", *c->words);
    if (c->bad)
        return EXIT_UNUSABLE;
    long long left = json_integer_value(json_object_get(c->request, "count"));
    bool counted = left > 0;
    for (bool first = true;; first = false) {
        json_t *result = call(c);
        if (!result)
            return EXIT_FAILED;
        if (c->json)
            ctl_print_json(result);
        else
            print(result, first);
        left -= (long long)json_array_size(json_object_get(result, list));
        json_t *next = json_incref(json_object_get(result, "next"));
        json_decref(result);
        if (!next || (counted && left <= 0)) {
            json_decref(next);
            return EXIT_GOOD;
        }
        json_object_set_new(c->request, "from", next);
        if (counted)
            json_object_set_new(c->request, "count", json_integer(left));
    }
}

// ---- commands ----

static void op(struct ctl *c, const char *name) {
    set_text(c, "op", name);
}

static bool is(const char *word, const char *what) {
    return strcmp(word, what) == 0;
}

static int unknown(struct ctl *c, const char *group, const char *word) {
    if (!c->bad)
        cli_misused("ctl", "there is no '%s %s'", group, word);
    return EXIT_UNUSABLE;
}

static int table_data(struct ctl *c);

static int table_command(struct ctl *c) {
    static const struct {
        const char *word, *op;
        unsigned parts;
    } changes[] = {
        {"add", "table.add", KEY | ACTION}, {"modify", "table.modify", KEY | ACTION},
        {"delete", "table.delete", KEY},    {"default", "table.default", ACTION},
        {"clear", "table.clear", 0},
    };
    const char *word = next_word(c, "list, dump, data, add, modify, delete, default or clear");
    if (is(word, "data"))
        return table_data(c);
    if (is(word, "list")) {
        op(c, "objects");
        return finish(c, ctl_print_tables);
    }
    if (is(word, "dump")) {
        op(c, "table.dump");
        take_entry(c, 0);
        return finish_pages(c, "entries", ctl_print_entries);
    }
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        if (!is(word, changes[i].word))
            continue;
        op(c, changes[i].op);
        take_entry(c, changes[i].parts);
        return finish(c, NULL);
    }
    return unknown(c, "table", word);
}

// "INDEX" or "INDEX-INDEX"
static void take_range(struct ctl *c) {
    if (!*c->words)
        return;
    if (**c->words == '-') {
        if (!c->bad)
            cli_misused("ctl", "there is no index %s", *c->words);
        c->bad = true;
        return;
    }
    char *first = strdup(*c->words++), *dash = strchr(first, '-');
    if (dash)
        *dash = 0;
    const char *last = dash ? dash + 1 : first;
    set_number(c, "from", first);
    if (is_number(last) && !c->bad)
        json_object_set_new(c->request, "count",
                            json_integer(number_of(last) - number_of(first) + 1));
    else
        set_number(c, "count", last);
    if (!c->bad && json_integer_value(json_object_get(c->request, "count")) < 1) {
        cli_misused("ctl", "the range %s-%s ends before it starts", first, last);
        c->bad = true;
    }
    free(first);
}

static void take_register_values(struct ctl *c) {
    set_number(c, "index", next_word(c, "an index"));
    if (*c->words && is_pair(*c->words)) {
        for (; *c->words && is_pair(*c->words); c->words++)
            add_pair(c, "value", *c->words, strlen(*c->words));
    } else {
        set_text(c, "value", next_word(c, "a value"));
    }
    take_pipe(c);
}

static int register_command(struct ctl *c) {
    const char *word = next_word(c, "list, read or write");
    if (is(word, "list")) {
        op(c, "objects");
        return finish(c, ctl_print_registers);
    }
    if (is(word, "read")) {
        op(c, "register.read");
        set_text(c, "name", next_word(c, "a register"));
        take_range(c);
        return finish_pages(c, "cells", ctl_print_register);
    }
    if (is(word, "write")) {
        op(c, "register.write");
        set_text(c, "name", next_word(c, "a register"));
        take_register_values(c);
        return finish(c, NULL);
    }
    return unknown(c, "register", word);
}

// "INDEX" or "all"
static void take_cells(struct ctl *c) {
    if (*c->words && strcmp(*c->words, "all") == 0)
        set_text(c, "index", *c->words++);
    else
        set_number(c, "index", next_word(c, "an index"));
}

static void take_pairs(struct ctl *c, const char *object) {
    for (; *c->words && is_pair(*c->words); c->words++)
        add_pair(c, object, *c->words, strlen(*c->words));
}

static int meter_command(struct ctl *c) {
    const char *word = next_word(c, "list, read, write or reset");
    if (is(word, "list")) {
        op(c, "objects");
        return finish(c, ctl_print_meters);
    }
    if (is(word, "read")) {
        op(c, "meter.read");
        set_text(c, "name", next_word(c, "a meter"));
        take_range(c);
        return finish_pages(c, "cells", ctl_print_meter);
    }
    if (!is(word, "write") && !is(word, "reset"))
        return unknown(c, "meter", word);
    op(c, is(word, "write") ? "meter.write" : "meter.reset");
    set_text(c, "name", next_word(c, "a meter"));
    take_cells(c);
    if (is(word, "write"))
        take_pairs(c, "spec");
    take_pipe(c);
    return finish(c, NULL);
}

// Reads what hangs on an entry, or with "set" writes it.
static int table_data(struct ctl *c) {
    op(c, "entry.read");
    set_text(c, "table", next_word(c, "a table"));
    if (*c->words && is_number(*c->words))
        set_number(c, "priority", *c->words++);
    take_pairs(c, "key");
    bool set = *c->words && is(*c->words, "set");
    if (set) {
        op(c, "entry.write");
        c->words++;
        take_pairs(c, "data");
    }
    take_pipe(c);
    return finish(c, set ? NULL : ctl_print_data);
}

static int idle_command(struct ctl *c) {
    const char *word = next_word(c, "poll or update");
    if (is(word, "poll")) {
        op(c, "idle.poll");
        return finish(c, ctl_print_events);
    }
    if (!is(word, "update"))
        return unknown(c, "idle", word);
    op(c, "idle.update");
    set_text(c, "table", next_word(c, "a table"));
    return finish(c, NULL);
}

// Until the switch goes away or somebody interrupts.
static int events_command(struct ctl *c) {
    struct sk_error err;
    op(c, "events");
    int status = finish(c, NULL);
    for (json_t *event; status == EXIT_GOOD; json_decref(event)) {
        event = sk_client_event(c->client, &err);
        if (!event) {
            fprintf(stderr, "silken ctl: %s\n", err.text);
            return EXIT_FAILED;
        }
        if (c->json)
            ctl_print_json(event);
        else
            ctl_print_event(event);
        fflush(stdout);
    }
    return status;
}

static int counter_change(struct ctl *c, bool write) {
    op(c, write ? "counter.write" : "counter.clear");
    set_text(c, "name", next_word(c, "a counter"));
    if (write) {
        set_number(c, "index", next_word(c, "an index"));
        set_number(c, "packets", next_word(c, "the packets"));
        if (*c->words)
            set_number(c, "bytes", *c->words++);
    }
    return finish(c, NULL);
}

static int counter_command(struct ctl *c) {
    const char *word = next_word(c, "list, read, write or clear");
    if (is(word, "write") || is(word, "clear"))
        return counter_change(c, is(word, "write"));
    if (is(word, "list")) {
        op(c, "objects");
        return finish(c, ctl_print_counters);
    }
    if (!is(word, "read"))
        return unknown(c, "counter", word);
    op(c, "counter.read");
    set_text(c, "name", next_word(c, "a counter"));
    bool all = *c->words;
    take_range(c);
    return finish_pages(c, "cells", all ? ctl_print_counter : ctl_print_counter_above_zero);
}

// Words KEY=VALUE become members: numbers, lists of numbers (1,2,-: '-' is null), text.
static void take_members(struct ctl *c) {
    for (; *c->words && is_pair(*c->words); c->words++) {
        char *key = strndup(*c->words, strcspn(*c->words, "="));
        const char *text = *c->words + strlen(key) + 1;
        char *end;
        long long v = strtoll(text, &end, 0);
        if (*text && !*end) {
            json_object_set_new(c->request, key, json_integer(v));
        } else if (strspn(text, "0123456789,-") == strlen(text)) {
            json_t *list = json_array();
            for (const char *at = text; *at; at += strcspn(at, ","), at += *at == ',')
                json_array_append_new(list, *at == '-' ? json_null()
                                                       : json_integer(strtoll(at, NULL, 10)));
            json_object_set_new(c->request, key, list);
        } else {
            set_text(c, key, text);
        }
        free(key);
    }
}

static int tm_set(struct ctl *c, const char *name) {
    c->words++;
    op(c, name);
    take_members(c);
    return finish(c, NULL);
}

static int mirror_command(struct ctl *c) {
    if (!*c->words) {
        op(c, "mirror");
        return finish(c, ctl_print_json);
    }
    if (is(*c->words, "set"))
        return tm_set(c, "mirror.set");
    return is(*c->words, "delete") ? tm_set(c, "mirror.delete") : unknown(c, "mirror", *c->words);
}

static int pktgen_command(struct ctl *c) {
    if (!*c->words) {
        op(c, "pktgen");
        return finish(c, ctl_print_json);
    }
    const char *word = *c->words;
    return is(word, "set")      ? tm_set(c, "pktgen.set")
           : is(word, "off")    ? tm_set(c, "pktgen.off")
           : is(word, "buffer") ? tm_set(c, "pktgen.buffer")
                                : unknown(c, "pktgen", word);
}

static int pre_delete(struct ctl *c) {
    const char *word = next_word(c, "node, group or ecmp");
    if (!is(word, "node") && !is(word, "group") && !is(word, "ecmp"))
        return unknown(c, "pre delete", word);
    op(c, is(word, "node")    ? "pre.node.delete"
          : is(word, "group") ? "pre.group.delete"
                              : "pre.ecmp.delete");
    set_number(c, "id", next_word(c, "an id"));
    return finish(c, NULL);
}

static int pre_node(struct ctl *c) {
    op(c, "pre.node.set");
    set_number(c, "id", next_word(c, "an id"));
    set_number(c, "rid", next_word(c, "a replication id"));
    json_t *ports = json_array();
    for (; *c->words; c->words++) {
        set_number(c, "port", *c->words); // checks it
        json_array_append_new(ports, json_integer(strtoll(*c->words, NULL, 10)));
    }
    json_object_del(c->request, "port");
    json_object_set_new(c->request, "ports", ports);
    return finish(c, NULL);
}

static int pre_group(struct ctl *c) {
    op(c, "pre.group.set");
    set_number(c, "id", next_word(c, "an id"));
    json_t *nodes = json_array();
    for (; *c->words; c->words++) {
        char *end;
        json_t *node = json_pack("{s:I}", "node", (json_int_t)strtoll(*c->words, &end, 10));
        if (*end == ':' && is_number(end + 1))
            json_object_set_new(node, "xid", json_integer(strtoll(end + 1, NULL, 10)));
        else if (*end || end == *c->words)
            c->bad = cli_misused("ctl", "'%s' should be NODE or NODE:XID", *c->words);
        json_array_append_new(nodes, node);
    }
    json_object_set_new(c->request, "nodes", nodes);
    return finish(c, NULL);
}

// "MEMBER[:down] ... [max N]"
static int change_group(struct ctl *c, const char *name) {
    op(c, name);
    set_text(c, "selector", next_word(c, "a selector"));
    set_number(c, "id", next_word(c, "a group's id"));
    json_t *members = json_array();
    for (; *c->words && strcmp(*c->words, "max") != 0 && strcmp(*c->words, "pipe") != 0;
         c->words++) {
        size_t n = strcspn(*c->words, ":");
        char *id = strndup(*c->words, n);
        set_number(c, "member", id); // checks it
        free(id);
        bool down = strcmp(*c->words + n, ":down") == 0;
        if (!down && (*c->words)[n] && !c->bad)
            c->bad = cli_misused("ctl", "'%s' should be MEMBER or MEMBER:down", *c->words);
        json_t *number = json_incref(json_object_get(c->request, "member"));
        json_array_append_new(members, json_pack("{s:o?, s:b}", "member", number, "up", !down));
    }
    json_object_del(c->request, "member");
    json_object_set_new(c->request, "members", members);
    if (*c->words && is(*c->words, "max")) {
        c->words++;
        set_number(c, "max_size", next_word(c, "the group's size"));
    }
    take_pipe(c);
    return finish(c, NULL);
}

static int group_command(struct ctl *c) {
    const char *word = next_word(c, "dump, add, modify, delete, clear or member");
    if (is(word, "add"))
        return change_group(c, "group.add");
    if (is(word, "modify"))
        return change_group(c, "group.modify");
    bool dump = is(word, "dump"), clear = is(word, "clear"), member = is(word, "member");
    if (!dump && !clear && !member && !is(word, "delete"))
        return unknown(c, "group", word);
    op(c, dump ? "group.dump" : clear ? "group.clear" : member ? "group.member" : "group.delete");
    set_text(c, "selector", next_word(c, "a selector"));
    if (!dump && !clear)
        set_number(c, "id", next_word(c, "a group's id"));
    if (member)
        set_number(c, "hash", next_word(c, "a hash"));
    take_pipe(c);
    if (dump)
        return finish_pages(c, "list", ctl_print_groups);
    return finish(c, member ? ctl_print_member : NULL);
}

static int pre_command(struct ctl *c) {
    if (!*c->words) {
        op(c, "pre");
        return finish(c, ctl_print_pre);
    }
    const char *word = next_word(c, "");
    if (is(word, "node"))
        return pre_node(c);
    if (is(word, "group"))
        return pre_group(c);
    static const char *const others[][2] = {{"lag", "pre.lag.set"},
                                            {"ecmp", "pre.ecmp.set"},
                                            {"backup", "pre.backup.set"},
                                            {"global", "pre.global"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (is(word, others[i][0])) {
            c->words--;
            return tm_set(c, others[i][1]);
        }
    return is(word, "delete") ? pre_delete(c) : unknown(c, "pre", word);
}

// Like events_command, but of events only the digests.
static int digest_command(struct ctl *c) {
    struct sk_error err;
    op(c, "events");
    int status = finish(c, NULL);
    for (json_t *event; status == EXIT_GOOD; json_decref(event)) {
        event = sk_client_event(c->client, &err);
        if (!event) {
            fprintf(stderr, "silken ctl: %s\n", err.text);
            return EXIT_FAILED;
        }
        const char *kind = json_string_value(json_object_get(event, "event"));
        if (kind && is(kind, "digest"))
            ctl_print_digest(event, c->json);
    }
    return status;
}

static int port_command(struct ctl *c) {
    if (*c->words && (is(*c->words, "queue") || is(*c->words, "deflect")))
        return tm_set(c, is(*c->words, "queue") ? "port.queue" : "port.deflect");
    if (*c->words && (is(*c->words, "up") || is(*c->words, "down"))) {
        json_object_set_new(c->request, "up", json_boolean(is(*c->words++, "up")));
        op(c, "port.set");
        set_number(c, "port", next_word(c, "a port"));
        return finish(c, NULL);
    }
    if (*c->words && is(*c->words, "queues")) {
        c->words++;
        op(c, "queues");
        return finish(c, ctl_print_json);
    }
    if (*c->words && is(*c->words, "stats"))
        c->words++;
    op(c, "ports");
    return finish(c, ctl_print_ports);
}

static int stats_command(struct ctl *c) {
    op(c, "stats");
    return finish(c, ctl_print_stats);
}

static int job_command(struct ctl *c) {
    op(c, "job");
    if (*c->words)
        set_number(c, "job", *c->words++);
    return finish(c, ctl_print_jobs);
}

static const struct {
    const char *word;
    int (*run)(struct ctl *c);
} commands[] = {
    {"table", table_command},   {"register", register_command}, {"counter", counter_command},
    {"port", port_command},     {"stats", stats_command},       {"pre", pre_command},
    {"job", job_command},       {"meter", meter_command},       {"idle", idle_command},
    {"events", events_command}, {"mirror", mirror_command},     {"pktgen", pktgen_command},
    {"digest", digest_command}, {"group", group_command},
};

static int run_command(struct ctl *c) {
    const char *word = next_word(c, "a command");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (is(word, commands[i].word))
            return commands[i].run(c);
    return c->bad ? EXIT_UNUSABLE : cli_misused("ctl", "there is no command '%s'", word);
}

int cmd_ctl(int argc, char **argv) {
    const char *path = getenv("SILKEN_SOCKET");
    struct ctl c = {0};
    opterr = 0;
    // '+': options end at the command, whose words may start with '-'
    for (int o; (o = getopt_long(argc, argv, "+:hs:", options, NULL)) != -1;) {
        if (o == '?' || o == ':')
            return cli_bad_option("ctl", o, argv);
        if (o == 'h') {
            fputs(usage, stdout);
            return EXIT_GOOD;
        }
        if (o == 's')
            path = optarg;
        c.json |= o == JSON;
    }
    c.words = argv + optind;
    if (*c.words && is(*c.words, "help")) {
        fputs(usage, stdout);
        return EXIT_GOOD;
    }
    if (!*c.words)
        return cli_misused("ctl", "a command is missing");
    if (!path || !*path)
        return cli_misused("ctl", "which switch? Give its control socket with -s or SILKEN_SOCKET");
    struct sk_error err;
    c.client = sk_client_open(path, &err);
    if (!c.client) {
        fprintf(stderr, "silken ctl: %s\n", err.text);
        return EXIT_FAILED;
    }
    c.request = json_object();
    int status = run_command(&c);
    json_decref(c.request);
    sk_client_close(c.client);
    return status;
}
