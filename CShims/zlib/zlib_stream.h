#ifndef PENSTOCK_CSHIMS_ZLIB_STREAM_H
#define PENSTOCK_CSHIMS_ZLIB_STREAM_H

#include <zlib.h>

/* inflateInit2 is a macro that Swift can't see. */
static inline int cshims_inflate_init2(z_streamp stream, int window_bits) {
  return inflateInit2(stream, window_bits);
}

/* deflateInit2 likewise. */
static inline int cshims_deflate_init2(z_streamp stream, int level, int window_bits) {
  return deflateInit2(stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}

#endif
