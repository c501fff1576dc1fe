/// What ends a line.
public enum LineEnding: Sendable, Hashable {
  /// LF, and the CR right before it is left out; any other CR is part of the line.
  case lineFeed
  /// CRLF alone: a lone CR or LF is part of the line.
  case carriageReturnLineFeed
  /// CR alone: an LF is part of the next line.
  case carriageReturn
  /// LF, CR or CRLF. A CR at the end of a chunk ends its line at once.
  case any
  /// Any one byte, such as 0 for the lists that `find -print0` makes.
  case byte(UInt8)
}
