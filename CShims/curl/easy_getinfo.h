#ifndef PENSTOCK_CSHIMS_CURL_EASY_GETINFO_H
#define PENSTOCK_CSHIMS_CURL_EASY_GETINFO_H

#include "global.h"

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

static inline CURLcode cshims_get_pretransfer_time(CURL *easy, curl_off_t *value) {
  return curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, value);
}

static inline CURLcode cshims_get_start_transfer_time(CURL *easy, curl_off_t *value) {
  return curl_easy_getinfo(easy, CURLINFO_STARTTRANSFER_TIME_T, value);
}

static inline CURLcode cshims_get_total_time(CURL *easy, curl_off_t *value) {
  return curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME_T, value);
}

static inline CURLcode cshims_get_size_download(CURL *easy, curl_off_t *value) {
  return curl_easy_getinfo(easy, CURLINFO_SIZE_DOWNLOAD_T, value);
}

static inline CURLcode cshims_get_size_upload(CURL *easy, curl_off_t *value) {
  return curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, value);
}

static inline CURLcode cshims_get_content_length_download(CURL *easy, curl_off_t *value) {
  return curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, value);
}

static inline CURLcode cshims_get_response_code(CURL *easy, long *value) {
  return curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, value);
}

static inline CURLcode cshims_get_http_version(CURL *easy, long *value) {
  return curl_easy_getinfo(easy, CURLINFO_HTTP_VERSION, value);
}

static inline CURLcode cshims_get_num_connects(CURL *easy, long *value) {
  return curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, value);
}

static inline CURLcode cshims_get_primary_port(CURL *easy, long *value) {
  return curl_easy_getinfo(easy, CURLINFO_PRIMARY_PORT, value);
}

static inline CURLcode cshims_get_local_port(CURL *easy, long *value) {
  return curl_easy_getinfo(easy, CURLINFO_LOCAL_PORT, value);
}

static inline CURLcode cshims_get_os_errno(CURL *easy, long *value) {
  return curl_easy_getinfo(easy, CURLINFO_OS_ERRNO, value);
}

static inline CURLcode cshims_get_proxy_ssl_verify_result(CURL *easy, long *value) {
  return curl_easy_getinfo(easy, CURLINFO_PROXY_SSL_VERIFYRESULT, value);
}

static inline CURLcode cshims_get_ssl_verify_result(CURL *easy, long *value) {
  return curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, value);
}

static inline CURLcode cshims_get_http_connect_code(CURL *easy, long *value) {
  return curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, value);
}

static inline CURLcode cshims_get_cookie_list(CURL *easy, struct curl_slist * *value) {
  return curl_easy_getinfo(easy, CURLINFO_COOKIELIST, value);
}

static inline CURLcode cshims_get_primary_ip(CURL *easy, char * *value) {
  return curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, value);
}

static inline CURLcode cshims_get_local_ip(CURL *easy, char * *value) {
  return curl_easy_getinfo(easy, CURLINFO_LOCAL_IP, value);
}

static inline CURLcode cshims_get_effective_url(CURL *easy, char * *value) {
  return curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, value);
}

static inline CURLcode cshims_get_private_data(CURL *easy, char * *value) {
  return curl_easy_getinfo(easy, CURLINFO_PRIVATE, value);
}

static inline CURLcode cshims_get_cert_info(CURL *easy, struct curl_certinfo **value) {
  return curl_easy_getinfo(easy, CURLINFO_CERTINFO, value);
}

#endif
