#define _GNU_SOURCE
#include "urlsession_roots.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stddef.h>

static const char *trusted;

void urlsession_trust(const char *bundle) { trusted = bundle; }

/* The program's symbol wins over the library's, for FoundationNetworking too. */
__attribute__((visibility("default"))) CURL *curl_easy_init(void) {
  CURL *(*original)(void);
  *(void **)&original = dlsym(RTLD_NEXT, "curl_easy_init");
  CURL *easy = original ? original() : NULL;
  if (easy && trusted) {
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_CAINFO, trusted);
  }
  return easy;
}
