// Keywords that may be names, types hidden by values, and the other way round.
header key_t { bit<8> apply; bit<8> state; bit<8> type; bit<8> list; bit<8> priority; }
struct S { key_t actions; bit<8> entries; bit<8> T; }
typedef bit<8> T;
control C(inout S key, in T T) {
    action apply(bit<8> state) { key.entries = state; key.actions.apply = T; }
    table actions {
        key = { key.actions.list: exact; }
        actions = { apply; }
        priority = 4;
        state = 5;
    }
    apply {
        bit<8> type = key.T;
        type = T;
        { bit<8> C = 1; type = C < T ? C : T; }
        .T entries;
        entries = (T) + 1;
        key.actions.type = (.T) + 1;
        actions.apply();
        key.T = key.T < T ? key.T : 2;
    }
}
C() main;
