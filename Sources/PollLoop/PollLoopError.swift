/// Why a loop could not be set up. The number is the system's `errno`.
package enum PollLoopError: Error, Equatable, Sendable {
  case epollUnavailable(errno: Int32)
  case eventDescriptorUnavailable(errno: Int32)
  case threadUnavailable(errno: Int32)
  /// `start` was called twice, or after `closeWhenIdle`.
  case notStartable
}
