// SPDX-License-Identifier: Apache-2.0
#include "control/tor/log.h"

#include <stdlib.h>
#include <string.h>

#include "openvswitch/vlog.h"
#include "unixctl.h"

struct tor_log {
    struct unixctl_server *server;
};

int tor_log_set(const char *levels, struct sk_error *err) {
    char *why = vlog_set_levels_from_string(levels);
    const int rc = why ? sk_fail(err, "log '%s': %s", levels, why) : 0;
    free(why);
    return rc;
}

struct tor_log *tor_log_open(const char *path, struct sk_error *err) {
    struct tor_log *log = calloc(1, sizeof *log);
    if (!log)
        abort();
    vlog_init(); // its commands
    const int error = unixctl_server_create(path, &log->server);
    if (!error)
        return log;
    sk_fail(err, "cannot make the socket of the log, %s: %s", path, strerror(error));
    free(log);
    return NULL;
}

void tor_log_turn(struct tor_log *log) {
    if (log)
        unixctl_server_run(log->server);
}

void tor_log_close(struct tor_log *log) {
    if (!log)
        return;
    unixctl_server_destroy(log->server);
    free(log);
}
