import Glibc
import Penstock

/// `penstock get`: streams decoded bodies to standard output or a file, one URL after another.
struct GetVerb {
  let settings: Settings
  let client: Client
  let data: [UInt8]

  /// The status of the last failure, or success.
  func run() async -> ExitStatus {
    var status = ExitStatus.success
    do throws(Failure) {
      let output = try openOutput()
      defer { if output.descriptor != STDOUT_FILENO { close(output.descriptor) } }
      for url in settings.urls {
        do throws(Failure) {
          try await fetch(RequestBuilder.request(settings, url: url, data: data), to: output)
        } catch {
          status = error.status(settings)
          // Nothing more can be written, or nothing more is wanted.
          if case .output = error { return status }
          if Interrupts.received != nil { return status }
        }
      }
    } catch {
      return error.status(settings)
    }
    return status
  }

  private func openOutput() throws(Failure) -> DescriptorWriter {
    guard case .file(let path) = settings.output else { return .standardOutput }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      let message = "can't write \(UsageError.quote(path)): \(SystemErrorText.text(for: errno))"
      throw .command(CommandFailure(status: .writeFailed, message: message))
    }
    return DescriptorWriter(descriptor: descriptor)
  }

  private func fetch(_ request: Request, to output: DescriptorWriter) async throws(Failure) {
    let trace = settings.isVerbose ? Trace() : nil
    trace?.request(request, client)
    let response: Response
    do throws(HTTPError) {
      response = try await client.send(request)
    } catch {
      throw .http(error)
    }
    trace?.response(response)
    if settings.failsOnStatus, !response.status.isSuccess {
      throw .refused(response.status, response.head.reason, request)
    }
    if let limit = settings.maximumBody, let length = response.body.contentLength, length > limit {
      throw .tooLarge(limit, request, status: response.status, received: 0)
    }
    if settings.includesHead || settings.headOnly {
      try write { () throws(OutputError) in try output.write(HeadText.wire(response.head)) }
    }
    try await copy(response, request, to: output)
    if let trailers = response.trailers { trace?.trailers(trailers) }
  }

  private func copy(
    _ response: Response, _ request: Request, to output: DescriptorWriter
  ) async throws(Failure) {
    var count: Int64 = 0
    var iterator = response.body.makeAsyncIterator()
    while true {
      let chunk: BodyChunk?
      do throws(HTTPError) {
        chunk = try await iterator.next()
      } catch {
        throw .http(error)
      }
      guard let chunk else { return }
      count += Int64(chunk.count)
      if let limit = settings.maximumBody, count > limit {
        throw .tooLarge(limit, request, status: response.status, received: count)
      }
      try write { () throws(OutputError) in
        try chunk.withUnsafeBytes { (bytes) throws(OutputError) in try output.write(bytes) }
      }
    }
  }

  private func write(_ body: () throws(OutputError) -> Void) throws(Failure) {
    do throws(OutputError) {
      try body()
    } catch {
      throw .output(error)
    }
  }
}
