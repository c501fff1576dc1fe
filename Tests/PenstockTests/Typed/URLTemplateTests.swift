import Penstock
import Testing

struct URLTemplateTests {
  private static let values: [String: (any URLValue)?] = [
    "var": "value", "hello": "Hello World!", "path": "/foo/bar", "empty": "", "x": 1024, "y": 768,
    "none": nil,
    "half": "50%",
  ]

  // The examples of RFC 6570, levels 1 to 3.
  @Test(arguments: [
    ("{var}", "value"), ("{hello}", "Hello%20World%21"), ("{+var}", "value"), ("{+hello}", "Hello%20World!"),
    ("{half}", "50%25"), ("{+half}", "50%25"), ("{+path}/here", "/foo/bar/here"),
    ("here?ref={+path}", "here?ref=/foo/bar"),
    ("X{#var}", "X#value"), ("X{#hello}", "X#Hello%20World!"), ("map?{x,y}", "map?1024,768"),
    ("{x,hello,y}", "1024,Hello%20World%21,768"), ("{+x,hello,y}", "1024,Hello%20World!,768"),
    ("{+path,x}/here", "/foo/bar,1024/here"), ("{#x,hello,y}", "#1024,Hello%20World!,768"),
    ("{#path,x}/here", "#/foo/bar,1024/here"), ("X{.var}", "X.value"), ("X{.x,y}", "X.1024.768"),
    ("{/var}", "/value"), ("{/var,x}/here", "/value/1024/here"), ("{;x,y}", ";x=1024;y=768"),
    ("{;x,y,empty}", ";x=1024;y=768;empty"), ("{?x,y}", "?x=1024&y=768"),
    ("{?x,y,empty}", "?x=1024&y=768&empty="),
    ("?fixed=yes{&x}", "?fixed=yes&x=1024"), ("{&x,y,empty}", "&x=1024&y=768&empty="), ("{none}", ""),
    ("/a{/none}", "/a"), ("{?none}", ""), ("{?none,x}", "?x=1024"), ("a b", "a%20b"), ("%20", "%20"),
  ])
  func `the examples of the RFC`(_ template: String, _ expected: String) throws {
    #expect(try URLTemplate(template).expanded(Self.values) == expected)
  }

  @Test(arguments: ["{", "}", "{a", "a}", "{}", "{var*}", "{var:3}", "{!x}", "{a b}", "{a,}"])
  func `what can't be read is refused`(_ template: String) async {
    let error = await failure { try URLTemplate(template) }
    #expect(error?.kind == .invalidURL && error?.message.contains(template) == true)
  }

  @Test func `a variable without a value is named`() async {
    let error = await failure { try API().client.path("/users/{id}/{tab}", ["id": 7]).request() }
    #expect(error?.kind == .invalidURL && error?.message.contains("\"tab\"") == true)
  }

  @Test func `a value that can't be written is named`() async {
    let error = await failure { try URLTemplate("{x}").expanded(["x": Double.infinity]) }
    #expect(error?.kind == .encodingFailed && error?.message.contains("\"x\"") == true)
  }

  @Test func `a template is a path and a query of a call`() throws {
    let call = API().client.path("/users/{id}{?page,none}", ["id": 7, "page": 2, "none": nil]).query(
      "q", "x y")
    #expect(try call.request().url == "https://api.test/v1/users/7?page=2&q=x%20y")
  }

  @Test(arguments: ["../x", "a/../b", "..", "%2e%2e/x"]) func `a value can't climb out of a path`(
    _ value: String
  ) async {
    for template in ["/users/{+id}", "/users/{id}"] {
      let url = try? API().client.path(template, ["id": value]).request().url
      #expect(url.map { !$0.lowercased().replacing("%2e", with: ".").contains("/..") } ?? true)
    }
  }

  @Test func `its variables can be listed`() throws {
    #expect(try URLTemplate("/a/{b}{?c,d}").variables == ["b", "c", "d"])
  }
}
