// SPDX-License-Identifier: Apache-2.0
#include "control/config/daemon.h"

#include <stdlib.h>
#include <string.h>

static unsigned read_capabilities(const struct sk_at *list) {
    static const char *const names[] = {"net_raw", "net_admin"};
    unsigned all = 0;
    for (size_t i = 0; i < sk_at_length(list); i++) {
        const struct sk_at at = sk_at_item(list, i);
        const char *name = sk_at_string(&at, true);
        unsigned bit = 0;
        for (unsigned k = 0; name && k < sizeof names / sizeof *names; k++)
            bit |= strcmp(name, names[k]) == 0 ? 1u << k : 0;
        if (name && !bit)
            sk_at_fail(&at, "'%.40s' is neither net_raw nor net_admin", name);
        all |= bit;
    }
    return all;
}

static unsigned read_mode(const struct sk_at *at) {
    const char *text = sk_at_string(at, false);
    char *end = NULL;
    const unsigned long mode = text ? strtoul(text, &end, 8) : 0600;
    if (text && (!*text || *end || mode > 0777 || (mode & 0600) != 0600))
        sk_at_fail(at, "'%.20s' is not the mode of a socket that its owner may use, like \"0660\"",
                   text);
    return (unsigned)mode;
}

void sk_config_read_daemon(const struct sk_at *root, struct sk_config *c) {
    static const char *const keys[] = {"user",     "capabilities", "socket_mode", "socket_group",
                                       "pid_file", "log",          "log_socket",  NULL};
    struct sk_at at = sk_at_member(root, "daemon");
    struct sk_config_daemon *d = &c->daemon;
    sk_at_keys(&at, keys);
    struct sk_at user = sk_at_member(&at, "user"), capabilities = sk_at_member(&at, "capabilities"),
                 mode = sk_at_member(&at, "socket_mode"), group = sk_at_member(&at, "socket_group"),
                 pid_file = sk_at_member(&at, "pid_file"), log = sk_at_member(&at, "log"),
                 log_socket = sk_at_member(&at, "log_socket");
    d->user = sk_at_string(&user, false);
    const unsigned kept = read_capabilities(&capabilities);
    d->net_raw = kept & 1;
    d->net_admin = kept & 2;
    d->socket_mode = read_mode(&mode);
    d->socket_group = sk_at_string(&group, false);
    d->pid_file = sk_at_string(&pid_file, false);
    d->log = sk_at_strings(&log, &d->n_log);
    d->log_socket = sk_at_string(&log_socket, false);
}
