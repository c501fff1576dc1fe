#ifndef PENSTOCK_CSHIMS_CURL_EASY_SETOPT_H
#define PENSTOCK_CSHIMS_CURL_EASY_SETOPT_H

#include "global.h"

/* curl_easy_setopt is variadic, which Swift can't call: one typed wrapper for each option, and no logic. */

/* Options that take a long. */
static inline CURLcode cshims_set_nosignal(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_NOSIGNAL, value);
}

static inline CURLcode cshims_set_no_progress(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_NOPROGRESS, value);
}

static inline CURLcode cshims_set_buffer_size(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, value);
}

static inline CURLcode cshims_set_upload_buffer_size(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, value);
}

static inline CURLcode cshims_set_connect_timeout_ms(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, value);
}

static inline CURLcode cshims_set_http_version(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, value);
}

static inline CURLcode cshims_set_stream_weight(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_STREAM_WEIGHT, value);
}

static inline CURLcode cshims_set_pipe_wait(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_PIPEWAIT, value);
}

static inline CURLcode cshims_set_http_get(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_HTTPGET, value);
}

static inline CURLcode cshims_set_no_body(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_NOBODY, value);
}

static inline CURLcode cshims_set_upload(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_UPLOAD, value);
}

static inline CURLcode cshims_set_follow_location(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, value);
}

static inline CURLcode cshims_set_http_content_decoding(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_HTTP_CONTENT_DECODING, value);
}

static inline CURLcode cshims_set_http09_allowed(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_HTTP09_ALLOWED, value);
}

static inline CURLcode cshims_set_suppress_connect_headers(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, value);
}

static inline CURLcode cshims_set_path_as_is(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, value);
}

static inline CURLcode cshims_set_tcp_nodelay(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, value);
}

static inline CURLcode cshims_set_tcp_keepalive(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, value);
}

#if LIBCURL_VERSION_NUM >= 0x075700
static inline CURLcode cshims_set_quick_exit(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, value);
}
#endif

static inline CURLcode cshims_set_ssl_verify_peer(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, value);
}

static inline CURLcode cshims_set_ssl_verify_host(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, value);
}

static inline CURLcode cshims_set_ssl_version(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_SSLVERSION, value);
}

static inline CURLcode cshims_set_ip_resolve(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_IPRESOLVE, value);
}

static inline CURLcode cshims_set_dns_cache_timeout(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, value);
}

static inline CURLcode cshims_set_max_age_conn(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, value);
}

static inline CURLcode cshims_set_max_lifetime_conn(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, value);
}

static inline CURLcode cshims_set_forbid_reuse(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, value);
}

static inline CURLcode cshims_set_fresh_connect(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, value);
}

static inline CURLcode cshims_set_expect_100_timeout_ms(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_EXPECT_100_TIMEOUT_MS, value);
}

static inline CURLcode cshims_set_proxy_auth(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_PROXYAUTH, value);
}

static inline CURLcode cshims_set_http_proxy_tunnel(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, value);
}

static inline CURLcode cshims_set_happy_eyeballs_timeout_ms(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, value);
}

static inline CURLcode cshims_set_cert_info(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_CERTINFO, value);
}

static inline CURLcode cshims_set_local_port(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_LOCALPORT, value);
}

static inline CURLcode cshims_set_local_port_range(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_LOCALPORTRANGE, value);
}

static inline CURLcode cshims_set_ssl_enable_alpn(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_SSL_ENABLE_ALPN, value);
}

static inline CURLcode cshims_set_ssl_verify_status(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_SSL_VERIFYSTATUS, value);
}

static inline CURLcode cshims_set_proxy_ssl_verify_peer(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYPEER, value);
}

static inline CURLcode cshims_set_proxy_ssl_verify_host(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYHOST, value);
}

static inline CURLcode cshims_set_proxy_ssl_version(CURL *easy, long value) {
  return curl_easy_setopt(easy, CURLOPT_PROXY_SSLVERSION, value);
}

/* Options that take a 64-bit size. */
static inline CURLcode cshims_set_in_file_size(CURL *easy, curl_off_t value) {
  return curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, value);
}

static inline CURLcode cshims_set_max_send_speed(CURL *easy, curl_off_t value) {
  return curl_easy_setopt(easy, CURLOPT_MAX_SEND_SPEED_LARGE, value);
}

/* The parts of a URL, which come before its text (borrowed by libcurl; NULL: the text alone). */
static inline CURLcode cshims_set_curlu(CURL *easy, CURLU *parts) {
  return curl_easy_setopt(easy, CURLOPT_CURLU, parts);
}

/* Options that take a string (copied by libcurl; NULL restores the default). */
static inline CURLcode cshims_set_url(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_URL, value);
}

static inline CURLcode cshims_set_custom_request(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, value);
}

static inline CURLcode cshims_set_ca_info(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_CAINFO, value);
}

static inline CURLcode cshims_set_ca_path(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_CAPATH, value);
}

static inline CURLcode cshims_set_ssl_cert(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_SSLCERT, value);
}

static inline CURLcode cshims_set_ssl_key(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_SSLKEY, value);
}

static inline CURLcode cshims_set_ssl_cipher_list(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_SSL_CIPHER_LIST, value);
}

static inline CURLcode cshims_set_pinned_public_key(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_PINNEDPUBLICKEY, value);
}

static inline CURLcode cshims_set_proxy(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_PROXY, value);
}

static inline CURLcode cshims_set_no_proxy(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_NOPROXY, value);
}

static inline CURLcode cshims_set_proxy_user_name(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_PROXYUSERNAME, value);
}

static inline CURLcode cshims_set_proxy_password(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_PROXYPASSWORD, value);
}

static inline CURLcode cshims_set_unix_socket_path(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, value);
}

static inline CURLcode cshims_set_interface(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_INTERFACE, value);
}

static inline CURLcode cshims_set_protocols(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, value);
}

static inline CURLcode cshims_set_cookie(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_COOKIE, value);
}

static inline CURLcode cshims_set_cookie_list(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_COOKIELIST, value);
}

static inline CURLcode cshims_set_cookie_file(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_COOKIEFILE, value);
}

static inline CURLcode cshims_set_ssl_cert_type(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, value);
}

static inline CURLcode cshims_set_key_password(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_KEYPASSWD, value);
}

static inline CURLcode cshims_set_tls13_ciphers(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_TLS13_CIPHERS, value);
}

static inline CURLcode cshims_set_crl_file(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_CRLFILE, value);
}

static inline CURLcode cshims_set_doh_url(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_DOH_URL, value);
}

static inline CURLcode cshims_set_proxy_ca_info(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, value);
}

static inline CURLcode cshims_set_proxy_ca_path(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_PROXY_CAPATH, value);
}

static inline CURLcode cshims_set_proxy_ssl_cert(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_PROXY_SSLCERT, value);
}

static inline CURLcode cshims_set_proxy_ssl_cert_type(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_PROXY_SSLCERTTYPE, value);
}

static inline CURLcode cshims_set_proxy_ssl_key(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_PROXY_SSLKEY, value);
}

static inline CURLcode cshims_set_proxy_key_password(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_PROXY_KEYPASSWD, value);
}

static inline CURLcode cshims_set_proxy_ssl_cipher_list(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_PROXY_SSL_CIPHER_LIST, value);
}

static inline CURLcode cshims_set_proxy_tls13_ciphers(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_PROXY_TLS13_CIPHERS, value);
}

static inline CURLcode cshims_set_proxy_crl_file(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_PROXY_CRLFILE, value);
}

static inline CURLcode cshims_set_proxy_pinned_public_key(CURL *easy, const char * value) {
  return curl_easy_setopt(easy, CURLOPT_PROXY_PINNEDPUBLICKEY, value);
}

/* Options that take a pointer, which libcurl only hands back (ERRORBUFFER: is written to). */
static inline CURLcode cshims_set_write_data(CURL *easy, void * value) {
  return curl_easy_setopt(easy, CURLOPT_WRITEDATA, value);
}

static inline CURLcode cshims_set_header_data(CURL *easy, void * value) {
  return curl_easy_setopt(easy, CURLOPT_HEADERDATA, value);
}

static inline CURLcode cshims_set_read_data(CURL *easy, void * value) {
  return curl_easy_setopt(easy, CURLOPT_READDATA, value);
}

static inline CURLcode cshims_set_seek_data(CURL *easy, void * value) {
  return curl_easy_setopt(easy, CURLOPT_SEEKDATA, value);
}

static inline CURLcode cshims_set_close_socket_data(CURL *easy, void * value) {
  return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, value);
}

static inline CURLcode cshims_set_xferinfo_data(CURL *easy, void * value) {
  return curl_easy_setopt(easy, CURLOPT_XFERINFODATA, value);
}

static inline CURLcode cshims_set_prereq_data(CURL *easy, void * value) {
  return curl_easy_setopt(easy, CURLOPT_PREREQDATA, value);
}

static inline CURLcode cshims_set_open_socket_data(CURL *easy, void * value) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, value);
}

static inline CURLcode cshims_set_trailer_data(CURL *easy, void * value) {
  return curl_easy_setopt(easy, CURLOPT_TRAILERDATA, value);
}

static inline CURLcode cshims_set_private_data(CURL *easy, void * value) {
  return curl_easy_setopt(easy, CURLOPT_PRIVATE, value);
}

static inline CURLcode cshims_set_error_buffer(CURL *easy, char * value) {
  return curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, value);
}

/* Options that take a list or a share handle (borrowed until the transfer ends). */
static inline CURLcode cshims_set_http_header(CURL *easy, struct curl_slist * value) {
  return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, value);
}

static inline CURLcode cshims_set_proxy_header(CURL *easy, struct curl_slist * value) {
  return curl_easy_setopt(easy, CURLOPT_PROXYHEADER, value);
}

static inline CURLcode cshims_set_connect_to(CURL *easy, struct curl_slist * value) {
  return curl_easy_setopt(easy, CURLOPT_CONNECT_TO, value);
}

static inline CURLcode cshims_set_share(CURL *easy, CURLSH * value) {
  return curl_easy_setopt(easy, CURLOPT_SHARE, value);
}

static inline CURLcode cshims_set_ssl_cert_blob(CURL *easy, struct curl_blob * value) {
  return curl_easy_setopt(easy, CURLOPT_SSLCERT_BLOB, value);
}

static inline CURLcode cshims_set_ssl_key_blob(CURL *easy, struct curl_blob * value) {
  return curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, value);
}

static inline CURLcode cshims_set_proxy_ssl_cert_blob(CURL *easy, struct curl_blob * value) {
  return curl_easy_setopt(easy, CURLOPT_PROXY_SSLCERT_BLOB, value);
}

static inline CURLcode cshims_set_proxy_ssl_key_blob(CURL *easy, struct curl_blob * value) {
  return curl_easy_setopt(easy, CURLOPT_PROXY_SSLKEY_BLOB, value);
}

/* Callbacks, each with its exact type. */
typedef size_t (*cshims_write_callback)(char *bytes, size_t size, size_t count, void *data);
typedef size_t (*cshims_read_callback)(char *bytes, size_t size, size_t count, void *data);
typedef int (*cshims_xferinfo_callback)(
    void *data, curl_off_t download, curl_off_t downloaded, curl_off_t upload, curl_off_t uploaded);
typedef int (*cshims_seek_callback)(void *data, curl_off_t offset, int origin);
typedef int (*cshims_close_socket_callback)(void *context, curl_socket_t socket);

static inline CURLcode cshims_set_close_socket_function(CURL *easy, cshims_close_socket_callback value) {
  return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, value);
}

typedef int (*cshims_prereq_callback)(
    void *data, char *remote_ip, char *local_ip, int remote_port, int local_port);
typedef curl_socket_t (*cshims_open_socket_callback)(
    void *data, curlsocktype purpose, struct curl_sockaddr *address);

typedef int (*cshims_trailer_callback)(struct curl_slist **list, void *data);

static inline CURLcode cshims_set_trailer_function(CURL *easy, cshims_trailer_callback value) {
  return curl_easy_setopt(easy, CURLOPT_TRAILERFUNCTION, value);
}

static inline CURLcode cshims_set_write_function(CURL *easy, cshims_write_callback value) {
  return curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, value);
}

static inline CURLcode cshims_set_header_function(CURL *easy, cshims_write_callback value) {
  return curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, value);
}

static inline CURLcode cshims_set_read_function(CURL *easy, cshims_read_callback value) {
  return curl_easy_setopt(easy, CURLOPT_READFUNCTION, value);
}

static inline CURLcode cshims_set_seek_function(CURL *easy, cshims_seek_callback value) {
  return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, value);
}

static inline CURLcode cshims_set_xferinfo_function(CURL *easy, cshims_xferinfo_callback value) {
  return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, value);
}

static inline CURLcode cshims_set_prereq_function(CURL *easy, cshims_prereq_callback value) {
  return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}

static inline CURLcode cshims_set_open_socket_function(CURL *easy, cshims_open_socket_callback value) {
  return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

#endif
