import TestSupport
import Testing

@testable import Penstock

@Suite struct FileNameTests {
  @Test(
    arguments: [
      ("plain.txt", "plain.txt"),
      ("with space.txt", "with space.txt"),
      ("naïve 文件.txt", "naïve 文件.txt"),
      ("../../etc/passwd", "passwd"),
      ("/etc/passwd", "passwd"),
      ("..\\..\\boot.ini", "boot.ini"),
      ("C:\\Windows\\system.ini", "system.ini"),
      ("..", ""), (".", ""), ("/", ""), ("a/..", ""), ("a/", ""), ("\\", ""), ("", ""), ("...", ""),
      (" ", ""), ("- . ~", ""),
      (".bashrc", "bashrc"), ("--force", "force"), ("~root", "root"), ("-.-x", "x"),
      ("a\u{0}b", "a_b"), ("a\r\nb", "a_b"), ("a\u{1b}[31mb", "a_[31mb"),
      ("a:b*c?d\"e<f>g|h", "a_b_c_d_e_f_g_h"),
      ("invoice\u{202E}fdp.exe", "invoicefdp.exe"), ("a\u{200B}b", "ab"), ("\u{FEFF}.x", "x"),
      ("a\u{2028}b\u{2029}c", "a_b_c"),
      ("name.  ", "name"), ("name...", "name"),
      // A mark behind a slash or dot makes one character of both; the system sees bytes.
      ("a/\u{301}b", "\u{301}b"), (".\u{301}x", "\u{301}x"), ("..\u{338}/\u{338}..", "\u{338}"),
    ])
  func `a name is made safe`(name: String, safe: String) {
    #expect(FileName.safe(name).replacing("__", with: "_") == safe)
  }

  @Test(
    arguments: [
      String(repeating: "x", count: 300), String(repeating: "x", count: 300) + ".tar.gz",
      String(repeating: "é", count: 150) + ".txt", String(repeating: "👩‍👩‍👧‍👦", count: 40),
      "e" + String(repeating: "\u{301}", count: 400), "e" + String(repeating: "\u{301}", count: 400) + ".txt",
      "a." + String(repeating: "y", count: 300), String(repeating: " a", count: 150) + " .b",
    ])
  func `a long name is cut at a character, before its ending`(name: String) {
    let safe = FileName.safe(name)
    #expect(safe.utf8.count <= FileName.limit)
    #expect(safe.utf8.count > FileName.limit / 2)
    #expect(!safe.unicodeScalars.contains("\u{FFFD}"))
    for ending in [".gz", ".txt", ".b"] where name.hasSuffix(ending) { #expect(safe.hasSuffix(ending)) }
  }

  @Test func `no name escapes its folder, hides, or is too long`() {
    var generator = SeededGenerator(seed: 8)
    let pieces = [
      "/", "\\", ".", "..", "-", "~", "a", "é", "\u{301}", "\u{202E}", "\u{0}", "\n", " ", "%2f", "👍", ".txt",
      String(repeating: "z", count: 90),
    ]
    for _ in 0..<2000 {
      let count = Int.random(in: 0..<12, using: &generator)
      let name = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
      let safe = FileName.safe(name)
      let bytes = Array(safe.utf8)
      #expect(!bytes.contains { $0 < 0x20 || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") })
      #expect(bytes.first != UInt8(ascii: ".") && bytes.first != UInt8(ascii: "-"))
      #expect(bytes.count <= FileName.limit)
      #expect(FileName.safe(safe) == safe)
    }
  }

  @Test(
    arguments: [
      ("http://host/a/b.txt", "b.txt"), ("http://host/a/b.txt?x=/y.z#/q", "b.txt"),
      ("http://host/a%20b.txt", "a b.txt"), ("http://host/%2e%2e%2fpasswd", "passwd"),
      ("http://host/", "download"), ("http://host", "download"), ("http://host/a/", "download"),
      ("http://host/..%5c", "download"), ("http://host/%00", "_"), ("http://host/100%", "100%"),
    ])
  func `without a field the name is the URL's last part`(url: String, name: String) {
    #expect(FileName.from(disposition: nil, url: url) == name)
    #expect(FileName.from(disposition: "attachment; filename=\"..\"", url: url) == name)
  }

  @Test func `the field comes before the URL`() {
    let name = FileName.from(disposition: "attachment; filename=\"../x.iso\"", url: "http://host/y")
    #expect(name == "x.iso")
  }

  @Test(
    arguments: [
      ("a.txt", 0, "a.txt"), ("a.txt", 1, "a (1).txt"), ("a.tar.gz", 2, "a.tar (2).gz"), ("a", 3, "a (3)"),
      (".profile", 1, ".profile (1)"), ("/d.x/a", 1, "/d.x/a (1)"), ("/a.txt", 1, "/a (1).txt"),
      ("d/e/a.b", 12, "d/e/a (12).b"), ("./a.b", 1, "./a (1).b"),
    ])
  func `a number goes before the ending`(path: String, number: Int, numbered: String) {
    #expect(FileName.numbered(path, number) == numbered)
  }

  @Test func `a path is split by bytes`() {
    for (path, folder, name) in [
      ("a/b/c", "a/b", "c"), ("/c", "/", "c"), ("c", ".", "c"), ("d/\u{301}c", "d", "\u{301}c"),
    ] {
      #expect(DownloadPlace.split(path).directory == folder)
      #expect(DownloadPlace.split(path).name == name)
    }
  }

  @Test func `text of a server shows no controls`() {
    #expect(PlainText.of("a\u{1b}[31m \r\n\tb\u{202E}c\u{85}") == "a [31m bc")
  }
}
