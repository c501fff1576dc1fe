import CLinux
import Glibc

/// Which descriptors the loop waits for, and the wait itself. Level-triggered.
///
/// Every registration carries a generation in its epoll tag. Once a registration has ended, events that
/// still name it are known to be stale, also when the same descriptor number has been registered again.
// @unchecked: all of it, except the immutable reference itself, is used on the loop thread alone.
@safe package final class Poller: @unchecked Sendable {
  private struct Registration {
    var generation: UInt32 = 0
    /// The epoll events asked for; 0 when not registered.
    var interest: UInt32 = 0
    /// Whether we will be told before it is closed.
    var isOpened = false
    /// How often the number was opened.
    var opening: UInt32 = 0
    /// Nobody waits for it, but the kernel wasn't told.
    var isLingering = false
  }

  static let eventsPerWait = 256
  private static let wakeupTag = UInt64.max

  @safe @exclusivity(unchecked) private var epoll: Epoll
  @safe @exclusivity(unchecked) private var registrations: [Registration] = []
  /// Sockets that were opened and not closed since.
  @safe @exclusivity(unchecked) package private(set) var openSockets = 0
  private let raw: UnsafeMutableBufferPointer<epoll_event>
  private let ready: UnsafeMutableBufferPointer<PollEvent>

  init() throws(PollLoopError) {
    epoll = try Epoll()
    unsafe raw = .allocate(capacity: Self.eventsPerWait)
    unsafe ready = .allocate(capacity: Self.eventsPerWait)
  }

  deinit {
    unsafe raw.deallocate()
    unsafe ready.deallocate()
  }

  /// Registers the descriptor or changes what is waited for; wanting nothing removes it. Asking for what is
  /// already in force costs no system call.
  ///
  /// The kernel forgets a descriptor that is closed, without telling us. Where the number may have been
  /// closed and opened again without `remove`, pass `isNew`: it never trusts what is on record, and ends
  /// the old registration.
  ///
  /// Returns false when the kernel refuses the descriptor, for instance as it is not open.
  @discardableResult
  package func set(fd: Int32, readable: Bool, writable: Bool, isNew: Bool = false) -> Bool {
    guard fd >= 0 else { return false }
    let wanted =
      (readable ? UInt32(EPOLLIN.rawValue) : 0) | (writable ? UInt32(EPOLLOUT.rawValue) : 0)
    guard wanted != 0 else {
      remove(fd: fd)
      return true
    }
    let index = Int(fd)
    if index >= registrations.count { grow(toHold: index) }
    let current = registrations[index].interest
    let lingered = registrations[index].isLingering
    registrations[index].isLingering = false
    let isNew = isNew && !lingered
    if isNew {
      registrations[index].generation &+= 1
    } else if current == wanted {
      return true
    }
    let isKnown = current != 0 && !isNew
    var failure = control(isKnown ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, wanted)
    if isKnown, failure == ENOENT {
      // Closed and opened again behind our back: events of the old one must not pass for the new one's.
      registrations[index].generation &+= 1
      failure = control(EPOLL_CTL_ADD, fd, wanted)
    } else if failure == EEXIST {
      failure = control(EPOLL_CTL_MOD, fd, wanted)
    }
    guard failure == 0 else {
      end(index)
      return false
    }
    registrations[index].interest = wanted
    return true
  }

  /// From now on until `closed` the number means one open descriptor.
  @discardableResult
  package func opened(fd: Int32) -> OpenSocket? {
    guard fd >= 0 else { return nil }
    let index = Int(fd)
    if index >= registrations.count { grow(toHold: index) }
    if registrations[index].interest != 0 { end(index) }
    if !registrations[index].isOpened { openSockets += 1 }
    registrations[index].isOpened = true
    registrations[index].opening &+= 1
    return OpenSocket(fd: fd, opening: registrations[index].opening)
  }

  package func isOpen(_ socket: OpenSocket) -> Bool {
    let registration = registrations[Int(socket.fd)]
    return registration.isOpened && registration.opening == socket.opening
  }

  /// The descriptor is about to be closed, which ends its registration in the kernel.
  package func closed(fd: Int32) {
    let index = Int(fd)
    guard fd >= 0, index < registrations.count else { return }
    if registrations[index].interest != 0 { end(index) }
    if registrations[index].isOpened { openSockets -= 1 }
    registrations[index].isOpened = false
  }

  /// Ends the registration. A descriptor that is closed already, or was never registered, is fine.
  ///
  /// With `mayLinger` the kernel isn't told, if the descriptor waits for reading alone and its end will be heard
  /// of: two system calls less when it is wanted again soon. What it reports meanwhile is not handed out, and
  /// ends the lingering.
  package func remove(fd: Int32, mayLinger: Bool = false) {
    let index = Int(fd)
    guard fd >= 0, index < registrations.count, registrations[index].interest != 0 else { return }
    if mayLinger, registrations[index].isOpened, registrations[index].interest == UInt32(EPOLLIN.rawValue) {
      registrations[index].isLingering = true
      return
    }
    // EBADF and ENOENT say that the kernel forgot it first.
    _ = control(EPOLL_CTL_DEL, fd, 0)
    end(index)
  }

  /// Whether the registration that the event came from is still in force.
  package func isCurrent(_ event: PollEvent) -> Bool {
    let index = Int(event.fd)
    return index < registrations.count && registrations[index].interest != 0
      && registrations[index].generation == event.generation && !registrations[index].isLingering
  }

  /// Reports a wake-up descriptor edge by edge, so that nobody ever needs to read it.
  func addWakeup(fd: Int32) throws(PollLoopError) {
    let events = UInt32(EPOLLIN.rawValue) | UInt32(EPOLLET.rawValue)
    let failure = epoll.control(EPOLL_CTL_ADD, fd: fd, events: events, tag: Self.wakeupTag)
    guard failure == 0 else { throw .epollUnavailable(errno: failure) }
  }

  /// Waits (nanoseconds; nil: without end) and returns what is ready; good until the next wait.
  func wait(timeout: UInt64?) -> UnsafeBufferPointer<PollEvent> {
    let count = unsafe epoll.wait(raw, timeout: timeout)
    var kept = 0
    for index in 0..<count {
      let tag = unsafe raw[index].data.u64
      guard tag != Self.wakeupTag else { continue }
      let events = unsafe raw[index].events
      let event = PollEvent(
        fd: Int32(truncatingIfNeeded: tag),
        generation: UInt32(truncatingIfNeeded: tag >> 32),
        readable: events & UInt32(EPOLLIN.rawValue) != 0,
        writable: events & UInt32(EPOLLOUT.rawValue) != 0,
        failed: events & UInt32(EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0)
      guard isCurrent(event) else {
        endLingering(event)
        continue
      }
      unsafe ready.initializeElement(at: kept, to: event)
      kept += 1
    }
    return unsafe UnsafeBufferPointer(rebasing: ready[..<kept])
  }

  private func control(_ operation: Int32, _ fd: Int32, _ events: UInt32) -> Int32 {
    let generation = registrations[Int(fd)].generation
    let tag = UInt64(generation) << 32 | UInt64(UInt32(bitPattern: fd))
    return epoll.control(operation, fd: fd, events: events, tag: tag)
  }

  /// A descriptor that nobody waits for would be reported again and again.
  private func endLingering(_ event: PollEvent) {
    let index = Int(event.fd)
    guard index < registrations.count, registrations[index].isLingering,
      registrations[index].generation == event.generation
    else { return }
    remove(fd: event.fd)
  }

  private func end(_ index: Int) {
    registrations[index].isLingering = false
    registrations[index].interest = 0
    registrations[index].generation &+= 1
  }

  private func grow(toHold index: Int) {
    let count = max(index + 1, registrations.count * 2, 64)
    registrations.append(
      contentsOf: repeatElement(Registration(), count: count - registrations.count))
  }
}
