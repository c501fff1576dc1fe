import Penstock

/// `penstock batch --curl`: the curl command of each input, a line each. Nothing is sent.
enum BatchCurl {
  static func run(_ settings: Settings) async -> ExitStatus {
    let output = QueuedOutput()
    var status = ExitStatus.success
    do throws(Failure) {
      var inputs = try inputs(settings)
      while let input = try await next(&inputs) {
        if let failure = input.failure {
          StandardError.tell(failure.message)
          status = .someFailed
          continue
        }
        do throws(OutputError) {
          try await output.write(CurlText.text(settings, input) + "\n")
        } catch {
          throw .output(error)
        }
      }
      do throws(OutputError) { try await output.finish() } catch { throw .output(error) }
    } catch {
      return error.status(settings)
    }
    return status
  }

  private static func inputs(_ settings: Settings) throws(Failure) -> BatchInputReader.Iterator {
    do throws(CommandFailure) {
      return try BatchInputReader(settings).makeAsyncIterator()
    } catch {
      throw .command(error)
    }
  }

  private static func next(_ inputs: inout BatchInputReader.Iterator) async throws(Failure) -> BatchInput? {
    do throws(HTTPError) { return try await inputs.next() } catch { throw .http(error) }
  }
}
