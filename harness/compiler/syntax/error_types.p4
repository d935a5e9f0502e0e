// Types that are none.
struct s { unknown x; bit<8> y; }
header h { s }
bar global(in bit<8> x) { }
missing(1, 2) main;
control c(inout nothing n, in bit<8> v) {
    undeclared x;
    undeclared<bit<8>>(3) y;
    apply { foo z; v w; bit<8> ok = 1; ok = bit<8>(3); ok = s; }
}
typedef c2 t;
parser p(inout s S) { state start { S x; transition accept; } }
