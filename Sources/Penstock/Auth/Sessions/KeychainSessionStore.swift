#if canImport(Security)
  import Foundation
  import Security
  public import StreamCore

  /// Keeps a session in the keychain of an Apple system. It is written by the documentation and not tested: this
  /// project is built and tested on Linux.
  public struct KeychainSessionStore: SessionStore {
    private let service: String
    private let account: String

    /// The item's service and account.
    public init(service: String, account: String = "session") {
      self.service = service
      self.account = account
    }

    private var query: [CFString: Any] {
      [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account]
    }

    /// Nil when there is no item.
    public func load() async throws(HTTPError) -> Session? {
      var result: CFTypeRef?
      let asked = query.merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { $1 }
      switch SecItemCopyMatching(asked as CFDictionary, &result) {
      case errSecItemNotFound: return nil
      case errSecSuccess:
        if let data = result as? Data, let session = Session(encoded: Array(data)) { return session }
        throw HTTPError(.readFailed, phase: .file, message: "the keychain's item holds no session")
      case let status:
        throw HTTPError(.readFailed, phase: .file, message: "the keychain can't be read (\(status))")
      }
    }

    /// Throws `HTTPError.Kind.writeFailed`.
    public func save(_ session: Session) async throws(HTTPError) {
      let data = Data(session.encoded)
      var status = SecItemUpdate(query as CFDictionary, [kSecValueData: data] as CFDictionary)
      if status == errSecItemNotFound {
        let item = query.merging([
          kSecValueData: data, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]) { $1 }
        status = SecItemAdd(item as CFDictionary, nil)
      }
      if status != errSecSuccess {
        throw HTTPError(.writeFailed, phase: .file, message: "the keychain can't be written (\(status))")
      }
    }

    /// Throws `HTTPError.Kind.writeFailed`.
    public func clear() async throws(HTTPError) {
      let status = SecItemDelete(query as CFDictionary)
      if status != errSecSuccess, status != errSecItemNotFound {
        throw HTTPError(
          .writeFailed, phase: .file, message: "the keychain's item can't be removed (\(status))")
      }
    }
  }
#endif
