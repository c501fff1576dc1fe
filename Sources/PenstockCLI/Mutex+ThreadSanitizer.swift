#if THREAD_SANITIZER
  import Penstock

  typealias Mutex = SanitizedMutex
#endif
