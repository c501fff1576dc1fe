import CCurl
import Glibc

/// A transfer that goes nowhere: while libcurl looks for a connection for it, it closes the kept ones that are dead or
/// too old (decision 20). Its open-socket callback refuses, so that it ends at once.
@safe final class SweepHandle {
  private let raw: UnsafeMutableRawPointer

  init?(_ age: ConnectionAge) {
    guard let raw = unsafe curl_easy_init() else { return nil }
    unsafe self.raw = raw
    unsafe cshims_set_nosignal(raw, 1)
    // An address, so that nothing is looked up; without an object to call back for, no socket is opened.
    _ = unsafe "http://127.0.0.1:9/".withCString { unsafe cshims_set_url(raw, $0) }
    _ = unsafe "".withCString { unsafe cshims_set_proxy(raw, $0) }
    unsafe cshims_set_open_socket_function(raw, CurlCallbacks.openSocket)
    unsafe cshims_set_max_age_conn(raw, ConnectionAge.seconds(age.idle) ?? 1_000_000_000)
    unsafe cshims_set_max_lifetime_conn(raw, ConnectionAge.seconds(age.lifetime) ?? 0)
  }

  deinit { unsafe curl_easy_cleanup(raw) }

  /// Closes what is too old. libcurl looks once a second at most.
  func run(on multi: MultiHandle) {
    guard unsafe multi.add(raw: raw) else { return }
    // It asks to be driven at once, and ends in its first turn; the second is for good measure.
    for _ in 0..<2 { multi.runTimers() }
    unsafe multi.remove(raw: raw)
  }
}
