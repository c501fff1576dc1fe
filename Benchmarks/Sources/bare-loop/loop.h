#ifndef LOOP_H
#define LOOP_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

/* libcurl's multi interface over epoll, on one thread: the limit that everything else is measured by. */
struct loop {
  CURLM *multi;
  int epoll;
  int64_t deadline_us;                               /* libcurl's timer; negative: none */
  void (*finished)(void *context, CURL *, CURLcode); /* a transfer is done; still in the multi */
  void *context;
  bool stop;
};

bool loop_open(struct loop *loop);
void loop_close(struct loop *loop);

/* Turns until `stop` is set, or until `until_us` on the monotonic clock has come (negative: never). */
void loop_run(struct loop *loop, int64_t until_us);

int64_t loop_now_us(void);

#endif
