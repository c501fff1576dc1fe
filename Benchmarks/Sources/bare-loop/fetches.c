#include <curl/curl.h>
#include <stdlib.h>

#include "bench_report.h"
#include "easy.h"
#include "loop.h"
#include "modes.h"

/* large, small and sequential: a number of GETs over a fixed set of handles, each used again as it is. */
struct fetches {
  struct loop loop;
  CURL **handles;
  long parallel;
  long to_start;
  long running;
  long long bytes;
  bool failed;
};

static size_t count_bytes(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes;
  struct fetches *fetches = context;
  fetches->bytes += (long long)(size * count);
  return size * count;
}

static void on_finished(void *context, CURL *easy, CURLcode result) {
  struct fetches *fetches = context;
  if (!easy_succeeded(easy, result)) fetches->failed = true;
  curl_multi_remove_handle(fetches->loop.multi, easy);
  if (fetches->to_start > 0 && !fetches->failed) {
    fetches->to_start--;
    curl_multi_add_handle(fetches->loop.multi, easy);
  } else if (--fetches->running == 0) {
    fetches->loop.stop = true;
  }
}

static void fetch(struct fetches *fetches, long requests) {
  fetches->bytes = 0;
  fetches->loop.stop = requests == 0;
  fetches->running = requests < fetches->parallel ? requests : fetches->parallel;
  fetches->to_start = requests - fetches->running;
  for (long i = 0; i < fetches->running; i++) curl_multi_add_handle(fetches->loop.multi, fetches->handles[i]);
  loop_run(&fetches->loop, -1);
}

bool run_fetches(const struct options *options, long requests, long parallel, long warm_up) {
  struct fetches fetches = {.parallel = parallel, .loop.finished = on_finished};
  fetches.loop.context = &fetches;
  fetches.handles = calloc((size_t)parallel, sizeof *fetches.handles);
  if (!fetches.handles || !loop_open(&fetches.loop)) return false;
  curl_multi_setopt(fetches.loop.multi, CURLMOPT_MAXCONNECTS, parallel);
  for (long i = 0; i < parallel; i++) {
    fetches.handles[i] = easy_open(options, count_bytes, &fetches);
    if (!fetches.handles[i]) return false;
  }
  fetch(&fetches, warm_up);
  bench_begin();
  if (!fetches.failed) fetch(&fetches, requests);
  bench_end();
  if (!fetches.failed) bench_print(options->mode, requests, fetches.bytes);
  for (long i = 0; i < parallel; i++) curl_easy_cleanup(fetches.handles[i]);
  loop_close(&fetches.loop);
  free(fetches.handles);
  return !fetches.failed;
}
