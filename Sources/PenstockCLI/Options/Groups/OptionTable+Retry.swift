import Penstock

extension OptionTable {
  static let retry: [Option] = [
    .value(
      nil, "retry", "N", .retries,
      "Try again up to N times (default 3 for download and batch, else 0)"
    ) { settings, text throws(UsageError) in
      settings.retries = try CountValue.parse(text)
    },
    .flag(
      nil, "retry-all-methods", .retries,
      "Retry whatever the method; repeats carry the same Idempotency-Key"
    ) { $0.retriesAllMethods = true },
    .value(
      nil, "retry-max-delay", "SECONDS", .retries,
      "Longest wait before a retry, Retry-After included (default 60)"
    ) { settings, text throws(UsageError) in
      switch try SecondsValue.parse(text) {
      case .unlimited: settings.retryMaximumDelay = .zero
      case .after(let delay): settings.retryMaximumDelay = delay
      }
    },
  ]
}

extension Settings {
  /// What the options make of retries; nil: none.
  var retryPolicy: RetryPolicy? {
    let limit = retries ?? (verb == .download || verb == .batch ? 3 : 0)
    guard limit > 0 else { return nil }
    var policy = RetryPolicy(limit: limit)
    if retriesAllMethods { policy.methods = .all }
    if let retryMaximumDelay { policy.maximumDelay = retryMaximumDelay }
    return policy
  }
}
