#ifndef URLSESSION_ROOTS_H
#define URLSESSION_ROOTS_H

/*
 * URLSession on Linux can't be given roots of one's own, and the benchmark's server signs its own certificate.
 * This puts a curl_easy_init of ours in front of libcurl's, which sets the bundle on each handle that
 * URLSession makes. The path must stay valid; call it before the first session.
 */
void urlsession_trust(const char *bundle);

#endif
