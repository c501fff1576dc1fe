#ifndef PENSTOCK_CSHIMS_CRYPTO_DIGEST_H
#define PENSTOCK_CSHIMS_CRYPTO_DIGEST_H

/* The contexts of single algorithms are plain structs: only their state can be kept in a file and taken up by a
   later run, which the EVP interface doesn't offer. OpenSSL 3 calls them deprecated and has them all the same. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/evp.h>
#include <openssl/md5.h>
#include <openssl/sha.h>

#endif
