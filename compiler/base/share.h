// SPDX-License-Identifier: Apache-2.0
//
// share: where Silken's own files are: p4/ (programs, and the architectures' declarations in
// p4/include), and the headers in stages/ and pipeline/ that compiled programs include.
//
// They are in the folder that the environment variable SILKEN_ROOT names; else in ../share/silken
// as seen from the program that runs, so that an installed Silken works wherever its tree is moved
// to; else where they were when it was built.
//
// Concurrency: any thread may call anything, while nobody changes the environment.
#ifndef SILKEN_COMPILER_BASE_SHARE_H
#define SILKEN_COMPILER_BASE_SHARE_H

// The path of one of them, as "p4/l2/l2.p4"; of "" the folder's. The caller frees it. Whether it is
// there is not looked at. Ends the process when there is no memory.
char *silken_share_path(const char *file);

#endif
