import Testing

@testable import Postgres

@Suite("Hosts of a connection string")
struct HostListTests {
    private func applied(
        _ url: String, _ addresses: [String: [String]]
    ) throws -> (names: [String], lists: [String: String]) {
        let parameters = try ConnectionOptions(url: url).parameters
        let hosts = try #require(HostList(parameters))
        let lists = hosts.applied(to: parameters, addresses: addresses).filter {
            ["host", "hostaddr", "port", "dbname"].contains($0.keyword)
        }
        return (hosts.namesToResolve, Dictionary(uniqueKeysWithValues: lists.map { ($0.keyword, $0.value) }))
    }

    @Test("a host name keeps its place and port, with one entry for each of its addresses")
    func names() throws {
        let (names, lists) = try applied(
            "postgres://a.test:1,b.test:2,a.test:3/d",
            ["a.test": ["192.0.2.1", "2001:db8::1"], "b.test": ["192.0.2.2"]])
        #expect(names == ["a.test", "b.test"])
        #expect(
            lists == [
                "dbname": "d", "host": "a.test,a.test,b.test,a.test,a.test",
                "hostaddr": "192.0.2.1,2001:db8::1,192.0.2.2,192.0.2.1,2001:db8::1", "port": "1,1,2,3,3",
            ])
    }

    @Test("hosts without an address are left out, and a single port is every host's")
    func unknown() throws {
        let (_, lists) = try applied("host=a.test,b.test port=7 dbname=d", ["b.test": ["192.0.2.2"]])
        #expect(lists == ["dbname": "d", "host": "b.test", "hostaddr": "192.0.2.2", "port": "7"])
    }

    @Test("sockets, addresses and names with a given address are left unchanged")
    func literals() throws {
        let (names, lists) = try applied(
            "host=/run/db,192.0.2.1,::1,fe80::1%eth0,a.test,b.test hostaddr=,,,,192.0.2.9, port=1,2,3,4,5,",
            ["b.test": ["192.0.2.2"]])
        #expect(names == ["b.test"])
        #expect(
            lists == [
                "host": "/run/db,192.0.2.1,::1,fe80::1%eth0,a.test,b.test", "hostaddr": ",,,,192.0.2.9,192.0.2.2",
                "port": "1,2,3,4,5,",
            ])
    }

    @Test(
        "a connection string without host names has nothing to look up",
        arguments: ["", "host=/run/db", "host=@db", "hostaddr=10.0.0.1"])
    func nothing(url: String) throws {
        let hosts = try HostList(ConnectionOptions(url: url).parameters)
        #expect(hosts?.namesToResolve.isEmpty == true)
    }

    @Test(
        "lists of different lengths are left to libpq, which refuses them",
        arguments: ["host=a,b port=1,2,3", "host=a,b hostaddr=10.0.0.1"])
    func mismatch(url: String) throws {
        #expect(try HostList(ConnectionOptions(url: url).parameters) == nil)
    }
}
