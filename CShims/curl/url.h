#ifndef PENSTOCK_CSHIMS_CURL_URL_H
#define PENSTOCK_CSHIMS_CURL_URL_H

#include "global.h"

/* curl_url's functions are not variadic; the flags are macros that Swift sees. */

#endif
