/// The command line that all benchmark programs share; what this one can't use is read and ignored.
struct Options {
  var mode = ""
  var url = ""
  var cacert: String?
  var count = 1
  var requests = 10_000
  var parallel = 64

  init?(_ arguments: [String]) {
    guard arguments.count >= 3 else { return nil }
    mode = arguments[1]
    url = arguments[2]
    var rest = arguments.dropFirst(3)
    while let name = rest.popFirst() {
      if name == "--http2" || name == "--http1.1" { continue }
      guard let value = rest.popFirst() else { return nil }
      if name == "--cacert" {
        cacert = value
        continue
      }
      guard let number = Int(value), number > 0 else { return nil }
      switch name {
      case "--count": count = number
      case "--requests": requests = number
      case "--parallel": parallel = number
      default: return nil
      }
    }
  }
}
