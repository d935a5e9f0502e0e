/* SPDX-License-Identifier: Apache-2.0
 *
 * halves_lanes.p4: sums of 16-bit floats, as fixed point numbers of 32 bits. hosts/switchml/halves.h says what is computed
 * and what each table holds; the control plane fills `coarse`, `fine` and `rounded` from there. A lane does that, bit for bit.
 *
 *     half -> coarse + fine -> cell (adds, saturates) -> window, rounded -> half
 *
 * A table from all halves to numbers of 32 bits would take 16 RAM blocks, and one from numbers to halves cannot be. But the
 * upper and the lower five bits of a fraction can be looked up apart and added, which is exact; and of a sum only 14 bits
 * from its first digit on matter, which a shift brings to the same place.
 */
#ifndef SWITCHML_HALVES_LANES_P4
#define SWITCHML_HALVES_LANES_P4

#include "headers.p4"

// What a half is worth, in units of 2^-24, the least half.
control Number(in half_t half, in half_t turned, out value_t value) {
    action set_coarse(value_t number) {
        value = number;
    }

    // Sign, exponent and the upper half of the fraction.
    table coarse {
        key = {
            half[15:5] : exact @name("upper");
        }
        actions = {
            set_coarse;
        }
        default_action = set_coarse(0);
        size = 2048;
    }

    action add_fine(value_t number) {
        value = value + number;
    }

    // The lower half of the fraction, sign and exponent.
    table fine {
        key = {
            turned[10:0] : exact @name("lower");
        }
        actions = {
            add_fine;
        }
        default_action = add_fine(0);
        size = 2048;
    }

    apply {
        coarse.apply();
        fine.apply();
    }
}

control Lane(inout value_t value, in ingress_metadata_t md) {
    Register<value_t, cell_t>(CELLS) cells;

    RegisterAction<value_t, cell_t, value_t>(cells) write_cell = {
        void apply(inout value_t cell, out value_t sum) {
            cell = value;
            sum = cell;
        }
    };

    // Saturates, so that what is out of range stays so, whatever is added later.
    RegisterAction<value_t, cell_t, value_t>(cells) add_to_cell = {
        void apply(inout value_t cell, out value_t sum) {
            cell = (value_t)((int<32>)cell |+| (int<32>)value);
            sum = cell;
        }
    };

    RegisterAction<value_t, cell_t, value_t>(cells) read_cell = {
        void apply(inout value_t cell, out value_t sum) {
            sum = cell;
        }
    };

    action overwrite() {
        value = write_cell.execute(md.cell);
    }

    action add() {
        value = add_to_cell.execute(md.cell);
    }

    action read() {
        value = read_cell.execute(md.cell);
    }

    table lane {
        key = {
            md.op      : ternary;
            md.missing : ternary;
        }
        actions = {
            overwrite;
            add;
            read;
            NoAction;
        }
        const entries = {
            (op_t.CONSUME, 0)  : overwrite();
            (op_t.CONSUME, _)  : add();
            (op_t.DUPLICATE, _): read();
            (op_t.READ_LOW, _) : read();
        }
        const default_action = NoAction;
        size = 4;
    }

    apply {
        lane.apply();
    }
}

// A sum as a half.
control Half(inout value_t value, out half_t result, in ingress_metadata_t md) {
    action shift_0() {
        result = 0;
    }

    action shift_2() {
        value = (value_t)((int<32>)value >> 2);
        result = 2 << 10;
    }

    action shift_4() {
        value = (value_t)((int<32>)value >> 4);
        result = 4 << 10;
    }

    action shift_6() {
        value = (value_t)((int<32>)value >> 6);
        result = 6 << 10;
    }

    action shift_8() {
        value = (value_t)((int<32>)value >> 8);
        result = 8 << 10;
    }

    action shift_10() {
        value = (value_t)((int<32>)value >> 10);
        result = 10 << 10;
    }

    action shift_12() {
        value = (value_t)((int<32>)value >> 12);
        result = 12 << 10;
    }

    action shift_14() {
        value = (value_t)((int<32>)value >> 14);
        result = 14 << 10;
    }

    action shift_16() {
        value = (value_t)((int<32>)value >> 16);
        result = 16 << 10;
    }

    action shift_18() {
        value = (value_t)((int<32>)value >> 18);
        result = 18 << 10;
    }

    action unwanted() {
        result = 0;
    }

    action not_finite() {
        value = 0;
        result = 0x7e00;
    }

    // Shifts until 14 bits are left, sign included, and notes by how much in the exponent. The first entry that fits has
    // the smallest shift. A magnitude of 2^30 is no sum of numbers in range: somebody had one that is not, or a NaN.
    // What nobody gets is left as it is, without a condition that the chip would have to wait for.
    table window {
        key = {
            md.wanted : ternary;
            value     : ternary;
        }
        actions = {
            shift_0;
            shift_2;
            shift_4;
            shift_6;
            shift_8;
            shift_10;
            shift_12;
            shift_14;
            shift_16;
            shift_18;
            not_finite;
            unwanted;
        }
        const entries = {
            (false, _)                      : unwanted();
            (_, 0 &&& 0xffffe000)         : shift_0();
            (_, 0xffffe000 &&& 0xffffe000): shift_0();
            (_, 0 &&& 0xffff8000)         : shift_2();
            (_, 0xffff8000 &&& 0xffff8000): shift_2();
            (_, 0 &&& 0xfffe0000)         : shift_4();
            (_, 0xfffe0000 &&& 0xfffe0000): shift_4();
            (_, 0 &&& 0xfff80000)         : shift_6();
            (_, 0xfff80000 &&& 0xfff80000): shift_6();
            (_, 0 &&& 0xffe00000)         : shift_8();
            (_, 0xffe00000 &&& 0xffe00000): shift_8();
            (_, 0 &&& 0xff800000)         : shift_10();
            (_, 0xff800000 &&& 0xff800000): shift_10();
            (_, 0 &&& 0xfe000000)         : shift_12();
            (_, 0xfe000000 &&& 0xfe000000): shift_12();
            (_, 0 &&& 0xf8000000)         : shift_14();
            (_, 0xf8000000 &&& 0xf8000000): shift_14();
            (_, 0 &&& 0xe0000000)         : shift_16();
            (_, 0xe0000000 &&& 0xe0000000): shift_16();
            (_, 0 &&& 0xc0000000)         : shift_18();
            (_, 0xc0000000 &&& 0xc0000000): shift_18();
        }
        const default_action = not_finite;
        size = 21;
    }

    action add_rounded(half_t number) {
        result = result + number;
    }

    // The half nearest to these 14 bits, in units of 2^-24; the shift is in the result's exponent already.
    table rounded {
        key = {
            value[13:0] : exact @name("window");
        }
        actions = {
            add_rounded;
        }
        default_action = add_rounded(0);
        size = 16384;
    }

    apply {
        window.apply();
        rounded.apply();
    }
}

control Lanes(inout headers_t hdr, in ingress_metadata_t md) {
    // The halves, rotated, so that the bits that look up `fine` are next to each other: a key is a slice.
    half_t turned00;
    half_t turned01;
    half_t turned02;
    half_t turned03;
    half_t turned04;
    half_t turned05;
    half_t turned06;
    half_t turned07;
    half_t turned08;
    half_t turned09;
    half_t turned10;
    half_t turned11;
    half_t turned12;
    half_t turned13;
    half_t turned14;
    half_t turned15;

    // First this packet's, then the sums.
    value_t value00;
    value_t value01;
    value_t value02;
    value_t value03;
    value_t value04;
    value_t value05;
    value_t value06;
    value_t value07;
    value_t value08;
    value_t value09;
    value_t value10;
    value_t value11;
    value_t value12;
    value_t value13;
    value_t value14;
    value_t value15;

    Number() number00;
    Number() number01;
    Number() number02;
    Number() number03;
    Number() number04;
    Number() number05;
    Number() number06;
    Number() number07;
    Number() number08;
    Number() number09;
    Number() number10;
    Number() number11;
    Number() number12;
    Number() number13;
    Number() number14;
    Number() number15;
    Lane() lane00;
    Lane() lane01;
    Lane() lane02;
    Lane() lane03;
    Lane() lane04;
    Lane() lane05;
    Lane() lane06;
    Lane() lane07;
    Lane() lane08;
    Lane() lane09;
    Lane() lane10;
    Lane() lane11;
    Lane() lane12;
    Lane() lane13;
    Lane() lane14;
    Lane() lane15;
    Half() half00;
    Half() half01;
    Half() half02;
    Half() half03;
    Half() half04;
    Half() half05;
    Half() half06;
    Half() half07;
    Half() half08;
    Half() half09;
    Half() half10;
    Half() half11;
    Half() half12;
    Half() half13;
    Half() half14;
    Half() half15;

    action turn() {
        turned00 = hdr.halves.v00[9:0] ++ hdr.halves.v00[15:10];
        turned01 = hdr.halves.v01[9:0] ++ hdr.halves.v01[15:10];
        turned02 = hdr.halves.v02[9:0] ++ hdr.halves.v02[15:10];
        turned03 = hdr.halves.v03[9:0] ++ hdr.halves.v03[15:10];
        turned04 = hdr.halves.v04[9:0] ++ hdr.halves.v04[15:10];
        turned05 = hdr.halves.v05[9:0] ++ hdr.halves.v05[15:10];
        turned06 = hdr.halves.v06[9:0] ++ hdr.halves.v06[15:10];
        turned07 = hdr.halves.v07[9:0] ++ hdr.halves.v07[15:10];
        turned08 = hdr.halves.v08[9:0] ++ hdr.halves.v08[15:10];
        turned09 = hdr.halves.v09[9:0] ++ hdr.halves.v09[15:10];
        turned10 = hdr.halves.v10[9:0] ++ hdr.halves.v10[15:10];
        turned11 = hdr.halves.v11[9:0] ++ hdr.halves.v11[15:10];
        turned12 = hdr.halves.v12[9:0] ++ hdr.halves.v12[15:10];
        turned13 = hdr.halves.v13[9:0] ++ hdr.halves.v13[15:10];
        turned14 = hdr.halves.v14[9:0] ++ hdr.halves.v14[15:10];
        turned15 = hdr.halves.v15[9:0] ++ hdr.halves.v15[15:10];
    }

    apply {
        if (md.contributes) {
            turn();
            number00.apply(hdr.halves.v00, turned00, value00);
            number01.apply(hdr.halves.v01, turned01, value01);
            number02.apply(hdr.halves.v02, turned02, value02);
            number03.apply(hdr.halves.v03, turned03, value03);
            number04.apply(hdr.halves.v04, turned04, value04);
            number05.apply(hdr.halves.v05, turned05, value05);
            number06.apply(hdr.halves.v06, turned06, value06);
            number07.apply(hdr.halves.v07, turned07, value07);
            number08.apply(hdr.halves.v08, turned08, value08);
            number09.apply(hdr.halves.v09, turned09, value09);
            number10.apply(hdr.halves.v10, turned10, value10);
            number11.apply(hdr.halves.v11, turned11, value11);
            number12.apply(hdr.halves.v12, turned12, value12);
            number13.apply(hdr.halves.v13, turned13, value13);
            number14.apply(hdr.halves.v14, turned14, value14);
            number15.apply(hdr.halves.v15, turned15, value15);
        }
        if (md.elements) {
            lane00.apply(value00, md);
            lane01.apply(value01, md);
            lane02.apply(value02, md);
            lane03.apply(value03, md);
            lane04.apply(value04, md);
            lane05.apply(value05, md);
            lane06.apply(value06, md);
            lane07.apply(value07, md);
            lane08.apply(value08, md);
            lane09.apply(value09, md);
            lane10.apply(value10, md);
            lane11.apply(value11, md);
            lane12.apply(value12, md);
            lane13.apply(value13, md);
            lane14.apply(value14, md);
            lane15.apply(value15, md);
            half00.apply(value00, hdr.results.v00, md);
            half01.apply(value01, hdr.results.v01, md);
            half02.apply(value02, hdr.results.v02, md);
            half03.apply(value03, hdr.results.v03, md);
            half04.apply(value04, hdr.results.v04, md);
            half05.apply(value05, hdr.results.v05, md);
            half06.apply(value06, hdr.results.v06, md);
            half07.apply(value07, hdr.results.v07, md);
            half08.apply(value08, hdr.results.v08, md);
            half09.apply(value09, hdr.results.v09, md);
            half10.apply(value10, hdr.results.v10, md);
            half11.apply(value11, hdr.results.v11, md);
            half12.apply(value12, hdr.results.v12, md);
            half13.apply(value13, hdr.results.v13, md);
            half14.apply(value14, hdr.results.v14, md);
            half15.apply(value15, hdr.results.v15, md);
        }
    }
}

#endif
