// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/new_file.h"
#include "cli/twin/twin.h"
#include "rpc/client.h"
#include "twin/twin.h"

// A file for each table.
static bool twin_dump_write(const struct twin_tables *t, const char *dir) {
    const char *name;
    json_t *table;
    json_object_foreach(t->tables, name, table) {
        char *path;
        struct new_file f;
        if (asprintf(&path, "%s/%s.json", dir, name) < 0)
            abort();
        const char *why = new_file_open(&f, path);
        if (!why) {
            const bool good = twin_tables_write(t, name, f.out);
            const char *error = good ? NULL : strerror(errno);
            why = new_file_close(&f);
            why = error ? error : why;
        }
        if (why)
            fprintf(stderr, "silken twin: cannot write %s: %s\n", path, why);
        free(path);
        if (why)
            return false;
    }
    return true;
}

static void twin_dump_tell(const struct twin_tables *t) {
    const char *name;
    json_t *table;
    size_t read = 0, unread = 0, entries = 0;
    json_object_foreach(t->tables, name, table) {
        const json_t *list = json_object_get(table, "entries");
        read += list != NULL;
        unread += list == NULL;
        entries += json_array_size(list);
        if (!list)
            printf("not read: %s: %s\n", name, json_string_value(json_object_get(table, "unread")));
    }
    printf("%s: %zu tables with %zu entries, %zu tables could not be read\n", t->program, read,
           entries, unread);
}

int twin_run_dump(const struct twin_words *w) {
    struct sk_error err;
    struct twin_tables tables;
    const struct rpc_client_tls tls = {w->authority, w->certificate, w->key, w->server_name};
    struct rpc_client *client = rpc_client_open(w->words[0], w->tls ? &tls : NULL, &err);
    const struct twin_caller caller = twin_remote(client);
    if (client && !twin_new_folder(w->words[1])) {
        rpc_client_close(client);
        return EXIT_UNUSABLE;
    }
    const int rc = client ? twin_dump(&caller, w->program, &tables, &err) : -1;
    rpc_client_close(client);
    if (rc) {
        fprintf(stderr, "silken twin: %s\n", err.text);
        return EXIT_UNUSABLE;
    }
    const bool good = twin_dump_write(&tables, w->words[1]);
    if (good)
        twin_dump_tell(&tables);
    twin_tables_free(&tables);
    return good ? EXIT_GOOD : EXIT_UNUSABLE;
}
