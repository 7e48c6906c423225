import Contract

/// `nagz routes`: prints every operation with its method, access and path.
enum RoutesCommand {
    static func printRoutes(_ arguments: Arguments) throws {
        try arguments.finish()
        for operation in API.all {
            let method = operation.method.rawValue.padded(to: 7)
            let access = operation.access == .open ? "open  " : "bearer"
            print(method, access, operation.path.padded(to: 60), operation.id)
        }
    }
}

extension String {
    /// Returns the text with trailing spaces, for columns.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
