// A pipeline in flat memory, whatever the size: a gzip file of NDJSON is downloaded, unpacked, read row by row, and posted
// on in batches, no faster than the receiver takes them: pipeline FROM TO
import Penstock

if CommandLine.arguments.count == 3 {
  let pipeline = Pipeline(from: CommandLine.arguments[1], to: CommandLine.arguments[2])
  do {
    print(try await pipeline.run())
  } catch {
    print("failed: \(error)")
  }
} else {
  print("usage: pipeline FROM TO")
  print(
    "FROM is the URL of a gzip file with one JSON object a line; TO gets the objects, 500 a POST, as NDJSON.")
}
