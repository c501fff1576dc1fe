#include <curl/curl.h>
#include <stdlib.h>

#include "bench_report.h"
#include "easy.h"
#include "loop.h"
#include "modes.h"

/* Opens many streams whose server sends a head and a few bytes and then nothing: what does each cost? */
struct idle {
  struct loop loop;
  long open;
  long wanted;
  bool failed;
};

static size_t first_bytes(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes;
  struct idle *idle = context;
  if (++idle->open == idle->wanted) idle->loop.stop = true;
  return size * count;
}

static void on_finished(void *context, CURL *easy, CURLcode result) {
  struct idle *idle = context;
  easy_succeeded(easy, result);
  idle->failed = true; /* none of them may end by itself */
  idle->loop.stop = true;
}

static void open_streams(struct idle *idle, CURL **handles, long from, long to,
                         const struct options *options) {
  idle->wanted = to;
  idle->loop.stop = false;
  for (long i = from; i < to && !idle->failed; i++) {
    handles[i] = easy_open(options, first_bytes, idle);
    if (handles[i]) curl_multi_add_handle(idle->loop.multi, handles[i]);
    else idle->failed = true;
  }
  if (!idle->failed) loop_run(&idle->loop, -1);
}

bool run_idle(const struct options *options) {
  const long warm_up = 8;
  long total = options->streams + warm_up;
  struct idle idle = {.loop.finished = on_finished};
  idle.loop.context = &idle;
  CURL **handles = calloc((size_t)total, sizeof(CURL *));
  if (!handles || !loop_open(&idle.loop)) return false;
  open_streams(&idle, handles, 0, warm_up, options);
  long before = bench_resident_kib();
  bench_begin();
  open_streams(&idle, handles, warm_up, total, options);
  bench_end();
  long after = bench_resident_kib();
  bench_note("kib_per_stream", (double)(after - before) / (double)options->streams);
  if (!idle.failed) bench_print(options->mode, options->streams, 0);
  for (long i = 0; i < total; i++) {
    if (!handles[i]) continue;
    curl_multi_remove_handle(idle.loop.multi, handles[i]);
    curl_easy_cleanup(handles[i]);
  }
  loop_close(&idle.loop);
  free(handles);
  return !idle.failed;
}
