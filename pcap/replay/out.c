// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pcap/replay/replay_impl.h"

static const char *const endings[] = {[CAPTURE_PCAP] = "pcap", [CAPTURE_PCAPNG] = "pcapng"};

char *replay_port_path(const char *dir, unsigned port, enum capture_form form) {
    char *path;
    if (asprintf(&path, "%s/port-%u.%s", dir, port, endings[form]) < 0)
        abort();
    return path;
}

static enum capture_form form_of(const struct replay_options *opt, const char *path) {
    return opt->form == REPLAY_BY_NAME ? capture_form_of(path)
           : opt->form == REPLAY_PCAP  ? CAPTURE_PCAP
                                       : CAPTURE_PCAPNG;
}

// What an earlier replay left for ports that send nothing now would look like this one's.
static int clear_dir(const struct replay_out *o, struct sk_error *err) {
    int rc = 0;
    struct stat st;
    if (stat(o->dir, &st) == 0 && !S_ISDIR(st.st_mode))
        return sk_fail(err, "%s is not a folder", o->dir);
    if (o->update && replay_update_mkdir(o->update, o->dir, err))
        return -1;
    if (!o->update && mkdir(o->dir, 0777) && errno != EEXIST)
        return sk_fail(err, "cannot make the folder %s: %s", o->dir, strerror(errno));
    for (unsigned i = 0; rc == 0 && i < 2 * SK_PORTS; i++) {
        char *path = replay_port_path(o->dir, i / 2, (enum capture_form)(i % 2));
        if (o->update)
            replay_update_remove(o->update, path);
        else if (unlink(path) && errno != ENOENT)
            rc = sk_fail(err, "cannot write %s: %s", path, strerror(errno));
        free(path);
    }
    return rc;
}

static struct capture_writer *replay_out_create(const struct replay_out *o, const char *path,
                                                enum capture_form form, struct sk_error *err) {
    return capture_create(o->update ? replay_update_add(o->update, path) : path, form, err);
}

int replay_out_open(struct replay_out *o, const struct replay_options *opt, struct sk_error *err) {
    if (opt->out_dir) {
        if (!(o->dir = strdup(opt->out_dir)))
            abort();
        o->form = form_of(opt, "");
        if (clear_dir(o, err))
            return -1;
    }
    for (size_t i = 0; i < opt->out.n; i++) {
        const struct replay_file *f = &opt->out.items[i];
        if (!(o->writers[f->port] = replay_out_create(o, f->path, form_of(opt, f->path), err)))
            return -1;
    }
    return 0;
}

int replay_out_packet(struct replay_out *o, uint16_t port, uint64_t time_ns, const uint8_t *frame,
                      uint32_t length, struct sk_error *err) {
    struct capture_writer **w = &o->writers[port];
    if (!*w && o->dir) {
        char *path = replay_port_path(o->dir, port, o->form);
        *w = replay_out_create(o, path, o->form, err);
        free(path);
        if (!*w)
            return -1;
    }
    const struct capture_record r = {.time_ns = time_ns,
                                     .bytes = frame,
                                     .length = length,
                                     .port = port,
                                     .direction = CAPTURE_OUTBOUND};
    return *w ? capture_write(*w, &r, err) : 0;
}

int replay_out_close(struct replay_out *o, struct sk_error *err) {
    int rc = 0;
    for (unsigned port = 0; port < SK_PORTS; port++) {
        if (capture_finish(o->writers[port], rc ? NULL : err))
            rc = -1;
        o->writers[port] = NULL;
    }
    free(o->dir);
    o->dir = NULL;
    return rc;
}
