import CCurl
import StreamCore

// libcurl's cookie engine (its parser, its matching, the public suffix list) serves one exchange at a time: the
// store's lines go in before it, and what the engine has then comes back when a head is there. So one store
// serves many loops, and no handle is ever touched from another thread.
extension EasyHandle {
  /// Lends the store's cookies to the engine; false when libcurl has no memory.
  func setCookies(_ transfer: Transfer) -> Bool {
    guard let store = transfer.request.sharedOptions.value.cookies?.store else { return true }
    // Nothing of the last exchange is left; then the engine is on, with whatever there is.
    unsafe cshims_set_cookie_file(raw, "")
    unsafe cshims_set_cookie_list(raw, "ALL")
    let lines = store.lines(for: transfer.cookieHost)
    transfer.lentCookies = lines
    for line in lines {
      guard unsafe line.withCString({ unsafe cshims_set_cookie_list(raw, $0) }) == CURLE_OK else {
        return false
      }
    }
    let own = transfer.request.headers[all: "Cookie"].joined(separator: "; ")
    if own.isEmpty { return unsafe cshims_set_cookie(raw, nil) == CURLE_OK }
    return unsafe own.withCString { unsafe cshims_set_cookie(raw, $0) } == CURLE_OK
  }

  /// All cookies that the engine has now.
  var cookieLines: [String] {
    var list: UnsafeMutablePointer<curl_slist>?
    guard unsafe cshims_get_cookie_list(raw, &list) == CURLE_OK else { return [] }
    defer { unsafe curl_slist_free_all(list) }
    var lines: [String] = []
    var next = unsafe list
    while let entry = unsafe next {
      if let text = unsafe entry.pointee.data { lines.append(unsafe String(cString: text)) }
      unsafe next = entry.pointee.next
    }
    return lines
  }
}
