import StreamCore
import Synchronization

/// The profiles of a transport, each made once. Files named in options are read when theirs is.
final class ProfileCache: Sendable {
  private static let kept = 256

  private struct State {
    /// What was asked for last, and the answer: nearly always what is asked for next.
    var last: (options: CopyOnWrite<TransportOptions>, profile: EasyProfile)?
    var all: [EasyProfile] = []
  }

  private let state = Mutex(State())
  private let age: ConnectionAge

  init(age: ConnectionAge) { self.age = age }

  /// The profile for a request's options.
  /// - Throws: what is wrong with them.
  func profile(for request: TransportRequest) throws(HTTPError) -> EasyProfile {
    let options = request.sharedOptions
    let known = state.withLock { state -> EasyProfile? in
      if let last = state.last, CopyOnWrite.areSame(last.options, options) { return last.profile }
      guard let profile = state.all.last(where: { $0.fits(options.value) }) else { return nil }
      state.last = (options, profile)
      return profile
    }
    if let known { return known }
    let made: EasyProfile
    do throws(HTTPError) {
      // Reads files, so not under the lock.
      made = try EasyProfile(options.value, age: age)
    } catch {
      throw error.naming(method: request.method, url: request.url)
    }
    return state.withLock { state in
      if let other = state.all.last(where: { $0.fits(options.value) }) { return other }
      // The oldest is forgotten; transfers under way keep it.
      if state.all.count >= Self.kept { state.all.removeFirst() }
      state.all.append(made)
      state.last = (options, made)
      return made
    }
  }
}
