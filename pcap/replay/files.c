// SPDX-License-Identifier: Apache-2.0
//
// files: refuses an output file that is also an input, and two outputs to one file. Two files are
// the same if device and inode are, whatever their names; files that do not exist yet are the same
// if folder and name are.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/memory.h"
#include "pcap/replay/replay_impl.h"

struct file {
    const char *path, *what; // what: of an input, what it is
    char *own;               // the path if it is ours to free
    char *name;              // of one that is not there: with its folder's real path
    bool there;
    dev_t device;
    ino_t inode;
};

struct files {
    struct file *items;
    size_t n;
};

// The real path of a file or folder, of which the end need not be there.
static char *replay_files_where(const char *path) {
    char *name, *real = realpath(path, NULL);
    size_t end = strlen(path), slash;
    if (real)
        return real;
    while (end > 1 && path[end - 1] == '/')
        end--;
    for (slash = end; slash > 0 && path[slash - 1] != '/'; slash--)
        ;
    char *folder = slash ? strndup(path, slash) : strdup(".");
    if (!folder)
        abort();
    const bool ends = slash == end || strcmp(path, ".") == 0;
    char *before = ends ? strdup(folder) : replay_files_where(folder);
    const char *between = before && strcmp(before, "/") == 0 ? "" : "/";
    const int n = (int)(end - slash);
    if (!before || asprintf(&name, "%s%s%.*s", before, between, n, path + slash) < 0)
        abort();
    if (n == 1 && path[slash] == '.')
        name[strlen(before)] = '\0';
    free(before);
    free(folder);
    return name;
}

// Devices and FIFOs are no matter: what is in them is not lost.
static void replay_files_look(struct file *f, const struct stat *st) {
    f->there = S_ISREG(st->st_mode);
    f->device = st->st_dev;
    f->inode = st->st_ino;
}

static struct file *replay_files_push(struct files *list, const char *path, const char *what) {
    list->items = sk_resize(list->items, list->n + 1, sizeof *list->items);
    list->items[list->n] = (struct file){.path = path, .what = what};
    return &list->items[list->n++];
}

static void free_files(struct files *list) {
    for (size_t i = 0; i < list->n; i++) {
        free(list->items[i].own);
        free(list->items[i].name);
    }
    free(list->items);
}

static bool replay_files_same(const struct file *a, const struct file *b) {
    if (a->there && b->there)
        return a->device == b->device && a->inode == b->inode;
    return a->name && b->name && strcmp(a->name, b->name) == 0;
}

// ---- what is read: files that are there

static void replay_files_add_input(struct files *in, const char *path, const char *what) {
    struct stat st;
    if (path && (strcmp(path, "-") ? stat(path, &st) : fstat(STDIN_FILENO, &st)) == 0)
        replay_files_look(replay_files_push(in, path, what), &st);
}

static void add_inputs(struct files *in, const struct replay_options *opt) {
    replay_files_add_input(in, opt->program_path, "the program");
    for (size_t i = 0; i < opt->n_included; i++)
        replay_files_add_input(in, opt->included[i], "a file of the program");
    for (size_t i = 0; i < 2; i++)
        replay_files_add_input(in, opt->config_paths[i],
                               "one of the files of --config and --entries");
    for (size_t i = 0; i < opt->in.n; i++)
        replay_files_add_input(in, opt->in.items[i].path, "one of the captures to replay");
    for (size_t i = 0; i < opt->expect.n; i++)
        replay_files_add_input(in, opt->expect.items[i].path, "a golden capture");
    for (unsigned i = 0; opt->expect_dir && i < 2 * SK_PORTS; i++) {
        char *path = replay_port_path(opt->expect_dir, i / 2, (enum capture_form)(i % 2));
        const size_t before = in->n;
        replay_files_add_input(in, path, "among the golden captures");
        if (in->n > before)
            in->items[before].own = path;
        else
            free(path);
    }
    replay_files_add_input(in, opt->expect_state, "the expected state, which --update rewrites");
}

// ---- what is written

static void add_output(struct files *out, const char *path) {
    struct stat st;
    if (!path)
        return;
    struct file *f = replay_files_push(out, path, NULL);
    if (stat(path, &st) == 0)
        replay_files_look(f, &st);
    else
        f->name = replay_files_where(path);
}

static void add_outputs(struct files *out, const struct replay_options *opt) {
    for (size_t i = 0; i < opt->out.n; i++)
        add_output(out, opt->out.items[i].path);
    for (size_t i = 0; i < 2; i++)
        if (opt->dump_state[i] && strcmp(opt->dump_state[i], "-") != 0)
            add_output(out, opt->dump_state[i]);
    char *drops = replay_drops_path(opt);
    add_output(out, drops);
    if (drops)
        out->items[out->n - 1].own = drops;
}

// The captures that a folder gets, or loses.
static void add_folder(struct files *out, const char *dir) {
    struct stat st;
    char *real = replay_files_where(dir);
    for (unsigned i = 0; i < 2 * SK_PORTS; i++) {
        const enum capture_form form = (enum capture_form)(i % 2);
        char *path = replay_port_path(dir, i / 2, form);
        struct file *f = replay_files_push(out, path, NULL);
        f->own = path;
        if (stat(path, &st) == 0)
            replay_files_look(f, &st);
        else
            f->name = replay_port_path(real, i / 2, form);
    }
    free(real);
}

// Whether it would be among the golden captures, whatever its name.
static bool replay_files_is_in(const char *dir, const char *path) {
    struct stat a, b;
    char *folder = strdup(path);
    if (!folder)
        abort();
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = 0;
    const bool in = stat(slash ? folder : ".", &a) == 0 && stat(dir, &b) == 0 &&
                    a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    free(folder);
    return in;
}

static int replay_files_check_outputs(const struct replay_options *opt, const struct files *in,
                                      const struct files *out, size_t alone, struct sk_error *err) {
    for (size_t i = 0; i < out->n; i++) {
        const struct file *f = &out->items[i];
        for (size_t k = 0; k < in->n; k++)
            if (replay_files_same(f, &in->items[k]))
                return sk_fail(err, "%s is %s; it would be overwritten", f->path,
                               in->items[k].what);
        for (size_t k = 0; k < i && k < alone; k++)
            if (replay_files_same(f, &out->items[k]))
                return sk_fail(err, "two outputs would go to one file: %s and %s",
                               out->items[k].path, f->path);
        if (i < alone && opt->expect_dir && replay_files_is_in(opt->expect_dir, f->path))
            return sk_fail(err, "%s would be among the golden captures", f->path);
    }
    return 0;
}

struct dated {
    struct replay_file file;
    uint64_t time_ns;
};

static uint64_t first_time(const char *path) {
    struct capture_frame f;
    struct capture *c = capture_open(path, NULL);
    const uint64_t time_ns = c && capture_next(c, &f, NULL) > 0 ? f.time_ns : 0;
    capture_close(c);
    return time_ns;
}

struct replay_files replay_files_by_time(const struct replay_options *opt) {
    struct replay_files list = {calloc(opt->in.n + 1, sizeof *list.items), opt->in.n};
    struct dated *dated = calloc(opt->in.n + 1, sizeof *dated);
    if (!list.items || !dated)
        abort();
    for (size_t i = 0; i < list.n; i++) {
        const struct replay_file file = opt->in.items[i];
        // one without a packet, or of a port, stays behind the one in front
        uint64_t time_ns = file.port == REPLAY_MAPPED ? first_time(file.path) : 0;
        time_ns = time_ns || i == 0 ? time_ns : dated[i - 1].time_ns;
        size_t at = i;
        for (; at > 0 && dated[at - 1].time_ns > time_ns; at--)
            dated[at] = dated[at - 1];
        dated[at] = (struct dated){file, time_ns};
    }
    for (size_t i = 0; i < list.n; i++)
        list.items[i] = dated[i].file;
    free(dated);
    return list;
}

// What is written there cannot be taken back: somebody reads it meanwhile.
static bool replay_files_is_gone(const char *path) {
    struct stat st;
    return path && stat(path, &st) == 0 && !S_ISREG(st.st_mode) &&
           !(S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)); // /dev/null
}

bool replay_files_can_be_anew(const struct replay_options *opt) {
    char *drops = replay_drops_path(opt);
    bool gone = replay_files_is_gone(drops);
    for (size_t i = 0; i < opt->out.n; i++)
        gone |= replay_files_is_gone(opt->out.items[i].path);
    free(drops);
    return !gone;
}

int replay_files_check(const struct replay_options *opt, struct sk_error *err) {
    struct files in = {0}, out = {0};
    struct stat a, b;
    add_outputs(&out, opt);
    const size_t alone = out.n;
    if (opt->out_dir)
        add_folder(&out, opt->out_dir);
    if (out.n)
        add_inputs(&in, opt);
    int rc = replay_files_check_outputs(opt, &in, &out, alone, err);
    if (rc == 0 && opt->out_dir && opt->expect_dir && stat(opt->out_dir, &a) == 0 &&
        stat(opt->expect_dir, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        rc = sk_fail(err, "%s is the folder of the golden captures", opt->out_dir);
    free_files(&in);
    free_files(&out);
    return rc;
}
