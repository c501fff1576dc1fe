/// The middlewares around each attempt, outermost first. Guards at the outside that may let an attempt through at once
/// are known as such, since to find that out for each attempt would cost more than to enter them.
struct AttemptMiddlewares: Sendable {
  let all: [any Middleware]
  /// The first of them, as far as they can be entered without a wait.
  let prompt: [any PromptGuard]

  init(_ all: [any Middleware]) {
    self.all = all
    var prompt: [any PromptGuard] = []
    for each in all {
      guard let each = each as? any PromptGuard else { break }
      prompt.append(each)
    }
    self.prompt = prompt
  }

  /// Whether all of them may be entered so.
  var arePrompt: Bool { prompt.count == all.count }
  var isEmpty: Bool { all.isEmpty }

  /// Those, and more inside of them.
  func adding(_ inner: [any Middleware]) -> AttemptMiddlewares {
    inner.isEmpty ? self : AttemptMiddlewares(all + inner)
  }
}
