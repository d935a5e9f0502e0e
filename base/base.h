// SPDX-License-Identifier: Apache-2.0
//
// base: code that every room may use. The lowest room: it includes no other room.
//
//     error.c    the message of a failed call
//     file.c     a whole file in memory
//     json.c     reading JSON: expected members and types, with the place of each error
//     address.c  MAC, IP and socket addresses as text
//     socket.c   sockets that listen
//     bytes.c    numbers in packets, the Internet checksum
//     crc32.c    the CRC of Ethernet
//     memory.c   arrays that grow, copies of texts
//     clock.c    the one place that asks the operating system for the time
//     random.c   numbers that nobody can guess
#ifndef SILKEN_BASE_BASE_H
#define SILKEN_BASE_BASE_H

#include "base/address.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/crc32.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/socket.h"

#endif
