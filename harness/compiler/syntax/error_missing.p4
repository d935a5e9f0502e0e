// Things that were forgotten; each is reported where it is missing, and nothing else is.
header h1 { bit<8> a bit<8> b; }
header h2 { bit<8> a; bit<8> b }
struct s { h1 x; h2 y }
const bit<8> k = 3
const bit<8> m 4;
typedef bit<8 t1;
typedef bit<8> ;
enum E { A B }
enum bit<8> F { A = 1, B }
action a(bit<8> p { }
action b() { bit<8> v = 1 v = 2; v = (1 + 2; v = ; }
control c(inout s hdr) {
    bit<8> q
    table t {
        key = { hdr.x.a exact; hdr.x.b: ; }
        actions = { a b; }
        size 64;
        default_action a();
        const entries = { (1, 2) a(); (1: a(); }
    }
    apply {
        if hdr.x.a == 1) { q = 1; } else { q = 2; }
        if (hdr.x.a == 1 { q = 1; }
        t.apply()
        switch (t.apply().action_run) { a { } b: { q = } default: { } }
        for (bit<8> i = 0; i < 4) { q = i; }
        return
    }
}
parser p(inout s hdr) {
    state start {
        hdr.x.a = 1
        transition select(hdr.x.a) { 1 accept; 2: ; default: reject }
    }
    state next { transition ; }
    state last { transition accept }
}
const bit<8> end = 1;
