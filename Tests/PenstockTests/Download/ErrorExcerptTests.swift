import Testing

@testable import Penstock

@Suite struct ErrorExcerptTests {
  @Test(arguments: [
    "status 404", "404 Not Found\n", "Not found.", "", " \r\n",
    "<html><head><title>404 Not Found</title></head><body><h1>404 Not Found</h1></body></html>",
  ]) func `a page that repeats the status line adds nothing`(page: String) {
    #expect(ErrorExcerpt.of(page, answer: "404 Not Found") == "")
  }

  @Test func `what a page says beyond that is told, without tags and in one line`() {
    #expect(ErrorExcerpt.of("No such thing", answer: "404 Not Found") == "No such thing")
    #expect(
      ErrorExcerpt.of(
        "<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Err",
        answer: "403 Forbidden") == "AccessDenied Request has expired")
    #expect(ErrorExcerpt.of("{\"a\": \"<b>\"}", answer: "400") == "{\"a\": \"<b>\"}")
  }
}
