#include <curl/curl.h>
#include <stdio.h>

#include "bench_report.h"
#include "easy.h"
#include "loop.h"
#include "modes.h"

/* Takes the first bytes of a large body, then reads nothing: how much memory piles up? */
struct stopped_reader {
  struct loop loop;
  long long bytes;
  bool failed;
};

static size_t take_first_then_pause(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes;
  struct stopped_reader *reader = context;
  if (reader->bytes > 0) return CURL_WRITEFUNC_PAUSE;
  reader->bytes = (long long)(size * count);
  return size * count;
}

static void on_finished(void *context, CURL *easy, CURLcode result) {
  struct stopped_reader *reader = context;
  easy_succeeded(easy, result);
  fputs("bare-loop: the body ended although nobody read it\n", stderr);
  reader->failed = true;
  reader->loop.stop = true;
}

bool run_stopped_reader(const struct options *options) {
  struct stopped_reader reader = {.loop.finished = on_finished};
  reader.loop.context = &reader;
  if (!loop_open(&reader.loop)) return false;
  CURL *easy = easy_open(options, take_first_then_pause, &reader);
  if (!easy) return false;
  long before = bench_resident_kib();
  bench_begin();
  curl_multi_add_handle(reader.loop.multi, easy);
  loop_run(&reader.loop, loop_now_us() + (int64_t)(options->hold * 1e6));
  bench_end();
  bench_note("kib_above_idle", (double)(bench_peak_resident_kib() - before));
  if (!reader.failed) bench_print(options->mode, 1, reader.bytes);
  curl_multi_remove_handle(reader.loop.multi, easy);
  curl_easy_cleanup(easy);
  loop_close(&reader.loop);
  return !reader.failed;
}
