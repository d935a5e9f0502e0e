// SPDX-License-Identifier: Apache-2.0
//
// joined: interfaces that join what they receive, as network cards do unless they are told not to.
// The joined frames are longer than any that was on the wire, af_packet's rings cut them, and TCP
// stands still.
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pipeline/ports/ports_impl.h"

#define WORD 32u // features in a word of the kernel's sets

// By the kernel and by the device; names are ethtool's own ("ethtool -k").
static const char *const joining[] = {"rx-gro", "rx-lro", "rx-gro-hw"};

static bool ports_joined_ask(int fd, const char *interface, void *command) {
    struct ifreq r = {.ifr_data = command};
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", interface);
    return ioctl(fd, SIOCETHTOOL, &r) == 0;
}

// Of features; 0: the interface has none.
static uint32_t how_many(int fd, const char *interface) {
    struct ethtool_sset_info *q = calloc(1, sizeof *q + sizeof *q->data);
    if (!q)
        abort();
    q->cmd = ETHTOOL_GSSET_INFO;
    q->sset_mask = UINT64_C(1) << ETH_SS_FEATURES;
    const uint32_t n = ports_joined_ask(fd, interface, q) && q->sset_mask ? q->data[0] : 0;
    free(q);
    return n;
}

static bool ports_joined_joins(const char *name) {
    for (size_t i = 0; i < sizeof joining / sizeof *joining; i++)
        if (strncmp(name, joining[i], ETH_GSTRING_LEN) == 0)
            return true;
    return false;
}

// Turns off those of 'n' features that join; the names of those that are on all the same are in
// 'left'. Also those that were only asked for: a device may have one of them for want of another.
static void turn_off(int fd, const char *interface, uint32_t n, char *left, size_t size) {
    const uint32_t words = (n + WORD - 1) / WORD;
    struct ethtool_gstrings *names = calloc(1, sizeof *names + (size_t)n * ETH_GSTRING_LEN);
    struct ethtool_gfeatures *now = calloc(1, sizeof *now + words * sizeof *now->features);
    struct ethtool_sfeatures *set = calloc(1, sizeof *set + words * sizeof *set->features);
    bool any = false;
    if (!names || !now || !set)
        abort();
    names->cmd = ETHTOOL_GSTRINGS;
    names->string_set = ETH_SS_FEATURES;
    names->len = n;
    now->cmd = ETHTOOL_GFEATURES;
    set->cmd = ETHTOOL_SFEATURES;
    now->size = set->size = words;
    const char *const name = (const char *)names->data;
    const bool known =
        ports_joined_ask(fd, interface, names) && ports_joined_ask(fd, interface, now);
    for (uint32_t i = 0; known && i < n; i++) {
        const struct ethtool_get_features_block *const b = &now->features[i / WORD];
        const uint32_t bit = UINT32_C(1) << i % WORD;
        if (!ports_joined_joins(name + (size_t)i * ETH_GSTRING_LEN) ||
            !((b->active | b->requested) & bit))
            continue;
        set->features[i / WORD].valid |= bit; // and 'requested' stays without it
        any = true;
    }
    if (any) {
        ports_joined_ask(fd, interface, set); // what is on afterwards says whether it could
        ports_joined_ask(fd, interface, now);
    }
    for (uint32_t i = 0; any && i < n; i++) {
        const size_t used = strlen(left);
        if (now->features[i / WORD].active & UINT32_C(1) << i % WORD &&
            ports_joined_joins(name + (size_t)i * ETH_GSTRING_LEN))
            snprintf(left + used, size - used, "%s%.*s", used ? ", " : "", ETH_GSTRING_LEN,
                     name + (size_t)i * ETH_GSTRING_LEN);
    }
    free(names);
    free(now);
    free(set);
}

void ports_stop_merging(unsigned dev_port, const char *interface) {
    char left[3 * (ETH_GSTRING_LEN + sizeof ", ")] = "";
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const uint32_t n = fd >= 0 ? how_many(fd, interface) : 0;
    if (n > 0)
        turn_off(fd, interface, n, left, sizeof left);
    if (fd >= 0)
        close(fd);
    if (left[0])
        fprintf(stderr,
                "port %u: %s merges received frames, and this cannot be turned off (%s): merged "
                "frames will be dropped as too long\n",
                dev_port, interface, left);
}
