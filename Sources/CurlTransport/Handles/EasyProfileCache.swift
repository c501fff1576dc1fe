import StreamCore

/// The profile of the last request: most requests of a client share their options. Used on the loop thread alone.
struct EasyProfileCache {
  private var options = CopyOnWrite(TransportOptions())
  private var profile = CopyOnWrite(EasyProfile(TransportOptions()))

  mutating func profile(of options: CopyOnWrite<TransportOptions>) -> CopyOnWrite<EasyProfile> {
    if CopyOnWrite.areSame(options, self.options) { return profile }
    let made = EasyProfile(options.value)
    self.options = options
    if made != profile.value { profile = CopyOnWrite(made) }
    return profile
  }
}
