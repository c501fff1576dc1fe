#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: bare-loop large URL [--buffer N] [--count K] [--cacert FILE] [--http2|--http1.1]\n"
    "       bare-loop small URL [--requests N] [--parallel P]\n"
    "       bare-loop sequential URL [--requests N]\n"
    "       bare-loop idle URL [--streams N]\n"
    "       bare-loop upload URL [--bytes N] [--cacert FILE] [--http2|--http1.1]\n"
    "       bare-loop stopped-reader URL [--hold SECONDS] [--cacert FILE] [--http2|--http1.1]\n";

static bool read_number(const char *text, long long *value) {
  char *end;
  errno = 0;
  *value = strtoll(text, &end, 10);
  return errno == 0 && end != text && *end == '\0' && *value > 0;
}

static bool take_value(struct options *options, const char *name, const char *text) {
  long long number;
  if (strcmp(name, "--cacert") == 0) {
    options->cacert = text;
    return true;
  }
  if (!read_number(text, &number)) return false;
  if (strcmp(name, "--buffer") == 0) options->buffer = (long)number;
  else if (strcmp(name, "--count") == 0) options->count = (long)number;
  else if (strcmp(name, "--requests") == 0) options->requests = (long)number;
  else if (strcmp(name, "--parallel") == 0) options->parallel = (long)number;
  else if (strcmp(name, "--streams") == 0) options->streams = (long)number;
  else if (strcmp(name, "--bytes") == 0) options->bytes = number;
  else if (strcmp(name, "--hold") == 0) options->hold = (double)number;
  else return false;
  return true;
}

bool options_parse(struct options *options, int argc, char **argv) {
  *options = (struct options){
      .buffer = 256 * 1024,
      .count = 1,
      .requests = 10000,
      .parallel = 64,
      .streams = 2000,
      .bytes = 16 * 1024 * 1024,
      .hold = 2,
  };
  if (argc < 3) {
    fputs(usage, stderr);
    return false;
  }
  options->mode = argv[1];
  options->url = argv[2];
  for (int i = 3; i < argc; i++) {
    if (strcmp(argv[i], "--http2") == 0) options->http2 = true;
    else if (strcmp(argv[i], "--http1.1") == 0) options->http2 = false;
    else if (i + 1 < argc && take_value(options, argv[i], argv[i + 1])) i++;
    else {
      fprintf(stderr, "bare-loop: don't understand %s\n%s", argv[i], usage);
      return false;
    }
  }
  return true;
}
