#ifndef PENSTOCK_CSHIMS_LINUX_FILE_H
#define PENSTOCK_CSHIMS_LINUX_FILE_H

#include <sys/syscall.h>
#include <unistd.h>

/* Swift's Glibc module leaves out what needs _GNU_SOURCE. No fcntl.h here: `struct stat` would become ours. */

/* renameat2 from and to AT_FDCWD (-100) with RENAME_NOREPLACE (1): EEXIST where the new name is taken. */
static inline int cshims_rename_new(const char *from, const char *to) {
  return (int)syscall(SYS_renameat2, -100, from, -100, to, 1u);
}

/* memfd_create with MFD_CLOEXEC (1). */
static inline int cshims_memfd_create(const char *name) {
  return (int)syscall(SYS_memfd_create, name, 1u);
}

/* fallocate with FALLOC_FL_KEEP_SIZE (1): room is set aside and the file's length stays. */
static inline int cshims_allocate(int file, long long size) {
  return (int)syscall(SYS_fallocate, file, 1, 0LL, size);
}

#endif
