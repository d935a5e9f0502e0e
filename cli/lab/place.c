// SPDX-License-Identifier: Apache-2.0
#include "cli/lab/place.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// ---- names ----

bool place_is_name(const char *name) {
    size_t n = strlen(name);
    bool good = n > 0 && n < 48 && isalnum((unsigned char)name[0]);
    for (const char *c = name; *c; c++)
        good &= isalnum((unsigned char)*c) || strchr("-_.", *c);
    return good;
}

bool place_name(const char *file, char name[64]) {
    const char *slash = strrchr(file, '/');
    snprintf(name, 64, "%s", slash ? slash + 1 : file);
    char *dot = strstr(name, ".json");
    if (dot && dot[5] == 0)
        *dot = 0;
    return place_is_name(name);
}

static void place_root(char root[PLACE_PATH]) {
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    if (geteuid() == 0)
        snprintf(root, PLACE_PATH, "/run/silken-lab");
    else if (runtime && *runtime == '/' && strlen(runtime) < 60)
        snprintf(root, PLACE_PATH, "%s/silken-lab", runtime);
    else
        snprintf(root, PLACE_PATH, "/tmp/silken-lab-%u", (unsigned)geteuid());
}

static int place_folder_of(const char *name, char folder[PLACE_PATH]) {
    char root[PLACE_PATH];
    place_root(root);
    return snprintf(folder, PLACE_PATH, "%s/%s", root, name) < PLACE_PATH ? 0 : -1;
}

// ---- processes ----

pid_t place_self(void) {
    char text[32] = "";
    if (readlink("/proc/self", text, sizeof text - 1) < 0)
        return 0;
    return (pid_t)strtol(text, NULL, 10);
}

unsigned long long place_began(pid_t pid) {
    char path[64], line[1024] = "";
    unsigned long long began = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return 0;
    const size_t n = fread(line, 1, sizeof line - 1, f);
    fclose(f);
    line[n] = 0;
    // the name of the program may hold anything; fields are counted after it
    const char *at = strrchr(line, ')');
    char state = 0;
    if (at && sscanf(at,
                     ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                     "%*d %llu",
                     &state, &began) != 2)
        return 0;
    return state == 'Z' || state == 'X' ? 0 : began;
}

pid_t place_pid(const json_t *lab) {
    return (pid_t)json_integer_value(json_object_get(lab, "pid"));
}

bool place_lives(const json_t *lab) {
    const pid_t pid = place_pid(lab);
    const json_int_t began = json_integer_value(json_object_get(lab, "began"));
    return pid > 1 && began > 0 && place_began(pid) == (unsigned long long)began;
}

// ---- the folder ----

static json_t *place_load(const char *folder, const char *file) {
    char path[PLACE_PATH + 64];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return json_load_file(path, 0, NULL);
}

json_t *place_read(const json_t *lab, const char *file) {
    return place_load(place_folder(lab), file);
}

const char *place_folder(const json_t *lab) {
    return json_string_value(json_object_get(lab, "folder"));
}

void place_remove(const char *folder) {
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *e;
    while (d && (e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
    rmdir(folder);
}

// Nobody else may have made it: they could put files there.
static bool place_is_ours(const char *folder) {
    struct stat st;
    return lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           (st.st_mode & 077) == 0;
}

int place_make(const char *name, char folder[PLACE_PATH], int *lock, struct sk_error *err) {
    char root[PLACE_PATH], path[PLACE_PATH + 8];
    place_root(root);
    if (place_folder_of(name, folder) < 0)
        return sk_fail(err, "the folder of lab '%s' has too long a name", name);
    if (mkdir(root, 0700) < 0 && errno != EEXIST)
        return sk_fail(err, "cannot make %s: %s", root, strerror(errno));
    if (!place_is_ours(root))
        return sk_fail(err, "%s is not a folder that only this user can use", root);
    snprintf(path, sizeof path, "%s.lock", folder);
    *lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*lock < 0)
        return sk_fail(err, "cannot open %s: %s", path, strerror(errno));
    // one that was killed a moment ago may still be on its way out
    int held = -1;
    for (int i = 0; i < 20 && (held = flock(*lock, LOCK_EX | LOCK_NB)) < 0; i++)
        poll(NULL, 0, 50);
    if (held < 0)
        return sk_fail(err,
                       "lab '%s' is up already; 'silken lab down' ends it, --name gives "
                       "another one a name",
                       name);
    place_remove(folder);
    if (mkdir(folder, 0700) < 0)
        return sk_fail(err, "cannot make %s: %s", folder, strerror(errno));
    return 0;
}

int place_write(const char *folder, const char *file, const json_t *what, struct sk_error *err) {
    char path[PLACE_PATH + 64], beside[PLACE_PATH + 72];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    snprintf(beside, sizeof beside, "%s.new", path);
    if (json_dump_file(what, beside, JSON_INDENT(1)) < 0 || rename(beside, path) < 0)
        return sk_fail(err, "cannot write %s: %s", path, strerror(errno));
    return 0;
}

int place_end(const json_t *lab) {
    const pid_t pid = place_pid(lab);
    const int fd = pid > 1 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    // looked at after it is held: the number cannot be another one's any more
    const int status = fd >= 0 && place_lives(lab)
                           ? (int)syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0)
                           : -1;
    if (fd >= 0)
        close(fd);
    return status;
}

// ---- finding one ----

static json_t *place_open(const char *name) {
    char folder[PLACE_PATH];
    json_t *lab = place_folder_of(name, folder) == 0 && place_is_ours(folder)
                      ? place_load(folder, "lab.json")
                      : NULL;
    if (lab && json_object_set_new(lab, "folder", json_string(folder)) < 0) {
        json_decref(lab);
        return NULL;
    }
    return lab;
}

json_t *place_find(const char *name, struct sk_error *err) {
    char root[PLACE_PATH];
    json_t *found = NULL;
    struct dirent *e;
    place_root(root);
    if (access(root, F_OK) == 0 && !place_is_ours(root)) {
        sk_fail(err, "%s is not a folder that only this user can use", root);
        return NULL;
    }
    if (name) {
        found = place_is_name(name) ? place_open(name) : NULL;
        if (!found)
            sk_fail(err, "there is no lab '%s'", name);
        return found;
    }
    DIR *d = opendir(root);
    while (d && (e = readdir(d))) {
        json_t *lab = place_is_name(e->d_name) ? place_open(e->d_name) : NULL;
        if (!place_lives(lab)) {
            json_decref(lab);
        } else if (found) {
            sk_fail(err, "several labs are up; --lab NAME says which one");
            json_decref(lab);
            json_decref(found);
            closedir(d);
            return NULL;
        } else {
            found = lab;
        }
    }
    if (d)
        closedir(d);
    if (!found)
        sk_fail(err, "no lab is up; 'silken lab up SCENARIO.json' makes one");
    return found;
}
