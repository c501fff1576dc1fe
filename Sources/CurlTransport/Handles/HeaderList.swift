import CCurl
import StreamCore

/// A `curl_slist` that lives as long as the transfer that sends it.
@safe final class HeaderList {
  private(set) var list: UnsafeMutablePointer<curl_slist>?

  init() {}

  deinit { unsafe curl_slist_free_all(list) }

  /// Adds a line; false when there is no memory.
  @discardableResult
  func append(_ line: String) -> Bool {
    guard let longer = unsafe line.withCString({ unsafe curl_slist_append(list, $0) }) else { return false }
    unsafe list = longer
    return true
  }

  /// The request's fields as libcurl takes them; those that libcurl would add by itself are switched off.
  static func request(_ fields: HTTPFields) -> HeaderList? {
    let list = HeaderList()
    var hasAccept = false
    var fits = true
    for field in fields {
      switch field.name.lowercased() {
      case "content-length", "transfer-encoding":
        // The body decides these.
        continue
      case "accept": hasAccept = true
      default: break
      }
      fits = list.append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)") && fits
    }
    if !hasAccept { fits = list.append("Accept:") && fits }
    if !fields.contains("expect") { fits = list.append("Expect:") && fits }
    if !fields.contains("content-type") { fits = list.append("Content-Type:") && fits }
    return fits ? list : nil
  }
}
