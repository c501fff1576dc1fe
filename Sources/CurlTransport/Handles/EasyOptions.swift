import CCurl
import StreamCore

extension EasyHandle {
  private static let sendBuffer = 256 << 10
  /// HTTP/2's default.
  private static let streamWeight = 16
  /// libcurl's own connect limit would leave a look-up behind: ours ends the call, this one never fires.
  private static let noConnectLimit = 30 * 24 * 3600 * 1000

  /// Options that stay for the life of the handle.
  ///
  /// `multi` is what a connection's end is told to: it outlives all connections, a handle doesn't.
  func setFixedOptions(_ share: ShareHandle, _ multi: UnsafeMutableRawPointer) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe cshims_set_private_data(raw, context)
    unsafe cshims_set_write_data(raw, context)
    unsafe cshims_set_header_data(raw, context)
    unsafe cshims_set_read_data(raw, context)
    unsafe cshims_set_seek_data(raw, context)
    unsafe cshims_set_prereq_data(raw, context)
    unsafe cshims_set_open_socket_data(raw, context)
    unsafe cshims_set_trailer_data(raw, context)
    unsafe cshims_set_write_function(raw, CurlCallbacks.write)
    unsafe cshims_set_header_function(raw, CurlCallbacks.header)
    unsafe cshims_set_read_function(raw, CurlCallbacks.read)
    unsafe cshims_set_seek_function(raw, CurlCallbacks.seek)
    unsafe cshims_set_prereq_function(raw, CurlCallbacks.prereq)
    unsafe cshims_set_open_socket_function(raw, CurlCallbacks.openSocket)
    unsafe cshims_set_close_socket_function(raw, CurlCallbacks.closeSocket)
    unsafe cshims_set_close_socket_data(raw, multi)
    unsafe cshims_set_error_buffer(raw, errors.bytes)
    if let share = unsafe share.raw { unsafe cshims_set_share(raw, share) }

    unsafe cshims_set_nosignal(raw, 1)
    unsafe cshims_set_no_progress(raw, 1)
    unsafe cshims_set_protocols(raw, "http,https")
    unsafe cshims_set_upload_buffer_size(raw, Self.sendBuffer)
    unsafe cshims_set_connect_timeout_ms(raw, Self.noConnectLimit)
    unsafe cshims_set_follow_location(raw, 0)
    unsafe cshims_set_http_content_decoding(raw, 0)
    unsafe cshims_set_http09_allowed(raw, 0)
    unsafe cshims_set_suppress_connect_headers(raw, 1)
    unsafe cshims_set_path_as_is(raw, 1)
    unsafe cshims_set_tcp_nodelay(raw, 1)
    unsafe cshims_set_tcp_keepalive(raw, 1)
    unsafe cshims_set_quick_exit(raw, 1)

    setTLSOptions()
    setAddressOptions()
    setAgeOptions()
    setProxyOptions()
  }

  /// Options of one request. Every one is set each time, so that nothing of the last request is left.
  func setRequestOptions(_ transfer: Transfer, headers: HeaderList, overrides: HeaderList?) -> Bool {
    let request = transfer.request
    guard setURL(transfer.url) else { return false }
    if receiveSize != transfer.room.receive {
      receiveSize = transfer.room.receive
      unsafe cshims_set_buffer_size(raw, receiveSize)
    }
    unsafe cshims_set_http_header(raw, headers.list)
    unsafe cshims_set_connect_to(raw, overrides?.list)
    // PIPEWAIT is for HTTP/2 over TLS: on cleartext it only delays.
    let mayShare = transfer.url.isSecure && request.sharedOptions.value.version != .http1_1
    unsafe cshims_set_pipe_wait(raw, mayShare ? 1 : 0)
    if mayShare {
      unsafe cshims_set_stream_weight(raw, request.sharedOptions.value.streamWeight ?? Self.streamWeight)
    }
    unsafe cshims_set_http_version(
      raw,
      request.sharedOptions.value.version == .http1_1
        ? Int(CURL_HTTP_VERSION_1_1) : Int(CURL_HTTP_VERSION_2TLS))
    guard setCookies(transfer) else { return false }
    setPace(request)
    return setMethod(request.method, transfer.upload)
  }

  private func setMethod(_ method: HTTPMethod, _ upload: UploadStorage?) -> Bool {
    // HTTPGET switches off upload and NOBODY of the last request.
    unsafe cshims_set_http_get(raw, 1)
    if method == .head {
      unsafe cshims_set_custom_request(raw, nil)
      return unsafe cshims_set_no_body(raw, 1) == CURLE_OK
    }
    if let upload {
      // Bodies always go through the read callback, so that a replay asks the seek callback.
      unsafe cshims_set_upload(raw, 1)
      unsafe cshims_set_in_file_size(raw, curl_off_t(upload.length ?? -1))
    }
    if method == .get && upload == nil { return unsafe cshims_set_custom_request(raw, nil) == CURLE_OK }
    return unsafe method.rawValue.withCString { unsafe cshims_set_custom_request(raw, $0) } == CURLE_OK
  }
}
