#if THREAD_SANITIZER
  import StreamCore

  typealias Mutex = SanitizedMutex
#endif
