// Things in places where they cannot be.
bit<8> global = 1;
if (true) { }
extern X { Y(); void X2; X(); }
parser none() { }
parser p(inout bit<8> b) {
    state start { switch (b) { } return; for (bit<8> i in 1 .. 2) { } { exit; } transition accept; }
    bit<8> late;
    action a() { }
}
control c(inout bit<8> b) {
    state start { }
    action a() { action b() { } }
    table t { key = { } key = { } actions = { } actions = { } size = 1; default_action = a;
              default_action = a; default_action = 3; entries = { } entries = { } }
    apply { b; b + 1; 5 = b; f() = 1; b == 3; table u { } b = 1; }
    bit<8> after;
}
control no_apply() { }
error { A, }
const bit<8> default = 1;
@ const bit<8> x = 1;
@open(1 const bit<8> x = 1;
