// SPDX-License-Identifier: Apache-2.0
//
// demo: `silken demo`, a training job whose gradients are summed inside a software switch.
//
// One command that starts everything and cleans everything up:
//
//      parent          compiles the P4 program, starts the others, watches, reports
//      reference       trains the same model in one process, adding the shards' gradients itself;
//                      runs while the program is compiled
//      switch          `silken run` with the program and a packet port for each worker; with ATP
//                      one for each rack
//      server 0..m-1   ATP's parameter servers
//      worker 0..n-1   train on shards of each batch; the sum of their gradients comes back from
//                      the switch, packet by packet
//
// The workers also put their true gradients on a board in shared memory (board.h). No packet and no
// host stack is involved there, so each worker can hold what the switch returned against what was
// due (verify.h). The word `verified` at the end means that this held for every element of every
// step at every worker, and that all workers ended with the same weights, bit for bit.
//
// Files:
//
//     demo.c         the parent, from start to report
//     options.c      what the demo can be told
//     dataset.c      the images
//     model.c        the classifier and its gradient
//     train.c        stochastic gradient descent, cut where gradients are exchanged
//     worker_proc.c  a worker, and the reference
//     racks.c        switches and parameter servers, started and watched
//     fabric.c       racks and links; fabric_config.c: the configuration of a switch
//     shared.c       what all trainings do alike: waiting, and a switch's configuration
//     supervise.c    child processes that cannot be forgotten
//     board.c        memory that the processes share
//     verify.c       whether a sum is the right one
//     result.c       what the job came to
//     report.c       what the user sees
//     sparse.h       another demo, with files of its own: a sparse model by Libra
#ifndef SILKEN_CLI_DEMO_DEMO_H
#define SILKEN_CLI_DEMO_DEMO_H

// The command's arguments, with argv[0] the word "demo". Returns the exit status: 0 verified, 1
// something failed, 2 unusable options, 130 interrupted.
int cmd_demo(int argc, char **argv);

#endif
