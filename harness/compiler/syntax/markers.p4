# 1 "other.p4"
const bit<8> a = ;
# 40 "included.p4" 1 3
const bit<8> b = ;
#pragma once
# 2 "other.p4" 2
	const bit<8>	c = ;
#line 7
const bit<8> d = ;
#include "not preprocessed"
