import Contract
import Foundation

/// A server's audit operations over HTTP, through `curl`, which supports proxies and certificates.
struct AuditServer: Sendable {
    private let base: String
    private let token: String?

    /// - Parameter base: such as `https://nagz.example.org`.
    init(_ base: String) throws {
        guard let url = URL(string: base), url.scheme == "https" || url.scheme == "http", url.host != nil else {
            throw Stop(.usage, "--url takes an http or https address, such as http://127.0.0.1:9800")
        }
        self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
        token = ProcessInfo.processInfo.environment["NAGZ_TOKEN"]
    }

    /// One answer, whole.
    func call<Parameters, Answer>(
        _ endpoint: Endpoint<Parameters, NoBody, Answer>, _ parameters: Parameters
    ) throws -> Answer {
        var bytes: [UInt8] = []
        let target = base + endpoint.target(parameters)
        try Curl(target, token, ["--max-time", "60", "--write-out", "\n%{http_code}"]).run { bytes += $0 }
        let place = bytes.lastIndex(of: UInt8(ascii: "\n")) ?? bytes.startIndex
        let status = Int(String(decoding: bytes[place...].dropFirst(), as: UTF8.self)) ?? 0
        do {
            let body = Array(bytes[..<place])
            return try endpoint.answer(status: status, body: body.span)
        } catch {
            throw Stop(.unavailable, "\(base) answered \(error.status): \(error.message)")
        }
    }

    /// Passes on the bytes of an export as they arrive.
    func export(_ query: AuditExportQuery, _ take: (Data) throws -> Void) throws {
        try Curl(base + API.exportAuditLog.target(query), token, ["--no-buffer", "--fail"]).run(take)
    }

    /// Sends text to another address.
    static func push(_ text: String, to address: String) throws {
        guard URL(string: address)?.scheme?.hasPrefix("http") == true else {
            throw Stop(.usage, "--push takes an http or https address")
        }
        let options = ["--max-time", "30", "--fail", "--header", "Content-Type: text/plain; charset=utf-8"]
        try Curl(address, nil, options + ["--data-binary", text]).run { _ in }
    }
}

/// One run of `curl`.
private struct Curl {
    private let process = Process()
    private let address: String
    private let token: String?

    init(_ address: String, _ token: String?, _ options: [String]) {
        self.address = address
        self.token = token
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["curl", "--silent", "--show-error", "--connect-timeout", "10"] + options + ["--config", "-"]
    }

    /// Passes on its output as it arrives. Address and token go through standard input, where no other process can read
    /// them.
    func run(_ take: (Data) throws -> Void) throws {
        let (input, output, errors) = (Pipe(), Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
        do { try process.run() } catch { throw Stop(.unavailable, "curl cannot be started: install it") }
        var lines = "url = \"\(address)\"\n"
        if let token { lines += "header = \"Authorization: Bearer \(token.filter { $0 != "\"" && !$0.isNewline })\"\n" }
        try? input.fileHandleForWriting.write(contentsOf: Data(lines.utf8))
        try? input.fileHandleForWriting.close()
        do {
            while let data = try output.fileHandleForReading.read(upToCount: 1 << 18), !data.isEmpty { try take(data) }
        } catch {
            process.terminate()
            throw error
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let said = String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self)
            let line =
                said.split(separator: "\n").last.map(String.init) ?? "curl ended with \(process.terminationStatus)"
            let hint = line.contains("401") ? " (NAGZ_TOKEN wants a fresh access token)" : ""
            throw Stop(.unavailable, line + hint)
        }
    }
}
