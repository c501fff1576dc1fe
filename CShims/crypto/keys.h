#ifndef PENSTOCK_CSHIMS_CRYPTO_KEYS_H
#define PENSTOCK_CSHIMS_CRYPTO_KEYS_H

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <string.h>

// Macros and variadic calls of libcrypto, which Swift can't see.

static inline EVP_PKEY *cshims_p256_generate(void) { return EVP_EC_gen("P-256"); }

static inline EVP_PKEY *cshims_ed25519_generate(void) {
  return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
}

// Without a password callback PEM would ask the terminal.
static inline int cshims_no_password(char *buffer, int size, int writes, void *context) {
  (void)buffer; (void)size; (void)writes; (void)context;
  return 0;
}

static inline EVP_PKEY *cshims_read_private_pem(const void *bytes, int count) {
  BIO *bio = BIO_new_mem_buf(bytes, count);
  if (bio == NULL) { return NULL; }
  EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, cshims_no_password, NULL);
  BIO_free(bio);
  return key;
}

static inline EVP_PKEY *cshims_read_public_pem(const void *bytes, int count) {
  BIO *bio = BIO_new_mem_buf(bytes, count);
  if (bio == NULL) { return NULL; }
  EVP_PKEY *key = PEM_read_bio_PUBKEY(bio, NULL, cshims_no_password, NULL);
  BIO_free(bio);
  return key;
}

// The number of bytes that were written, 0 for a failure.
static inline int cshims_write_private_pem(EVP_PKEY *key, void *bytes, int capacity) {
  BIO *bio = BIO_new(BIO_s_mem());
  if (bio == NULL) { return 0; }
  int count = 0;
  if (PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1) {
    count = BIO_read(bio, bytes, capacity);
  }
  BIO_free(bio);
  return count < 0 ? 0 : count;
}

// The uncompressed point of an EC key.
static inline int cshims_ec_point(EVP_PKEY *key, unsigned char *bytes, size_t capacity, size_t *count) {
  return EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, bytes, capacity, count);
}

static inline int cshims_is_p256(EVP_PKEY *key) {
  char name[64];
  size_t count = 0;
  if (EVP_PKEY_is_a(key, "EC") != 1) { return 0; }
  if (EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, name, sizeof name, &count) != 1) {
    return 0;
  }
  return strcmp(name, "prime256v1") == 0 || strcmp(name, "P-256") == 0;
}

static inline int cshims_is_ed25519(EVP_PKEY *key) { return EVP_PKEY_is_a(key, "ED25519"); }

static inline int cshims_hmac_sha256(
  const void *key, int key_count, const unsigned char *bytes, size_t count, unsigned char *out) {
  unsigned int length = 0;
  return HMAC(EVP_sha256(), key, key_count, bytes, count, out, &length) != NULL && length == 32;
}

// Nobody reads libcrypto's queue of errors; left full, the next user of the thread would take them for its own.
static inline void cshims_clear_errors(void) { ERR_clear_error(); }

#endif
