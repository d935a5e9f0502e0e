// SPDX-License-Identifier: Apache-2.0
//
// core.p4: what the P4_16 language itself expects every program to have (specification,
// appendix "P4 core library").
#ifndef _CORE_P4_
#define _CORE_P4_

error {
    NoError,
    PacketTooShort,        // extract, lookahead or advance past the end of the packet
    NoMatch,               // a select without a matching case
    StackOutOfBounds,      // next, last or an index outside of a header stack
    HeaderTooShort,        // more bits asked for than the varbit field holds
    ParserTimeout,         // the parser ran for too long
    ParserInvalidArgument  // a parser operation got a value the target does not support
}

// The packet as a parser sees it: a cursor moving over its bits.
extern packet_in {
    // Reads a fixed-size header at the cursor, makes it valid and moves the cursor past it.
    void extract<T>(out T hdr);
    // Reads a header whose one varbit field takes the given number of bits.
    void extract<T>(out T variableSizeHeader, in bit<32> variableFieldSizeInBits);
    // Reads a value of type T without moving the cursor.
    T lookahead<T>();
    // Moves the cursor.
    void advance(in bit<32> sizeInBits);
    // Bytes in the packet, where the target knows them.
    bit<32> length();
}

// The packet as a deparser builds it.
extern packet_out {
    // Appends a header if it is valid; of a stack or a struct, its valid headers in order.
    void emit<T>(in T hdr);
}

// In a parser: when 'check' is false, sets the parser error and goes to 'reject'.
extern void verify(in bool check, in error toSignal);

@noWarn("unused")
action NoAction() {}

match_kind {
    exact,
    ternary,
    lpm
}

// Stops the compilation with 'message' unless 'check' is true; its value is 'check'.
extern bool static_assert(bool check, string message);
extern bool static_assert(bool check);

#endif
