/// `application/x-www-form-urlencoded` as the WHATWG URL standard serialises it.
public enum FormEncoding {
  /// The content type.
  public static let contentType = "application/x-www-form-urlencoded"

  /// Names and values joined, in their order: letters, digits and `*-._` as they are, a space as `+`, all else
  /// percent-encoded.
  public static func encode(_ fields: some Sequence<(String, String)>) -> String {
    var bytes: [UInt8] = []
    for (name, value) in fields {
      if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
      append(name.utf8, to: &bytes)
      bytes.append(UInt8(ascii: "="))
      append(value.utf8, to: &bytes)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func append(_ text: String.UTF8View, to bytes: inout [UInt8]) {
    for byte in text {
      switch byte {
      case UInt8(ascii: " "): bytes.append(UInt8(ascii: "+"))
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"):
        bytes.append(byte)
      default: PercentEncoding.append(byte, to: &bytes)
      }
    }
  }
}

extension RequestBody {
  /// A form as browsers send it: names and values in their order, repeats kept.
  public static func form(_ fields: some Sequence<(String, String)>) -> RequestBody {
    RequestBody.string(FormEncoding.encode(fields)).typed(FormEncoding.contentType)
  }
}
