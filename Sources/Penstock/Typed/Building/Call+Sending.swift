/// Other ways to make a call than waiting for its value.
extension Call {
  /// Everything that happens in the call's exchange, as one cold stream; see `Client.events(_:)`. Statuses aren't judged.
  ///
  /// - Throws: what can't be built.
  public func events() throws(HTTPError) -> TransferEvents { client.events(try request()) }

  /// Downloads the answer to a file; see `Client.download(_:to:_:)`. It starts at once.
  ///
  /// - Throws: what can't be built; all else is the download's.
  public func download(
    to target: DownloadTarget, _ options: DownloadOptions = DownloadOptions()
  ) throws(HTTPError) -> Download { client.download(try request(), to: target, options) }

  /// The events of the server, over as many connections as it takes; see `Client.eventSource(_:_:)`.
  ///
  /// - Throws: what can't be built; all else is the event source's.
  public func eventSource(_ options: EventSourceOptions = .init()) throws(HTTPError) -> EventSource {
    client.eventSource(try request(), options)
  }

  /// The curl command for this call as its client sends it; see `Client.curlCommand(for:secrets:)`.
  ///
  /// - Throws: what can't be built.
  public func curlCommand(secrets: Request.SecretDisplay = .redacted) throws(HTTPError) -> String {
    client.curlCommand(for: try request(), secrets: secrets)
  }
}
