/// What may be asked of a loop about one transfer; goes through the loop's one door, in order.
enum CurlCommand: UInt8 {
  /// Admitted: begin.
  case start
  /// The reader has room: go on receiving.
  case resume
  /// The feeder has bytes, or the upload has failed: go on sending.
  case feed
  /// Nobody wants it any more.
  case cancel
  /// The client shuts down: fail it.
  case shutdown
  /// Still waiting for admission: watch the limit.
  case watch
  /// libcurl may hold what it has not looked at.
  case lookAgain
  /// Its timer has come.
  case timer
}
