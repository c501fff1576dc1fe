/// Handles between two transfers, by profile. A client has few profiles, mostly one: a short list is found
/// through faster than a hash is made.
struct IdleHandles {
  private static let kept = 512

  private var groups: [(profile: EasyProfile, handles: [EasyHandle])] = []
  private(set) var count = 0

  mutating func take(_ profile: EasyProfile) -> EasyHandle? {
    guard let index = groups.firstIndex(where: { $0.profile === profile }) else { return nil }
    guard let easy = groups[index].handles.popLast() else {
      // Nothing was left of it: it makes room for others.
      groups.swapAt(index, groups.count - 1)
      groups.removeLast()
      return nil
    }
    count -= 1
    return easy
  }

  /// Keeps a handle for the next transfer, unless there are many.
  mutating func keep(_ easy: EasyHandle) {
    guard count < Self.kept else { return }
    count += 1
    if let index = groups.firstIndex(where: { $0.profile === easy.profile }) {
      groups[index].handles.append(easy)
    } else {
      groups.append((easy.profile, [easy]))
    }
  }
}
