#ifndef PENSTOCK_CSHIMS_SQLITE_H
#define PENSTOCK_CSHIMS_SQLITE_H

#include <sqlite3.h>

/* SQLITE_TRANSIENT is a cast of -1 that Swift can't see: SQLite copies what is bound. */
static inline int cshims_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int count) {
  return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

#endif
