// Every kind of declaration of the top level.
error { NoError, PacketTooShort }
match_kind { exact, ternary, lpm, }
const bit<8> EIGHT = 8;
typedef bit<48> mac_addr_t;
type bit<9> PortId_t;
enum Color { RED, GREEN, BLUE, }
enum bit<2> Level { LOW = 0, HIGH = 2w3 }
header ethernet_h {
    mac_addr_t dst;
    mac_addr_t src;
    @length(16) bit<16> type;
    varbit<(8 * 4)> options;
}
header_union either { ethernet_h a; ethernet_h b; }
struct headers_t {
    ethernet_h[4] ethernet;
    tuple<bit<8>, bool> pair;
    list<bit<8>> many;
    bit<(EIGHT + 1)> computed;
    bit<EIGHT> named;
    bit one;
    int<16> s;
    bool b[2][3];
}
struct box<T, U> { T first; U second; }
typedef box<bit<8>, box<bit<4>, bool>> nested_t;
typedef struct inner_t { bit<8> x; } alias_t;
extern packet_in_t;
parser P<H>(packet_in_t pkt, out H hdr);
control C<H, M>(inout H hdr, in M meta, @optional bit<8> maybe);
package Switch<H, M>(P<H> p, C<H, M> c, bit<8> size = 4);
;
extern Register<T, I> {
    Register(bit<32> size, T initial);
    Register(bit<32> size);
    T read(in I index);
    void write(in I index, in T value);
    abstract void apply(inout T value, @optional out T result);
}
extern T max<T>(in T x, in T y);
@pure extern void log(string message);
bit<8> twice(in bit<8> x) {
    return x + x;
}
action nothing() {}
void generic<T>(in T x, out T y) { y = x; }
