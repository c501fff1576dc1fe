import Glibc
import StreamCore
import Testing

@testable import CurlTransport
@testable import PollLoop

@Suite struct KnownConnectionsTests {
  private func find(
    _ connections: inout KnownConnections, _ poller: Poller, remote: String = "10.0.0.1", port: Int32 = 80,
    local: Int32 = 4000, opened: [OpenSocket] = []
  ) -> KnownConnection? {
    connections.find(remote: remote, port, local: "10.0.0.9", local, opened: opened, poller)
  }

  @Test func `a kept connection is found again by its ends`() throws {
    let poller = try Poller()
    var connections = KnownConnections()
    let socket = try #require(poller.opened(fd: 5))
    let new = find(&connections, poller, opened: [socket])
    #expect(new?.socket == socket)
    #expect(find(&connections, poller) === new)
    #expect(new?.ends.remote == "10.0.0.1:80" && new?.ends.local == "10.0.0.9:4000")
  }

  @Test func `connections to several hosts may have the same port of ours`() throws {
    let poller = try Poller()
    var connections = KnownConnections()
    let hosts = ["10.0.0.1", "10.0.0.2", "fe80::1"]
    var found: [KnownConnection?] = []
    for (index, host) in hosts.enumerated() {
      let opened = try #require(poller.opened(fd: Int32(index)))
      found.append(find(&connections, poller, remote: host, opened: [opened]))
    }
    for (index, host) in hosts.enumerated() {
      let again = find(&connections, poller, remote: host)
      #expect(again === found[index] && again?.socket?.fd == Int32(index))
    }
    #expect(found[2]?.ends.remote == "[fe80::1]:80")
  }

  @Test func `a new connection with the ends of a closed one has spoken to nobody yet`() throws {
    let poller = try Poller()
    var connections = KnownConnections()
    let first = try #require(poller.opened(fd: 5))
    find(&connections, poller, opened: [first])?.speaksWhenAsked = true
    poller.closed(fd: 5)
    let second = try #require(poller.opened(fd: 5))
    let connection = find(&connections, poller, opened: [second])
    #expect(connection?.socket == second && connection?.speaksWhenAsked == false)
  }

  @Test func `the socket of one of several with the same ends isn't known`() throws {
    let poller = try Poller()
    var connections = KnownConnections()
    for fd in Int32(3)..<6 {
      let socket = try #require(poller.opened(fd: fd))
      let connection = find(&connections, poller, remote: "/run/a", port: 0, local: 0, opened: [socket])
      #expect((connection?.socket == socket) == (fd == 3))
    }
  }

  @Test func `of several attempts the one that is open, else the one with the port, is the socket`() throws {
    let poller = try Poller()
    var connections = KnownConnections()
    let first = try #require(poller.opened(fd: 5))
    let second = try #require(poller.opened(fd: 6))
    poller.closed(fd: 5)
    #expect(find(&connections, poller, opened: [first, second])?.socket == second)

    // Two bound sockets, of which one has the port.
    let bound = (0..<2).map { _ in Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
    defer { for fd in bound { close(fd) } }
    var sockets: [OpenSocket] = []
    for fd in bound {
      #expect(listen(fd, 1) == 0)
      sockets.append(try #require(poller.opened(fd: fd)))
    }
    let port = sockets[1].localPort
    #expect(port > 0 && port != sockets[0].localPort)
    #expect(find(&connections, poller, local: port, opened: sockets)?.socket == sockets[1])
  }

  @Test func `closed connections are forgotten, open ones never`() throws {
    let poller = try Poller()
    var connections = KnownConnections()
    let socket = try #require(poller.opened(fd: 3))
    let kept = find(&connections, poller, local: 1, opened: [socket])
    weak var closed: KnownConnection?
    for port in Int32(2)..<3000 {
      let other = try #require(poller.opened(fd: 4))
      let connection = find(&connections, poller, local: port, opened: [other])
      if port == 2 { closed = connection }
      poller.closed(fd: 4)
    }
    #expect(closed == nil)
    #expect(find(&connections, poller, local: 1) === kept)
  }
}
