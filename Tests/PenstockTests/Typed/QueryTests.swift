import Foundation
@testable import Penstock
import Testing

struct QueryTests {
  private struct Filter: Codable, Sendable {
    var state = "open"
    var minAge: Int? = nil
  }

  private struct Search: Codable, Sendable {
    var page = 1
    var search = "ricky & co"
    var isActive = true
    var missing: String? = nil
    var tags = ["a", "b,c"]
    var filter = Filter()
    var ratio = 1.0
    var price = Decimal(string: "9.90") ?? 0
  }

  private func query(_ encoding: QueryEncoding, _ model: some Encodable) throws -> String {
    try encoding.items(model).map { "\($0.name)=\($0.value ?? "")" }.joined(separator: "&")
  }

  private func query(_ call: Call) throws -> String {
    let url = try call.request().url
    return url.firstIndex(of: "?").map { String(url[url.index(after: $0)...]) } ?? ""
  }

  @Test func `a model's properties become items in their order, nil left out`() throws {
    #expect(
      try query(.standard, Search())
        == "page=1&search=ricky & co&isActive=true&tags=a&tags=b,c&filter[state]=open&ratio=1&price=9.9")
  }

  @Test func `arrays can be written in five ways`() throws {
    let model = ["t": ["a", "b"]]
    #expect(try query(QueryEncoding(arrays: .repeated), model) == "t=a&t=b")
    #expect(try query(QueryEncoding(arrays: .comma), model) == "t=a,b")
    #expect(try query(QueryEncoding(arrays: .separated("|")), model) == "t=a|b")
    #expect(try query(QueryEncoding(arrays: .brackets), model) == "t[]=a&t[]=b")
    #expect(try query(QueryEncoding(arrays: .indexed), model) == "t[0]=a&t[1]=b")
    #expect(try query(QueryEncoding(arrays: .comma), ["t": [String]()]) == "")
  }

  @Test func `nested values can be written in three ways`() throws {
    let model = ["f": ["b": ["c": 1], "a": ["d": 2]]]
    #expect(try query(QueryEncoding(nesting: .brackets), model) == "f[a][d]=2&f[b][c]=1")
    #expect(try query(QueryEncoding(nesting: .dots), model) == "f.a.d=2&f.b.c=1")
    #expect(try query(QueryEncoding(nesting: .json), model) == #"f={"a":{"d":2},"b":{"c":1}}"#)
  }

  @Test func `an array of models is indexed, or JSON`() throws {
    let model = ["f": [Filter(), Filter(state: "a\"b\\\n", minAge: 3)]]
    #expect(try query(.standard, model) == "f[0][state]=open&f[1][state]=a\"b\\\n&f[1][minAge]=3")
    #expect(
      try query(QueryEncoding(nesting: .json), model)
        == #"f=[{"state":"open"},{"state":"a\"b\\\n","minAge":3}]"#)
  }

  @Test func `booleans, dates and data have forms`() throws {
    struct Model: Encodable {
      let on = true
      let off = false
      let date = Date(timeIntervalSince1970: 1_700_000_000.25)
      let data = Data([0xFB, 0xFF, 0x01])
    }
    #expect(
      try query(.standard, Model()) == "on=true&off=false&date=2023-11-14T22:13:20Z&data=+/8B")
    #expect(
      try query(QueryEncoding(bools: .digits, dates: .unixSeconds, data: .base64URL), Model())
        == "on=1&off=0&date=1700000000.25&data=-_8B")
    #expect(
      try query(
        QueryEncoding(bools: .custom(true: "yes", false: "no"), dates: .unixMilliseconds, data: .hex), Model()
      )
        == "on=yes&off=no&date=1700000000250&data=fbff01")
    #expect(
      try query(QueryEncoding(dates: .format("dd.MM.yyyy")), ["d": Date(timeIntervalSince1970: 0)])
        == "d=01.01.1970")
    let custom = DateForm.custom({ _ in "now" }, { _ in nil })
    #expect(try query(QueryEncoding(dates: custom), ["d": Date()]) == "d=now")
  }

  @Test func `names can be in snake case, kebab case or your own`() throws {
    let model = ["createdAt": ["userID": 1]]
    #expect(try query(QueryEncoding(keys: .snakeCase), model) == "created_at[user_id]=1")
    #expect(try query(QueryEncoding(nesting: .dots, keys: .kebabCase), model) == "created-at.user-id=1")
    #expect(try query(QueryEncoding(keys: .custom { $0.uppercased() }), model) == "CREATEDAT[USERID]=1")
    #expect(KeyForm.snakeCase.text("myURLPath") == "my_url_path")
    #expect(KeyForm.snakeCase.text("already_snake") == "already_snake")
  }

  @Test func `items are percent-encoded, names and values`() throws {
    let call = API().client.path("x").query("a b", "c&d=e+ü").query("f[]", 1)
    #expect(try query(call) == "a%20b=c%26d%3De%2B%C3%BC&f%5B%5D=1")
  }

  @Test func `items come from pairs, repeated names, arrays, models and builders, in order`() throws {
    let more = true
    let call = API().client.path("x")
      .query("page", "1").query("page", 2).query("none", nil as Int?)
      .query(["name": "John", "limit": 1, "gone": nil])
      .query("ids", [1, 2])
      .query(Filter(state: "s"))
      .query {
        QueryItem("b", true)
        QueryItem("nil", nil as String?)
        if more { QueryItem("m", 1) }
        for index in 0..<2 { QueryItem("i", index) }
        QueryItem("flag")
      }
    #expect(
      try query(call)
        == "page=1&page=2&name=John&limit=1&ids=1&ids=2&state=s&b=true&m=1&i=0&i=1&flag")
  }

  @Test func `the encoding holds wherever it stands in the chain, and beats the client's`() throws {
    let api = API("https://h") { $0.api.query.arrays = .comma }
    let call = api.client.path("x").query("t", ["a", "b"])
    #expect(try query(call) == "t=a%2Cb")
    #expect(try query(call.queryEncoding(QueryEncoding(arrays: .brackets))) == "t%5B%5D=a&t%5B%5D=b")
  }

  @Test func `what can't be a query is named`() async {
    let client = API().client
    let noNames = await failure { try client.path("x").query([1, 2] as [Int]).request() }
    #expect(noNames?.kind == .encodingFailed && noNames?.message.contains("names") == true)
    let notFinite = await failure { try client.path("x").query(["a": ["b": Double.nan]]).request() }
    #expect(notFinite?.kind == .encodingFailed && notFinite?.message.contains("a.b") == true)
    let item = await failure { try client.path("x").query("rate", Double.infinity).request() }
    #expect(item?.kind == .encodingFailed && item?.message.contains("rate") == true)
  }

  @Test func `items are set and added in a URL, all else left as it is`() {
    #expect(QueryText.setting([QueryItem("p", text: "2")], in: "h?a=%41&p=1&p=0&b#f") == "h?a=%41&p=2&b#f")
    #expect(QueryText.setting([QueryItem("p", text: "2")], in: "h#f") == "h?p=2#f")
    #expect(QueryText.setting([QueryItem("p", text: "2")], in: "h?a") == "h?a&p=2")
    #expect(QueryText.adding([QueryItem("p", text: "2")], to: "h?") == "h?p=2")
  }

  @Test func `a request's own URL takes items too`() throws {
    var request = Request.get("https://h/x?a=1#f")
    try request.addQuery("b", 2)
    try request.addQuery("c", nil)
    #expect(request.url == "https://h/x?a=1&b=2#f")
  }
}
