/// `penstock --version`: the libraries and the HTTP versions in use.
func versionLine(penstock: String, libcurl: String, tls: String, zlib: String, http: [String]) -> String {
  let protocols = http.map { "HTTP/" + $0 }.joined(separator: ", ")
  return "penstock \(penstock) (libcurl \(libcurl), \(tls), zlib \(zlib)) \(protocols)\n"
}
