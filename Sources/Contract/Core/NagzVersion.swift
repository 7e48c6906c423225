/// The versions of a release, which are declared only here. `deploy/package` reads the program's version, and tests
/// compare the versions with those in the API document and the changelog.
public enum NagzVersion {
    /// The program's version. CHANGELOG.md has a section for it.
    public static let current = "0.1.0"
    /// The version of the API, `info.version` of the API document.
    public static let api = "1.0.0"
    /// The oldest client that the server supports.
    public static let oldestClient = "1.0.0"
}
