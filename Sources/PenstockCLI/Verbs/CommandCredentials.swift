import Penstock
import Synchronization

/// The library's credentials for what the command line says.
enum CommandCredentials {
  /// One for the run: it remembers the server's challenges.
  private static let digests = Mutex<[String: DigestCredential]>([:])

  /// What `--netrc` and `--netrc-file` read; a file that was named must be readable.
  static func netrc(_ settings: Settings) throws(CommandFailure) -> NetrcFile? {
    // Read as any file that is named: it may be a pipe, as in `--netrc-file <(…)`.
    if let path = settings.credentials.netrcFile {
      return NetrcFile(parsing: String(decoding: try InputFile.read(.file(path)), as: UTF8.self))
    }
    do throws(HTTPError) {
      return settings.credentials.usesNetrc ? try NetrcFile.standard() : nil
    } catch {
      throw CommandFailure(status: ExitStatus(Int32(error.code)), message: error.message)
    }
  }

  /// Adds what belongs to the whole run.
  static func add(to configuration: inout ClientConfiguration, _ settings: Settings, netrc: NetrcFile?) {
    // What was said on the command line comes before what stands in a file.
    guard let netrc, settings.authorization == nil else { return }
    configuration.credentials.append(ScopedCredential(.netrc(netrc), for: .any))
  }

  /// The request with its own credential, where it needs one.
  static func apply(to request: Request, _ settings: Settings) -> Request {
    if let provider = settings.credentials.awsProvider,
      case .basic(let id, let secret) = settings.authorization
    {
      // A host that tells neither region nor service is refused when the request is sent.
      let keys = AWSCredential.Keys(id: id, secret: secret)
      do throws(HTTPError) {
        return request.authorized(by: try AWSCredential(curl: provider, url: request.url, keys))
      } catch {
        return request.authorized(by: FailingCredential(error: error))
      }
    }
    guard settings.credentials.usesDigest else { return request }
    if case .basic(let user, let password) = settings.authorization {
      return request.authorized(by: digest(user, password))
    }
    // A URL that can't be parsed is refused when it is sent.
    guard let taken = try? URLCredentials.taken(from: request.url) else { return request }
    var request = request
    request.url = taken.url
    return request.authorized(by: digest(taken.user, taken.password))
  }

  private static func digest(_ user: String, _ password: String) -> DigestCredential {
    digests.withLock { digests in
      let key = "\(user.utf8.count):\(user):\(password)"
      if let made = digests[key] { return made }
      let made = DigestCredential(user: user, password: password)
      digests[key] = made
      return made
    }
  }
}

/// Tells, when the request is sent, why its credential couldn't be made.
private struct FailingCredential: Credential {
  let error: HTTPError

  func authorize(
    _ request: inout Request, _ context: inout CredentialContext
  ) async throws(HTTPError) { throw error }
}
