#ifndef PENSTOCK_CSHIMS_LINUX_FILE_H
#define PENSTOCK_CSHIMS_LINUX_FILE_H

#include <sys/syscall.h>
#include <sys/vfs.h>
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

/* sync_file_range with SYNC_FILE_RANGE_WRITE (2): writing a range to the disk begins, and nobody waits for its end. */
static inline int cshims_start_writing_back(int file, long long offset, long long count) {
  return (int)syscall(SYS_sync_file_range, file, offset, count, 2u);
}

/* The kind of file system that a file lies on (TMPFS_MAGIC and the like); 0 when it can't be told. */
static inline long cshims_file_system(int file) {
  struct statfs facts;
  return fstatfs(file, &facts) == 0 ? (long)facts.f_type : 0;
}

#endif
