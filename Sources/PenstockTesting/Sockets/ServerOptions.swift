/// How a test server listens and what it keeps.
public struct ServerOptions: Sendable, Hashable {
  /// Where it listens.
  public var address: ServerAddress
  /// The kernel's send buffer of each connection in bytes; nil lets the kernel tune it (up to megabytes).
  /// A small one makes back-pressure of the client visible soon.
  public var sendBufferSize: Int?
  /// The kernel's receive buffer of each connection in bytes; nil lets the kernel tune it.
  public var receiveBufferSize: Int?
  /// How many bytes of each request body are kept in the record; all are counted.
  public var recordedBodyLimit: Int
  /// How many connections may wait to be accepted.
  public var backlog: Int

  /// Options with their defaults: IPv4 loopback, buffers tuned by the kernel, 16 MiB kept of a body.
  public init(
    address: ServerAddress = .loopback, sendBufferSize: Int? = nil, receiveBufferSize: Int? = nil,
    recordedBodyLimit: Int = 16 << 20, backlog: Int = 4096
  ) {
    self.address = address
    self.sendBufferSize = sendBufferSize
    self.receiveBufferSize = receiveBufferSize
    self.recordedBodyLimit = recordedBodyLimit
    self.backlog = backlog
  }
}
