import CPostgres
import Glibc

/// The hosts of a connection string, as libpq's `host`, `hostaddr` and `port` list them.
///
/// libpq looks names up itself, with a blocking call, where a host has no address. A name's address goes into `hostaddr`;
/// the name stays in `host`, where TLS and the password file look for it.
struct HostList {
    private struct Host {
        let name: String
        let address: String
        let port: String
        var isNameToLookUp: Bool { address.isEmpty && HostList.isName(name) }
    }

    private let hosts: [Host]
    private let hasPorts: Bool

    /// Nil where the three lists do not fit together, which libpq refuses without a lookup.
    init?(_ parameters: [(keyword: String, value: String)]) {
        func list(_ keyword: String) -> [String] {
            let value = parameters.last { $0.keyword == keyword }?.value ?? ""
            return value.isEmpty ? [] : value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let (names, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        let count = max(names.count, addresses.count)
        guard names.isEmpty || names.count == count, addresses.isEmpty || addresses.count == count,
            ports.count <= 1 || ports.count == count
        else { return nil }
        hasPorts = !ports.isEmpty
        hosts = (0..<count).map { index in
            Host(
                name: names.isEmpty ? "" : names[index], address: addresses.isEmpty ? "" : addresses[index],
                port: ports.count == 1 ? ports[0] : ports.isEmpty ? "" : ports[index])
        }
    }

    /// What must be looked up, each once, in the order in which libpq tries the hosts.
    var names: [String] {
        hosts.reduce(into: []) { names, host in
            if host.isNameToLookUp, !names.contains(host.name) { names.append(host.name) }
        }
    }

    /// `parameters` with an address for each name, one entry an address; hosts whose name has none are left out.
    func applied(
        to parameters: [(keyword: String, value: String)], addresses: [String: [String]]
    ) -> [(keyword: String, value: String)] {
        let resolved = hosts.flatMap { host in
            host.isNameToLookUp
                ? (addresses[host.name] ?? []).map { Host(name: host.name, address: $0, port: host.port) } : [host]
        }
        var result = parameters.filter { !["host", "hostaddr", "port"].contains($0.keyword) }
        result.append(("host", resolved.map(\.name).joined(separator: ",")))
        result.append(("hostaddr", resolved.map(\.address).joined(separator: ",")))
        if hasPorts { result.append(("port", resolved.map(\.port).joined(separator: ","))) }
        return result
    }

    /// Whether something would be left to connect to with these addresses.
    func isUsable(with addresses: [String: [String]]) -> Bool {
        hosts.contains { !$0.isNameToLookUp || addresses[$0.name]?.isEmpty == false }
    }

    /// Neither the folder of a socket nor an address.
    static func isName(_ host: String) -> Bool {
        guard !host.isEmpty, !host.hasPrefix("/"), !host.hasPrefix("@") else { return false }
        var address = in6_addr()
        if unsafe inet_pton(AF_INET, host, &address) == 1 { return false }
        let withoutScope = String(host.prefix { $0 != "%" })
        return unsafe inet_pton(AF_INET6, withoutScope, &address) != 1
    }

    /// `parameters` and, of `host`, `hostaddr` and `port`, what libpq would take from the environment.
    static func withDefaults(
        _ parameters: [(keyword: String, value: String)]
    ) -> [(keyword: String, value: String)] {
        guard let defaults = unsafe PQconndefaults() else { return parameters }
        defer { unsafe PQconninfoFree(defaults) }
        var result = parameters
        var option = unsafe defaults
        while let keyword = unsafe option.pointee.keyword {
            defer { unsafe option += 1 }
            let keyword = unsafe String(cString: keyword)
            guard ["host", "hostaddr", "port"].contains(keyword), let value = unsafe option.pointee.val,
                !parameters.contains(where: { $0.keyword == keyword })
            else { continue }
            result.append((keyword, unsafe String(cString: value)))
        }
        return result
    }
}
