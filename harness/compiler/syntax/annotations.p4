@a @b() @c("text") @d(1, x + 2) @e(this is { not ] an expression ') @f(a, (b), c)
const bit<8> x = 1;
@g[] @h[1, "two", 3 + x] @i[k = 1, name = "v"] @size(8w4) @table @_
const bit<8> y = 1;
@pragma stage 3
@pragma pa_container_size "ingress" hdr.x 32 // kept as text
@pragma solo
struct S { @x @y("z") bit<8> a; }
@multi(one
  two)
action act(@in bit<8> p, @optional in bit<8> q) {}
