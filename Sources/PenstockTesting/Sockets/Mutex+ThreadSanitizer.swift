#if THREAD_SANITIZER
  internal import StreamCore

  typealias Mutex = SanitizedMutex
#endif
