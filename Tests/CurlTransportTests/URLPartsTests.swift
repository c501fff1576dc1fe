import CCurl
import StreamCore
import TestSupport
import Testing

@testable import CurlTransport

@Suite("Plain URLs taken apart for libcurl")
struct URLPartsTests {
  private static let texts = [
    "http://127.0.0.1:8080/1k", "http://127.0.0.1:8080/", "http://127.0.0.1:8080/a/b;c?x=1&y=a+b/c?d",
    "http://127.0.0.1/1k", "https://127.0.0.1/1k?q", "http://h:80/a", "http://h/a", "https://h/a//b?c/d",
    "http://localhost/~me/(a)!$'*,",
  ]

  /// What libcurl would read out of the text itself.
  private static func parts(_ handle: OpaquePointer?) -> [String?] {
    [
      CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT, CURLUPART_PATH, CURLUPART_QUERY, CURLUPART_USER,
      CURLUPART_FRAGMENT, CURLUPART_URL,
    ].map { part in
      var value: UnsafeMutablePointer<CChar>?
      guard unsafe curl_url_get(handle, part, &value, 0) == CURLUE_OK, let value = unsafe value else {
        return nil
      }
      defer { unsafe curl_free(value) }
      return unsafe String(cString: value)
    }
  }

  private static func parsed(_ text: String) -> [String?] {
    let handle = unsafe curl_url()
    defer { unsafe curl_url_cleanup(handle) }
    _ = unsafe curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_PATH_AS_IS))
    return unsafe parts(handle)
  }

  @Test func `after any other URL the parts are those that libcurl reads`() throws {
    let parts = try #require(URLParts())
    for first in Self.texts {
      for second in Self.texts {
        for text in [first, second] {
          #expect(try parts.set(CurlURL(text)))
          #expect(unsafe Self.parts(parts.raw) == Self.parsed(text), "\(second) after \(first)")
        }
      }
    }
  }

  @Test(arguments: ["http://h/%2F", "http://h/a#b", "http://u@h/", "HTTP://h/"])
  func `a URL that libcurl changes is left to it`(_ text: String) throws {
    let parts = try #require(URLParts())
    #expect(try parts.set(CurlURL("http://h/a")))
    #expect(try !parts.set(CurlURL(text)))
    // Whose they are now doesn't matter, as long as the next plain one is whole again.
    #expect(try parts.set(CurlURL("http://h/b?c")))
    #expect(unsafe Self.parts(parts.raw) == Self.parsed("http://h/b?c"))
  }
}
