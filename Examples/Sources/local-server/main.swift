// A server on this machine to try the other examples on, until it is interrupted: local-server [FOLDER]
import Foundation
import PenstockTesting

let folder = CommandLine.arguments.dropFirst().first ?? "."
let server = try ChunkServer(root: folder)
print(
  """
  \(server.url)/bytes/100m           100 MiB
  \(server.url)/chunked/5k?size=1k   the same kind of body in chunks, its length unknown
  \(server.url)/slow/1m?rate=100k    1 MiB in ten seconds
  \(server.url)/events?count=5       five server-sent events, then the end
  \(server.url)/status/503           a failure
  \(server.url)/file/NAME            files of \(folder), with ranges
  \(server.url)/echo                 what was sent
  """)
// Seen at once, also through a pipe.
fflush(nil)
for await _ in AsyncStream<Never>.makeStream().stream {}
