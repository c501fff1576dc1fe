#ifndef PENSTOCK_CSHIMS_CURL_SHARE_H
#define PENSTOCK_CSHIMS_CURL_SHARE_H

#include "global.h"

/* curl_share_setopt is variadic: what is shared, and with whom. */

static inline CURLSHcode cshims_share_add(CURLSH *share, curl_lock_data data) {
  return curl_share_setopt(share, CURLSHOPT_SHARE, data);
}

#endif
