import StreamCore
import Testing

@testable import Penstock

@Suite struct OAuthTests {
  @Test func `the challenge of RFC 7636 comes out`() throws {
    let pkce = try PKCE(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    #expect(pkce.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    #expect(try PKCE().exportVerifier().utf8.count == 43)
    #expect(try PKCE().challenge != PKCE().challenge)
    for bad in ["short", String(repeating: "a", count: 129), String(repeating: "ü", count: 50)] {
      #expect(throws: HTTPError.self) { _ = try PKCE(verifier: bad) }
    }
  }

  @Test func `the authorization URL keeps the endpoint's query`() throws {
    let client = OAuth2Client(tokenURL: "https://id.example/token", clientID: "a b")
    let url = client.authorizationURL(
      endpoint: "https://id.example/auth?tenant=1", redirectURI: "http://127.0.0.1:1/cb", scope: "x y",
      state: "s&t", pkce: try PKCE(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))
    #expect(
      url
        == "https://id.example/auth?tenant=1&response_type=code&client_id=a%20b"
        + "&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcb&state=s%26t&scope=x%20y"
        + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256")
  }

  @Test func `a server's words lose the secrets that were sent`() {
    let body = #"{"error":"invalid_grant","error_description":"token rt-1 of cs-2 is\r\nunknown"}"#
    let error = OAuth2Error(body: Array(body.utf8), secrets: ["rt-1", "cs-2", ""])
    #expect(error.code == "invalid_grant")
    #expect(error.text == "token … of … is  unknown")
    #expect(error.error(status: 400, url: "https://id.example/").kind == .loginDenied)
    #expect(error.error(status: 503, url: "https://id.example/").kind == .httpStatus)
    let none = OAuth2Error(body: Array("<html>".utf8), secrets: [])
    #expect(none.code == nil)
    #expect(none.error(status: 401, url: "https://id.example/").message.contains("401"))
  }

  @Test func `polling follows RFC 8628`() {
    var polling = DevicePolling(interval: .seconds(5), end: .seconds(100))
    func answered(_ code: String?, _ transient: Bool = false, now: Int = 0) -> DevicePolling.Action {
      polling.answered(code, isTransient: transient, isToken: false, now: .seconds(now))
    }
    #expect(answered("authorization_pending") == .wait(.seconds(5)))
    #expect(answered("slow_down") == .wait(.seconds(10)))
    #expect(answered("authorization_pending") == .wait(.seconds(10)))
    #expect(answered(nil, true) == .wait(.seconds(20)))
    #expect(answered("access_denied") == .fail)
    #expect(answered("expired_token") == .expire)
    #expect(answered("authorization_pending", now: 90) == .expire)
    #expect(polling.answered(nil, isTransient: false, isToken: true, now: .seconds(500)) == .finish)
  }

  @Test func `device answers are read, bad ones aren't`() throws {
    let body =
      #"{"device_code":"d-secret","user_code":"U","verification_uri":"https://e.x/d","expires_in":1800,"interval":7}"#
    let device = try #require(DeviceAuthorization(Array(body.utf8)))
    #expect(device.userCode == "U")
    #expect(device.interval == .seconds(7))
    #expect(device.lifetime == .seconds(1800))
    var shown = "\(device)"
    dump(device, to: &shown)
    #expect(!shown.contains("d-secret"))
    #expect(DeviceAuthorization(Array(#"{"user_code":"U"}"#.utf8)) == nil)
    #expect(DeviceAuthorization([]) == nil)
  }
}
