// SPDX-License-Identifier: Apache-2.0
//
// libra_control: `silken libra control`, the controller of two switches with p4/libra.
#ifndef SILKEN_CLI_LIBRA_CONTROL_H
#define SILKEN_CLI_LIBRA_CONTROL_H

// argv[0] is "control"; an exit status.
int cmd_libra_control(int argc, char **argv);

#endif
