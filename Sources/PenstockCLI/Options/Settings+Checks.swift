import Penstock

extension Settings {
  /// Refuses options that contradict each other.
  func checkTogether() throws(UsageError) {
    let sendsData = !data.isEmpty && !dataInQuery
    if upload != nil, sendsData { throw UsageError("-T and -d can't be used together: one body a request") }
    if headOnly, sendsData {
      throw UsageError("-I and -d can't be used together; -G puts data into the query")
    }
    if headOnly, upload != nil { throw UsageError("-I and -T can't be used together") }
    if dataInQuery, isJSON { throw UsageError("-G and --json can't be used together") }
    if http.given.contains("http1.1"), http.given.contains("http2") {
      throw UsageError("--http1.1 and --http2 can't be used together")
    }
    if network.key != nil, network.certificate == nil { throw UsageError("--key needs --cert") }
    try checkCredentials()
    try checkForm(sendsData: sendsData)
    if verb == .download { try checkDownload() }
    if verb == .batch { try checkBatch() }
    if standardInputUses > 1 { throw UsageError("standard input can be read only once") }
    if standardInputUses > 0, urls.count > 1, upload != nil || !http.form.isEmpty {
      throw UsageError("standard input can be uploaded to one URL only")
    }
  }

  private func checkForm(sendsData: Bool) throws(UsageError) {
    if http.form.isEmpty { return }
    if sendsData || dataInQuery { throw UsageError("-F and -d can't be used together: one body a request") }
    if upload != nil { throw UsageError("-F and -T can't be used together: one body a request") }
    if headOnly { throw UsageError("-I and -F can't be used together") }
  }

  private func checkDownload() throws(UsageError) {
    if headOnly { throw UsageError("-I is not an option of download: there is nothing to store") }
    if namesStandardOutput { throw UsageError("download writes to files; 'penstock get' writes to stdout") }
    if urls.count > 1, !download.mirrors.isEmpty { throw UsageError("--mirror goes with one URL") }
    if urls.count > 1, download.checksum != nil { throw UsageError("--checksum goes with one URL") }
    guard case .file = output else { return }
    if namesAfterRemote { throw UsageError("-o and -O can't be used together") }
    if urls.count > 1 { throw UsageError("-o names one file: use --dir for \(urls.count) URLs") }
  }

  private var standardInputUses: Int {
    data.count { $0.content == .input(.standardInput) } + (upload == .standardInput ? 1 : 0)
      + http.form.count { $0.content == .file("-") || $0.content == .content(of: "-") }
      + (readsInputsFromStandardInput ? 1 : 0)
  }
}
