#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "modes.h"
#include "options.h"

/* The bare C loop: what a competent program over libcurl reaches, without anything around it. */
int main(int argc, char **argv) {
  struct options options;
  if (!options_parse(&options, argc, argv)) return 2;
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return 1;
  bool well;
  if (strcmp(options.mode, "large") == 0) well = run_fetches(&options, options.count, 1, 0);
  else if (strcmp(options.mode, "small") == 0)
    well = run_fetches(&options, options.requests, options.parallel, 4 * options.parallel);
  else if (strcmp(options.mode, "sequential") == 0) well = run_fetches(&options, options.requests, 1, 100);
  else if (strcmp(options.mode, "idle") == 0) well = run_idle(&options);
  else if (strcmp(options.mode, "upload") == 0) well = run_upload(&options);
  else if (strcmp(options.mode, "stopped-reader") == 0) well = run_stopped_reader(&options);
  else {
    fprintf(stderr, "bare-loop: no mode %s\n", options.mode);
    return 2;
  }
  curl_global_cleanup();
  return well ? 0 : 1;
}
