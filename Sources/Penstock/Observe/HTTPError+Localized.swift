public import FoundationEssentials

/// What `localizedDescription` says, for code that knows errors in general only. In English; `userMessage` is for the
/// people who use a program.
extension HTTPError: LocalizedError {
  /// The error's `description`.
  public var errorDescription: String? { description }
  /// What happened, in a sentence without a full stop.
  public var failureReason: String? { message }
  /// What to try, where there is something to try.
  public var recoverySuggestion: String? { advice }
}
