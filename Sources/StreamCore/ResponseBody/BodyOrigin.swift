/// Which response a body belongs to, for errors that are found in it.
package struct BodyOrigin: Sendable {
  package let method: HTTPMethod
  package let url: String
  package let status: HTTPStatus

  package init(method: HTTPMethod, url: String, status: HTTPStatus) {
    self.method = method
    self.url = url
    self.status = status
  }

  /// The error with method, URL and status, unless it has them.
  package func naming(_ error: HTTPError) -> HTTPError {
    if error.url != nil { return error }
    return error.naming(method: method, url: url).at(status: status, received: error.received)
  }
}
