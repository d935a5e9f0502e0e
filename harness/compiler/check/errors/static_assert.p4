// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
const bit<8> width = 9;
const bool ok = static_assert(width > 8, "too narrow");
const bool bad = static_assert(width < 9, "the width must be below 9");
const bool worse = static_assert(width == 1);
