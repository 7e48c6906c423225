import Audit
import Domain
import Testing

@Suite("The Merkle tree")
struct MerkleTests {
    /// The leaves and roots by which implementations of RFC 6962 are commonly held to each other.
    private static let contents: [[UInt8]] = [
        [], [0x00], [0x10], [0x20, 0x21], [0x30, 0x31], [0x40, 0x41, 0x42, 0x43], Array(0x50...0x57),
        Array(0x60...0x6f),
    ]
    private static let roots = [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]

    @Test("the Merkle tree has the known roots", arguments: 0...8)
    func knownRoots(size: Int) {
        let hashes = Self.contents.prefix(size).map(MerkleHash.leaf)
        #expect(hexadecimal(MerkleHash.root(hashes)) == Self.roots[size])
    }

    /// MTH as RFC 6962 defines it.
    private static func root(_ hashes: ArraySlice<[UInt8]>) -> [UInt8] {
        guard hashes.count > 1, let first = hashes.indices.first else { return hashes.first ?? MerkleHash.empty }
        var width = 1
        while width * 2 < hashes.count { width *= 2 }
        return MerkleHash.node(root(hashes[first..<first + width]), root(hashes[(first + width)...]))
    }

    private static func leaves(_ count: Int) -> [[UInt8]] {
        (0..<count).map { MerkleHash.leaf([UInt8($0 & 255), UInt8($0 >> 8)]) }
    }

    /// A tree kept in the tile layout.
    private static func grown(_ leaves: [[UInt8]]) -> (frontier: TileFrontier, store: NodeStore)? {
        var store = NodeStore()
        guard var frontier = TileFrontier(size: 0, store) else { return nil }
        for leaf in leaves { for node in frontier.append(leaf) { store[node.level, node.position] = node.hash } }
        return (frontier, store)
    }

    @Test(
        "the Merkle tree grows leaf by leaf as its definition says",
        arguments: [0, 1, 2, 3, 7, 8, 100, 255, 256, 257, 511, 513, 1_000])
    func frontier(size: Int) throws {
        let leaves = Self.leaves(size)
        let (frontier, store) = try #require(Self.grown(leaves))
        #expect(frontier.root == Self.root(leaves[...]))
        #expect(MerkleHash.root(leaves) == frontier.root)
        #expect(store.root(of: 0..<Int64(size)) == frontier.root)
        // Going on from what was kept is going on from memory.
        var restarted = try #require(TileFrontier(size: Int64(size), store))
        var other = frontier
        for leaf in Self.leaves(300) {
            let (ours, theirs) = (restarted.append(leaf), other.append(leaf))
            #expect(ours == theirs)
        }
        #expect(restarted.root == other.root)
    }

    @Test("a missing hash makes frontier and root fail instead of guessing")
    func missing() throws {
        var (_, store) = try #require(Self.grown(Self.leaves(600)))
        store[0, 599] = nil
        #expect(TileFrontier(size: 600, store) == nil)
        #expect(store.root(of: 0..<600) == nil)
        #expect(store.root(of: 0..<512) != nil)
    }

    @Test("every leaf of every small tree is proven, and no other hash is", arguments: 1...40)
    func inclusion(size: Int64) throws {
        let leaves = Self.leaves(Int(size))
        let (frontier, store) = try #require(Self.grown(leaves))
        for index in 0..<size {
            let path = try #require(store.proof(MerkleProof.inclusionRanges(index, size: size)))
            let leaf = leaves[Int(index)]
            #expect(MerkleProof.root(including: leaf, at: index, size: size, path: path) == frontier.root)
            for other in 0..<size where other != index {
                #expect(MerkleProof.root(including: leaf, at: other, size: size, path: path) != frontier.root)
            }
            #expect(MerkleProof.root(including: leaf, at: index, size: size, path: path + [leaf]) == nil)
            if !path.isEmpty {
                #expect(MerkleProof.root(including: leaf, at: index, size: size, path: path.dropLast()) == nil)
                var bent = path
                bent[0][5] ^= 1
                #expect(MerkleProof.root(including: leaf, at: index, size: size, path: bent) != frontier.root)
            }
        }
    }

    @Test("every pair of small trees is consistent, and a changed pair is not", arguments: 1...40)
    func consistency(new: Int64) throws {
        let leaves = Self.leaves(Int(new))
        let (frontier, store) = try #require(Self.grown(leaves))
        for old in 1...new {
            let oldRoot = MerkleHash.root(Array(leaves.prefix(Int(old))))
            let path = try #require(store.proof(MerkleProof.consistencyRanges(from: old, to: new)))
            func holds(_ oldRoot: [UInt8], _ newRoot: [UInt8], _ path: [[UInt8]]) -> Bool {
                MerkleProof.isConsistent(old: old, oldRoot: oldRoot, new: new, newRoot: newRoot, path: path)
            }
            #expect(holds(oldRoot, frontier.root, path))
            #expect(!holds(leaves[0].reversed(), frontier.root, path))
            #expect(!holds(oldRoot, leaves[0].reversed(), path))
            #expect(!holds(oldRoot, frontier.root, path + [leaves[0]]))
            if !path.isEmpty { #expect(!holds(oldRoot, frontier.root, path.dropLast())) }
        }
    }

    @Test("tiles have the names of C2SP tlog-tiles")
    func tiles() {
        #expect(Tile(level: 0, index: 1_234_067).path == "0/x001/x234/067")
        #expect(Tile(level: 1, index: 5, count: 8).path == "1/005.p/8")
        for tile in [
            Tile(level: 0, index: 0), Tile(level: 3, index: 999_999, count: 255), Tile(level: 0, index: 1_000),
        ] {
            let parts = tile.path.split(separator: "/").map(String.init)
            #expect(Tile(level: parts[0], path: Array(parts.dropFirst())) == tile)
        }
        for wrong in [
            "0/5", "0/x000/001", "0/0005", "0/005.p/256", "0/005.p/0", "0/005.p/08", "8/005", "00/005", "0/x005", "0/",
        ] {
            let parts = wrong.split(separator: "/").map(String.init)
            #expect(Tile(level: parts[0], path: Array(parts.dropFirst())) == nil, "\(wrong)")
        }
    }
}
