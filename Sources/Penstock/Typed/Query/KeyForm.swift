/// How the names of properties are written.
public enum KeyForm: Sendable {
  /// As they are.
  case asWritten
  /// `createdAt` as `created_at`, `userID` as `user_id`.
  case snakeCase
  /// `createdAt` as `created-at`, for header fields.
  case kebabCase
  /// By a function of your own.
  case custom(@Sendable (String) -> String)

  func text(_ key: String) -> String {
    switch self {
    case .asWritten: key
    case .snakeCase: Self.words(key, joinedBy: "_")
    case .kebabCase: Self.words(key, joinedBy: "-")
    case .custom(let convert): convert(key)
    }
  }

  /// A word begins at an upper-case letter behind a lower-case one or a digit, and at the last of several
  /// upper-case letters that a lower-case one follows: `myURLPath` is my, URL, Path.
  private static func words(_ key: String, joinedBy mark: String) -> String {
    let letters = Array(key)
    var result = ""
    for (index, letter) in letters.enumerated() {
      let isStart =
        index > 0 && letter.isUppercase && letters[index - 1] != "_" && letters[index - 1] != "-"
        && (!letters[index - 1].isUppercase
          || (index + 1 < letters.count && letters[index + 1].isLowercase))
      if isStart { result += mark }
      result += letter.lowercased()
    }
    return result
  }
}
