import Domain

// MARK: Parameters

extension ConstraintListQuery {
    public init(_ query: ConstraintQuery, page: PageRequest = PageRequest()) {
        self.init(query: query, page: page)
    }
}
