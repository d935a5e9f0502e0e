// SPDX-License-Identifier: Apache-2.0
enum color_t { red, green }
control C(inout bool b, in color_t c) {
    apply {
        b = c == color_t.gren;
        b = color_t.red == error.NoMtach;
    }
}
