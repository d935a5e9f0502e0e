// SPDX-License-Identifier: Apache-2.0
//
// What the switch remembers of its jobs when its process ends, however it does: the file "state" of
// the section.
//
//     {"version": 1, "jobs": [{"request": {"name": "bert", ...}, "configured": false, "number": 1,
//                              "first": 0,
//                              "group": "239.192.0.1", "session": {"number": 7, "id": "...",
//                              "nonces": ["..."]}}]}
//
// 'request' is what the job was asked for with; the rest is what it was given and its hosts have in
// their packets, and who is in the session of a job of SwitchML. The file is written again whenever
// that changes (to another one, which then takes its place), so it is there in whole, always. One
// that cannot be understood is kept beside it, and nothing that is in it is written over.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/tor/jobs_impl.h"

#define FORM       1
#define MOST_BYTES (16u << 20)
#define MOST_ASIDE 1000u

static void alarm_of(struct tor *t, const char *why) {
    tor_event(t, "alarm", "{s:s, s:s}", "alarm", "state", "why", why);
}

// ---- reading ----

// Null with a sentence. Links are not followed: the folder is a user's, and who reads may be root.
static char *jobs_state_read_file(const char *path, size_t *length, struct sk_error *err) {
    struct stat st;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char *text = NULL;
    *length = 0;
    errno = fd < 0 ? errno : 0;
    if (fd >= 0 && fstat(fd, &st) == 0 && (!S_ISREG(st.st_mode) || st.st_size > MOST_BYTES))
        errno = EINVAL;
    if (errno == 0) {
        const size_t size = (size_t)st.st_size;
        ssize_t n = 1;
        text = malloc(size + 1);
        while (text && n > 0 && *length < size)
            if ((n = read(fd, text + *length, size - *length)) > 0)
                *length += (size_t)n;
        if (n < 0) {
            free(text);
            text = NULL;
        }
    }
    if (!text)
        sk_fail(err, "cannot read %.300s: %s", path, strerror(errno ? errno : ENOMEM));
    if (fd >= 0)
        close(fd);
    return text;
}

static bool is_between(const json_t *v, json_int_t low, json_int_t high) {
    return json_is_integer(v) && json_integer_value(v) >= low && json_integer_value(v) <= high;
}

static bool is_kept_job(json_t *job) {
    return json_is_object(json_object_get(job, "request")) &&
           json_is_boolean(json_object_get(job, "configured")) &&
           is_between(json_object_get(job, "number"), 0, UINT8_MAX) &&
           is_between(json_object_get(job, "first"), 0, UINT16_MAX) &&
           (!json_object_get(job, "group") || json_is_string(json_object_get(job, "group")));
}

json_t *jobs_state_parse(const char *text, size_t length, struct sk_error *err) {
    json_t *root = sk_json_parse("its text", text, length, err);
    if (!root)
        return NULL;
    json_t *jobs = json_object_get(root, "jobs"), *job;
    size_t i;
    bool good = json_is_array(jobs) && json_array_size(jobs) <= JOBS_MOST;
    if (!is_between(json_object_get(root, "version"), FORM, FORM)) {
        sk_fail(err, "its version is not %d", FORM);
        good = false;
    } else if (!good) {
        sk_fail(err, "it has no list of at most %u jobs", JOBS_MOST);
    }
    for (i = 0; good && i < json_array_size(jobs); i++) {
        job = json_array_get(jobs, i);
        good = is_kept_job(job);
        if (!good)
            sk_fail(err, "jobs[%zu] was not written by this program", i);
    }
    jobs = good ? json_incref(jobs) : NULL;
    json_decref(root);
    return jobs;
}

// Moves the file to a name that nothing has. False after an alarm.
static bool put_aside(struct tor *t, const char *path, const char *why) {
    char aside[PATH_MAX + 16], sentence[PATH_MAX + 600];
    for (unsigned n = 1; n <= MOST_ASIDE; n++) {
        snprintf(aside, sizeof aside, "%s.aside-%u", path, n);
        if (renameat2(AT_FDCWD, path, AT_FDCWD, aside, RENAME_NOREPLACE) == 0) {
            snprintf(sentence, sizeof sentence,
                     "%s: %s; it is now called %s, and its jobs are not restored", path, why,
                     aside);
            alarm_of(t, sentence);
            return true;
        }
        if (errno != EEXIST)
            break;
    }
    snprintf(sentence, sizeof sentence,
             "%s: %s, and it cannot be renamed (%s): jobs are not saved until it is removed and "
             "the configuration is reloaded",
             path, why, strerror(errno));
    alarm_of(t, sentence);
    return false;
}

static bool jobs_state_load(struct tor *t, struct jobs *all) {
    struct sk_error err = {.text = ""};
    struct stat st;
    size_t length;
    if (lstat(all->state.path, &st) && errno == ENOENT)
        return true;
    char *text = jobs_state_read_file(all->state.path, &length, &err);
    if (!text) {
        char sentence[sizeof err.text + 100];
        snprintf(sentence, sizeof sentence,
                 "%s: jobs are not saved until the configuration is reloaded", err.text);
        alarm_of(t, sentence);
        return false;
    }
    json_t *jobs = jobs_state_parse(text, length, &err);
    free(text);
    if (!jobs)
        return put_aside(t, all->state.path, err.text);
    json_array_extend(all->lost, jobs);
    json_decref(jobs);
    return true;
}

// ---- writing ----

static void jobs_state_folder_of(const char *path, char out[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    snprintf(out, PATH_MAX, "%.*s", slash ? slash == path ? 1 : (int)(slash - path) : 1,
             slash ? path : ".");
}

static bool jobs_state_write_all(int fd, const char *text) {
    for (size_t left = strlen(text); left > 0;) {
        const ssize_t n = write(fd, text, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text += n;
        left -= (size_t)n;
    }
    return fsync(fd) == 0;
}

// The folder's own entry has to be on the disk, too.
static void sync_folder(const char *path) {
    char folder[PATH_MAX];
    jobs_state_folder_of(path, folder);
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

static bool jobs_state_replace(const char *path, const char *text) {
    char fresh[PATH_MAX + 8];
    snprintf(fresh, sizeof fresh, "%s.new", path);
    unlink(fresh); // of a process that was ended while it wrote
    const int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    const bool written = jobs_state_write_all(fd, text);
    if (close(fd) || !written || rename(fresh, path)) {
        const int why = errno;
        unlink(fresh);
        errno = why;
        return false;
    }
    sync_folder(path);
    return true;
}

json_t *jobs_state_kept(const struct jobs_job *job) {
    char text[TOR_TEXT];
    json_t *o = json_pack("{s:O, s:b, s:i, s:i}", "request", job->request, "configured",
                          (int)job->configured, "number", job->number, "first", (int)job->first);
    if (job->protocol == JOBS_ATP)
        json_object_set_new(o, "group", json_string(tor_address_text(&job->group, text)));
    jobs_sessions_keep(job, o);
    return o;
}

void jobs_state_save(struct tor *t, struct jobs *all) {
    if (!all->state.path || all->state.refused)
        return;
    json_t *jobs = json_array(), *root;
    for (size_t i = 0; i < all->n; i++)
        if (!all->list[i]->leased)
            json_array_append_new(jobs, jobs_state_kept(all->list[i]));
    json_array_extend(jobs, all->lost);
    root = json_pack("{s:i, s:o}", "version", FORM, "jobs", jobs);
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS);
    json_decref(root);
    if (all->state.written && strcmp(text, all->state.written) == 0) {
        free(text);
        return;
    }
    free(all->state.written);
    all->state.written = NULL;
    if (jobs_state_replace(all->state.path, text)) {
        all->state.written = text;
        return;
    }
    char sentence[PATH_MAX + 200];
    snprintf(sentence, sizeof sentence,
             "cannot write %s: %s: later changes will be lost by a restart", all->state.path,
             strerror(errno));
    free(text);
    alarm_of(t, sentence);
}

// ---- from beginning to end ----

// Only the last part of the path is made.
static void jobs_state_make_folder(struct jobs *all) {
    char folder[PATH_MAX];
    jobs_state_folder_of(all->state.path, folder);
    all->state.made_folder = mkdir(folder, 0700) == 0;
}

void jobs_state_configure(struct tor *t, struct jobs *all, bool first) {
    char *path = NULL;
    struct stat st;
    if (t->section->state)
        path = t->host.beside ? t->host.beside(t->host.aux, t->section->state)
                              : strdup(t->section->state);
    const bool same = path && all->state.path && strcmp(path, all->state.path) == 0;
    if (same && !all->state.refused) {
        free(path);
        return;
    }
    jobs_state_forget(all);
    all->state.path = path;
    if (!path)
        return;
    jobs_state_make_folder(all);
    if (first)
        all->state.refused = !jobs_state_load(t, all);
    else if (lstat(path, &st) == 0)
        all->state.refused =
            !put_aside(t, path, "this file existed before the configuration named it");
}

void jobs_state_forget(struct jobs *all) {
    free(all->state.path);
    free(all->state.written);
    memset(&all->state, 0, sizeof all->state);
}

int tor_state_give(struct tor *t, uid_t user, gid_t group, struct sk_error *err) {
    const struct jobs *all = tor_jobs(t);
    char folder[PATH_MAX];
    if (!all->state.path || !all->state.made_folder)
        return 0;
    jobs_state_folder_of(all->state.path, folder);
    return lchown(folder, user, group)
               ? sk_fail(err, "cannot give %.300s to its user: %s", folder, strerror(errno))
               : 0;
}

int tor_state_check(struct tor *t, struct sk_error *err) {
    const struct jobs *all = tor_jobs(t);
    char folder[PATH_MAX];
    if (!all->state.path)
        return 0;
    jobs_state_folder_of(all->state.path, folder);
    return access(folder, W_OK | X_OK)
               ? sk_fail(err, "tor.state: the switch cannot write to %.300s: %s", folder,
                         strerror(errno))
               : 0;
}
