/// The versions of a release: the only place where they are written. `deploy/package` reads the program's here, and tests
/// hold the API document and the changelog to them.
public enum NagzVersion {
    /// The program's version, with a section of its own in CHANGELOG.md.
    public static let current = "0.1.0"
    /// The version of the API, `info.version` of the API document.
    public static let api = "1.0.0"
    /// The oldest client that the server supports.
    public static let oldestClient = "1.0.0"
}
