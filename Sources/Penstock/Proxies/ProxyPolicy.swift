import CurlTransport

/// Which proxy a request goes through.
///
/// ```swift
/// configuration.proxy = .through(try ProxyServer("socks5h://127.0.0.1:1080"), except: ["localhost", ".internal"])
/// ```
public enum ProxyPolicy: Sendable, Hashable {
  /// As the environment variables said when the client was made: `http_proxy` (in small letters alone, since a web
  /// server sets the other from a request's field), `https_proxy`, `all_proxy` and `no_proxy`. The default. A value
  /// that can't be read throws `HTTPError.Kind.invalidConfiguration` from requests that it is for.
  case environment
  /// The same, with these rules (see `through`) in place of those in `no_proxy`.
  case environmentExcept([String])
  /// None, whatever the environment says.
  case direct
  /// This one, but for hosts that fit a rule of `except`:
  ///
  /// - `*`: all hosts;
  /// - `host` or `.host`: that host and the hosts below it;
  /// - an address, or a range of them such as `10.0.0.0/8` or `fd00::/8`;
  /// - any of these with `:PORT` (an IPv6 address then in brackets): that port alone.
  case through(ProxyServer, except: [String] = [])
}

extension Request {
  /// Which proxy it goes through, in place of the client's policy.
  public var proxy: ProxyPolicy? {
    get { choices.value.proxy }
    set { choices.value.proxy = newValue }
  }
}
