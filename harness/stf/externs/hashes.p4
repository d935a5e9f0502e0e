/* SPDX-License-Identifier: Apache-2.0
 *
 * hashes: every algorithm over "123456789", whose CRCs the catalogue of CRCs publishes.
 */
#define OWN_OP
header op_h {
    bit<8>  op;
    bit<72> text;
    bit<16> x;
    bit<16> y;
    bit<32> p;
    bit<32> q;
    bit<64> r;
}
#include "frame.p4i"

INGRESS {
    Hash<bit<8>>(HashAlgorithm_t.CRC8) crc8;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) crc16;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) crc32;
    Hash<bit<64>>(HashAlgorithm_t.CRC64) crc64;
    CRCPolynomial<bit<16>>(0x1021, false, false, false, 0xffff, 0x0) ccitt_false_poly;
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, ccitt_false_poly) ccitt_false;
    CRCPolynomial<bit<16>>(0x1020, false, false, false, 0x0, 0x0) xmodem_poly; // even: 0x1021
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, xmodem_poly) xmodem;
    CRCPolynomial<bit<16>>(0x8005, true, false, false, 0xffff, 0x0) modbus_poly;
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, modbus_poly) modbus;
    CRCPolynomial<bit<32>>(0x1edc6f41, true, false, false, 0xffffffff, 0xffffffff) crc32c_poly;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, crc32c_poly) crc32c;
    CRCPolynomial<bit<32>>(0x4c11db7, false, false, false, 0xffffffff, 0xffffffff) bzip2_poly;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, bzip2_poly) bzip2;
    CRCPolynomial<bit<32>>(0x4c11db7, false, false, false, 0xffffffff, 0x0) mpeg2_poly;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, mpeg2_poly) mpeg2;
    CRCPolynomial<bit<64>>(0x42f0e1eba9ea3693, true, false, false, 0xffffffffffffffff, 0xffffffffffffffff) xz_poly;
    Hash<bit<64>>(HashAlgorithm_t.CUSTOM, xz_poly) xz;
    CRCPolynomial<bit<5>>(0x5, true, false, false, 0x1f, 0x1f) usb_poly;
    Hash<bit<5>>(HashAlgorithm_t.CUSTOM, usb_poly) usb;
    CRCPolynomial<bit<7>>(0x9, false, false, false, 0x0, 0x0) mmc_poly;
    Hash<bit<7>>(HashAlgorithm_t.CUSTOM, mmc_poly) mmc;
    CRCPolynomial<bit<24>>(0x864cfb, false, false, false, 0xb704ce, 0x0) openpgp_poly;
    Hash<bit<24>>(HashAlgorithm_t.CUSTOM, openpgp_poly) openpgp;
    Hash<bit<10>>(HashAlgorithm_t.CRC32) narrow;
    Hash<bit<52>>(HashAlgorithm_t.CRC16) wide;
    CRCPolynomial<bit<16>>(0x1021, false, false, true, 0xffff, 0x0) repeated_poly;
    Hash<bit<40>>(HashAlgorithm_t.CUSTOM, repeated_poly) repeated;
    CRCPolynomial<bit<16>>(0x1021, false, false, false, 0xffff, 0x0) padded_poly;
    Hash<bit<40>>(HashAlgorithm_t.CUSTOM, padded_poly) padded;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) identity;
    Hash<bit<16>>(HashAlgorithm_t.XOR8) xor8;
    Hash<bit<16>>(HashAlgorithm_t.XOR16) xor16;
    Hash<bit<32>>(HashAlgorithm_t.XOR32) xor32;
    Hash<bit<16>>(HashAlgorithm_t.XOR8) odd8;
    Hash<bit<16>>(HashAlgorithm_t.XOR16) odd16;
    Hash<bit<32>>(HashAlgorithm_t.XOR32) odd32;
    Hash<bit<16>>(HashAlgorithm_t.XOR16) few16;
    Hash<bit<5>>(HashAlgorithm_t.XOR8) cut8;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) odd;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) constants;
    @symmetric("hdr.op.x", "hdr.op.y")
    @symmetric("hdr.op.q", "hdr.op.p")
    Hash<bit<32>>(HashAlgorithm_t.CRC32) symmetric;

    action do_crc8() { hdr.op.r = (bit<64>)crc8.get({hdr.op.text}); }
    action do_crc16() { hdr.op.r = (bit<64>)crc16.get({hdr.op.text}); }
    action do_crc32() { hdr.op.r = (bit<64>)crc32.get({hdr.op.text}); }
    action do_crc64() { hdr.op.r = (bit<64>)crc64.get({hdr.op.text}); }
    action do_ccitt_false() { hdr.op.r = (bit<64>)ccitt_false.get({hdr.op.text}); }
    action do_xmodem() { hdr.op.r = (bit<64>)xmodem.get({hdr.op.text}); }
    action do_modbus() { hdr.op.r = (bit<64>)modbus.get({hdr.op.text}); }
    action do_crc32c() { hdr.op.r = (bit<64>)crc32c.get({hdr.op.text}); }
    action do_bzip2() { hdr.op.r = (bit<64>)bzip2.get({hdr.op.text}); }
    action do_mpeg2() { hdr.op.r = (bit<64>)mpeg2.get({hdr.op.text}); }
    action do_xz() { hdr.op.r = (bit<64>)xz.get({hdr.op.text}); }
    action do_usb() { hdr.op.r = (bit<64>)usb.get({hdr.op.text}); }
    action do_mmc() { hdr.op.r = (bit<64>)mmc.get({hdr.op.text}); }
    action do_openpgp() { hdr.op.r = (bit<64>)openpgp.get({hdr.op.text}); }
    action do_narrow() { hdr.op.r = (bit<64>)narrow.get({hdr.op.text}); }
    action do_wide() { hdr.op.r = (bit<64>)wide.get({hdr.op.text}); }
    action do_repeated() { hdr.op.r = (bit<64>)repeated.get({hdr.op.text}); }
    action do_padded() { hdr.op.r = (bit<64>)padded.get({hdr.op.text}); }
    action do_identity() { hdr.op.r = (bit<64>)identity.get({hdr.op.text}); }
    action do_xor8() { hdr.op.r = (bit<64>)xor8.get({hdr.op.text}); }
    action do_xor16() { hdr.op.r = (bit<64>)xor16.get({hdr.op.text}); }
    action do_xor32() { hdr.op.r = (bit<64>)xor32.get({hdr.op.text}); }
    action do_odd8() { hdr.op.r = (bit<64>)odd8.get({hdr.op.text[2:0], hdr.op.text[71:64]}); }
    action do_odd16() { hdr.op.r = (bit<64>)odd16.get({hdr.op.text[2:0], hdr.op.text[71:32]}); }
    action do_odd32() { hdr.op.r = (bit<64>)odd32.get({hdr.op.text[6:0], hdr.op.text}); }
    action do_few16() { hdr.op.r = (bit<64>)few16.get({hdr.op.text[3:0]}); }
    action do_cut8() { hdr.op.r = (bit<64>)cut8.get({1w1, hdr.op.text, 4w0b1010}); }
    action do_odd() { hdr.op.r = (bit<64>)odd.get({hdr.op.text[2:0], hdr.op.text[71:64]}); }
    action do_constants() { hdr.op.r = (bit<64>)constants.get({16w0, hdr.op.text[71:16], 8w0xff}); }
    action do_symmetric() { hdr.op.r = (bit<64>)symmetric.get({hdr.op.x, hdr.op.p, hdr.op.text[71:64], hdr.op.y, hdr.op.q}); }

    table ops {
        key = { hdr.op.op : exact; }
        actions = {
            do_crc8;
            do_crc16;
            do_crc32;
            do_crc64;
            do_ccitt_false;
            do_xmodem;
            do_modbus;
            do_crc32c;
            do_bzip2;
            do_mpeg2;
            do_xz;
            do_usb;
            do_mmc;
            do_openpgp;
            do_narrow;
            do_wide;
            do_repeated;
            do_padded;
            do_identity;
            do_xor8;
            do_xor16;
            do_xor32;
            do_odd;
            do_constants;
            do_symmetric;
            do_odd8;
            do_odd16;
            do_odd32;
            do_few16;
            do_cut8;
        }
        const entries = {
            0 : do_crc8();
            1 : do_crc16();
            2 : do_crc32();
            3 : do_crc64();
            4 : do_ccitt_false();
            5 : do_xmodem();
            6 : do_modbus();
            7 : do_crc32c();
            8 : do_bzip2();
            9 : do_mpeg2();
            10 : do_xz();
            11 : do_usb();
            12 : do_mmc();
            13 : do_openpgp();
            14 : do_narrow();
            15 : do_wide();
            16 : do_repeated();
            17 : do_padded();
            18 : do_identity();
            19 : do_xor8();
            20 : do_xor16();
            21 : do_xor32();
            22 : do_odd();
            23 : do_constants();
            24 : do_symmetric();
            25 : do_odd8();
            26 : do_odd16();
            27 : do_odd32();
            28 : do_few16();
            29 : do_cut8();
        }
        size = 64;
    }

    apply {
        ops.apply();
        ig_tm_md.ucast_egress_port = 1;
        ig_tm_md.bypass_egress = 1;
    }
}

MAIN
