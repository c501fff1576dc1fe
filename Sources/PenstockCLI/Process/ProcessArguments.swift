/// The arguments as they were given. `CommandLine.arguments` would replace bytes that aren't UTF-8 unasked, and
/// another file or body than the user named would be sent.
enum ProcessArguments {
  static func read() -> Result<[String], UsageError> {
    let given = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    var arguments: [String] = []
    for (position, pointer) in given.enumerated().dropFirst() {
      guard let pointer, let text = String(validatingCString: pointer) else {
        return .failure(UsageError("argument \(position) is not valid UTF-8"))
      }
      arguments.append(text)
    }
    return .success(arguments)
  }
}
