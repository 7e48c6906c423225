import ChildProcesses
import Foundation

/// A web server of another project (hypercorn, in Python) on a free port of 127.0.0.1, as long as `body` runs.
/// `server.py` defines its responses.
public struct TestHTTPServer: Sendable {
    public enum Kind: Sendable {
        case plain
        /// The server has HTTP/2 and a certificate for `name`, which a certificate authority of the test signed.
        case tls(name: String)
    }

    /// The server needs a Python with hypercorn, cryptography and opentelemetry-proto; deploy/test makes one.
    public struct NoPython: Error, CustomStringConvertible {
        public let description =
            "set NAGZ_TEST_PYTHON to a Python with hypercorn, cryptography and opentelemetry-proto (deploy/test does)"
    }

    public let port: Int
    /// The file of the authority's certificate; nil without TLS.
    public let authority: String?
    /// The files of the webhook's secret and of the APNs key, which only their owner may read.
    public let webhookSecret: String
    public let apnsKey: String

    /// Returns the server's URL without a path.
    public func url(host: String = "127.0.0.1") -> String {
        "\(authority == nil ? "http" : "https")://\(host):\(port)"
    }

    public static func with<Result: Sendable>(
        _ kind: Kind = .plain, _ body: @Sendable (TestHTTPServer) async throws -> Result
    ) async throws -> Result {
        guard let python = ProcessInfo.processInfo.environment["NAGZ_TEST_PYTHON"] else { throw NoPython() }
        let folder = FileManager.default.temporaryDirectory.appending(path: "nagz-http-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try "3f1c6a92b7d84e05c1aa97d2e4b65f08\n".write(toFile: folder + "/secret", atomically: false, encoding: .utf8)
        try openssl("ecparam -name prime256v1 -genkey -noout -out ec.pem", in: folder)
        try openssl("pkcs8 -topk8 -nocrypt -in ec.pem -out apns.p8", in: folder)
        for file in ["secret", "apns.p8"] {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder + "/" + file)
        }
        var arguments = ["--webhook-secret", folder + "/secret", "--apns-key", folder + "/apns.p8"]
        var authority: String?
        if case .tls(let name) = kind {
            try makeCertificate(for: name, in: folder)
            arguments += ["--certificate", folder + "/server.pem", "--key", folder + "/server.key"]
            authority = folder + "/ca.pem"
        }
        let own = URL(filePath: #filePath).deletingLastPathComponent()
        let process = try ChildProcess(
            URL(filePath: python), [own.path() + "server.py"] + arguments, in: own, hasErrorPipe: false)
        defer {
            try? process.input.close()
            process.send(SIGTERM)
            process.wait()
        }
        let line = String(decoding: process.output.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else { throw NoPython() }
        return try await body(
            TestHTTPServer(
                port: port, authority: authority, webhookSecret: folder + "/secret", apnsKey: folder + "/apns.p8"))
    }

    private static func makeCertificate(for name: String, in folder: String) throws {
        let kind = name.first?.isNumber == true ? "IP" : "DNS"
        try "subjectAltName=\(kind):\(name)\n".write(toFile: folder + "/names", atomically: false, encoding: .utf8)
        let newKey = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
        try openssl("req -x509 \(newKey) -days 2 -subj /CN=test-authority -keyout ca.key -out ca.pem", in: folder)
        try openssl("req \(newKey) -subj /CN=test -keyout server.key -out server.csr", in: folder)
        try openssl(
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem",
            in: folder)
    }

    private static func openssl(_ words: String, in folder: String) throws {
        let process = try ChildProcess(
            URL(filePath: "/usr/bin/openssl"), words.split(separator: " ").map(String.init), in: URL(filePath: folder))
        let complaint = ChildProcess.text(process.errors)
        guard process.wait() == 0 else { throw ChildProcess.NotStarted(description: complaint) }
    }
}
