import Glibc

/// Standard input, output and error, whatever the caller left of them.
enum StandardDescriptors {
  /// Fills closed ones (`>&-`), so that no socket or file gets their numbers. Reading or writing there still
  /// fails, as it should.
  static func fillGaps() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
