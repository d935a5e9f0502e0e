// SPDX-License-Identifier: Apache-2.0
#include "pipeline/ports/eal.h"
#include "dpdk/eal.h"
#include "dpdk/fanout.h"
#include "pipeline/ports/ports_impl.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#define DEFAULT_MEMORY 256u
#define OTHER_MEMORY   64u // MiB: drivers' own
#define MAX_NAME       64
#define MOST_FDS       1024 // of a process that has just begun

// ---- what there is ----

// MiB of hugepages that are free and that nobody has set aside.
static uint64_t free_hugepages(void) {
    FILE *f = fopen("/proc/meminfo", "r");
    char line[128];
    uint64_t there = 0, reserved = 0, kib = 0;
    while (f && fgets(line, sizeof line, f)) {
        sscanf(line, "HugePages_Free: %" SCNu64, &there);
        sscanf(line, "HugePages_Rsvd: %" SCNu64, &reserved);
        sscanf(line, "Hugepagesize: %" SCNu64, &kib);
    }
    if (f)
        fclose(f);
    return there > reserved ? (there - reserved) * kib / 1024 : 0;
}

// MiB that these ports need.
static uint32_t needed_by(const struct sk_port_spec *specs, size_t n) {
    uint32_t needed = ports_memory(specs, n, NULL) * 5 / 4 + OTHER_MEMORY;
    for (size_t i = 0; i < n; i++)
        needed += ports_is_af_xdp(specs[i].device) ? PORTS_SMALL / 256 + 8 : 0;
    return needed;
}

// A network card could be added as long as the process lives.
static bool has_vfio(void) {
    DIR *d = opendir("/sys/bus/pci/drivers/vfio-pci");
    bool found = false;
    for (const struct dirent *e; d && !found && (e = readdir(d));)
        found = strchr(e->d_name, ':');
    if (d)
        closedir(d);
    return found;
}

// A PCI address: digits and ':' before the first comma; virtual devices start with a letter.
static bool is_pci(const char *device) {
    return isxdigit((unsigned char)device[0]) && memchr(device, ':', strcspn(device, ","));
}

// ---- telemetry ----

static char telemetry[sizeof(((struct sockaddr_un *)0)->sun_path)];

// Where DPDK makes its folder. Without it the socket would lie in /tmp, for everybody; and who else
// may write to it could put another in its place.
static bool telemetry_folder(char *error, size_t error_size) {
    const char *in = getenv("RUNTIME_DIRECTORY"), *own = getenv("XDG_RUNTIME_DIR");
    char folder[PATH_MAX];
    struct stat st;
    in = in ? in : geteuid() == 0 ? "/var/run" : own ? own : "/tmp";
    snprintf(folder, sizeof folder, "%s/dpdk", in);
    bool good = (mkdir(folder, 0700) == 0 || errno == EEXIST) && lstat(folder, &st) == 0;
    if (good && (!S_ISDIR(st.st_mode) || (st.st_mode & (S_IWGRP | S_IWOTH)) ||
                 (st.st_uid != 0 && st.st_uid != geteuid()))) {
        errno = ENOTDIR;
        good = false;
    }
    if (!good)
        snprintf(error, error_size,
                 errno == ENOTDIR
                     ? "telemetry: %s must be a folder that belongs to this user alone"
                     : "telemetry: cannot make %s: %s; set RUNTIME_DIRECTORY to another folder",
                 folder, strerror(errno));
    return good;
}

// When another process of the same prefix has the name already, ours has a number after it: the
// socket knows.
static bool find_telemetry(char *error, size_t error_size) {
    char start[PATH_MAX];
    const int n = snprintf(start, sizeof start, "%s/dpdk_telemetry.v2", rte_eal_get_runtime_dir());
    for (int fd = 0; fd < MOST_FDS && n < (int)sizeof telemetry; fd++) {
        struct sockaddr_un address = {0};
        socklen_t size = sizeof address;
        if (getsockname(fd, (struct sockaddr *)&address, &size) || address.sun_family != AF_UNIX ||
            strncmp(address.sun_path, start, (size_t)n) != 0)
            continue;
        memcpy(telemetry, address.sun_path, sizeof telemetry - 1);
        if (chmod(telemetry, 0600) == 0)
            return true;
        telemetry[0] = 0;
    }
    snprintf(error, error_size, "DPDK's telemetry has no socket in %s", rte_eal_get_runtime_dir());
    return false;
}

const char *sk_ports_telemetry(void) {
    return telemetry[0] ? telemetry : NULL;
}

// ---- starting ----

static bool without_pci; // no network card can be attached

bool ports_eal_start(const struct sk_port_spec *specs, size_t n, const struct sk_ports_options *opt,
                     char *error, size_t error_size) {
    static bool started;
    if (started)
        return true;
    if (!ports_fanout_in_place()) {
        snprintf(error, error_size,
                 "DPDK's drivers do not find this program's setsockopt(), without which af_packet "
                 "ports lose fragments: link it with -rdynamic, and load it with RTLD_GLOBAL");
        return false;
    }
    uint32_t needed = needed_by(specs, n);
    const bool huge = free_hugepages() >= needed;
    bool pci = opt->more_ports > 0 && huge && has_vfio();
    for (size_t i = 0; i < n; i++)
        pci |= is_pci(specs[i].device);
    if (opt->telemetry && !telemetry_folder(error, error_size))
        return false;
    struct eal_arguments *a = eal_arguments();
    if (opt->telemetry)
        eal_add(a, "--file-prefix=%s", opt->telemetry);
    else
        eal_add(a, "--no-telemetry");
    eal_add(a, "--no-shconf"); // leaves no files, and knows of no other process
    eal_add(a, "--log-level=*:%s", opt->verbose ? "debug" : "critical");
    eal_add_cores(a, opt->cpu);
    if (huge) {
        eal_add(a, "--in-memory"); // wants no file system of them, and leaves no files
        // a peer is told of a device's memory by its files, and takes eight (net_virtio_user)
        eal_add(a, "--single-file-segments");
        if (opt->memory) // of each NUMA node; with less DPDK does not start, and with that no port
                         // has room
            eal_add(a, "--socket-limit=%1$u,%1$u,%1$u,%1$u,%1$u,%1$u,%1$u,%1$u",
                    opt->memory > OTHER_MEMORY ? opt->memory : OTHER_MEMORY);
    } else {
        needed = needed > DEFAULT_MEMORY ? needed : DEFAULT_MEMORY;
        needed += opt->more_ports * PORTS_ADDED_MIB; // it is not taken before it is used
        eal_add(a, "--no-huge");
        eal_add(a, "-m%u", opt->memory ? opt->memory : needed);
    }
    // only the devices of ports are taken, when they are attached: none at first
    if (pci) {
        eal_add(a, "--allow=ffff:ff:1f.7");
    } else {
        without_pci = true;
        eal_add(a, "--no-pci");
        eal_add(a, "--iova-mode=va");
    }
    if (!(started = eal_start(a))) {
        snprintf(error, error_size, "cannot start DPDK: %s",
                 rte_errno == ENOMEM ? "not enough memory; see --memory" : rte_strerror(rte_errno));
        return false;
    }
    return !opt->telemetry || find_telemetry(error, error_size);
}

// ---- devices ----

// Virtual drivers return -1 for whatever they do not like, and the bus -EFAULT for no driver.
static const char *why(const char *device, int rc) {
    if (is_pci(device) && without_pci)
        return "network cards were not searched when the switch was started, since there were no "
               "free hugepages or no card was bound to vfio-pci; restart the switch";
    if (is_pci(device) && (rc == -ENODEV || rc == -ENOENT || rc == -ENOTSUP))
        return "there is no such network card, or it is not bound to vfio-pci (dpdk-devbind.py)";
    switch (-rc) {
    case ENODEV:
    case ENOENT:
    case EFAULT:
        return "there is no such device or driver; names are like net_memif0, net_af_packet0, "
               "net_tap0, net_pcap0, net_null0";
    case EEXIST:
        return "it is in use already";
    case ENOMEM:
        return "not enough memory; see --memory";
    case EPERM:
    case EINVAL:
        return "an argument is wrong or names something that does not exist, or the device needs "
               "root, as af_packet and tap do; 'silken run --verbose' shows DPDK's messages";
    default:
        return rte_strerror(-rc);
    }
}

// As DPDK has it: a PCI address with its domain, in small letters. False when there is none, or it
// is too long.
static bool ports_eal_name_of(const char *device, char name[MAX_NAME]) {
    size_t length = strcspn(device, ",");
    bool pci = is_pci(device), domain = !pci || strcspn(device, ":") > 2;
    if (length == 0 || length + strlen("0000:") >= MAX_NAME)
        return false;
    snprintf(name, MAX_NAME, "%s%.*s", domain ? "" : "0000:", (int)length, device);
    for (char *c = name; pci && *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return true;
}

static char *string_for(const struct sk_port_spec *spec, bool own_processors, const char *name) {
    const char *arguments = spec->device + strcspn(spec->device, ",");
    char *device = NULL, ring[96];
    ports_af_packet_arguments(spec, own_processors, ring, sizeof ring);
    if (asprintf(&device, "%s%s%s", name, arguments, ring) < 0)
        abort();
    return device;
}

static int probe(const struct sk_port_spec *spec, const char *device,
                 struct ports_sockets *sockets) {
    sockets->n = 0;
    if (!ports_is_af_packet(spec->device))
        return rte_dev_probe(device);
    ports_fanout_begin(ports_af_packet_queues(spec));
    const int rc = rte_dev_probe(device);
    sockets->n = ports_fanout_end(sockets->fd);
    return rc;
}

bool ports_eal_attach(const struct sk_port_spec *spec, bool own_processors, uint16_t *id,
                      struct ports_sockets *sockets, char *error, size_t error_size) {
    char name[MAX_NAME];
    if (!ports_eal_name_of(spec->device, name)) {
        snprintf(error, error_size,
                 "port %u: '%s' is not a device string; it must start with a name", spec->dev_port,
                 spec->device);
        return false;
    }
    if (rte_eth_dev_count_total() >= RTE_MAX_ETHPORTS) {
        snprintf(error, error_size,
                 "port %u: cannot open device '%s': this DPDK supports %d devices, and all are in "
                 "use",
                 spec->dev_port, spec->device, RTE_MAX_ETHPORTS);
        return false;
    }
    char *device = string_for(spec, own_processors, name);
    int rc = rte_eth_dev_get_port_by_name(name, id) == 0 ? -EEXIST : probe(spec, device, sockets);
    free(device);
    if (rc == 0 && rte_eth_dev_get_port_by_name(name, id))
        rc = -ENODEV;
    if (rc)
        snprintf(error, error_size, "port %u: cannot open device '%s': %s", spec->dev_port,
                 spec->device, why(spec->device, rc));
    return rc == 0;
}
