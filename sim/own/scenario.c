// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/own/own.h"
#include "sim/scenario_impl.h"

#define MAX_MS 3.6e6
#define MOST   SCN_MAX_WORKERS
#define JOBS   64u // of a scenario

// A name without a slash would be looked for among the system's libraries.
static const char *own_path(const struct sk_at *at, const char *word) {
    const char *path = scn_beside(at, word);
    if (strchr(path, '/'))
        return path;
    char *here = scn_keep(at, strlen(path) + 3, 1);
    sprintf(here, "./%s", path);
    return here;
}

static bool own_is_whole(const struct silken_stations *s) {
    return s->open && s->wants && s->deliver && s->next && s->deadline && s->expire && s->state &&
           s->close;
}

static void own_load(const struct sk_at *at, struct scn_own *own) {
    const struct sk_at library = sk_at_member(at, "library");
    if (!json_is_string(library.value)) {
        sk_at_fail(at, "\"library\" must be the shared object of the hosts");
        return;
    }
    own->path = own_path(at, json_string_value(library.value));
    own->library = dlopen(own->path, RTLD_NOW | RTLD_LOCAL);
    if (!own->library) {
        sk_at_fail(&library, "cannot be loaded: %s", dlerror());
        return;
    }
    const struct silken_stations *(*get)(void);
    *(void **)&get = dlsym(own->library, "silken_stations");
    own->stations = get ? get() : NULL;
    if (!own->stations)
        sk_at_fail(&library, "%s has no silken_stations() (silken/station.h)", own->path);
    else if (own->stations->version != SILKEN_STATION_VERSION)
        sk_at_fail(&library, "%s was compiled for version %u of silken/station.h, and this is %u",
                   own->path, own->stations->version, SILKEN_STATION_VERSION);
    else if (!own_is_whole(own->stations))
        sk_at_fail(&library, "%s leaves out a function that silken/station.h asks for", own->path);
}

static void own_read_hosts(const struct scenario *s, const struct sk_at *at, struct scn_own *own) {
    const struct sk_at hosts = sk_at_member(at, "hosts");
    if (hosts.value) {
        own->hosts = scn_stations(s, &hosts, true, false, &own->n_hosts);
    } else {
        own->hosts = scn_keep(at, s->n_stations, sizeof *own->hosts);
        for (uint32_t i = 0; i < s->n_stations; i++)
            if (!s->stations[i].is_switch)
                own->hosts[own->n_hosts++] = i;
    }
    if (own->n_hosts == 0 || own->n_hosts > MOST)
        sk_at_fail(hosts.value ? &hosts : at, "a job has 1 to %u hosts", MOST);
}

void scn_read_own(struct scenario *s, const struct sk_at *at, size_t i) {
    static const char *const keys[] = {"name",     "protocol", "library", "hosts",
                                       "start_ms", "options",  NULL};
    if (!s->own)
        s->own = scn_keep(at, JOBS, sizeof *s->own);
    struct scn_own *own = &s->own[s->n_own++];
    const struct sk_at options = sk_at_member(at, "options");
    char *name = scn_keep(at, 32, 1);
    sk_at_keys(at, keys);
    snprintf(name, 32, "job%zu", i);
    own->name = scn_word(at, "name", name);
    if (strlen(own->name) > 60)
        sk_at_fail(at, "a job's name has at most 60 characters");
    own->start_ms = scn_range(at, "start_ms", 0, MAX_MS, 0);
    own->options = "{}";
    if (options.value && !json_is_object(options.value)) {
        sk_at_fail(&options, "must be an object");
    } else if (options.value) {
        char *text = json_dumps(options.value, 0);
        if (!text)
            abort();
        char *kept = scn_keep(at, strlen(text) + 1, 1);
        memcpy(kept, text, strlen(text));
        own->options = kept;
        free(text);
    }
    own_read_hosts(s, at, own);
    if (!at->doc->failed)
        own_load(at, own);
}

void own_close(struct scenario *sc) {
    for (size_t i = 0; i < sc->n_own; i++)
        if (sc->own[i].library) {
            dlclose(sc->own[i].library);
            sc->own[i].library = NULL;
        }
}
