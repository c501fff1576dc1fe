import Glibc
import Testing

@testable import PollLoop

@Suite struct PollerTests {
  /// Two connected sockets; closed when it goes unless closed before.
  final class SocketPair {
    private(set) var near: Int32 = -1
    private(set) var far: Int32 = -1

    init() {
      var both: [Int32] = [-1, -1]
      _ = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &both)
      (near, far) = (both[0], both[1])
    }

    deinit {
      closeNear()
      if far >= 0 { close(far) }
    }

    func closeNear() {
      if near >= 0 { close(near) }
      near = -1
    }

    /// Closes the near end and puts that of another pair under the same number, in one step: other tests
    /// open descriptors at the same time.
    func reopen(as other: SocketPair) {
      _ = dup2(other.near, near)
      other.closeNear()
    }

    func sendToNear() { _ = write(far, "x", 1) }
  }

  static func events(_ poller: Poller) -> [PollEvent] { Array(poller.wait(timeout: 0)) }

  @Test func aReadyDescriptorIsReportedWithWhatItWasAskedFor() throws {
    let poller = try Poller()
    let pair = SocketPair()
    poller.set(fd: pair.near, readable: true, writable: false)
    #expect(Self.events(poller).isEmpty)
    pair.sendToNear()
    var events = Self.events(poller)
    #expect(events.map(\.fd) == [pair.near])
    #expect(events.first.map { $0.readable && !$0.writable && !$0.failed } == true)
    poller.set(fd: pair.near, readable: true, writable: true)
    events = Self.events(poller)
    #expect(events.first.map { $0.readable && $0.writable } == true)
    poller.set(fd: pair.near, readable: false, writable: false)
    #expect(Self.events(poller).isEmpty)
  }

  @Test func anEventIsStaleOnceItsRegistrationEnded() throws {
    let poller = try Poller()
    let pair = SocketPair()
    poller.set(fd: pair.near, readable: false, writable: true)
    let event = try #require(Self.events(poller).first)
    #expect(poller.isCurrent(event))
    poller.remove(fd: pair.near)
    #expect(!poller.isCurrent(event))
    poller.set(fd: pair.near, readable: false, writable: true)
    #expect(!poller.isCurrent(event))
    let next = try #require(Self.events(poller).first)
    #expect(poller.isCurrent(next))
  }

  @Test func changingWhatIsWaitedForKeepsTheRegistration() throws {
    let poller = try Poller()
    let pair = SocketPair()
    poller.set(fd: pair.near, readable: false, writable: true)
    let event = try #require(Self.events(poller).first)
    poller.set(fd: pair.near, readable: true, writable: true)
    #expect(poller.isCurrent(event))
  }

  @Test func aNumberThatWasClosedAndReopenedWithoutRemoveWorksWithAnotherInterest() throws {
    let poller = try Poller()
    let pair = SocketPair()
    poller.set(fd: pair.near, readable: false, writable: true)
    let old = try #require(Self.events(poller).first)
    pair.reopen(as: SocketPair())
    poller.set(fd: pair.near, readable: true, writable: true)
    #expect(!poller.isCurrent(old))
    #expect(Self.events(poller).count == 1)
  }

  @Test func aNumberThatWasClosedAndReopenedWithoutRemoveWorksAsANewOne() throws {
    let poller = try Poller()
    let pair = SocketPair()
    poller.set(fd: pair.near, readable: false, writable: true)
    let old = try #require(Self.events(poller).first)
    pair.reopen(as: SocketPair())
    #expect(Self.events(poller).isEmpty)
    poller.set(fd: pair.near, readable: false, writable: true, isNew: true)
    #expect(!poller.isCurrent(old))
    #expect(Self.events(poller).map(\.fd) == [pair.near])
  }

  @Test func callingADescriptorNewThatTheKernelStillKnowsIsFine() throws {
    let poller = try Poller()
    let pair = SocketPair()
    poller.set(fd: pair.near, readable: true, writable: false)
    #expect(poller.set(fd: pair.near, readable: false, writable: true, isNew: true))
    let event = try #require(Self.events(poller).first)
    #expect(event.writable && poller.isCurrent(event))
  }

  @Test func aNumberReopenedBetweenRemoveAndSetWorks() throws {
    let poller = try Poller()
    let pair = SocketPair()
    poller.set(fd: pair.near, readable: false, writable: true)
    poller.remove(fd: pair.near)
    pair.reopen(as: SocketPair())
    poller.set(fd: pair.near, readable: false, writable: true)
    #expect(Self.events(poller).count == 1)
  }

  @Test func removingWhatIsClosedOrUnknownIsFine() throws {
    let poller = try Poller()
    let pair = SocketPair()
    let number = pair.near
    poller.set(fd: number, readable: true, writable: false)
    pair.closeNear()
    poller.remove(fd: number)
    poller.remove(fd: number)
    poller.remove(fd: 100_000)
    poller.remove(fd: -1)
  }

  @Test func aDescriptorThatIsNotOpenIsRefused() throws {
    let poller = try Poller()
    #expect(!poller.set(fd: 100_000, readable: true, writable: false))
    #expect(!poller.set(fd: -1, readable: true, writable: false))
  }

  @Test func aHangUpIsReportedAsFailed() throws {
    let poller = try Poller()
    let pair = SocketPair()
    poller.set(fd: pair.near, readable: true, writable: false)
    let other = SocketPair()
    _ = dup2(other.far, pair.far)
    #expect(Self.events(poller).first?.failed == true)
  }

  @Test("more descriptors than fit into one wait all get their turn")
  func manyDescriptors() throws {
    let poller = try Poller()
    let pairs = (0..<300).map { _ in SocketPair() }
    for pair in pairs { poller.set(fd: pair.near, readable: false, writable: true) }
    var seen: Set<Int32> = []
    for _ in 0..<8 { seen.formUnion(Self.events(poller).map(\.fd)) }
    #expect(seen == Set(pairs.map(\.near)))
  }

  @Test(
    "a timeout in milliseconds is rounded up",
    arguments: [
      (nil, -1), (0, 0), (1, 1), (999_999, 1), (1_000_000, 1), (1_000_001, 2), (UInt64.max, Int32.max),
    ] as [(UInt64?, Int32)])
  func rounding(_ nanoseconds: UInt64?, _ milliseconds: Int32) {
    #expect(Epoll.milliseconds(nanoseconds) == milliseconds)
  }

  @Test func aLingeringDescriptorIsNotReportedAndNeedsNoNewRegistration() throws {
    let poller = try Poller()
    let pair = SocketPair()
    poller.opened(fd: pair.near)
    poller.set(fd: pair.near, readable: true, writable: false, isNew: true)
    poller.remove(fd: pair.near, mayLinger: true)
    // Wanted again before anything came: as if it had been registered all the time.
    poller.set(fd: pair.near, readable: true, writable: false, isNew: true)
    pair.sendToNear()
    #expect(Self.events(poller).map(\.fd) == [pair.near])
  }

  @Test func whatComesWhileItLingersIsKeptForLaterAndReportedOnceItIsWanted() throws {
    let poller = try Poller()
    let pair = SocketPair()
    poller.opened(fd: pair.near)
    poller.set(fd: pair.near, readable: true, writable: false, isNew: true)
    poller.remove(fd: pair.near, mayLinger: true)
    pair.sendToNear()
    #expect(Self.events(poller).isEmpty)
    // The kernel was told by now: it doesn't report it again and again.
    #expect(Self.events(poller).isEmpty)
    poller.set(fd: pair.near, readable: true, writable: false, isNew: true)
    #expect(Self.events(poller).map(\.fd) == [pair.near])
  }

  @Test func aSocketIsSilentUntilSomethingOrItsEndCanBeRead() throws {
    let poller = try Poller()
    let pair = SocketPair()
    let socket = try #require(poller.opened(fd: pair.near))
    #expect(poller.isOpen(socket) && poller.isSilent(socket))
    pair.sendToNear()
    #expect(!poller.isSilent(socket))
    var byte: UInt8 = 0
    // It was only looked at.
    #expect(read(pair.near, &byte, 1) == 1 && poller.isSilent(socket))
    let other = SocketPair()
    _ = dup2(other.far, pair.far)
    #expect(!poller.isSilent(socket))
  }

  @Test func aSocketOfTheSameNumberIsAnotherOne() throws {
    let poller = try Poller()
    let pair = SocketPair()
    let old = try #require(poller.opened(fd: pair.near))
    poller.closed(fd: pair.near)
    #expect(!poller.isOpen(old))
    let new = try #require(poller.opened(fd: pair.near))
    #expect(poller.isOpen(new) && !poller.isOpen(old) && new != old)
    pair.sendToNear()
    #expect(!poller.isSilent(new) && poller.isSilent(old))
    #expect(poller.opened(fd: -1) == nil)
  }

  @Test func aDescriptorWhoseEndIsNotHeardOfDoesNotLinger() throws {
    let poller = try Poller()
    let pair = SocketPair()
    poller.set(fd: pair.near, readable: true, writable: false, isNew: true)
    poller.remove(fd: pair.near, mayLinger: true)
    let other = SocketPair()
    pair.reopen(as: other)
    poller.set(fd: pair.near, readable: true, writable: false, isNew: true)
    other.sendToNear()
    #expect(Self.events(poller).map(\.fd) == [pair.near])
  }

  @Test func aClosedDescriptorThatLingeredStartsAfreshUnderItsNumber() throws {
    let poller = try Poller()
    let pair = SocketPair()
    poller.opened(fd: pair.near)
    poller.set(fd: pair.near, readable: true, writable: false, isNew: true)
    poller.remove(fd: pair.near, mayLinger: true)
    poller.closed(fd: pair.near)
    let other = SocketPair()
    pair.reopen(as: other)
    poller.opened(fd: pair.near)
    poller.set(fd: pair.near, readable: true, writable: false, isNew: true)
    other.sendToNear()
    #expect(Self.events(poller).map(\.fd) == [pair.near])
  }
}
