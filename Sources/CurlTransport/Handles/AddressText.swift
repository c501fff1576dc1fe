import Glibc

/// "address:port" of one end of a connection, put together anew only when it differs from the last one.
struct AddressText {
  private var ip = ""
  private var port = 0
  private(set) var text = ""

  /// Takes an address; true when it is the last one.
  mutating func set(ip pointer: UnsafePointer<CChar>?, port number: Int) -> Bool {
    guard let pointer = unsafe pointer, unsafe pointer.pointee != 0 else {
      self = AddressText()
      return false
    }
    if number == port, unsafe strcmp(pointer, ip) == 0 { return true }
    port = number
    ip = unsafe String(cString: pointer)
    text = ip.utf8.contains(UInt8(ascii: ":")) ? "[\(ip)]:\(number)" : "\(ip):\(number)"
    return false
  }
}
