import Glibc
import PenstockTesting

/// Compares large bodies in builds without optimization too.
enum ContentCheck {
  private static let period = TestContent.bytes(count: TestContent.period)

  /// Whether these are the first bytes of the test content.
  static func matches(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { bytes in
      period.withUnsafeBytes { period in
        guard let start = bytes.baseAddress, let right = period.baseAddress else { return true }
        return stride(from: 0, to: bytes.count, by: period.count).allSatisfy { offset in
          memcmp(start + offset, right, min(period.count, bytes.count - offset)) == 0
        }
      }
    }
  }
}
