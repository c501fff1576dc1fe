#ifndef PENSTOCK_CSHIMS_CRYPTO_DIGEST_H
#define PENSTOCK_CSHIMS_CRYPTO_DIGEST_H

#include <openssl/evp.h>

#endif
