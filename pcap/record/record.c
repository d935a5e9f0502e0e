// SPDX-License-Identifier: Apache-2.0
#include "pcap/record/record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pcap/capture/capture.h"

#define AT_ONCE     4096u // records of one go
#define IDLE_GOES   64u   // without records, before what was written is shown
#define PACKET_ROOM 512u  // of a packet in a file, besides its bytes: head, options, comment
#define PORT_ROOM   96u   // of an interface's statistics
#define ENDING      ".pcapng"

struct port {
    char *description; // or null
    bool listed;
    uint64_t packets; // in this file
    uint64_t lost;    // told in earlier files
};

struct record_files {
    struct record_options opt;
    char *single, *stem, *ending; // opt.path, and its parts
    char *path;                   // of the file
    struct capture_writer *writer;
    unsigned number; // of the file, from 1
    unsigned idle;
    bool shown; // all that was written
    bool empty; // the file
    uint64_t from_ns, to_ns;
    unsigned n_ports; // that have an interface
    struct record_counts counts;
    struct port ports[SK_PORTS];
};

// ---- names ----

static bool ends_so(const char *text, size_t n, const char *ending) {
    size_t m = strlen(ending);
    return n > m && memcmp(text + n - m, ending, m) == 0;
}

// With the file's ending, or the length of all that.
static size_t stem_length(const char *path) {
    size_t n = strlen(path);
    return ends_so(path, n, ENDING) ? n - strlen(ENDING) : n;
}

char *record_config_path(const char *path) {
    char *out;
    if (asprintf(&out, "%.*s.config.json", (int)stem_length(path), path) < 0)
        abort();
    return out;
}

bool record_has_beside(const char *path) {
    struct stat st;
    return strcmp(path, "/dev/stdout") != 0 && strcmp(path, "/dev/stderr") != 0 &&
           strncmp(path, "/dev/fd/", 8) != 0 &&
           (stat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

static bool is_same_file(const char *a, const char *b) {
    struct stat x, y;
    if (stat(a, &x) || stat(b, &y))
        return strcmp(a, b) == 0; // it is to be made
    return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool record_is_of_device(const char *path, const char *device) {
    static const char *const keys[] = {",rx_pcap=", ",tx_pcap="};
    bool is = false;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        for (const char *at = device; !is && (at = strstr(at, keys[i]));) {
            at += strlen(keys[i]);
            char *file = strndup(at, strcspn(at, ","));
            if (!file)
                abort();
            is = is_same_file(path, file);
            free(file);
        }
    return is;
}

static char *record_numbered(const struct record_files *f, unsigned number) {
    char *out;
    if (asprintf(&out, "%s-%05u%s", f->stem, number, f->ending) < 0)
        abort();
    return out;
}

// "STEM-12345ENDING", of STEM's last part.
static bool is_numbered(const char *name, const char *stem, const char *ending) {
    size_t n = strlen(stem);
    if (strncmp(name, stem, n) != 0 || name[n] != '-')
        return false;
    size_t digits = strspn(name + n + 1, "0123456789");
    return digits >= 5 && strcmp(name + n + 1 + digits, ending) == 0;
}

// The folder of the path, malloc'ed.
static char *record_folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (!folder)
        abort();
    return folder;
}

// Files of an earlier ring would look like this one's, and are not ours to remove.
static int check_folder(const struct record_files *f, struct sk_error *err) {
    const char *slash = strrchr(f->stem, '/'), *last = slash ? slash + 1 : f->stem;
    char *folder = record_folder_of(f->stem);
    int rc = 0;
    DIR *d = opendir(folder);
    if (!d)
        rc = sk_fail(err, "cannot read the folder %s: %s", folder, strerror(errno));
    for (const struct dirent *e; d && rc == 0 && (e = readdir(d));)
        if (is_numbered(e->d_name, last, f->ending))
            rc = sk_fail(
                err,
                "%s%s exists from an earlier recording; remove it or record under another name",
                slash ? folder : "", e->d_name);
    if (d)
        closedir(d);
    free(folder);
    return rc;
}

// Nothing, or the beginning of a pcapng: what may be written over.
static int check_is_recording(int fd, const char *path, struct sk_error *err) {
    static const uint8_t section[] = {0x0a, 0x0d, 0x0d, 0x0a};
    uint8_t start[sizeof section];
    const ssize_t n = pread(fd, start, sizeof start, 0);
    if (n < 0)
        return sk_fail(err, "cannot read %s to check that it is a recording: %s", path,
                       strerror(errno));
    if (n == 0 || (n == sizeof start && memcmp(start, section, sizeof start) == 0))
        return 0;
    return sk_fail(err, "%s exists and is not a recording; record under another name", path);
}

// Asks and does not open, but for files: a pipe's reader would take that for all.
static int record_check_file(const char *path, struct sk_error *err) {
    struct stat st;
    int error = 0;
    if (stat(path, &st) == 0) {
        error = S_ISDIR(st.st_mode) ? EISDIR : access(path, W_OK) ? errno : 0;
        const int fd = !error && S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        const int rc = fd < 0 ? 0 : check_is_recording(fd, path, err);
        if (fd >= 0)
            close(fd);
        if (rc)
            return rc;
    } else if (errno == ENOENT) {
        char *folder = record_folder_of(path);
        error = access(folder, W_OK | X_OK) ? errno : 0;
        free(folder);
    } else {
        error = errno;
    }
    return error ? sk_fail(err, "cannot write %s: %s", path, strerror(error)) : 0;
}

// ---- files ----

// The file is this recording's alone, and emptied only then.
static int claim(int fd, const char *path, struct sk_error *err) {
    if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return sk_fail(err, "%s is in use by another recording; record under another name", path);
    if (check_is_recording(fd, path, err))
        return -1;
    return ftruncate(fd, 0) ? sk_fail(err, "cannot write %s: %s", path, strerror(errno)) : 0;
}

static struct capture_writer *record_create(const char *path, struct sk_error *err) {
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return capture_create(path, CAPTURE_PCAPNG, err);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        sk_fail(err, "cannot write %s: %s", path, strerror(errno));
    if (fd >= 0 && claim(fd, path, err) == 0)
        return capture_create_in(fd, path, CAPTURE_PCAPNG);
    if (fd >= 0)
        close(fd);
    return NULL;
}

static int begin_file(struct record_files *f, struct sk_error *err) {
    free(f->path);
    f->number++;
    f->path = f->opt.file_bytes ? record_numbered(f, f->number) : strdup(f->opt.path);
    if (!f->path)
        abort();
    f->writer = record_create(f->path, err);
    if (!f->writer)
        return -1;
    f->counts.files = f->number;
    f->empty = true;
    f->from_ns = f->to_ns;
    for (uint16_t p = 0; p < SK_PORTS; p++)
        if (f->ports[p].listed)
            capture_describe(f->writer, p, f->ports[p].description);
    return 0;
}

// What is missing is told in the last file and, by then, in those that it is known of.
static int end_file(struct record_files *f, const struct sk_record_reader *r,
                    struct sk_error *err) {
    int rc = 0;
    for (uint16_t p = 0; p < SK_PORTS; p++) {
        struct port *port = &f->ports[p];
        uint64_t lost = r ? sk_record_lost(r, p) : 0;
        if (rc == 0 && (port->listed || lost > port->lost))
            rc = capture_write_statistics(f->writer,
                                          &(struct capture_statistics){p, f->from_ns, f->to_ns,
                                                                       port->packets,
                                                                       lost - port->lost},
                                          err);
        port->lost = lost;
        port->packets = 0;
    }
    f->counts.bytes += capture_size(f->writer);
    int closed = capture_finish(f->writer, rc ? NULL : err);
    f->writer = NULL;
    return rc ? rc : closed;
}

static int next_file(struct record_files *f, const struct sk_record_reader *r,
                     struct sk_error *err) {
    if (end_file(f, r, err) || begin_file(f, err))
        return -1;
    if (f->opt.files == 0 || f->number <= f->opt.files)
        return 0;
    char *oldest = record_numbered(f, f->number - f->opt.files);
    int rc = unlink(oldest) && errno != ENOENT
                 ? sk_fail(err, "cannot remove %s: %s", oldest, strerror(errno))
                 : 0;
    free(oldest);
    return rc;
}

static struct record_files *plan(const struct record_options *opt) {
    struct record_files *f = calloc(1, sizeof *f);
    if (!f || !(f->stem = strndup(opt->path, stem_length(opt->path))) ||
        !(f->ending = strdup(opt->path + strlen(f->stem))) || !(f->single = strdup(opt->path)))
        abort();
    f->opt = *opt;
    f->opt.path = f->single;
    f->shown = true;
    return f;
}

int record_check(const struct record_options *opt, struct sk_error *err) {
    if (opt->file_bytes && !record_has_beside(opt->path))
        return sk_fail(err, "%s is not a file: a ring needs files", opt->path);
    struct record_files *f = plan(opt);
    char *first = opt->file_bytes ? record_numbered(f, 1) : NULL;
    int rc = opt->file_bytes && check_folder(f, err)
                 ? -1
                 : record_check_file(first ? first : opt->path, err);
    free(first);
    record_close(f, NULL, NULL);
    return rc;
}

struct record_files *record_open(const struct record_options *opt, struct sk_error *err) {
    struct record_files *f = plan(opt);
    if ((opt->file_bytes && check_folder(f, err)) || begin_file(f, err)) {
        record_close(f, NULL, NULL);
        return NULL;
    }
    return f;
}

void record_ports(struct record_files *f, const struct record_port *ports, size_t n) {
    for (size_t i = 0; i < n; i++) {
        struct port *p = &f->ports[ports[i].port];
        const char *name = ports[i].name, *device = ports[i].device;
        free(p->description);
        p->description = NULL;
        if ((name || device) && asprintf(&p->description, "%s%s%s", name ? name : "",
                                         name && device ? ", " : "", device ? device : "") < 0)
            abort();
        f->n_ports += !p->listed;
        p->listed = true;
        capture_describe(f->writer, ports[i].port, p->description);
    }
}

int record_close(struct record_files *f, const struct sk_record_reader *r, struct sk_error *err) {
    if (!f)
        return 0;
    int rc = f->writer ? end_file(f, r, err) : 0;
    for (unsigned p = 0; p < SK_PORTS; p++)
        free(f->ports[p].description);
    free(f->single);
    free(f->stem);
    free(f->ending);
    free(f->path);
    free(f);
    return rc;
}

// ---- records ----

struct comment {
    char text[PACKET_ROOM - 128];
    size_t n;
};

__attribute__((format(printf, 2, 3))) static void record_say(struct comment *c, const char *format,
                                                             ...) {
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(c->text + c->n, sizeof c->text - c->n, format, ap);
    va_end(ap);
    c->n += (size_t)n < sizeof c->text - c->n ? (size_t)n : sizeof c->text - c->n - 1;
}

static void say_drops(struct comment *c, const struct sk_record *r) {
    for (unsigned i = 0; i < r->n_drops; i++) {
        record_say(c, "%s%s", i ? "; " : "silken drop: ",
                   sk_drop_text((enum sk_drop_reason)r->drops[i].reason));
        if (r->drops[i].port < SK_PORTS)
            record_say(c, ", port %u", r->drops[i].port);
    }
    if (r->more_drops)
        record_say(c, "; and %u more", r->more_drops);
    if (r->kind == SK_RECORD_DROPPED && r->serial)
        record_say(c, "; packet %" PRIu64 ", which port %u received", r->serial, r->ingress_port);
    if (r->lost)
        record_say(c, "%ssilken lost: %u records before this one", c->n ? "; " : "", r->lost);
}

// A note of a packet whose own record says that it was sent.
static bool is_unsent(const struct sk_record *r) {
    return r->kind == SK_RECORD_DROPPED && r->n_drops && r->drops[0].reason == SK_DROP_TX_FULL;
}

// The file has a record of this time, the latest.
static void goes_to(struct record_files *f, uint64_t time_ns) {
    if (f->empty)
        f->from_ns = time_ns;
    f->empty = false;
    f->to_ns = time_ns;
}

// The ports' statistics have nothing of it.
static int write_control(struct record_files *f, const struct sk_record *r, struct sk_error *err) {
    char *text = strndup((const char *)r->bytes, r->length);
    if (!text)
        abort();
    const struct capture_record out = {.time_ns = r->time_ns,
                                       .bytes = r->bytes,
                                       .port = r->port,
                                       .direction = CAPTURE_UNKNOWN,
                                       .comment = text,
                                       .lost = r->lost};
    goes_to(f, r->time_ns);
    const int rc = capture_write(f->writer, &out, err);
    free(text);
    return rc;
}

static int write_one(struct record_files *f, const struct sk_record_reader *reader,
                     const struct sk_record *r, struct sk_error *err) {
    struct comment c = {.n = 0};
    const uint64_t statistics = (uint64_t)(f->n_ports + 1) * PORT_ROOM;
    c.text[0] = '\0';
    if (f->opt.file_bytes && !f->empty &&
        capture_size(f->writer) + r->length + PACKET_ROOM + statistics > f->opt.file_bytes &&
        next_file(f, reader, err))
        return -1;
    if (r->kind == SK_RECORD_NOTE)
        return write_control(f, r, err);
    say_drops(&c, r);
    const struct capture_record out = {.time_ns = r->time_ns,
                                       .bytes = r->bytes,
                                       .length = r->length,
                                       .wire_length = r->wire_length,
                                       .port = r->port,
                                       .direction = r->kind == SK_RECORD_RECEIVED ? CAPTURE_INBOUND
                                                    : r->kind == SK_RECORD_SENT   ? CAPTURE_OUTBOUND
                                                                                  : CAPTURE_UNKNOWN,
                                       .comment = c.n ? c.text : NULL,
                                       .packet_id = r->serial,
                                       .lost = r->lost};
    struct port *p = &f->ports[r->port];
    f->n_ports += !p->listed;
    p->listed = true;
    goes_to(f, r->time_ns);
    p->packets += r->kind != SK_RECORD_DROPPED;
    f->counts.received += r->kind == SK_RECORD_RECEIVED;
    f->counts.sent += r->kind == SK_RECORD_SENT && r->n_drops == 0;
    f->counts.sent -= is_unsent(r) && f->counts.sent > 0; // its own record may be lost
    f->counts.dropped += r->n_drops + r->more_drops;
    return capture_write(f->writer, &out, err);
}

static bool is_enough(const struct record_files *f) {
    return f->opt.packets && f->counts.received + f->counts.sent >= f->opt.packets;
}

enum record_progress record_pump(struct record_files *f, struct sk_record_reader *r,
                                 struct sk_error *err) {
    struct sk_record record;
    unsigned n = 0;
    for (; n < AT_ONCE && !is_enough(f) && sk_record_next(r, &record); n++)
        if (write_one(f, r, &record, err))
            return RECORD_FAILED;
    if (is_enough(f) || (n == 0 && sk_record_ended(r)))
        return RECORD_DONE;
    f->idle = n ? 0 : f->idle + 1;
    f->shown &= n == 0;
    if (!f->shown && f->idle >= IDLE_GOES) {
        if (capture_flush(f->writer, err))
            return RECORD_FAILED;
        f->shown = true;
    }
    return n ? RECORD_WORKED : RECORD_IDLE;
}

void record_counts(const struct record_files *f, const struct sk_record_reader *r,
                   struct record_counts *out) {
    *out = f->counts;
    out->bytes += f->writer ? capture_size(f->writer) : 0;
    out->lost = r ? sk_record_lost(r, SK_PORTS) : 0;
}

const char *record_path(const struct record_files *f) {
    return f->path;
}
