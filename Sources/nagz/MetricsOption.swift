import Glibc
import Reactor
import Server

/// The address of `/metrics`: `--metrics ADDRESS:PORT`, `--metrics off`, or by default loopback with a port
/// derived from `--port`.
struct MetricsOption {
    /// The distance of the default port from `--port`, so that each instance on a machine has its own.
    static let portDistance: UInt16 = 90

    private var host = "127.0.0.1"
    private var port: UInt16
    private var isOff = false
    /// Whether the address was given, so that a failure to listen there is an error.
    private var isRequired = false

    /// Creates the default: loopback, with a port derived from `--port`. If the server cannot listen there, it has no
    /// metrics.
    /// - Parameter port: the port of `--port`. If it is 0, which means any free port, so is the port of metrics.
    init(beside port: UInt16) {
        let (higherPort, isTooHigh) = port.addingReportingOverflow(Self.portDistance)
        self.port = port == 0 ? 0 : isTooHigh ? port - Self.portDistance : higherPort
    }

    @Sendable
    init(_ text: String) throws {
        (isRequired, port) = (true, 0)
        guard text != "off" else {
            isOff = true
            return
        }
        guard let colon = text.lastIndex(of: ":"), colon > text.startIndex,
            let port = UInt16(text[text.index(after: colon)...])
        else {
            throw OptionError("takes ADDRESS:PORT, such as 127.0.0.1:9890, or off")
        }
        // An IPv6 address has brackets.
        host =
            text[..<colon].trimmingPrefix("[").hasSuffix("]")
            ? String(text[..<colon].dropFirst().dropLast()) : String(text[..<colon])
        self.port = port
    }

    /// Starts the listener.
    /// - Returns: a line with its address, or with the reason why there is none.
    /// - Throws: `Stop` if the operator chose the address and it cannot be used.
    func listen(_ server: NagzServer) async throws -> String {
        guard !isOff else { return "metrics are off" }
        do throws(SystemError) {
            let port = try await server.listenForMetrics(host: host, port: port)
            return "metrics at http://\(host.contains(":") ? "[\(host)]" : host):\(port)/metrics"
        } catch {
            let isTaken = error.number == EADDRINUSE
            guard isRequired else {
                return
                    "no metrics: \(isTaken ? "port \(port) is in use" : "\(error)"); --metrics ADDRESS:PORT chooses another"
            }
            throw isTaken
                ? Stop(.portTaken, "port \(port) is in use: pass another to --metrics, or --metrics off")
                : Stop(.configuration, "cannot listen for metrics on \(host) port \(port): \(error)")
        }
    }
}
