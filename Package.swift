// swift-tools-version: 6.2
import PackageDescription

/// Every target is built in the Swift 6 language mode with these on.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Targets that touch C or raw memory also mark each unsafe use.
let strictAndMemorySafe: [SwiftSetting] = strict + [.strictMemorySafety()]

let package = Package(
  name: "Penstock",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "Penstock", targets: ["Penstock"]),
    .library(name: "PenstockTesting", targets: ["PenstockTesting"]),
    // What is done of a batch, in an SQLite file: a product of its own, so that the library needs no SQLite.
    .library(name: "PenstockBatchState", targets: ["PenstockBatchState"]),
    .executable(name: "penstock", targets: ["PenstockCLI"]),
  ],
  traits: [
    .trait(name: "Brotli", description: "Decode `br` bodies; needs libbrotli-dev."),
    .trait(name: "Zstd", description: "Decode `zstd` bodies; needs libzstd-dev."),
  ],
  targets: [
    .systemLibrary(
      name: "CCurl", path: "CShims/curl", pkgConfig: "libcurl",
      providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(
      name: "CZlib", path: "CShims/zlib", pkgConfig: "zlib",
      providers: [.apt(["libz-dev"])]),
    .systemLibrary(
      name: "CCrypto", path: "CShims/crypto", pkgConfig: "libcrypto",
      providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CSQLite", path: "CShims/sqlite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"])]),
    // epoll, eventfd and thread names: Swift's Glibc module has none of them.
    .systemLibrary(name: "CLinux", path: "CShims/linux"),
    .systemLibrary(
      name: "CBrotli", path: "CShims/brotli", pkgConfig: "libbrotlidec",
      providers: [.apt(["libbrotli-dev"])]),
    .systemLibrary(
      name: "CZstd", path: "CShims/zstd", pkgConfig: "libzstd",
      providers: [.apt(["libzstd-dev"])]),

    .target(name: "StreamCore", swiftSettings: strict),
    .target(name: "PollLoop", dependencies: ["CLinux"], swiftSettings: strictAndMemorySafe),
    .target(
      name: "CurlTransport", dependencies: ["StreamCore", "PollLoop", "CCurl"],
      swiftSettings: strictAndMemorySafe),
    .target(
      name: "Penstock",
      dependencies: [
        "StreamCore", "CurlTransport", "CZlib", "CCrypto", "CLinux",
        .target(name: "CBrotli", condition: .when(traits: ["Brotli"])),
        .target(name: "CZstd", condition: .when(traits: ["Zstd"])),
      ],
      swiftSettings: strict),
    .target(name: "PenstockTesting", dependencies: ["StreamCore"], swiftSettings: strict),
    .target(name: "PenstockBatchState", dependencies: ["Penstock", "CSQLite"], swiftSettings: strict),
    .executableTarget(
      name: "PenstockCLI", dependencies: ["Penstock", "PenstockBatchState"], swiftSettings: strict),

    // What several test targets share; it knows none of ours.
    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),
    .testTarget(
      name: "StreamCoreTests", dependencies: ["TestSupport", "StreamCore"], swiftSettings: strict),
    .testTarget(name: "PollLoopTests", dependencies: ["TestSupport", "PollLoop"], swiftSettings: strict),
    .testTarget(
      name: "CurlTransportTests", dependencies: ["TestSupport", "CurlTransport", "StreamCore", "PollLoop"],
      swiftSettings: strict),
    .testTarget(
      name: "PenstockTests",
      dependencies: ["TestSupport", "Penstock", "PenstockTesting", "StreamCore", "CZlib"],
      swiftSettings: strict),
    .testTarget(
      name: "PenstockBatchStateTests", dependencies: ["TestSupport", "PenstockBatchState", "Penstock"],
      swiftSettings: strict),
    .testTarget(
      name: "PenstockTestingTests", dependencies: ["PenstockTesting", "StreamCore"],
      swiftSettings: strict),
    .testTarget(
      name: "PenstockCLITests", dependencies: ["PenstockCLI", "Penstock", "PenstockTesting"],
      swiftSettings: strict),
    // Scenarios that the integration tests run in processes of their own.
    .executableTarget(
      name: "fault-probe", dependencies: ["TestSupport", "Penstock", "PenstockTesting", "CurlTransport"],
      path: "Tests/FaultProbe",
      swiftSettings: strict),
    .testTarget(
      name: "IntegrationTests",
      dependencies: ["TestSupport", "Penstock", "PenstockTesting", "CurlTransport"],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
