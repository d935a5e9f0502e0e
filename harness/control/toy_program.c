// SPDX-License-Identifier: Apache-2.0
// Helpers are linked per room: the engine's toy program serves the control plane's tests too.
#include "harness/pipeline/toy_program.c"
