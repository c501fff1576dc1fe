import Glibc

/// How many processors this process may run on.
enum ProcessorCount {
  static let online: Int = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
}
