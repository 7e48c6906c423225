import Testing

@testable import HTTPClient

@Suite("Own network")
struct NetworkTests {
    @Test(
        "addresses of the own network are refused unless their block is allowed",
        arguments: [
            "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.255",
            "169.254.169.254",
            "172.16.0.1", "172.31.255.255", "192.168.1.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
            "::",
            "::1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1", "2002:a00:1::", "fc00::1",
            "fdff::1",
            "fe80::1", "fec0::1", "ff02::1",
        ])
    func own(text: String) throws {
        let address = try #require(NetworkAddress(text))
        #expect(!NetworkGuard().allows(address))
        #expect(NetworkGuard(allowing: [try #require(NetworkBlock(text))]).allows(address))
    }

    @Test(
        "addresses of the internet are allowed",
        arguments: [
            "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
            "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "223.255.255.255", "2606:4700::1111",
            "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::1",
        ])
    func internet(text: String) throws {
        #expect(NetworkGuard().allows(try #require(NetworkAddress(text))))
    }

    @Test("the loopback guard allows loopback addresses and no others")
    func loopback() throws {
        for text in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            #expect(NetworkGuard.loopback.allows(try #require(NetworkAddress(text))), "\(text)")
        }
        for text in ["127.0.0.2", "::", "1.1.1.1", "10.0.0.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::7f00:1"] {
            #expect(!NetworkGuard.loopback.allows(try #require(NetworkAddress(text))), "\(text)")
        }
    }

    @Test(
        "of a host it is known without a resolver whether it is refused, if it is an address or localhost",
        arguments: [
            ("127.0.0.1", [], true), ("localhost", [], true), ("LocalHost", [], true), ("::1", [], true),
            ("10.1.2.3", [], true), ("192.0.2.1", [], false), ("hooks.example.org", [], false), ("", [], false),
            ("10.1.2.3", ["10.0.0.0/8"], false), ("10.1.2.3", ["10.2.0.0/16"], true),
            ("localhost", ["127.0.0.0/8"], false), ("localhost", ["::1"], false),
        ])
    func hosts(host: String, allowed: [String], isRefused: Bool) {
        #expect(NetworkGuard(allowing: allowed.compactMap { NetworkBlock($0) }).refuses(host: host) == isRefused)
    }

    @Test("no request is sent over a connection whose other end is not allowed, or is unknown")
    func peer() throws {
        let request = HTTPClientRequest("GET", "https://api.example.com")
        let internet = try Transfer(request, NetworkGuard(), authoritiesPath: nil)
        let loopback = try Transfer(request, .loopback, authoritiesPath: nil)
        #expect(internet.approveSending(to: "1.1.1.1") && internet.approveSending(to: "2606:4700::1111"))
        #expect(loopback.approveSending(to: "127.0.0.1") && loopback.approveSending(to: "::1"))
        for peer in ["", "localhost", "10.0.0.1", "169.254.169.254", "fe80::1%eth0", "::ffff:192.168.0.1"] {
            #expect(!internet.approveSending(to: peer) && !loopback.approveSending(to: peer), "\(peer)")
        }
        #expect(!internet.approveSending(to: "127.0.0.1") && !loopback.approveSending(to: "1.1.1.1"))
    }

    @Test("a network block contains its addresses, and a malformed one is refused")
    func blocks() throws {
        let block = try #require(NetworkBlock("192.168.0.0/16"))
        #expect(block.contains(try #require(NetworkAddress("192.168.255.1"))))
        #expect(!block.contains(try #require(NetworkAddress("192.169.0.1"))))
        for text in [
            "", "localhost", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "fd00::/129", "10.0.0.0/", "10.0.0/8",
        ] {
            #expect(NetworkBlock(text) == nil, "\(text)")
        }
    }
}
