// SPDX-License-Identifier: Apache-2.0
//
// stand_in: a switch that can misbehave, for tests of the demo.
//
// The demo starts its switch as "this very program, with the arguments run -c FILE". A test program
// that gives those arguments to stand_in_run() thereby becomes its own switch. It knows SwitchML's
// algorithm 3 in its plainest form, takes from the configuration nothing but the ports' sockets,
// and does what the environment variable STAND_IN says:
//
//      good    add up
//      fail    end at once, with a complaint
//      deaf    open the ports and listen to nobody
//      lie     add 1 to one element of one sum
//      early   answer before the last worker has sent
//      die     crash after some packets
//      murder  kill a worker after some packets
//      stop    send SIGINT to the demo after some packets
#ifndef SILKEN_HARNESS_CLI_DEMO_STAND_IN_H
#define SILKEN_HARNESS_CLI_DEMO_STAND_IN_H

#define STAND_IN_COMPLAINT "the stand-in has no mind to switch today"

// Does not return: ends with a status, or is killed.
_Noreturn void stand_in_run(const char *config);

#endif
