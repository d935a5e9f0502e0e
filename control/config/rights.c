// SPDX-License-Identifier: Apache-2.0
#include "control/config/rights.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LONGEST_COMPILATION 86400u // seconds
#define LEAST_MEMORY        256u   // MiB, less than the C compiler needs for any program
#define MOST_MEMORY         (UINT64_C(1) << 20)

void sk_config_read_requests(const struct sk_at *root, struct sk_config *c) {
    static const char *const keys[] = {"devices",         "folders",        "programs",
                                       "compile_seconds", "compile_memory", NULL};
    struct sk_config_requests *q = &c->requests;
    const struct sk_at at = sk_at_member(root, "requests");
    sk_at_keys(&at, keys);
    const struct sk_at seconds = sk_at_member(&at, "compile_seconds"),
                       memory = sk_at_member(&at, "compile_memory");
    static const char *const usual[] = {SK_RIGHTS_DEVICES};
    const struct sk_at devices = sk_at_member(&at, "devices"),
                       folders = sk_at_member(&at, "folders"),
                       programs = sk_at_member(&at, "programs");
    q->devices = devices.value ? sk_at_strings(&devices, &q->n_devices) : usual;
    if (!devices.value)
        q->n_devices = sizeof usual / sizeof *usual;
    q->folders = sk_at_strings(&folders, &q->n_folders);
    q->programs = sk_at_strings(&programs, &q->n_programs);
    q->compile_seconds =
        seconds.value ? sk_at_between(&seconds, true, 1, LONGEST_COMPILATION) : SK_COMPILE_SECONDS;
    q->compile_memory =
        memory.value ? sk_at_between(&memory, true, LEAST_MEMORY, MOST_MEMORY) : SK_COMPILE_MEMORY;
}

// ---- paths ----

// 'path' without links, of a file that is there or is to be made. False: its folder is not there.
static bool rights_resolve(const char *path, char out[PATH_MAX]) {
    char folder[PATH_MAX], real[PATH_MAX];
    if (realpath(path, out))
        return true;
    struct stat st;
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) : 0;
    if (!slash || length >= sizeof folder || lstat(path, &st) == 0 || // a link to nowhere
        strcmp(slash, "/..") == 0 || strcmp(slash, "/.") == 0)
        return false;
    memcpy(folder, path, length);
    folder[length] = 0;
    return realpath(length ? folder : "/", real) &&
           snprintf(out, PATH_MAX, "%s%s", strcmp(real, "/") == 0 ? "" : real, slash) < PATH_MAX;
}

static bool rights_is_in(const char *path, const char *beside, const char *folder) {
    char joined[PATH_MAX], real[PATH_MAX];
    const bool absolute = folder[0] == '/';
    if (snprintf(joined, sizeof joined, "%s%s%s", absolute ? "" : beside, absolute ? "" : "/",
                 folder) >= (int)sizeof joined ||
        !realpath(joined, real))
        return false;
    const size_t length = strcmp(real, "/") == 0 ? 0 : strlen(real);
    return strncmp(path, real, length) == 0 && path[length] == '/';
}

// Whether the path is in one of the folders that 'setting' names.
static int rights_check_path(const char *setting, const char *const *folders, size_t n,
                             const char *beside, const char *path, struct sk_error *err) {
    char real[PATH_MAX];
    if (path[0] != '/')
        return sk_fail(
            err,
            "'%.200s': a path in a request must start with /: the switch runs in a folder "
            "of its own",
            path);
    if (n == 0)
        return sk_fail(err,
                       "'%.200s': requests may not open files there; \"%s\" of \"requests\" in the "
                       "configuration says where they may, and names no folder",
                       path, setting);
    if (!rights_resolve(path, real))
        return sk_fail(err, "'%.200s': there is no such folder, or a link to it is broken", path);
    for (size_t i = 0; i < n; i++)
        if (rights_is_in(real, beside, folders[i]))
            return 0;
    return sk_fail(err,
                   "'%.200s' is in none of the folders that requests may open files in (\"%s\" of "
                   "\"requests\" in the configuration)",
                   path, setting);
}

int sk_rights_file(const struct sk_config_requests *q, const char *beside, const char *path,
                   struct sk_error *err) {
    return rights_check_path("folders", q->folders, q->n_folders, beside, path, err);
}

int sk_rights_program(const struct sk_config_requests *q, const char *beside, const char *path,
                      struct sk_error *err) {
    return rights_check_path("programs", q->programs, q->n_programs, beside, path, err);
}

// ---- devices ----

// "net_pcap5,tx_pcap=x" is a pcap; an address on the PCI bus is "pci". 'length' of what is
// returned.
static const char *rights_kind(const char *device, size_t *length) {
    static const char pci[] = "pci";
    const size_t n = strcspn(device, ",");
    if (memchr(device, ':', n)) {
        *length = strlen(pci);
        return pci;
    }
    const bool net = strncmp(device, "net_", 4) == 0 || strncmp(device, "eth_", 4) == 0;
    const char *kind = device + (net ? 4 : 0);
    *length = n - (size_t)(kind - device);
    while (*length > 0 && kind[*length - 1] >= '0' && kind[*length - 1] <= '9')
        (*length)--;
    return kind;
}

static bool rights_is_kind(const char *device, const char *wanted) {
    size_t length;
    const char *kind = rights_kind(device, &length);
    return strlen(wanted) == length && memcmp(wanted, kind, length) == 0;
}

static int rights_check_kind(const struct sk_config_requests *q, const char *device,
                             struct sk_error *err) {
    size_t length;
    const char *kind = rights_kind(device, &length);
    if (length == 0) // one without a name opens nothing, and is told of as that
        return 0;
    for (size_t i = 0; i < q->n_devices; i++)
        if (rights_is_kind(device, q->devices[i]))
            return 0;
    return sk_fail(err,
                   "device '%.160s': requests may not open devices of the kind '%.*s' (\"devices\" "
                   "of \"requests\" in the configuration)",
                   device, (int)(length < 40 ? length : 40), kind);
}

// What a device does with a file that it is told of.
enum rights_file { RIGHTS_NONE, RIGHTS_READ, RIGHTS_WRITE, RIGHTS_SOCKET };

// An interface's name has no slash, so a value with one is a path whatever its key.
static enum rights_file rights_file_of(const char *device, const char *key, const char *value,
                                       bool in_memory) {
    if (strcmp(key, "tx_pcap") == 0)
        return RIGHTS_WRITE;
    if (strcmp(key, "rx_pcap") == 0 || strcmp(key, "xdp_prog") == 0)
        return RIGHTS_READ;
    if (strcmp(key, "socket") == 0 && rights_is_kind(device, "memif"))
        return in_memory ? RIGHTS_NONE : RIGHTS_SOCKET;
    if (strcmp(key, "path") == 0 || (strcmp(key, "iface") == 0 && rights_is_kind(device, "vhost")))
        return RIGHTS_SOCKET;
    return strchr(value, '/') ? RIGHTS_READ : RIGHTS_NONE;
}

static int rights_check_file(const struct sk_config_requests *q, const char *beside,
                             enum rights_file use, const char *path, struct sk_error *err) {
    struct stat st;
    if (use == RIGHTS_NONE)
        return 0;
    if (rights_check_path("folders", q->folders, q->n_folders, beside, path, err))
        return -1;
    if (lstat(path, &st))
        return 0;
    if (use == RIGHTS_WRITE)
        return sk_fail(err, "'%.200s' exists already; a request does not overwrite files", path);
    if (use == RIGHTS_SOCKET && !S_ISSOCK(st.st_mode) && !S_ISCHR(st.st_mode))
        return sk_fail(err, "'%.200s' exists already and is not a socket", path);
    return 0;
}

int sk_rights_device(const struct sk_config_requests *q, const char *beside, const char *device,
                     struct sk_error *err) {
    // a socket of memif has a name that is no file's, unless it is said otherwise
    const bool in_memory = !strstr(device, "socket-abstract=no");
    int rc = rights_check_kind(q, device, err);
    char *own = strdup(device), *rest = NULL;
    if (!own)
        abort();
    strtok_r(own, ",", &rest);
    for (char *word; rc == 0 && (word = strtok_r(NULL, ",", &rest));) {
        char *equals = strchr(word, '=');
        if (equals)
            *equals = 0;
        const char *value = equals ? equals + 1 : "";
        rc = rights_check_file(q, beside, rights_file_of(device, word, value, in_memory), value,
                               err);
    }
    free(own);
    if (rc == 0 && rights_is_kind(device, "memif") && !in_memory && !strstr(device, ",socket="))
        rc = sk_fail(err, "device '%.160s': no socket is named (socket=/run/x.sock)", device);
    return rc;
}
