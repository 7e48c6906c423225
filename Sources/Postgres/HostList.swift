import CPostgres
import Glibc

/// The hosts of a connection string, from libpq's `host`, `hostaddr` and `port`.
///
/// libpq resolves a host without address by a blocking call. Resolved addresses therefore go into `hostaddr`; the name
/// stays in `host`, for TLS and the password file.
struct HostList {
    private struct Host {
        let name: String
        let address: String
        let port: String
        var isNameToLookUp: Bool { address.isEmpty && HostList.isName(name) }
    }

    private let hosts: [Host]
    private let hasPorts: Bool

    /// Creates the list; nil if the lengths of the three lists do not match, which libpq refuses without a lookup.
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

    /// The distinct names to resolve, in the order in which libpq tries the hosts.
    var namesToResolve: [String] {
        hosts.reduce(into: []) { names, host in
            if host.isNameToLookUp, !names.contains(host.name) { names.append(host.name) }
        }
    }

    /// Returns `parameters` with one entry for each resolved address; hosts whose name has no address are left out.
    func applied(
        to parameters: [(keyword: String, value: String)], addresses: [String: [String]]
    ) -> [(keyword: String, value: String)] {
        let resolvedHosts = hosts.flatMap { host in
            host.isNameToLookUp
                ? (addresses[host.name] ?? []).map { Host(name: host.name, address: $0, port: host.port) } : [host]
        }
        var result = parameters.filter { !["host", "hostaddr", "port"].contains($0.keyword) }
        result.append(("host", resolvedHosts.map(\.name).joined(separator: ",")))
        result.append(("hostaddr", resolvedHosts.map(\.address).joined(separator: ",")))
        if hasPorts { result.append(("port", resolvedHosts.map(\.port).joined(separator: ","))) }
        return result
    }

    /// Returns whether libpq can try at least one host: one that has an address or needs no lookup.
    func isUsable(with addresses: [String: [String]]) -> Bool {
        hosts.contains { !$0.isNameToLookUp || addresses[$0.name]?.isEmpty == false }
    }

    /// Whether `host` is a name: neither a socket directory nor an address.
    static func isName(_ host: String) -> Bool {
        guard !host.isEmpty, !host.hasPrefix("/"), !host.hasPrefix("@") else { return false }
        var address = in6_addr()
        if unsafe inet_pton(AF_INET, host, &address) == 1 { return false }
        let withoutScope = String(host.prefix { $0 != "%" })
        return unsafe inet_pton(AF_INET6, withoutScope, &address) != 1
    }

    /// Returns `parameters` with libpq's defaults for those of `host`, `hostaddr` and `port` that are not set. The
    /// defaults come from the environment or are built in.
    static func addingHostDefaults(
        to parameters: [(keyword: String, value: String)]
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
