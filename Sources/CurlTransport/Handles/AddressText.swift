import CCurl
import Glibc

/// "address:port" of one end of a connection, put together anew only when it differs from the last one.
struct AddressText {
  private var ip = ""
  private var port = 0
  private var text = ""

  mutating func text(
    of raw: UnsafeMutableRawPointer,
    _ getIP: (UnsafeMutableRawPointer, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CURLcode,
    _ getPort: (UnsafeMutableRawPointer, UnsafeMutablePointer<Int>) -> CURLcode
  ) -> String {
    var pointer: UnsafeMutablePointer<CChar>?
    var number = 0
    guard unsafe getIP(raw, &pointer) == CURLE_OK, let pointer = unsafe pointer,
      unsafe pointer.pointee != 0
    else { return "" }
    _ = unsafe getPort(raw, &number)
    if number == port, unsafe strcmp(pointer, ip) == 0 { return text }
    port = number
    ip = unsafe String(cString: pointer)
    text = ip.utf8.contains(UInt8(ascii: ":")) ? "[\(ip)]:\(number)" : "\(ip):\(number)"
    return text
  }
}
