#ifndef PENSTOCK_CSHIMS_LINUX_EPOLL_H
#define PENSTOCK_CSHIMS_LINUX_EPOLL_H

/* Swift's Glibc module leaves these two headers out. */
#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

/* epoll_pwait2 came with glibc 2.35: where it is missing this says ENOSYS, as an old kernel does. */
static inline int cshims_epoll_pwait2(
    int epoll, struct epoll_event *events, int limit, const struct timespec *timeout) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
  return epoll_pwait2(epoll, events, limit, timeout, NULL);
#else
  errno = ENOSYS;
  return -1;
#endif
}

#endif
