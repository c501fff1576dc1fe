#ifndef EASY_H
#define EASY_H

#include <curl/curl.h>

#include "options.h"

/* A handle with what all modes need (URL, version, buffer, trust), body bytes going to `write`; or NULL. */
CURL *easy_open(const struct options *options, curl_write_callback write, void *context);

/* Whether the transfer ended well with status 200; tells on standard error if not. */
int easy_succeeded(CURL *easy, CURLcode result);

#endif
