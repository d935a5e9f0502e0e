// SPDX-License-Identifier: Apache-2.0
//
// base: what every room may use and none owns. The lowest room: it includes nothing of the tree.
//
//     error.c    the sentence that a failed call leaves
//     file.c     a whole file in memory
//     json.c     reading JSON against what it should look like, with the place of a mistake
//     address.c  MAC, IP and socket addresses as text
//     bytes.c    numbers in packets, the Internet checksum
//     memory.c   arrays that grow, copies of texts
//     clock.c    the one place that asks the operating system for the time
//     random.c   numbers that nobody can guess
#ifndef SILKEN_BASE_BASE_H
#define SILKEN_BASE_BASE_H

#include "base/address.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/random.h"

#endif
