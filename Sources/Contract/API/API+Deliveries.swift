import Domain

extension API {
    /// List the notifications about a nag.
    public static let listDeliveries = Endpoint<DeliveryListQuery, NoBody, Page<DeliveryResponse>>(
        Operation("listDeliveries", .get, "/api/v1/deliveries", tag: .deliveries))

    static let deliveriesOperations: [Operation] = [listDeliveries.operation]
}

// MARK: Parameters

/// Which deliveries of which nag.
public struct DeliveryListQuery: WireParameters, Hashable {
    public var nagID: NagID
    public var page: PageRequest

    public init(nagID: NagID, page: PageRequest = PageRequest()) {
        self.nagID = nagID
        self.page = page
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        nagID = try parameters.query("nag_id")
        page = try PageRequest(parameters)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("nag_id", nagID)
        page.write(to: &parameters)
    }
}
