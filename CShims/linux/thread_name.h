#ifndef PENSTOCK_CSHIMS_LINUX_THREAD_NAME_H
#define PENSTOCK_CSHIMS_LINUX_THREAD_NAME_H

#include <sys/prctl.h>

/* prctl is variadic, which Swift can't call; the kernel keeps the first 15 bytes. */
static inline int cshims_set_thread_name(const char *name) {
  return prctl(PR_SET_NAME, name, 0L, 0L, 0L);
}

#endif
