import Glibc
import Penstock
import Synchronization
import TestSupport
import Testing

@testable import PenstockBatchState

@Suite struct BatchStateTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private var path: String { folder("state.db") }

  @Test func `what succeeded in an earlier run is known, what failed is not`() async throws {
    do {
      let state = try await BatchState(path: path)
      try await state.record([
        .done("a", url: "http://h/a", status: 200, attempts: 1, bytes: 5, sha256: "00"),
        .failed(
          "b", url: "http://h/b", status: 503, attempts: 4,
          error: HTTPError(.httpStatus, phase: .head, message: "the server answered 503")),
      ])
      #expect(try await state.areDone(["a", "b", "c"]) == [false, false, false], "this run doesn't count")
      await state.close()
    }
    let state = try await BatchState(path: path)
    #expect(state.run == 2)
    #expect(try await state.areDone(["a", "b", "c"]) == [true, false, false])
    #expect(try await state.counts() == StateCounts(done: 1, failed: 1))
  }

  @Test func `attempts and the last error can be asked for`() async throws {
    let error = HTTPError(.connectFailed, phase: .connect, message: "refused")
    do {
      let state = try await BatchState(path: path)
      try await state.record([
        .failed("k", url: "http://u:p@h/?token=x", status: nil, attempts: 2, error: error)
      ])
      await state.close()
    }
    let state = try await BatchState(path: path)
    try await state.record([.failed("k", url: "http://h/", status: nil, attempts: 3, error: error)])
    let record = try #require(try await state.record(for: "k"))
    #expect(record.attempts == 5)
    #expect(record.errorKind == "connect")
    #expect(record.errorMessage == "refused")
    #expect(record.progress == .failed)
    #expect(try await state.failures().map(\.key) == ["k"])
    #expect(try await state.record(for: "other") == nil)
  }

  @Test func `secrets of a URL are not in the file`() async throws {
    let state = try await BatchState(path: path)
    let request = Request.get("http://user:pass@h/?token=abc", headers: ["Authorization": "Bearer s3cret"])
    let error = HTTPError(.connectFailed, phase: .connect, message: "refused")
    try await state.record([
      .failed(BatchState.key(request), url: request.url, status: nil, attempts: 1, error: error)
    ])
    let record = try #require(try await state.failures().first)
    for secret in ["pass", "abc", "s3cret"] {
      #expect(!record.url.contains(secret) && !record.key.contains(secret))
    }
  }

  @Test func `a later failure doesn't undo a success`() async throws {
    do {
      let state = try await BatchState(path: path)
      try await state.record([.done("k", url: "http://h/", status: 200, attempts: 1)])
      let error = HTTPError(.connectFailed, phase: .connect, message: "refused")
      try await state.record([.failed("k", url: "http://h/", status: nil, attempts: 1, error: error)])
      await state.close()
    }
    let state = try await BatchState(path: path)
    #expect(try await state.isDone("k"))
  }

  @Test func `a second run on one file is refused, and a third one after the first has gone is not`()
    async throws
  {
    var first: BatchState? = try await BatchState(path: path)
    let error = await #expect(throws: HTTPError.self) { try await BatchState(path: path) }
    #expect(error?.kind == .readFailed)
    #expect(error?.message.contains("in use by another run") == true)
    #expect(first?.run == 1)
    first = nil
    // The state's own queue may hold it a moment longer.
    #expect(await eventually { !folder.names.contains("state.db.lock") })
    #expect(try await BatchState(path: path).run == 2)
  }

  @Test func `after a close the file stands alone, and takes no more calls`() async throws {
    let state = try await BatchState(path: path)
    try await state.record([.done("k", url: "http://h/", status: 200, attempts: 1)])
    #expect(folder.names == ["state.db", "state.db-shm", "state.db-wal", "state.db.lock"])
    await state.close()
    await state.close()
    #expect(folder.names == ["state.db"])
    let late = await #expect(throws: HTTPError.self) { try await state.counts() }
    #expect(late?.kind == .invalidConfiguration)
    #expect(try await BatchState(path: path).isDone("k"))
    #expect(await eventually { folder.names == ["state.db"] }, "the last reference closes it too")
  }

  @Test func `a lock on a file that was removed meanwhile is worth nothing`() throws {
    // Who opened the lock file before the holder removed it gets the lock of a file that nobody sees any more.
    var first: StateLock? = try StateLock(for: path)
    let stale = open(path + ".lock", O_RDWR)
    first = nil
    #expect(first == nil && flock(stale, LOCK_EX | LOCK_NB) == 0)
    let second = try StateLock(for: path)
    #expect(folder.names == ["state.db.lock"])
    #expect(throws: HTTPError.self) { try StateLock(for: path) }
    withExtendedLifetime(second) { _ = close(stale) }
  }

  private final class Holders: Sendable {
    private let counts = Mutex((now: 0, most: 0, turns: 0))
    var most: Int { counts.withLock { $0.most } }
    var turns: Int { counts.withLock { $0.turns } }
    func begin() {
      counts.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
        $0.turns += 1
      }
    }
    func end() { counts.withLock { $0.now -= 1 } }
  }

  @Test(.timeLimit(.minutes(1))) func `of many that want the lock one has it at a time`() async throws {
    let holders = Holders()
    await withTaskGroup { [path] group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<200 {
            guard let lock = try? StateLock(for: path) else { continue }
            holders.begin()
            holders.end()
            withExtendedLifetime(lock) {}
          }
        }
      }
    }
    #expect(holders.most == 1)
    #expect(holders.turns > 0)
  }

  @Test func `a file that is no database, or another program's, is a clear error`() async throws {
    folder.write(String(repeating: "no database at all\n", count: 100), to: "text")
    let text = await #expect(throws: HTTPError.self) { try await BatchState(path: folder("text")) }
    #expect(text?.kind == .readFailed)
    #expect(text?.message.contains("can't be used") == true)
    #expect(folder.text("text")?.hasPrefix("no database") == true, "it is left as it was")

    let other = try SQLiteDatabase(folder("other.db"))
    try other.execute("CREATE TABLE theirs (x)")
    let foreign = await #expect(throws: HTTPError.self) { try await BatchState(path: folder("other.db")) }
    #expect(foreign?.message.contains("another program's database") == true)

    let missing = await #expect(throws: HTTPError.self) {
      try await BatchState(path: folder("no/such/state.db"))
    }
    #expect(missing?.kind == .readFailed)
    let later = try SQLiteDatabase(folder("later.db"))
    try later.execute("PRAGMA user_version=99")
    let version = await #expect(throws: HTTPError.self) { try await BatchState(path: folder("later.db")) }
    #expect(version?.message.contains("later version") == true)
  }

  @Test func `all records of a call are stored, or none`() async throws {
    let state = try await BatchState(path: path)
    try await state.record((0..<500).map { .done("k\($0)", url: "http://h/\($0)", status: 200, attempts: 1) })
    #expect(try await state.counts() == StateCounts(done: 500, failed: 0))
    try await state.record([])
    let database = try SQLiteDatabase(folder("t.db"))
    try database.execute("CREATE TABLE t (x UNIQUE)")
    #expect(throws: HTTPError.self) {
      try database.transaction { () throws(HTTPError) in
        try database.run("INSERT INTO t VALUES (?)", [.integer(1)])
        try database.run("INSERT INTO t VALUES (?)", [.integer(1)])
      }
    }
    var count: Int64 = -1
    try database.run("SELECT count(*) FROM t") { count = $0.integer(0) }
    #expect(count == 0)
  }

  @Test func `requests that are done are left out of what is read`() async throws {
    let requests = (0..<600).map { Request.get("http://h/\($0)") }
    do {
      let state = try await BatchState(path: path)
      try await state.record(
        requests.prefix(400).map { .done(BatchState.key($0), url: $0.url, status: 200, attempts: 1) })
      await state.close()
    }
    let state = try await BatchState(path: path)
    var urls: [String] = []
    for try await request in state.unfinished(requests) { urls.append(request.url) }
    #expect(urls == requests.dropFirst(400).map(\.url))
  }

  @Test func `a batch is recorded result by result`() async throws {
    let client = Client()
    let state = try await BatchState(path: path)
    let requests = [Request.get("no url"), .get("ftp://h/")]
    for try await result in client.batch(state.unfinished(requests)) {
      try await state.record([BatchState.record(result)])
    }
    let failures = try await state.failures()
    #expect(Set(failures.compactMap(\.errorKind)) == ["url", "scheme"])
    #expect(failures.allSatisfy { $0.attempts == 0 })
    await client.shutdown(.immediate)
  }

  @Test func `validators last from run to run`() async throws {
    do {
      let state = try await BatchState(path: path)
      await state.store(Validators(entityTag: "\"1\""), for: "http://h/")
      await state.store(Validators(entityTag: "\"2\"", lastModified: "then"), for: "http://h/")
      await state.close()
    }
    let state = try await BatchState(path: path)
    #expect(await state.validators(for: "http://h/") == Validators(entityTag: "\"2\"", lastModified: "then"))
    #expect(await state.validators(for: "http://h/other") == nil)
  }

  @Test func `inputs differ in method, URL, fields and content`() {
    let base = Request.get("http://h/")
    var keys = [BatchState.key(base)]
    keys.append(BatchState.key(.get("http://h/2")))
    keys.append(BatchState.key(.head("http://h/")))
    keys.append(BatchState.key(.get("http://h/", headers: ["A": "b"])))
    keys.append(BatchState.key(.get("http://h/", headers: ["A": "c"])))
    keys.append(BatchState.key(.post("http://h/")))
    keys.append(BatchState.key(.post("http://h/", body: .string("x"))))
    #expect(Set(keys).count == keys.count)
    #expect(BatchState.key(base) == BatchState.key(.get("http://h/")))
  }
}
