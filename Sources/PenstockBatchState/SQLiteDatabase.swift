import CSQLite
import Glibc
import Penstock

/// A connection to an SQLite file: the one file that sees the library. Used by one thread at a time.
final class SQLiteDatabase {
  private let connection: OpaquePointer
  private let path: String
  private var statements: [String: OpaquePointer] = [:]

  /// Opens the file, or makes it.
  init(_ path: String) throws(HTTPError) {
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(
      path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
      nil)
    guard code == SQLITE_OK, let opened else {
      defer { sqlite3_close_v2(opened) }
      throw StateFailure.unreadable(path, Self.message(opened, code))
    }
    connection = opened
    self.path = path
    // A reader in another process (a query by hand) is waited for.
    sqlite3_busy_timeout(opened, 5000)
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(connection)
  }

  /// Runs statements without values or results.
  func execute(_ sql: String) throws(HTTPError) {
    let code = sqlite3_exec(connection, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure(code) }
  }

  /// Runs one statement; `row` is called for each row of the result.
  func run(
    _ sql: String, _ values: [SQLiteValue] = [], row: (SQLiteRow) -> Void = { _ in }
  ) throws(HTTPError) {
    let statement = try prepared(sql)
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    for (index, value) in values.enumerated() {
      let code = Self.bind(value, to: statement, at: Int32(index + 1))
      guard code == SQLITE_OK else { throw failure(code) }
    }
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: row(SQLiteRow(statement))
      case SQLITE_DONE: return
      case let code: throw failure(code)
      }
    }
  }

  /// Runs a closure in one transaction: all of it is in the file, or nothing.
  func transaction(_ body: () throws(HTTPError) -> Void) throws(HTTPError) {
    try execute("BEGIN IMMEDIATE")
    do throws(HTTPError) {
      try body()
      try execute("COMMIT")
    } catch {
      // What failed may have ended the transaction by itself.
      if sqlite3_get_autocommit(connection) == 0 { sqlite3_exec(connection, "ROLLBACK", nil, nil, nil) }
      throw error
    }
  }

  private func prepared(_ sql: String) throws(HTTPError) -> OpaquePointer {
    if let known = statements[sql] { return known }
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement else { throw failure(code) }
    statements[sql] = statement
    return statement
  }

  private static func bind(_ value: SQLiteValue, to statement: OpaquePointer, at index: Int32) -> Int32 {
    switch value {
    case .null: sqlite3_bind_null(statement, index)
    case .integer(let number): sqlite3_bind_int64(statement, index, number)
    case .text(var text):
      text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
          cshims_sqlite_bind_text(statement, index, $0.baseAddress, Int32(clamping: $0.count))
        }
      }
    }
  }

  private func failure(_ code: Int32) -> HTTPError {
    let text = Self.message(connection, code)
    switch code & 0xFF {
    case SQLITE_NOTADB, SQLITE_CORRUPT, SQLITE_CANTOPEN, SQLITE_ERROR, SQLITE_SCHEMA:
      return StateFailure.unreadable(path, text)
    default: return StateFailure.unwritable(path, text)
    }
  }

  private static func message(_ connection: OpaquePointer?, _ code: Int32) -> String {
    let text = connection.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
    return text.map { String(cString: $0) } ?? "error \(code)"
  }
}

/// A value of a statement.
enum SQLiteValue: Sendable {
  case null
  case integer(Int64)
  case text(String)

  static func optional(_ text: String?) -> SQLiteValue { text.map { .text($0) } ?? .null }
  static func optional(_ number: Int?) -> SQLiteValue { number.map { .integer(Int64($0)) } ?? .null }
}

/// A row of a result, for the time of the call that hands it out.
struct SQLiteRow {
  private let statement: OpaquePointer

  init(_ statement: OpaquePointer) { self.statement = statement }

  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

  func text(_ column: Int32) -> String? {
    sqlite3_column_text(statement, column).map { String(cString: $0) }
  }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
}
