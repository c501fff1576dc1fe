extension Settings {
  /// Whether the inputs of a batch come from standard input.
  var readsInputsFromStandardInput: Bool {
    verb == .batch && (urls.isEmpty || urls == ["-"])
  }

  /// Refuses what makes no sense for many requests.
  func checkBatch() throws(UsageError) {
    if directory != nil, headOnly {
      throw UsageError("--dir and -I can't be used together: there is nothing to store")
    }
  }
}
