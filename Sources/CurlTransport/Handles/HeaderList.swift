import CCurl
import StreamCore

/// A `curl_slist` that lives as long as the transfer that sends it.
@safe final class HeaderList {
  private(set) var list: UnsafeMutablePointer<curl_slist>?
  /// Whether the request says that its connection ends with it (RFC 9112 §9.6); libcurl leaves that to the server.
  private(set) var closesConnection = false

  init() {}

  deinit { unsafe curl_slist_free_all(list) }

  /// Adds a line; false when there is no memory.
  @discardableResult
  func append(_ line: String) -> Bool {
    guard let longer = unsafe line.withCString({ unsafe curl_slist_append(list, $0) }) else { return false }
    unsafe list = longer
    return true
  }

  /// Adds "name: value", or "name;" for an empty value, as libcurl wants it.
  private func append(
    _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, line: inout [UInt8]
  ) -> Bool {
    line.removeAll(keepingCapacity: true)
    unsafe line.append(contentsOf: name)
    line.append(value.isEmpty ? UInt8(ascii: ";") : UInt8(ascii: ":"))
    if !value.isEmpty {
      line.append(0x20)
      unsafe line.append(contentsOf: value)
    }
    line.append(0)
    let longer = unsafe line.withUnsafeBytes { bytes in
      unsafe curl_slist_append(list, bytes.bindMemory(to: CChar.self).baseAddress)
    }
    guard let longer = unsafe longer else { return false }
    unsafe list = longer
    return true
  }

  private static func saysClose(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
    unsafe String(decoding: value, as: UTF8.self).split { $0 == "," || $0 == " " || $0 == "\t" }
      .contains { $0.lowercased() == "close" }
  }

  /// Fields for a proxy alone.
  static func proxy(_ fields: HTTPFields) -> HeaderList? {
    let list = HeaderList()
    var fits = true
    var line: [UInt8] = []
    unsafe fields.forEachLine { name, value in fits = unsafe list.append(name, value, line: &line) && fits }
    return fits ? list : nil
  }

  /// Adds fields as lines to a list that somebody else frees; false when there is no memory.
  static func append(_ fields: HTTPFields, to list: inout UnsafeMutablePointer<curl_slist>?) -> Bool {
    for field in fields {
      let line = "\(field.name): \(field.value)"
      guard let longer = unsafe line.withCString({ unsafe curl_slist_append(list, $0) }) else { return false }
      unsafe list = longer
    }
    return true
  }

  /// The request's fields as libcurl takes them; those that libcurl would add by itself are switched off.
  /// With `leavesCookies`, libcurl's cookie engine sends the Cookie field.
  static func request(_ fields: HTTPFields, hasBody: Bool, leavesCookies: Bool) -> HeaderList? {
    let list = HeaderList()
    var fits = true
    var line: [UInt8] = []
    // libcurl adds this one by itself, for less than it takes to pass it on.
    let isAcceptDefault = fields[all: "accept"] == ["*/*"]
    unsafe fields.forEachLine { name, value in
      if isAcceptDefault, unsafe HTTPFields.isName(name, "accept") { return }
      // The body decides these.
      if unsafe HTTPFields.isName(name, "content-length") || HTTPFields.isName(name, "transfer-encoding") {
        return
      }
      if leavesCookies, unsafe HTTPFields.isName(name, "cookie") { return }
      fits = unsafe list.append(name, value, line: &line) && fits
      if unsafe HTTPFields.isName(name, "connection"), unsafe Self.saysClose(value) {
        list.closesConnection = true
      }
    }
    if !fields.contains("accept") { fits = list.append("Accept:") && fits }
    if hasBody {
      if !fields.contains("expect") { fits = list.append("Expect:") && fits }
      if !fields.contains("content-type") { fits = list.append("Content-Type:") && fits }
    }
    return fits ? list : nil
  }
}

/// The list of the last request: most requests of a client have the same fields. Used on the loop thread alone.
struct HeaderListCache {
  private var fields = HTTPFields()
  private var hasBody = false
  private var leavesCookies = false
  private var list: HeaderList?

  mutating func list(for transfer: Transfer, _ easy: EasyHandle) -> HeaderList? {
    let fields = transfer.request.headers
    let hasBody = transfer.upload != nil
    let leavesCookies = easy.profile.keepsCookies
    if let list, hasBody == self.hasBody, leavesCookies == self.leavesCookies,
      fields.isIdentical(to: self.fields)
    {
      return list
    }
    list = HeaderList.request(fields, hasBody: hasBody, leavesCookies: leavesCookies)
    self.fields = fields
    self.hasBody = hasBody
    self.leavesCookies = leavesCookies
    return list
  }
}
