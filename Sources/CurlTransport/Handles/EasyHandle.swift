import CCurl
import Glibc
import StreamCore

/// One libcurl easy handle with what must live as long: error text, header list, and the transfer that uses
/// it now. Used on the loop thread alone. libcurl gets one pointer to it for all callbacks.
@safe final class EasyHandle {
  let raw: UnsafeMutableRawPointer
  let profile: EasyProfile
  let errors = ErrorBuffer()
  /// The transfer that the callbacks serve; nil between two.
  @safe @exclusivity(unchecked) var transfer: Transfer? {
    didSet { unsafe served = transfer.map { unsafe Unmanaged.passUnretained($0) } }
  }
  /// The same for callbacks, which come often and never outlast it.
  @exclusivity(unchecked) private(set) var served: Unmanaged<Transfer>?
  /// The descriptor that libcurl last waited on for the transfer.
  @safe @exclusivity(unchecked) var socket: Int32?
  @safe @exclusivity(unchecked) private var forbidsReuse = false
  @safe @exclusivity(unchecked) private var opensFresh = false
  /// Kept until the transfer ends, as libcurl borrows them.
  @safe @exclusivity(unchecked) private var headers: HeaderList?
  @safe @exclusivity(unchecked) private var overrides: HeaderList?
  /// Of the profile's proxy, for the life of the handle.
  @safe @exclusivity(unchecked) var proxyHeaders: HeaderList?
  /// libcurl's code when an option of the profile could not be set.
  @safe @exclusivity(unchecked) private(set) var setUpFailure: Int?
  /// The connection that the request was sent on.
  @safe @exclusivity(unchecked) var connection: KnownConnection?
  /// The URL of the last request, empty before the first.
  @safe @exclusivity(unchecked) private var lastURL = ""
  @safe @exclusivity(unchecked) private var parts: URLParts?
  /// How much it receives at once; 0: never said.
  @safe @exclusivity(unchecked) var receiveSize = 0
  /// Whether libcurl calls back before it ends the transfer.
  @safe @exclusivity(unchecked) var watchesEnd = false
  /// Whether the last request had a pace, an Expect limit or trailers of its own.
  var isPaced = false
  /// False for a handle that has failed to rewind: libcurl keeps it in that state.
  @safe @exclusivity(unchecked) var isRecyclable = true

  init?(profile: EasyProfile, share: ShareHandle, multi: MultiHandle) {
    guard let raw = unsafe curl_easy_init() else { return nil }
    unsafe self.raw = raw
    self.profile = profile
    unsafe setFixedOptions(share, Unmanaged.passUnretained(multi).toOpaque())
  }

  deinit { unsafe curl_easy_cleanup(raw) }

  /// Sets everything that differs from request to request; false when libcurl has no memory.
  func prepare(_ transfer: Transfer, headers list: HeaderList) -> Bool {
    errors.clear()
    isRecyclable = true
    headers = list
    overrides = connectTo(transfer)
    self.transfer = transfer
    if list.closesConnection { forbidReuse() }
    return setRequestOptions(transfer, headers: list, overrides: overrides)
  }

  /// Sets the URL, from the second one on taken apart: a handle of a stream that stays doesn't get that far.
  func setURL(_ url: CurlURL) -> Bool {
    if url.text == lastURL, url.pathStart == nil || parts != nil { return true }
    if !lastURL.isEmpty, url.pathStart != nil, parts == nil { parts = URLParts() }
    let areParts = parts?.set(url) ?? false
    // Parts come before the text, which libcurl goes back to when it has to send a request again.
    unsafe cshims_set_curlu(raw, areParts ? parts?.raw : nil)
    lastURL = ""
    guard unsafe url.text.withCString({ unsafe cshims_set_url(raw, $0) }) == CURLE_OK else { return false }
    lastURL = url.text
    return true
  }

  /// The transfer is over: nothing of it stays.
  func finish() {
    transfer = nil
    socket = nil
    if forbidsReuse {
      unsafe cshims_set_forbid_reuse(raw, 0)
      forbidsReuse = false
    }
    if opensFresh {
      unsafe cshims_set_fresh_connect(raw, 0)
      opensFresh = false
    }
    watchEndNoMore()
    headers = nil
    overrides = nil
  }

  /// Lets libcurl go on in the directions that aren't paused.
  func setPaused(receiving: Bool, sending: Bool) -> Int {
    let mask = (receiving ? CURLPAUSE_RECV : 0) | (sending ? CURLPAUSE_SEND : 0)
    return Int(unsafe curl_easy_pause(raw, mask).rawValue)
  }

  /// Lets the connection end with a reset: unsent bytes would hold back an orderly end from a peer that reads
  /// nothing.
  func resetOnClose() {
    guard let socket else { return }
    var option = linger(l_onoff: 1, l_linger: 0)
    _ = unsafe setsockopt(
      socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  /// The connection ends with the transfer if no other uses it.
  func forbidReuse() {
    unsafe cshims_set_forbid_reuse(raw, 1)
    forbidsReuse = true
  }

  /// The transfer gets a connection of its own, which others may share later.
  func openFreshConnection() {
    unsafe cshims_set_fresh_connect(raw, 1)
    opensFresh = true
  }

  private func connectTo(_ transfer: Transfer) -> HeaderList? {
    guard let override = transfer.override else { return nil }
    let list = HeaderList()
    return list.append(override.connectTo) ? list : nil
  }

  /// Keeps the first failure to set a profile's option: no exchange may go on without it.
  func note(_ code: CURLcode) {
    if code != CURLE_OK, setUpFailure == nil { setUpFailure = Int(code.rawValue) }
  }

  // MARK: what libcurl knows afterwards

  /// Times, connection and counters; `queued` is our own.
  func facts(queued: Duration) -> ExchangeFacts {
    var facts = ExchangeFacts()
    func time(_ get: (UnsafeMutableRawPointer, UnsafeMutablePointer<curl_off_t>) -> CURLcode) -> Int64 {
      var value: curl_off_t = 0
      _ = unsafe get(raw, &value)
      return Int64(value)
    }
    let connects = openedConnections
    facts.connection = ExchangeFacts.Connection(reused: connects == 0, ends: connection?.ends)
    facts.timings.queued = queued
    if connects > 0 {
      facts.timings.dns = queued + .microseconds(unsafe time { unsafe cshims_get_namelookup_time($0, $1) })
      facts.timings.connect = queued + .microseconds(unsafe time { unsafe cshims_get_connect_time($0, $1) })
      let tls = unsafe time { unsafe cshims_get_appconnect_time($0, $1) }
      if tls > 0 { facts.timings.tls = queued + .microseconds(tls) }
    }
    facts.timings.firstByte =
      queued + .microseconds(unsafe time { unsafe cshims_get_start_transfer_time($0, $1) })
    facts.timings.total = queued + .microseconds(unsafe time { unsafe cshims_get_total_time($0, $1) })
    return facts
  }

  /// Whether ALPN has chosen HTTP/2 for the connection that the request goes out on; nil when TLS doesn't tell.
  var isOnHTTP2: Bool? {
    var info: UnsafeMutablePointer<curl_tlssessioninfo>?
    guard unsafe cshims_get_tls_session(raw, &info) == CURLE_OK, let info = unsafe info?.pointee,
      unsafe info.backend == CURLSSLBACKEND_OPENSSL, let session = unsafe info.internals
    else { return nil }
    var name: UnsafePointer<UInt8>?
    var length: UInt32 = 0
    unsafe cshims_get_alpn(session, &name, &length)
    guard length == 2, let name = unsafe name else { return false }
    return unsafe name[0] == UInt8(ascii: "h") && name[1] == UInt8(ascii: "2")
  }

  /// How many connections were opened for the transfer so far.
  var openedConnections: Int {
    var connects = 0
    _ = unsafe cshims_get_num_connects(raw, &connects)
    return connects
  }

  /// From the call until now; `queued` is our own.
  func totalTime(queued: Duration) -> Duration {
    var value: curl_off_t = 0
    _ = unsafe cshims_get_total_time(raw, &value)
    return queued + .microseconds(Int64(value))
  }

  /// libcurl's words for a failed transfer.
  func text(forCode code: Int) -> String { errors.text(for: CURLcode(UInt32(code))) }

  /// The proxy's answer to CONNECT, 0 when there was none.
  var connectStatus: Int {
    var number = 0
    _ = unsafe cshims_get_http_connect_code(raw, &number)
    return number
  }
}
