/* SPDX-License-Identifier: Apache-2.0
 *
 * halves.p4: SwitchML with 16-bit floats on the wire (section 4.6 of the paper), for a Tofino 1: half the bytes for the same
 * elements. The switch turns them into fixed point numbers by tables, adds those, and turns the sums back.
 */
#define HALVES
#include "switchml.p4"
