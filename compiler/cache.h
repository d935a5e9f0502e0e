// SPDX-License-Identifier: Apache-2.0
//
// cache: from generated C to a loadable object, at most once per content.
//
// An object's name in the cache is the SHA-256 of all that decides what is in it: the C text, the
// headers it includes, the C compiler's version and flags, and this machine's processor. The folder
// must be the user's own and writable by nobody else, because what is in it will be run; so must an
// object that is found there. Objects are built in a temporary folder beside their place and
// renamed into it; a text of several units by as many C compilers side by side as there are
// processors.
#ifndef SILKEN_COMPILER_CACHE_H
#define SILKEN_COMPILER_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct cache_request {
    const char *text; // the generated C
    size_t length;
    const char *name;      // what the object is called, for people
    const char *output;    // path of the object, or null: in the cache
    const char *cache_dir; // null: the user's (compile.h says where)
    bool sanitize;
    bool scalar;       // without the C compiler's vectorisers
    const char *march; // for -march=; null: native
    bool checked;      // a checked build: compiled quickly rather than to be fast
    // Units that the text is compiled as, side by side: each with -DSK_PARTS= one of these. None:
    // it is compiled as a whole.
    const uint32_t *parts;
    size_t n_parts;
};

// Path of the object (malloc'ed), or null after a message was printed.
char *cache_object(const struct cache_request *r, FILE *messages);
// Ends the C compilers that run, and with them cache_object() on all threads, for good: it returns
// null without a message and leaves no file. False: none runs. For a signal's handler.
bool cache_stop(void);
// Removes what compilations of a process that was killed have left in the user's cache.
void cache_clean_after(pid_t pid);

#endif
