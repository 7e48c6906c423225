/// Finds the route of a request in a tree of path segments. The tree is stored in flat arrays; a search allocates
/// nothing.
///
/// A literal segment takes precedence over a parameter; if the literal branch does not have the path, the parameter
/// branch is searched. If the literal branch has the path without the method, the result is `otherMethods`, because a
/// path is one resource (as in OpenAPI). A `GET` route also serves `HEAD` unless there is a `HEAD` route.
public struct Router: Sendable {
    public enum Match: Sendable {
        case route(Route)
        case notFound
        /// The path exists for other methods: 405 with `Allow`.
        case otherMethods(MethodSet)
    }

    /// An error in the set of routes: two equal routes, or a malformed template.
    public enum RouteError: Error, Sendable, Hashable {
        case repeated(Method, String)
        case malformed(String)
    }

    private struct Node: BitwiseCopyable {
        var firstEdge = 0
        var edgeCount = 0
        /// The index of the node to which a parameter leads; -1 for none.
        var parameterNode = -1
        /// The position in `routeIndexes` of this node's eight elements, one for each method; -1 if no path ends here.
        var methodsStart = -1
    }

    /// A literal segment that leads to a node; `start..<end` is its range in `literalBytes`.
    private struct Edge: BitwiseCopyable {
        let start: Int
        let end: Int
        let node: Int
    }

    public let routes: [Route]
    private var nodes: [Node] = []
    private var edges: [Edge] = []
    private var literalBytes: [UInt8] = []
    /// Indexes in `routes`; -1 for a method without a route.
    private var routeIndexes: [Int] = []

    public init(_ routes: [Route]) throws(RouteError) {
        self.routes = routes
        let root = TrieNode()
        for (index, route) in routes.enumerated() {
            guard route.template.hasPrefix("/"), Self.isWellFormed(route) else { throw .malformed(route.template) }
            var node = root
            for segment in route.segments { node = node.findOrAddChild(segment) }
            guard node.routeIndexes.updateValue(index, forKey: route.method) == nil else {
                throw .repeated(route.method, route.template)
            }
        }
        _ = flatten(root)
    }

    public func match(_ head: RequestHead) -> Match {
        var allowed = MethodSet()
        let routeIndex = findRouteIndex(head, node: 0, depth: 0, &allowed)
        if routeIndex >= 0 { return .route(routes[routeIndex]) }
        return allowed.isEmpty ? .notFound : .otherMethods(allowed)
    }

    // MARK: Searching

    /// Returns the index of the route; -1 for none. Then `allowed` has the methods that the path exists for.
    private func findRouteIndex(_ head: RequestHead, node index: Int, depth: Int, _ allowed: inout MethodSet) -> Int {
        let node = nodes[index]
        if depth == head.segmentCount {
            guard node.methodsStart >= 0 else { return -1 }
            let routeIndex = routeIndexes[node.methodsStart + Int(head.method.rawValue)]
            if routeIndex >= 0 { return routeIndex }
            for method in Method.allCases where routeIndexes[node.methodsStart + Int(method.rawValue)] >= 0 {
                allowed.insert(MethodSet(method))
            }
            return -1
        }
        let range = head.ranges[depth]
        for edge in node.firstEdge..<node.firstEdge + node.edgeCount {
            let edge = edges[edge]
            guard edge.end - edge.start == range.count,
                literalBytes.span.extracting(edge.start..<edge.end).equals(head.bytes.span.extracting(range.indices))
            else { continue }
            let routeIndex = findRouteIndex(head, node: edge.node, depth: depth + 1, &allowed)
            if routeIndex >= 0 || !allowed.isEmpty { return routeIndex }
            break
        }
        guard node.parameterNode >= 0 else { return -1 }
        return findRouteIndex(head, node: node.parameterNode, depth: depth + 1, &allowed)
    }

    // MARK: Building

    private final class TrieNode {
        var literals: [(text: String, node: TrieNode)] = []
        var parameter: TrieNode?
        var routeIndexes: [Method: Int] = [:]

        func findOrAddChild(_ segment: Route.Segment) -> TrieNode {
            switch segment {
            case .parameter:
                let node = parameter ?? TrieNode()
                parameter = node
                return node
            case .literal(let text):
                if let known = literals.first(where: { $0.text == text }) { return known.node }
                let node = TrieNode()
                literals.append((text, node))
                return node
            }
        }
    }

    private static func isWellFormed(_ route: Route) -> Bool {
        let names = route.parameters.map(\.name)
        guard Set(names).count == names.count, !names.contains("") else { return false }
        return route.segments.allSatisfy { segment in
            guard case .literal(let text) = segment else { return true }
            return !text.contains { "{}?#%".contains($0) }
        }
    }

    /// Appends a node and the nodes below it to the arrays, and returns the node's index.
    private mutating func flatten(_ node: TrieNode) -> Int {
        let index = nodes.count
        nodes.append(Node())
        if !node.routeIndexes.isEmpty {
            nodes[index].methodsStart = routeIndexes.count
            routeIndexes += Method.allCases.map { method in
                node.routeIndexes[method] ?? (method == .head ? node.routeIndexes[.get] : nil) ?? -1
            }
        }
        let children = node.literals.map { (text: [UInt8]($0.text.utf8), node: flatten($0.node)) }
        if let parameter = node.parameter { nodes[index].parameterNode = flatten(parameter) }
        nodes[index].firstEdge = edges.count
        nodes[index].edgeCount = children.count
        for child in children {
            let start = literalBytes.count
            edges.append(Edge(start: start, end: start + child.text.count, node: child.node))
            literalBytes += child.text
        }
        return index
    }
}
