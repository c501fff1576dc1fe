#ifndef PENSTOCK_CSHIMS_ZSTD_DECODE_H
#define PENSTOCK_CSHIMS_ZSTD_DECODE_H

#include <zstd.h>

#endif
