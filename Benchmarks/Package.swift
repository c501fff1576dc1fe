// swift-tools-version: 6.2
import PackageDescription

/// Benchmarks are a package of their own, so that users of Penstock never resolve what they need.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
  name: "PenstockBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Penstock", path: "..")
  ],
  targets: [
    .target(name: "BenchReport"),
    .target(name: "BenchOptions", swiftSettings: strict),
    .executableTarget(
      name: "bare-loop", dependencies: ["BenchReport"], linkerSettings: [.linkedLibrary("curl")]),
    .executableTarget(name: "holder"),
    .executableTarget(name: "command-run"),
    .executableTarget(
      name: "penstock-bench",
      dependencies: ["BenchReport", "BenchOptions", .product(name: "Penstock", package: "Penstock")],
      swiftSettings: strict),
    .executableTarget(
      name: "framing-bench", dependencies: [.product(name: "Penstock", package: "Penstock")],
      swiftSettings: strict),
    .executableTarget(
      name: "cancel-bench",
      dependencies: [
        .product(name: "Penstock", package: "Penstock"),
        .product(name: "PenstockTesting", package: "Penstock"),
      ], swiftSettings: strict),
    .target(name: "URLSessionRoots", linkerSettings: [.linkedLibrary("curl")]),
    .executableTarget(
      name: "urlsession-bench", dependencies: ["BenchReport", "BenchOptions", "URLSessionRoots"],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
