#ifndef PENSTOCK_CSHIMS_CURL_EASY_GETINFO_H
#define PENSTOCK_CSHIMS_CURL_EASY_GETINFO_H

#include "global.h"
/* As the module of libcrypto does: what both include must read alike. */
#ifndef OPENSSL_SUPPRESS_DEPRECATED
#define OPENSSL_SUPPRESS_DEPRECATED
#endif
#include <openssl/ssl.h>

/* curl_easy_getinfo is variadic: one typed wrapper for each value. */

static inline CURLcode cshims_get_appconnect_time(CURL *easy, curl_off_t *value) {
  return curl_easy_getinfo(easy, CURLINFO_APPCONNECT_TIME_T, value);
}

static inline CURLcode cshims_get_connect_time(CURL *easy, curl_off_t *value) {
  return curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, value);
}

static inline CURLcode cshims_get_namelookup_time(CURL *easy, curl_off_t *value) {
  return curl_easy_getinfo(easy, CURLINFO_NAMELOOKUP_TIME_T, value);
}

static inline CURLcode cshims_get_start_transfer_time(CURL *easy, curl_off_t *value) {
  return curl_easy_getinfo(easy, CURLINFO_STARTTRANSFER_TIME_T, value);
}

static inline CURLcode cshims_get_total_time(CURL *easy, curl_off_t *value) {
  return curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME_T, value);
}

static inline CURLcode cshims_get_num_connects(CURL *easy, long *value) {
  return curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, value);
}

static inline CURLcode cshims_get_http_connect_code(CURL *easy, long *value) {
  return curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, value);
}

static inline CURLcode cshims_get_cookie_list(CURL *easy, struct curl_slist * *value) {
  return curl_easy_getinfo(easy, CURLINFO_COOKIELIST, value);
}

static inline CURLcode cshims_get_private_data(CURL *easy, char * *value) {
  return curl_easy_getinfo(easy, CURLINFO_PRIVATE, value);
}

static inline CURLcode cshims_get_cert_info(CURL *easy, struct curl_certinfo **value) {
  return curl_easy_getinfo(easy, CURLINFO_CERTINFO, value);
}

static inline CURLcode cshims_get_tls_session(CURL *easy, struct curl_tlssessioninfo **value) {
  return curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, value);
}

/* The protocol that ALPN has chosen; the length is 0 when there is none. */
static inline void cshims_get_alpn(const void *session, const unsigned char **name, unsigned *length) {
  SSL_get0_alpn_selected((const SSL *)session, name, length);
}

#endif
