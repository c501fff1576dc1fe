#ifndef PENSTOCK_CSHIMS_CURL_GLOBAL_H
#define PENSTOCK_CSHIMS_CURL_GLOBAL_H

#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x075500
#error "Penstock needs libcurl 7.85 or later (libcurl4-openssl-dev)"
#endif

/* CURLVERSION_NOW is a macro that Swift can't see. */
static inline curl_version_info_data *cshims_version_info(void) {
  return curl_version_info(CURLVERSION_NOW);
}

#endif
