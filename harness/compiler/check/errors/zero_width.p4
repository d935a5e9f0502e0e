// SPDX-License-Identifier: Apache-2.0
const int zero = 0s0;
const bit<8> wide = 0w0;
