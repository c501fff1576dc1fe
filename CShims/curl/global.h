#ifndef PENSTOCK_CSHIMS_CURL_GLOBAL_H
#define PENSTOCK_CSHIMS_CURL_GLOBAL_H

#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x075500
#error "Penstock needs libcurl 7.85 or later (libcurl4-openssl-dev)"
#endif

#endif
