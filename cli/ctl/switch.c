// SPDX-License-Identifier: Apache-2.0
#include "cli/ctl/ctl_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ctl/print.h"

// Until the switch goes away or somebody interrupts.
int ctl_events(struct ctl *c) {
    struct sk_error err;
    ctl_op(c, "events");
    int status = ctl_finish(c, NULL);
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

// Like events_command, but of events only the digests.
int ctl_digest(struct ctl *c) {
    struct sk_error err;
    ctl_op(c, "events");
    int status = ctl_finish(c, NULL);
    for (json_t *event; status == EXIT_GOOD; json_decref(event)) {
        event = sk_client_event(c->client, &err);
        if (!event) {
            fprintf(stderr, "silken ctl: %s\n", err.text);
            return EXIT_FAILED;
        }
        const char *kind = json_string_value(json_object_get(event, "event"));
        if (kind && ctl_is(kind, "digest"))
            ctl_print_digest(event, c->json);
    }
    return status;
}

int ctl_mirror(struct ctl *c) {
    if (!*c->words) {
        ctl_op(c, "mirror");
        return ctl_finish(c, ctl_print_json);
    }
    if (ctl_is(*c->words, "set"))
        return ctl_members_request(c, "mirror.set");
    return ctl_is(*c->words, "delete") ? ctl_members_request(c, "mirror.delete")
                                       : ctl_unknown(c, "mirror", *c->words);
}

int ctl_pktgen(struct ctl *c) {
    if (!*c->words) {
        ctl_op(c, "pktgen");
        return ctl_finish(c, ctl_print_json);
    }
    const char *word = *c->words;
    return ctl_is(word, "set")      ? ctl_members_request(c, "pktgen.set")
           : ctl_is(word, "off")    ? ctl_members_request(c, "pktgen.off")
           : ctl_is(word, "buffer") ? ctl_members_request(c, "pktgen.buffer")
                                    : ctl_unknown(c, "pktgen", word);
}

static int pre_delete(struct ctl *c) {
    const char *word = ctl_next_word(c, "node, group or ecmp");
    if (!ctl_is(word, "node") && !ctl_is(word, "group") && !ctl_is(word, "ecmp"))
        return ctl_unknown(c, "pre delete", word);
    ctl_op(c, ctl_is(word, "node")    ? "pre.node.delete"
              : ctl_is(word, "group") ? "pre.group.delete"
                                      : "pre.ecmp.delete");
    ctl_set_number(c, "id", ctl_next_word(c, "an id"));
    return ctl_finish(c, NULL);
}

static int pre_node(struct ctl *c) {
    ctl_op(c, "pre.node.set");
    ctl_set_number(c, "id", ctl_next_word(c, "an id"));
    ctl_set_number(c, "rid", ctl_next_word(c, "a replication id"));
    json_t *ports = json_array();
    for (; *c->words; c->words++) {
        ctl_set_number(c, "port", *c->words); // checks it
        json_array_append_new(ports, json_integer(strtoll(*c->words, NULL, 10)));
    }
    json_object_del(c->request, "port");
    json_object_set_new(c->request, "ports", ports);
    return ctl_finish(c, NULL);
}

static int pre_group(struct ctl *c) {
    ctl_op(c, "pre.group.set");
    ctl_set_number(c, "id", ctl_next_word(c, "an id"));
    json_t *nodes = json_array();
    for (; *c->words; c->words++) {
        char *end;
        json_t *node = json_pack("{s:I}", "node", (json_int_t)strtoll(*c->words, &end, 10));
        if (*end == ':' && sk_is_number(end + 1))
            json_object_set_new(node, "xid", json_integer(strtoll(end + 1, NULL, 10)));
        else if (*end || end == *c->words)
            c->bad = cli_misused("ctl", "'%s' should be NODE or NODE:XID", *c->words);
        json_array_append_new(nodes, node);
    }
    json_object_set_new(c->request, "nodes", nodes);
    return ctl_finish(c, NULL);
}

int ctl_pre(struct ctl *c) {
    if (!*c->words) {
        ctl_op(c, "pre");
        return ctl_finish(c, ctl_print_pre);
    }
    const char *word = ctl_next_word(c, "");
    if (ctl_is(word, "node"))
        return pre_node(c);
    if (ctl_is(word, "group"))
        return pre_group(c);
    static const char *const others[][2] = {{"lag", "pre.lag.set"},
                                            {"ecmp", "pre.ecmp.set"},
                                            {"backup", "pre.backup.set"},
                                            {"global", "pre.global"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (ctl_is(word, others[i][0])) {
            c->words--;
            return ctl_members_request(c, others[i][1]);
        }
    return ctl_is(word, "delete") ? pre_delete(c) : ctl_unknown(c, "pre", word);
}

static int ctl_switch_port_metadata(struct ctl *c) {
    c->words++;
    ctl_op(c, "port.metadata");
    ctl_set_number(c, "port", ctl_next_word(c, "a port"));
    if (*c->words && !ctl_is_pair(*c->words)) {
        ctl_set_text(c, "metadata", *c->words++);
        return ctl_finish(c, NULL);
    }
    if (!*c->words)
        ctl_next_word(c, "FIELD=VALUE or one number");
    ctl_take_pairs(c, "metadata");
    return ctl_finish(c, NULL);
}

// A port's number or name.
static void take_port(struct ctl *c) {
    const char *word = ctl_next_word(c, "a port");
    if (sk_is_number(word))
        ctl_set_number(c, "port", word);
    else
        ctl_set_text(c, "port", word);
}

static int ctl_switch_port_add(struct ctl *c) {
    ctl_op(c, "port.add");
    ctl_set_number(c, "port", ctl_next_word(c, "a port"));
    ctl_set_text(c, "device", ctl_next_word(c, "a device"));
    while (*c->words && !c->bad) {
        const char *word = *c->words++;
        if (ctl_is(word, "--name"))
            ctl_set_text(c, "name", ctl_next_word(c, "a name"));
        else if (ctl_is(word, "--mtu"))
            ctl_set_number(c, "mtu", ctl_next_word(c, "an MTU"));
        else if (ctl_is(word, "--queues"))
            ctl_set_number(c, "queues", ctl_next_word(c, "a number of queues"));
        else
            c->bad = cli_misused("ctl", "'%s' is not one of --name, --mtu and --queues", word);
    }
    return ctl_finish(c, NULL);
}

static int ctl_switch_port_remove(struct ctl *c) {
    ctl_op(c, "port.remove");
    take_port(c);
    return ctl_finish(c, NULL);
}

// port set PORT up, or port up PORT
static int ctl_switch_port_set(struct ctl *c, const char *word) {
    ctl_op(c, "port.set");
    take_port(c);
    if (ctl_is(word, "set")) {
        word = ctl_next_word(c, "up or down");
        if (!c->bad && !ctl_is(word, "up") && !ctl_is(word, "down"))
            c->bad = cli_misused("ctl", "a port is set up or down, not '%s'", word);
    }
    json_object_set_new(c->request, "up", json_boolean(ctl_is(word, "up")));
    return ctl_finish(c, NULL);
}

int ctl_port(struct ctl *c) {
    if (*c->words && ctl_is(*c->words, "add")) {
        c->words++;
        return ctl_switch_port_add(c);
    }
    if (*c->words && ctl_is(*c->words, "remove")) {
        c->words++;
        return ctl_switch_port_remove(c);
    }
    if (*c->words &&
        (ctl_is(*c->words, "set") || ctl_is(*c->words, "up") || ctl_is(*c->words, "down")))
        return ctl_switch_port_set(c, *c->words++);
    if (*c->words && ctl_is(*c->words, "metadata"))
        return ctl_switch_port_metadata(c);
    if (*c->words && (ctl_is(*c->words, "queue") || ctl_is(*c->words, "deflect")))
        return ctl_members_request(c, ctl_is(*c->words, "queue") ? "port.queue" : "port.deflect");
    if (*c->words && ctl_is(*c->words, "pool")) {
        c->words++;
        if (!*c->words || (!ctl_is(*c->words, "set") && !ctl_is(*c->words, "delete")))
            return ctl_unknown(c, "port pool", ctl_next_word(c, "set or delete"));
        return ctl_members_request(c, ctl_is(*c->words, "set") ? "pool.set" : "pool.delete");
    }
    if (*c->words && ctl_is(*c->words, "queues")) {
        c->words++;
        ctl_op(c, "queues");
        return ctl_finish(c, ctl_print_json);
    }
    if (*c->words && ctl_is(*c->words, "stats"))
        c->words++;
    ctl_op(c, "ports");
    return ctl_finish(c, ctl_print_ports);
}

int ctl_stats(struct ctl *c) {
    ctl_op(c, "stats");
    return ctl_finish(c, ctl_print_stats);
}

static void ctl_switch_print_state(const json_t *result) {
    const char *text = json_string_value(json_object_get(result, "state"));
    fputs(text ? text : "", stdout);
}

int ctl_state(struct ctl *c) {
    const char *word = ctl_next_word(c, "dump");
    if (!ctl_is(word, "dump"))
        return ctl_unknown(c, "state", word);
    ctl_op(c, "state");
    if (*c->words && ctl_is(*c->words, "--whole")) {
        c->words++;
        json_object_set_new(c->request, "whole", json_true());
    }
    return ctl_finish(c, ctl_switch_print_state);
}

int ctl_alarms(struct ctl *c) {
    ctl_op(c, "alarms");
    return ctl_finish(c, ctl_print_alarms);
}
