import Dispatch
import Glibc
public import Penstock
import Synchronization

/// What is done and what failed of a batch, kept in an SQLite file, so that a run that was killed continues where
/// it was.
///
/// ```swift
/// let state = try await BatchState(path: "crawl.db")
/// for try await result in client.batch(state.unfinished(requests)) {
///   print(result)                                      // first the result …
///   try await state.record([BatchState.record(result)])  // … then that it is there
/// }
/// ```
///
/// Record a result after it is where it belongs: a run that is killed between the two gives it again, and loses
/// none. A commit is safe against the death of the process at once, and against that of the machine a little
/// later.
///
/// One run at a time uses a file: it holds a lock on "FILE.lock", and another one is refused. Reading it by hand
/// (`sqlite3 FILE`) is fine at any time: the file is in WAL mode. `close` leaves FILE alone.
public final class BatchState: Sendable {
  private final class Connection: @unchecked Sendable {
    // Sendable: only the queue's blocks use it.
    private var database: SQLiteDatabase?
    private var lock: StateLock?

    init(_ database: SQLiteDatabase, _ lock: StateLock) {
      self.database = database
      self.lock = lock
    }

    deinit { close() }

    func open() throws(HTTPError) -> SQLiteDatabase {
      guard let database else {
        throw HTTPError(.invalidConfiguration, phase: .file, message: "the state file was closed before")
      }
      return database
    }

    func close() {
      // The lock goes last: closing the database still writes.
      database = nil
      lock = nil
    }
  }

  private let connection: Connection
  private let queue: DispatchQueue
  /// Which run of the file this is, from 1.
  public let run: Int64

  /// The layout of the file that this version writes.
  private static let version: Int64 = 1

  /// Opens a state file, or makes it.
  ///
  /// - Throws: `readFailed` when it can't be used: no such folder, no database, written by a later version, or in
  ///   use by another run.
  public init(path: String) async throws(HTTPError) {
    let queue = DispatchQueue(label: "penstock.state")
    self.queue = queue
    (connection, run) = try await Self.run(queue) { () throws(HTTPError) in try Self.open(path) }
  }

  /// Ends the use of the file and returns when it is whole by itself: no "FILE-wal", "FILE-shm" or "FILE.lock" is left
  /// beside it, unless another process has it open. Later calls throw `invalidConfiguration`; a second `close` does
  /// nothing. Without it the same happens soon after the last reference has gone.
  public func close() async {
    let connection = connection
    // It can't fail.
    try? await Self.run(queue) { () throws(HTTPError) in connection.close() }
  }

  private static func open(_ path: String) throws(HTTPError) -> (Connection, Int64) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw StateFailure.unreadable(path, "that is no name of a file")
    }
    let lock = try StateLock(for: path)
    let database = try SQLiteDatabase(path)
    try database.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY")
    var found: Int64 = 0
    try database.run("PRAGMA user_version") { found = $0.integer(0) }
    guard found <= version else {
      throw StateFailure.unreadable(path, "it was written by a later version of Penstock")
    }
    if found == 0 {
      // Somebody else's database is left alone.
      var tables: Int64 = 0
      try database.run("SELECT count(*) FROM sqlite_master") { tables = $0.integer(0) }
      guard tables == 0 else { throw StateFailure.unreadable(path, "it is another program's database") }
      try database.transaction { () throws(HTTPError) in try database.execute(layout) }
    }
    var run: Int64 = 0
    try database.transaction { () throws(HTTPError) in
      try database.run("INSERT INTO runs (started) VALUES (?)", [.integer(Int64(time(nil)))])
      try database.run("SELECT max(run) FROM runs") { run = $0.integer(0) }
    }
    return (Connection(database, lock), run)
  }

  private static let layout = """
    CREATE TABLE runs (run INTEGER PRIMARY KEY, started INTEGER NOT NULL);
    CREATE TABLE inputs (
      key TEXT PRIMARY KEY, url TEXT NOT NULL, done INTEGER NOT NULL, status INTEGER, attempts INTEGER NOT NULL,
      bytes INTEGER, sha256 TEXT, kind TEXT, message TEXT, ended INTEGER NOT NULL, run INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE validators (url TEXT PRIMARY KEY, etag TEXT, modified TEXT) WITHOUT ROWID;
    PRAGMA user_version=\(version);
    """

  /// Which of these inputs succeeded in an earlier run, in their order. Those that succeeded in this run don't
  /// count: an input that is there twice is asked for twice.
  public func areDone(_ keys: [String]) async throws(HTTPError) -> [Bool] {
    let run = run
    return try await perform { database throws(HTTPError) in
      var answers: [Bool] = []
      answers.reserveCapacity(keys.count)
      for key in keys {
        var isDone = false
        try database.run("SELECT done, run FROM inputs WHERE key = ?", [.text(key)]) { row in
          isDone = row.integer(0) == 1 && row.integer(1) < run
        }
        answers.append(isDone)
      }
      return answers
    }
  }

  /// Whether an input succeeded in an earlier run.
  public func isDone(_ key: String) async throws(HTTPError) -> Bool { try await areDone([key])[0] }

  /// Stores what became of inputs, all or none. Attempts are added to those of earlier runs.
  public func record(_ records: [StateRecord]) async throws(HTTPError) {
    if records.isEmpty { return }
    let run = run
    try await perform { database throws(HTTPError) in
      let now = Int64(time(nil))
      try database.transaction { () throws(HTTPError) in
        for record in records { try database.run(Self.upsert, Self.values(record, run, now)) }
      }
    }
  }

  private static let upsert = """
    INSERT INTO inputs (key, url, done, status, attempts, bytes, sha256, kind, message, ended, run)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET
      url = excluded.url, done = max(done, excluded.done), status = excluded.status,
      attempts = attempts + excluded.attempts, bytes = excluded.bytes, sha256 = excluded.sha256,
      kind = excluded.kind, message = excluded.message, ended = excluded.ended,
      run = CASE WHEN done = 1 THEN run ELSE excluded.run END
    """

  private static func values(_ record: StateRecord, _ run: Int64, _ now: Int64) -> [SQLiteValue] {
    [
      .text(record.key), .text(record.url), .integer(Int64(record.progress.rawValue)),
      .optional(record.status), .integer(Int64(record.attempts)),
      record.bytes.map { .integer($0) } ?? .null, .optional(record.sha256), .optional(record.errorKind),
      .optional(record.errorMessage), .integer(record.ended > 0 ? record.ended : now), .integer(run),
    ]
  }

  /// What is known of one input; nil when it never ended.
  public func record(for key: String) async throws(HTTPError) -> StateRecord? {
    try await records("WHERE key = ?", [.text(key)]).first
  }

  /// Inputs that failed in their last run, the latest first.
  public func failures(limit: Int = 1000) async throws(HTTPError) -> [StateRecord] {
    try await records("WHERE done = 0 ORDER BY ended DESC, key LIMIT ?", [.integer(Int64(limit))])
  }

  /// How many are done and how many failed.
  public func counts() async throws(HTTPError) -> StateCounts {
    try await perform { database throws(HTTPError) in
      var counts = StateCounts(done: 0, failed: 0)
      try database.run("SELECT done, count(*) FROM inputs GROUP BY done") { row in
        if row.integer(0) == 1 {
          counts.done = Int(row.integer(1))
        } else {
          counts.failed = Int(row.integer(1))
        }
      }
      return counts
    }
  }

  private func records(_ condition: String, _ values: [SQLiteValue]) async throws(HTTPError) -> [StateRecord]
  {
    let sql = """
      SELECT key, url, done, status, attempts, bytes, sha256, kind, message, ended FROM inputs \(condition)
      """
    return try await perform { database throws(HTTPError) in
      var records: [StateRecord] = []
      try database.run(sql, values) { row in
        records.append(
          StateRecord(
            key: row.text(0) ?? "", url: row.text(1) ?? "", progress: row.integer(2) == 1 ? .done : .failed,
            status: row.isNull(3) ? nil : Int(row.integer(3)), attempts: Int(row.integer(4)),
            bytes: row.isNull(5) ? nil : row.integer(5), sha256: row.text(6), errorKind: row.text(7),
            errorMessage: row.text(8), ended: row.integer(9)))
      }
      return records
    }
  }

  // MARK: the queue

  func perform<Value: Sendable>(
    _ body: @escaping @Sendable (SQLiteDatabase) throws(HTTPError) -> Value
  ) async throws(HTTPError) -> Value {
    let connection = connection
    return try await Self.run(queue) { () throws(HTTPError) in try body(try connection.open()) }
  }

  /// SQLite may wait for the disk: never on a thread that runs tasks.
  private static func run<Value: Sendable>(
    _ queue: DispatchQueue, _ body: @escaping @Sendable () throws(HTTPError) -> Value
  ) async throws(HTTPError) -> Value {
    let result: Result<Value, HTTPError> = await withUnsafeContinuation { continuation in
      queue.async {
        let result: Result<Value, HTTPError>
        do throws(HTTPError) { result = .success(try body()) } catch { result = .failure(error) }
        continuation.resume(returning: result)
      }
    }
    return try result.get()
  }
}
