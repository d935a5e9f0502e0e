// A '}' that was forgotten is noticed at the next declaration.
header a_t {
    bit<8> x;
struct s_t { a_t a; }
control c(inout s_t s) {
    action act() { s.a.x = 1;
    table t {
        key = { s.a.x: exact;
        actions = { act; }
    }
    apply {
        if (s.a.x == 1) {
            s.a.x = 2;
    }
enum E { A, B
extern X { X();
control d(inout s_t s) { apply { } }
const bit<8> end = s;
}
const bit<8> k = ;
