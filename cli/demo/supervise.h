// SPDX-License-Identifier: Apache-2.0
//
// supervise: child processes that cannot be forgotten.
//
// A supervisor has a folder for its children's files and a list of children. Each child has its
// output in a log there, is a process group of its own (so that a Ctrl-C at the terminal
// reaches the parent alone, which then stops the children in order), and is killed by the kernel
// when the parent dies however that happens. supervise_end() stops what still runs and removes what
// nobody asked to keep.
//
// One supervisor at a time: signals are the process's. Concurrency: one thread.
#ifndef SILKEN_CLI_DEMO_SUPERVISE_H
#define SILKEN_CLI_DEMO_SUPERVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define SUPERVISE_MAX 48

struct child {
    char name[32];
    char *log; // path
    pid_t pid;
    bool running;
    bool stopped; // by supervise_stop: its end is no news
    int status;   // as from waitpid, once it does not run
};

struct supervisor {
    char folder[80]; // temporary: sockets, whose names have to be short; removed in the end
    char *logs;      // logs and configuration: the same, or the one that the user keeps
    size_t n;
    struct child child[SUPERVISE_MAX];
};

// Makes the temporary folder, and the one called 'keep' unless that is null, and takes over SIGINT,
// SIGTERM, SIGHUP and SIGPIPE. Returns 0, or -1 with a sentence in 'error'.
int supervise_begin(struct supervisor *s, const char *keep, char *error, size_t error_size);

// Stops all children, removes the temporary folder, gives the signals back.
void supervise_end(struct supervisor *s);

// True once the user wants it to end, or no one reads the output any more.
bool supervise_interrupted(void);

// Runs body(argument) in a child, whose exit status is what it returns. Null when the system has no
// process left, with a sentence in 'error'.
struct child *supervise_call(struct supervisor *s, const char *name, int (*body)(void *argument),
                             void *argument, char *error, size_t error_size);

// Runs this very program again, with 'argv' after its name (argv[0] is the command's first word,
// the last element null).
struct child *supervise_self(struct supervisor *s, const char *name, char *const argv[],
                             char *error, size_t error_size);

// Collects children that have ended. Returns one that ended badly (a status that is not 0, or a
// signal) without being stopped, or null.
struct child *supervise_reap(struct supervisor *s);

// True when the child has ended with status 0.
bool supervise_succeeded(const struct child *c);

// Asks the child to end, waits for some seconds, kills it.
void supervise_stop(struct child *c);

// "ended with status 1", "was killed by signal 11 (Segmentation fault)".
void supervise_how(const struct child *c, char *buf, size_t size);

// Copies the last lines of the child's log, each after 'indent'. Control characters become dots.
void supervise_tail(const struct child *c, unsigned lines, const char *indent, FILE *to);

// Copies the last line of the log that begins with 'words' (after spaces) to 'line', without the
// spaces. Returns whether there is one.
bool supervise_find(const struct child *c, const char *words, char *line, size_t size);

#endif
