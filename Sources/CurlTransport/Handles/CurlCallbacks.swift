import CCurl
import Glibc
import PollLoop
import StreamCore

/// What libcurl calls, on the loop thread inside of one of our calls. Each finds its object, asks it, and
/// returns a code: no user code, no waiting, no libcurl call, no trap.
enum CurlCallbacks {
  private static func easy(_ context: UnsafeMutableRawPointer?) -> EasyHandle? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
  }

  /// Asks the transfer of a handle, which lives at least as long as the call: neither is retained for it.
  @inline(__always)
  private static func ask<Answer>(
    _ context: UnsafeMutableRawPointer?, otherwise: Answer, _ question: (Transfer) -> Answer
  ) -> Answer {
    guard let context = unsafe context else { return otherwise }
    return unsafe Unmanaged<EasyHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { easy in
      guard let transfer = unsafe easy.served else { return otherwise }
      return unsafe transfer._withUnsafeGuaranteedRef(question)
    }
  }

  private static func multi(_ context: UnsafeMutableRawPointer?) -> MultiHandle? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue()
  }

  /// Body bytes.
  static let write: cshims_write_callback = { bytes, size, count, context in
    let length = size * count
    return unsafe ask(context, otherwise: 0) { transfer in
      switch unsafe transfer.receive(UnsafeRawBufferPointer(start: bytes, count: length)) {
      case .taken: return length
      case .pause: return Int(CURL_WRITEFUNC_PAUSE)
      case .refuse: return length == 0 ? 1 : 0
      }
    }
  }

  /// One header line.
  static let header: cshims_write_callback = { bytes, size, count, context in
    let length = size * count
    return unsafe ask(context, otherwise: 0) { transfer in
      unsafe transfer.receiveHeader(UnsafeRawBufferPointer(start: bytes, count: length)) ? length : 0
    }
  }

  /// Body bytes to send.
  static let read: cshims_read_callback = { bytes, size, count, context in
    guard let transfer = unsafe easy(context)?.transfer else { return Int(CURL_READFUNC_ABORT) }
    switch unsafe transfer.send(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count)) {
    case .bytes(let count): return count
    case .end: return 0
    case .pause: return Int(CURL_READFUNC_PAUSE)
    case .abort: return Int(CURL_READFUNC_ABORT)
    }
  }

  /// The body has ended and its trailers are wanted; libcurl frees the list.
  static let trailers: cshims_trailer_callback = { list, context in
    guard let list = unsafe list, let fields = unsafe easy(context)?.transfer?.upload?.trailers else {
      return Int32(CURL_TRAILERFUNC_ABORT)
    }
    return unsafe HeaderList.append(fields, to: &list.pointee)
      ? Int32(CURL_TRAILERFUNC_OK) : Int32(CURL_TRAILERFUNC_ABORT)
  }

  /// The body is to be sent again.
  static let seek: cshims_seek_callback = { context, offset, origin in
    guard let transfer = unsafe easy(context)?.transfer, offset == 0, origin == SEEK_SET else {
      return Int32(CURL_SEEKFUNC_FAIL)
    }
    return transfer.rewind() ? Int32(CURL_SEEKFUNC_OK) : Int32(CURL_SEEKFUNC_FAIL)
  }

  /// Something may have happened to a held stream.
  static let progress: cshims_xferinfo_callback = { context, _, _, _, _ in
    unsafe easy(context)?.takeHeldBytes()
    return 0
  }

  /// The connection stands and the request is about to be sent.
  static let prereq: cshims_prereq_callback = { context, remoteIP, localIP, remotePort, localPort in
    unsafe ask(context, otherwise: Int32(CURL_PREREQFUNC_ABORT)) { transfer in
      guard let easy = transfer.easy else { return Int32(CURL_PREREQFUNC_ABORT) }
      let connection = unsafe transfer.turn.connections.find(
        remote: remoteIP, remotePort, local: localIP, localPort, opened: transfer.takeOpened(),
        transfer.poller)
      easy.connection = connection
      if transfer.url.isSecure {
        transfer.isOnHTTP2 = easy.isOnHTTP2 ?? false
        if transfer.isOnHTTP2 { transfer.storage.holdsAt(transfer.room.highOnHTTP2) }
        if !transfer.request.method.isIdempotent { transfer.noteConnections(easy.openedConnections) }
      }
      return transfer.requestStarts(on: connection, localPort: localPort)
        ? Int32(CURL_PREREQFUNC_OK) : Int32(CURL_PREREQFUNC_ABORT)
    }
  }

  /// The name is resolved and a socket is wanted: close-on-exec from the start.
  static let openSocket: cshims_open_socket_callback = { context, _, address in
    guard let address = unsafe address, let transfer = unsafe easy(context)?.transfer, transfer.socketOpens()
    else { return CURL_SOCKET_BAD }
    let made = unsafe address.pointee
    let opened = socket(made.family, made.socktype | Int32(SOCK_CLOEXEC.rawValue), made.protocol)
    if opened >= 0, DescriptorLimit.isReserved(opened) {
      close(opened)
      transfer.lacksDescriptor = true
      return CURL_SOCKET_BAD
    }
    if opened >= 0 {
      transfer.socketOpened(opened)
    } else if errno == EMFILE || errno == ENFILE {
      transfer.lacksDescriptor = true
    }
    return opened
  }

  /// A connection goes, maybe one that was kept.
  static let closeSocket: cshims_close_socket_callback = { context, socket in
    unsafe multi(context)?.closed(socket)
    return close(socket)
  }

  /// libcurl wants to be told about a descriptor.
  static let socketInterest: cshims_socket_callback = { easy, socket, what, context, _ in
    guard let multi = unsafe multi(context) else { return 0 }
    if what != CURL_POLL_REMOVE, let easy = unsafe easy { unsafe multi.handle(of: easy)?.socket = socket }
    multi.setInterest(
      socket, readable: what == CURL_POLL_IN || what == CURL_POLL_INOUT,
      writable: what == CURL_POLL_OUT || what == CURL_POLL_INOUT)
    return 0
  }

  /// libcurl wants to be called again in so many milliseconds.
  static let timer: cshims_timer_callback = { _, milliseconds, context in
    unsafe multi(context)?.setTimer(milliseconds: milliseconds)
    return 0
  }
}
