extension Client {
  /// Downloads many files; each is as with `download`: whole under its name, or not there.
  ///
  /// - Parameters:
  ///   - inputs: the requests, read as there is room for them.
  ///   - target: where each goes.
  ///   - limits: how much is under way at once.
  ///   - order: in which order results come.
  ///   - options: what the batch does; `requiresSuccess` and `validators` say nothing here, as a download always
  ///     judges the status.
  ///   - files: what each download does.
  ///   - isolation: the actor on which inputs are read, that of the caller.
  public func batchDownload<Inputs: Sequence>(
    _ inputs: sending Inputs, to target: @escaping @Sendable (Request) -> DownloadTarget,
    limits: BatchLimits = BatchLimits(), order: BatchOrder = .completion,
    options: BatchOptions = BatchOptions(),
    files: DownloadOptions = DownloadOptions(), isolation: (any Actor)? = #isolation
  ) -> Batch<Request, DownloadedFile> where Inputs.Element == Request {
    Batch(
      self, inputs, isolation, downloading(target, files), .builtIn(limits, order, options, repeats: false))
  }

  /// Downloads the files of an asynchronous sequence of requests; see the one for sequences.
  public func batchDownload<Inputs: AsyncSequence>(
    _ inputs: sending Inputs, to target: @escaping @Sendable (Request) -> DownloadTarget,
    limits: BatchLimits = BatchLimits(), order: BatchOrder = .completion,
    options: BatchOptions = BatchOptions(),
    files: DownloadOptions = DownloadOptions()
  ) -> Batch<Request, DownloadedFile> where Inputs.Element == Request {
    Batch(self, inputs, downloading(target, files), .builtIn(limits, order, options, repeats: false))
  }

  private func downloading(
    _ target: @escaping @Sendable (Request) -> DownloadTarget, _ files: DownloadOptions
  ) -> BatchWork<Request, DownloadedFile> {
    BatchWork(
      request: { $0 },
      exchange: .whole { request, _ throws(HTTPError) in
        // Cancelled with the batch: it waits alone for its file.
        let file = try await self.download(request, to: target(request), files).value
        var facts = BatchFacts()
        facts.verdict = .answered
        facts.transferred = file.bytes
        return (file, facts)
      })
  }
}
