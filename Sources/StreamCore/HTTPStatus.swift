/// A status code (RFC 9110 §15): three digits.
public struct HTTPStatus: Sendable, Hashable, Comparable, ExpressibleByIntegerLiteral,
  CustomStringConvertible
{
  /// The number, 100...999 as received.
  public let code: Int

  /// A status of this number.
  public init(_ code: Int) { self.code = code }

  /// A status of this number.
  public init(integerLiteral value: Int) { self.code = value }

  /// 1xx: more is to come.
  public var isInformational: Bool { code / 100 == 1 }
  /// 2xx.
  public var isSuccess: Bool { code / 100 == 2 }
  /// 3xx.
  public var isRedirection: Bool { code / 100 == 3 }
  /// 4xx.
  public var isClientError: Bool { code / 100 == 4 }
  /// 5xx.
  public var isServerError: Bool { code / 100 == 5 }

  /// The number in decimal.
  public var description: String { String(code) }

  /// By number.
  public static func < (left: HTTPStatus, right: HTTPStatus) -> Bool { left.code < right.code }
}
