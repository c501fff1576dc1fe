import CCurl

/// What the transfers of one loop share: TLS sessions.
@safe final class ShareHandle {
  let raw: UnsafeMutableRawPointer?

  init() {
    unsafe raw = unsafe curl_share_init()
    if let raw = unsafe raw { _ = unsafe cshims_share_add(raw, CURL_LOCK_DATA_SSL_SESSION) }
  }

  deinit { if let raw = unsafe raw { _ = unsafe curl_share_cleanup(raw) } }
}
