# 1 "other.p4"
const bit<8> a = ;
# 40 "included.p4" 1 3
const bit<8> b = ;
#pragma once
#### a line of number signs
# a remark; "with an open string
  ##undef NOTHING
#
#defined is no directive
# 2 "other.p4" 2
	const bit<8>	c = ;
#line 7
const bit<8> d = ;
#include "not preprocessed"
