// swift-tools-version: 6.2
import PackageDescription

let penstock = Target.Dependency.product(name: "Penstock", package: "Penstock")
let testing = Target.Dependency.product(name: "PenstockTesting", package: "Penstock")

let package = Package(
  name: "PenstockExamples",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Penstock", path: "..")],
  targets: [
    .executableTarget(name: "demo", dependencies: [penstock, testing]),
    .executableTarget(name: "local-server", dependencies: [testing]),
    .executableTarget(name: "stream-body", dependencies: [penstock]),
    .executableTarget(name: "watch-events", dependencies: [penstock]),
    .executableTarget(name: "download-file", dependencies: [penstock]),
    .executableTarget(name: "fetch-many", dependencies: [penstock]),
    .executableTarget(name: "follow-events", dependencies: [penstock]),
    .executableTarget(name: "pipeline", dependencies: [penstock]),
    .executableTarget(name: "typed-api", dependencies: [penstock, testing]),
  ],
  swiftLanguageModes: [.v6]
)
