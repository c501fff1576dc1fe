/// A store of cookies as a transport meets it: lines of the Netscape format, lent for one exchange.
package protocol CookieLines: AnyObject, Sendable {
  /// The cookies that may go to a host, one line each.
  func lines(for host: String) -> [String]
  /// What an exchange has made of the lines that it was lent: new ones, changed ones, fewer.
  func merge(_ lines: [String], lent: [String])
}

/// A store in a request's options; two are equal when they are the same store.
package struct CookieLink: Sendable, Hashable {
  package let store: any CookieLines

  package init(_ store: any CookieLines) { self.store = store }

  package static func == (left: CookieLink, right: CookieLink) -> Bool { left.store === right.store }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(store)) }
}
