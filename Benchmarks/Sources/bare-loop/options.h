#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

struct options {
  const char *mode;
  const char *url;
  const char *cacert; /* NULL: libcurl's own bundle */
  long buffer;        /* CURLOPT_BUFFERSIZE */
  long count;         /* large: how many times the body is fetched */
  long requests;
  long parallel;
  long streams;
  long long bytes; /* upload: length of the body */
  double hold;     /* stopped-reader: seconds without reading */
  bool http2;
};

/* Reads the command line; tells what is wrong on standard error and returns false. */
bool options_parse(struct options *options, int argc, char **argv);

#endif
