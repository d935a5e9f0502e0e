// SPDX-License-Identifier: Apache-2.0
//
// tna.p4: the Tofino Native Architecture. Programs include this file; the pieces are
//
//     tofino1_specs.p4   widths and names that differ from chip to chip
//     tofino1_base.p4    intrinsic metadata and externs
//     tofino1_arch.p4    the programmable blocks and the packages
//
// __TARGET_TOFINO__ selects the chip; 1 when nothing else is said.
#ifndef _TOFINO1_NATIVE_ARCHITECTURE_
#define _TOFINO1_NATIVE_ARCHITECTURE_

#ifndef __TARGET_TOFINO__
#define __TARGET_TOFINO__ 1
#endif

#if __TARGET_TOFINO__ == 1
#include "tofino1_specs.p4"
#elif __TARGET_TOFINO__ == 2
#include "tofino2_specs.p4"
#else
#error "the Tofino native architecture exists for __TARGET_TOFINO__ 1 and 2"
#endif

#include "tofino1_arch.p4"

#endif
