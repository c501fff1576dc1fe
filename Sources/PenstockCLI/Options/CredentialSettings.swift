/// How `-u` is proven, and where user names and passwords come from otherwise.
struct CredentialSettings: Sendable, Equatable {
  var usesDigest = false
  var usesNetrc = false
  var netrcFile: String?
  /// `--aws-sigv4`, as it was given.
  var awsProvider: String?
}

extension Settings {
  /// Whether `-u` is sent as it is; else a credential of the library proves it.
  var sendsBasic: Bool { !credentials.usesDigest && credentials.awsProvider == nil }

  func checkCredentials() throws(UsageError) {
    if credentials.awsProvider != nil {
      guard case .basic = authorization else { throw UsageError("--aws-sigv4 needs -u KEY:SECRET") }
      if credentials.usesDigest { throw UsageError("--aws-sigv4 and --digest can't be used together") }
    }
    if credentials.usesDigest, case .bearer = authorization {
      throw UsageError("--bearer and --digest can't be used together")
    }
  }
}
