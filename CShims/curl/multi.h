#ifndef PENSTOCK_CSHIMS_CURL_MULTI_H
#define PENSTOCK_CSHIMS_CURL_MULTI_H

#include "global.h"

/* curl_multi_setopt is variadic: one typed wrapper for each option. */

typedef int (*cshims_socket_callback)(
    CURL *easy, curl_socket_t socket, int what, void *data, void *socket_data);
typedef int (*cshims_timer_callback)(CURLM *multi, long timeout_ms, void *data);

static inline CURLMcode cshims_multi_set_socket_function(CURLM *multi, cshims_socket_callback value) {
  return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value);
}

static inline CURLMcode cshims_multi_set_socket_data(CURLM *multi, void * value) {
  return curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, value);
}

static inline CURLMcode cshims_multi_set_timer_function(CURLM *multi, cshims_timer_callback value) {
  return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value);
}

static inline CURLMcode cshims_multi_set_timer_data(CURLM *multi, void * value) {
  return curl_multi_setopt(multi, CURLMOPT_TIMERDATA, value);
}

static inline CURLMcode cshims_multi_set_pipelining(CURLM *multi, long value) {
  return curl_multi_setopt(multi, CURLMOPT_PIPELINING, value);
}

static inline CURLMcode cshims_multi_set_max_connects(CURLM *multi, long value) {
  return curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, value);
}

static inline CURLMcode cshims_multi_set_max_total_connections(CURLM *multi, long value) {
  return curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, value);
}

static inline CURLMcode cshims_multi_set_max_host_connections(CURLM *multi, long value) {
  return curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, value);
}

static inline CURLMcode cshims_multi_set_max_concurrent_streams(CURLM *multi, long value) {
  return curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, value);
}

/* CURLMsg's result sits in a union: these read it. */
static inline CURL *cshims_message_easy(const CURLMsg *message) {
  return message->easy_handle;
}

static inline CURLcode cshims_message_result(const CURLMsg *message) {
  return message->data.result;
}

#endif
