/* SPDX-License-Identifier: Apache-2.0
 *
 * silken/station.h: hosts of a protocol of one's own, for `silken sim` and `silken lab`.
 *
 * A host is a state machine without sockets and clocks: it is given frames and the time, and is
 * asked for frames and for the time at which it wants to be woken. So it runs in virtual time,
 * where every fault can be tried and every run repeated, and in real time, unchanged.
 *
 *     static const struct silken_stations mine = {
 *         .version = SILKEN_STATION_VERSION, .open = my_open, .deliver = my_deliver, ...};
 *     const struct silken_stations *silken_stations(void) { return &mine; }
 *
 *     cc -O2 -shared -fPIC -I hosts/include -o mine.so mine.c
 *
 * and in a scenario (docs/own-aggregation.md):
 *
 *     "jobs": [{"protocol": "own", "library": "mine.so", "hosts": ["h0", "h1"]}]
 *
 * A frame is a whole Ethernet frame without its checksum, at most SILKEN_STATION_FRAME bytes.
 * Times are nanoseconds; in a scenario they begin at 0. All of a run's calls come from one thread;
 * stations of several runs may live in several processes, so keep nothing in static variables, and
 * let everything random come from 'seed': then a run repeats.
 *
 * The header is C17 and C++.
 */
#ifndef SILKEN_STATION_H
#define SILKEN_STATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SILKEN_STATION_VERSION 1
#define SILKEN_STATION_FRAME   1514u
#define SILKEN_STATION_NEVER   UINT64_MAX

struct silken_station_address {
    uint8_t mac[6];
    uint32_t ip; /* in host order */
};

/* What a station knows when it begins. Pointers are valid during open() only. */
struct silken_station_info {
    uint64_t seed;                                /* the run's, the same for all stations */
    uint32_t number, stations;                    /* this one is number 'number' of the job's */
    uint32_t incarnation;                         /* how often its host has crashed before */
    const struct silken_station_address *address; /* of all stations of the job, by number */
    struct silken_station_address at_switch;      /* the switch that it hangs on */
    const char *options; /* the scenario's "options", JSON text; "{}" without */
};

enum silken_station_state {
    SILKEN_STATION_BUSY,
    SILKEN_STATION_DONE,   /* all is as it must be; goes on to answer others */
    SILKEN_STATION_FAILED, /* it gave up, as a protocol may */
    SILKEN_STATION_WRONG,  /* what must never be: the run ends and names it */
};

struct silken_stations {
    uint32_t version; /* SILKEN_STATION_VERSION of the header that it was compiled with */
    /* A new station; null with a sentence in 'error'. */
    void *(*open)(const struct silken_station_info *info, char *error, size_t error_size);
    /* Whether a frame that came to the host is for it. In a lab others are the kernel's. */
    bool (*wants)(const void *station, const uint8_t *frame, uint32_t length);
    /* A frame has come. It may be damaged, repeated, late or anybody's. */
    void (*deliver)(void *station, const uint8_t *frame, uint32_t length, uint64_t now);
    /* Writes the next frame to send into 'frame' and returns its length; 0: nothing to send now. */
    size_t (*next)(void *station, uint8_t *frame, size_t size, uint64_t now);
    /* When expire() is to be called at the latest; SILKEN_STATION_NEVER: not by itself. */
    uint64_t (*deadline)(const void *station);
    void (*expire)(void *station, uint64_t now);
    /* How it is. For FAILED and WRONG a sentence in 'why'. */
    enum silken_station_state (*state)(const void *station, char *why, size_t why_size);
    /* Tells counts for the run's result, by name: tell(to, "repeated", 3). May be null. */
    void (*counts)(const void *station, void (*tell)(void *to, const char *name, uint64_t value),
                   void *to);
    void (*close)(void *station);
};

/* The one symbol of the shared object. */
const struct silken_stations *silken_stations(void);

#ifdef __cplusplus
}
#endif

#endif
