/// How many exchanges may run at once.
package struct AdmissionLimits: Sendable, Hashable {
  package var total = 256
  package var perHost = 16
  package var streamsPerConnection = 100
  package var longLived = 16_384

  package init() {}
}
