// SPDX-License-Identifier: Apache-2.0
//
// place: the folder of a lab, by which it is found: `lab.json` says what it is, NAME.json, .log and
// .sock are the switches', carrier.log and result.json the jobs'.
//
//     json_t *lab = place_find(name, &err);     // name null: the one that runs
//     if (place_lives(lab)) ...
//
// The folder is /run/silken-lab/NAME for root, and below XDG_RUNTIME_DIR or /tmp for others, who
// alone may read it.
#ifndef SILKEN_CLI_LAB_PLACE_H
#define SILKEN_CLI_LAB_PLACE_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

#define PLACE_PATH 160

// A lab is called after its scenario's file when nobody says otherwise. False: that is no name.
bool place_name(const char *file, char name[64]);
bool place_is_name(const char *name);

// Makes an empty folder; a dead lab's of that name goes. 'lock' is a descriptor: as long as a
// process holds it, nobody else makes that lab. -1: one of that name runs, or it cannot be made.
int place_make(const char *name, char folder[PLACE_PATH], int *lock, struct sk_error *err);
void place_remove(const char *folder);

// Replaces the file at once.
int place_write(const char *folder, const char *file, const json_t *what, struct sk_error *err);

// What lab.json says, with "folder" added: a new reference, or null with a sentence. Of a lab that
// is not there any more, too, when it is named.
json_t *place_find(const char *name, struct sk_error *err);
bool place_lives(const json_t *lab);
// The process that is the lab, as this one sees it.
pid_t place_pid(const json_t *lab);
int place_end(const json_t *lab); // asks it to end; -1: it is not there
// A JSON file of the folder, or null.
json_t *place_read(const json_t *lab, const char *file);
const char *place_folder(const json_t *lab);

// When a process began, in the kernel's ticks; 0: it is not there.
unsigned long long place_began(pid_t pid);
// This process, as /proc shows it.
pid_t place_self(void);

#endif
