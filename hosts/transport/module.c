// SPDX-License-Identifier: Apache-2.0
//
// DPDK's ports are in a module of its own: who does not ask for one needs no library of DPDK's.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "hosts/transport/transport.h"

#define MODULE_FILE   "libsilken-dpdk.so.0"
#define MODULE_SYMBOL "silken_dpdk_module"

static const struct sk_transport_module *module_dpdk;

void sk_transport_use_dpdk(const struct sk_transport_module *module) {
    module_dpdk = module;
}

// In 'folder' (with a slash at its end) of the folder that has the file that this code is in, or
// NULL.
static void *module_below(const char *folder) {
    char path[4096];
    const char *slash;
    Dl_info here;

    if (!dladdr(&module_dpdk, &here) || !here.dli_fname)
        return NULL;
    slash = strrchr(here.dli_fname, '/');
    if (!slash || (size_t)snprintf(path, sizeof path, "%.*s/%s%s", (int)(slash - here.dli_fname),
                                   here.dli_fname, folder, MODULE_FILE) >= sizeof path)
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// The module stays loaded: DPDK cannot be started twice.
static const struct sk_transport_module *module_load(char *why, size_t why_cap) {
    void *handle = module_below(""); // where it is built
    const struct sk_transport_module *module;

    if (!handle)
        handle = module_below("silken/"); // where it is installed
    if (!handle)
        handle = dlopen(MODULE_FILE, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(why, why_cap, "DPDK's ports need Silken's module for them: %s", dlerror());
        return NULL;
    }
    module = dlsym(handle, MODULE_SYMBOL);
    if (!module || strcmp(module->version, SILKEN_VERSION) != 0) {
        snprintf(why, why_cap, "%s is of another version of Silken (%s; this library: %s)",
                 MODULE_FILE, module ? module->version : "unknown", SILKEN_VERSION);
        dlclose(handle);
        return NULL;
    }
    return module;
}

int sk_transport_module_open(struct sk_transport **t, const char *device, int cpu, char *why,
                             size_t why_cap) {
    char fault[256];

    if (!module_dpdk)
        module_dpdk = module_load(fault, sizeof fault);
    if (!module_dpdk) {
        snprintf(why, why_cap, "%s: %s", device, fault);
        return SILKEN_ERR_UNSUPPORTED;
    }
    return module_dpdk->open(t, device, cpu, why, why_cap);
}
