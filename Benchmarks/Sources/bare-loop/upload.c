#include <curl/curl.h>
#include <string.h>

#include "bench_report.h"
#include "easy.h"
#include "loop.h"
#include "modes.h"

/* A PUT of known length out of one block of memory, against a peer that may not read for a while. */
struct upload {
  struct loop loop;
  long long left;
  bool failed;
};

static char block[64 * 1024];

static size_t send_bytes(char *target, size_t size, size_t count, void *context) {
  struct upload *upload = context;
  size_t room = size * count;
  if (room > sizeof block) room = sizeof block;
  if ((long long)room > upload->left) room = (size_t)upload->left;
  memcpy(target, block, room);
  upload->left -= (long long)room;
  return room;
}

static size_t ignore_bytes(char *bytes, size_t size, size_t count, void *context) {
  (void)bytes;
  (void)context;
  return size * count;
}

static void on_finished(void *context, CURL *easy, CURLcode result) {
  struct upload *upload = context;
  upload->failed = !easy_succeeded(easy, result);
  upload->loop.stop = true;
}

bool run_upload(const struct options *options) {
  struct upload upload = {.left = options->bytes, .loop.finished = on_finished};
  upload.loop.context = &upload;
  memset(block, 'x', sizeof block);
  if (!loop_open(&upload.loop)) return false;
  CURL *easy = easy_open(options, ignore_bytes, &upload);
  struct curl_slist *fields = curl_slist_append(NULL, "Expect:");
  if (!easy || !fields) return false;
  curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 64L * 1024);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, send_bytes);
  curl_easy_setopt(easy, CURLOPT_READDATA, &upload);
  curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)options->bytes);
  bench_begin();
  curl_multi_add_handle(upload.loop.multi, easy);
  loop_run(&upload.loop, -1);
  bench_end();
  if (!upload.failed) bench_print(options->mode, 1, options->bytes);
  curl_multi_remove_handle(upload.loop.multi, easy);
  curl_easy_cleanup(easy);
  curl_slist_free_all(fields);
  loop_close(&upload.loop);
  return !upload.failed;
}
