#include "easy.h"

#include <stdio.h>

/* What Penstock sends beside Host and Accept: both sides ask the same, and libcurl's time for a field counts for
   both. */
static struct curl_slist *common_fields(void) {
  static struct curl_slist *fields;
  if (!fields) {
    fields = curl_slist_append(NULL, "User-Agent: penstock/0.1.0");
    fields = curl_slist_append(fields, "Accept-Encoding: gzip, deflate");
  }
  return fields;
}

CURL *easy_open(const struct options *options, curl_write_callback write, void *context) {
  CURL *easy = curl_easy_init();
  if (!easy) return NULL;
  curl_easy_setopt(easy, CURLOPT_URL, options->url);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, common_fields());
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, options->buffer);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                   (long)(options->http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, write);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, context);
  if (options->cacert) {
    /* Debian's default CAPATH switches libcurl's cache of the CA bundle off. */
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(easy, CURLOPT_CAINFO, options->cacert);
  }
  return easy;
}

int easy_succeeded(CURL *easy, CURLcode result) {
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  if (result == CURLE_OK && status == 200) return 1;
  fprintf(stderr, "bare-loop: %s, status %ld\n", curl_easy_strerror(result), status);
  return 0;
}
