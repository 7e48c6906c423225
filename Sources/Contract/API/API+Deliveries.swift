import Domain

extension API {
    /// List the notifications about a nag.
    public static let listDeliveries = Endpoint<DeliveryListQuery, NoBody, Page<DeliveryResponse>>(
        Operation("listDeliveries", .get, "/api/v1/deliveries", tag: .deliveries))

    /// All deliveries, for administrators.
    public static let listDeliveryReviews = Endpoint<DeliveryReviewQuery, NoBody, Page<DeliveryReview>>(
        Operation("listDeliveryReviews", .get, "/api/v1/admin/deliveries", tag: .deliveries))

    /// Send a failed delivery again.
    public static let resendDelivery = Endpoint<DeliveryPath, NoBody, DeliveryReview>(
        Operation("resendDelivery", .post, "/api/v1/admin/deliveries/{delivery_id}/resend", tag: .deliveries))

    static let deliveriesOperations: [Operation] = [
        listDeliveries.operation, listDeliveryReviews.operation, resendDelivery.operation,
    ]
}

// MARK: Parameters

/// The nag whose deliveries are listed, and the page.
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

/// The delivery in a path.
public struct DeliveryPath: WireParameters, Hashable {
    public var deliveryID: DeliveryID

    public init(deliveryID: DeliveryID) {
        self.deliveryID = deliveryID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        deliveryID = try parameters.path("delivery_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("delivery_id", deliveryID)
    }
}

/// The deliveries that an administrator sees.
public struct DeliveryReviewQuery: WireParameters, Hashable {
    /// The status to filter by; nil for all deliveries.
    public var status: DeliveryStatus?
    /// Whether they failed because nobody needed them any more; nil for both.
    public var isDropped: Bool?
    public var page: PageRequest

    public init(status: DeliveryStatus? = nil, isDropped: Bool? = nil, page: PageRequest = PageRequest()) {
        self.status = status
        self.isDropped = isDropped
        self.page = page
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        status = try parameters.optionalQuery("status")
        isDropped = try parameters.optionalQuery("dropped")
        page = try PageRequest(parameters)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("status", status)
        parameters.query("dropped", isDropped)
        page.write(to: &parameters)
    }
}
