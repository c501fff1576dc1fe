#ifndef PENSTOCK_CSHIMS_BROTLI_DECODE_H
#define PENSTOCK_CSHIMS_BROTLI_DECODE_H

#include <brotli/decode.h>

#endif
