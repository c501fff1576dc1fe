#ifndef MODES_H
#define MODES_H

#include "options.h"

/* Each mode measures itself, prints one JSON line, and returns whether all went well. */
bool run_fetches(const struct options *options, long requests, long parallel, long warm_up);
bool run_idle(const struct options *options);
bool run_upload(const struct options *options);
bool run_stopped_reader(const struct options *options);

#endif
