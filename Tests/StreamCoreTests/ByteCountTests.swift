import StreamCore
import Testing

struct ByteCountTests {
  @Test func `units are powers of 1,024`() {
    #expect(ByteCount.kibibytes(3).bytes == 3072)
    #expect(ByteCount.mebibytes(3).bytes == 3 << 20)
    #expect(ByteCount.gibibytes(3).bytes == 3 << 30)
  }

  @Test func `what is too large for 64 bits is unlimited, never a trap`() {
    #expect(ByteCount.gibibytes(.max) == .unlimited)
    #expect(ByteCount.kibibytes(.min).bytes == .min)
    #expect(ByteCount.mebibytes(-1).bytes == -(1 << 20))
  }

  @Test func `it reads in the largest unit that divides it`() {
    #expect("\(ByteCount.bytes(1000))" == "1000 bytes")
    #expect("\(ByteCount.bytes(0))" == "0 bytes")
    #expect("\(ByteCount.kibibytes(1024))" == "1 MiB")
    #expect("\(ByteCount.kibibytes(1025))" == "1025 KiB")
    #expect("\(ByteCount.unlimited)" == "unlimited")
  }

  @Test func `it compares by size`() { #expect(ByteCount.kibibytes(1) < .mebibytes(1)) }
}
