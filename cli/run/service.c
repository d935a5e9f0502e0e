// SPDX-License-Identifier: Apache-2.0
//
// service: `silken run` as a daemon: notifies systemd (sd_notify(3), without its library), writes
// the PID file, and drops privileges after opening ports.
#include "cli/run/run.h"

#include <cap-ng.h>
#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/tor/tor.h"

// ---- systemd ----

void run_notify(const char *what) {
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const size_t n = path ? strlen(path) : 0;
    if (n < 2 || n >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(to.sun_path, path, n);
    if (path[0] == '@')
        to.sun_path[0] = 0;
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    ssize_t ignored = sendto(fd, what, strlen(what), MSG_NOSIGNAL, (const struct sockaddr *)&to,
                             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
    (void)ignored;
    close(fd);
}

void run_notify_reloading(void) {
    char text[80];
    snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, sk_clock_now() / 1000u);
    run_notify(text);
}

// Half of the time that systemd gives us; 0: it does not watch.
static uint64_t watchdog_interval(void) {
    const char *us = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    if (!us || (pid && strtol(pid, NULL, 10) != (long)getpid()))
        return 0;
    return strtoull(us, NULL, 10) * 1000 / 2;
}

void run_watchdog_begin(struct run *r) {
    r->control.watchdog_ns = watchdog_interval();
}

// Who answers it has stopped all lcores and let them go on: they run.
void run_watchdog(struct run *r, uint64_t now) {
    const uint64_t interval = r->control.watchdog_ns;
    if (!interval || now < r->control.watchdog_due)
        return;
    run_pause(r);
    run_resume_same(r);
    run_notify("WATCHDOG=1");
    r->control.watchdog_due = now + interval;
}

// ---- the number ----

static bool write_pid(struct run *r) {
    const char *given = r->opt.pid_file ? r->opt.pid_file : r->config->daemon.pid_file;
    if (!given)
        return true;
    r->pid_file = r->opt.pid_file ? strdup(given) : run_beside_config(r, given);
    FILE *f = fopen(r->pid_file, "we");
    char sentence[512];
    snprintf(sentence, sizeof sentence, "cannot write %s: %s", r->pid_file, strerror(errno));
    if (!f)
        return run_say(sentence);
    const bool good = fprintf(f, "%ld\n", (long)getpid()) > 0;
    return (fclose(f) == 0 && good) || run_say(sentence);
}

// ---- rights ----

static bool run_service_failed(const char *what, const char *name) {
    char sentence[256];
    snprintf(sentence, sizeof sentence, "cannot %s '%s': %s", what, name, strerror(errno));
    return run_say(sentence);
}

// What stays: of this thread and those that it starts; the interrupt thread of DPDK and the lcores
// need none. Rings of DPDK's af_packet driver are locked memory, of which a user has little;
// 'limited': a container's root may not allow more, and that is a capability too, which not every
// root has.
static bool choose_capabilities(const struct run *r, bool limited) {
    const struct sk_config_daemon *d = &r->config->daemon;
    if (capng_get_caps_process())
        return false;
    const bool locks =
        d->net_raw && limited && capng_have_capability(CAPNG_PERMITTED, CAP_IPC_LOCK) == 1;
    const capng_type_t both = CAPNG_EFFECTIVE | CAPNG_PERMITTED;
    capng_clear(CAPNG_SELECT_CAPS);
    return !(d->net_raw && capng_update(CAPNG_ADD, both, CAP_NET_RAW)) &&
           !(d->net_admin && capng_update(CAPNG_ADD, both, CAP_NET_ADMIN)) &&
           !(locks && capng_update(CAPNG_ADD, both, CAP_IPC_LOCK));
}

// What the user compiles later, for a trace or another program, it must be able to keep. Root runs
// nothing that lies in a folder of others, so the user gets one of its own in the cache; the way to
// it has to be open, not what is there.
static bool share_cache(const struct passwd *user) {
    const char *cache = getenv("SILKEN_CACHE");
    char path[PATH_MAX];
    struct stat st;
    if (!cache || !*cache)
        cache = getenv("CACHE_DIRECTORY"); // systemd's
    if (!cache || !*cache)
        return true; // the user's own folder in /tmp (compiler/cache.c)
    if ((size_t)snprintf(path, sizeof path, "%s/%s", cache, user->pw_name) >= sizeof path) {
        errno = ENAMETOOLONG;
        return run_service_failed("make a folder in", cache);
    }
    if (stat(cache, &st) || chmod(cache, (st.st_mode & 07777) | S_IXGRP | S_IXOTH) ||
        (mkdir(path, 0700) && errno != EEXIST) || lchown(path, user->pw_uid, user->pw_gid))
        return run_service_failed("make a folder of the user in", cache);
    return setenv("SILKEN_CACHE", path, 1) == 0 ||
           run_service_failed("name the folder of the user in", cache);
}

static bool become(const struct run *r, const struct passwd *user) {
    const bool keeps = r->config->daemon.net_raw || r->config->daemon.net_admin;
    if (user->pw_uid == geteuid())
        return true;
    if (geteuid() != 0) {
        errno = EPERM;
        return run_service_failed("become", user->pw_name);
    }
    if (!share_cache(user))
        return false;
    const bool limited =
        keeps && setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
    errno = 0;
    if (!choose_capabilities(r, limited))
        return run_service_failed("choose capabilities for", user->pw_name);
    return capng_change_id((int)user->pw_uid, (int)user->pw_gid, CAPNG_INIT_SUPP_GRP) == 0 ||
           run_service_failed("become", user->pw_name);
}

static bool share_socket(const struct run *r, const struct passwd *user) {
    const struct sk_config_daemon *d = &r->config->daemon;
    const struct group *group = d->socket_group ? getgrnam(d->socket_group) : NULL;
    if (d->socket_group && !group) {
        errno = ENOENT;
        return run_service_failed("find the group", d->socket_group);
    }
    if (!r->server)
        return true;
    const char *path = sk_server_path(r->server);
    const uid_t uid = user ? user->pw_uid : (uid_t)-1;
    const gid_t gid = group ? group->gr_gid : user ? user->pw_gid : (gid_t)-1;
    if ((user || group) && chown(path, uid, gid))
        return run_service_failed("give away", path);
    return chmod(path, d->socket_mode) == 0 || run_service_failed("set the mode of", path);
}

// DPDK makes the folder of a prefix for its owner alone, in one that its other processes share: who
// is to use our socket, and to remove it at the end, has to get there.
static bool share_telemetry(const struct passwd *user) {
    const char *path = sk_ports_telemetry();
    char folder[PATH_MAX];
    struct stat st;
    if (!path || !user || user->pw_uid == geteuid())
        return true;
    char *slash = stpcpy(folder, path);
    for (int up = 0; up < 2; up++) {
        while (*slash != '/')
            slash--;
        *slash = 0; // the prefix's folder, then DPDK's
        if (up == 0 ? lchown(path, user->pw_uid, user->pw_gid) ||
                          lchown(folder, user->pw_uid, user->pw_gid)
                    : stat(folder, &st) || chmod(folder, (st.st_mode & 07777) | S_IXGRP | S_IXOTH))
            return run_service_failed("give away", path);
    }
    return true;
}

// Ports, sockets and files are open.
bool run_service_start(struct run *r) {
    const char *name = r->opt.user ? r->opt.user : r->config->daemon.user;
    const struct passwd *user = NULL;
    if (name && !(errno = 0, user = getpwnam(name))) {
        errno = errno ? errno : ENOENT;
        return run_service_failed("find the user", name);
    }
    if (!write_pid(r) || !share_socket(r, user) || !share_telemetry(user))
        return false;
    if (user && r->pid_file && chown(r->pid_file, user->pw_uid, user->pw_gid))
        return run_service_failed("give away", r->pid_file);
    struct sk_error err;
    if (user && r->tor && tor_state_give(r->tor, user->pw_uid, user->pw_gid, &err))
        return run_say(err.text);
    if (user && !become(r, user))
        return false;
    if (r->tor && tor_state_check(r->tor, &err))
        return run_say(err.text);
    // nothing that is started from here, a C compiler, gets more than we have
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 || run_service_failed("set", "no_new_privs");
}

void run_service_end(struct run *r) {
    if (r->pid_file)
        unlink(r->pid_file);
    free(r->pid_file);
}
