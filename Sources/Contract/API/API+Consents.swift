import Domain

extension API {
    /// List the consents in force.
    public static let listConsents = Endpoint<ConsentListQuery, NoBody, Page<ConsentResponse>>(
        Operation("listConsents", .get, "/api/v1/consents", tag: .consents))

    /// Grant a consent.
    public static let grantConsent = Endpoint<NoParameters, ConsentCreate, ConsentResponse>(
        Operation("grantConsent", .post, "/api/v1/consents", tag: .consents, status: 201))

    /// Revoke a consent.
    public static let updateConsent = Endpoint<ConsentPath, ConsentUpdate, ConsentResponse>(
        Operation("updateConsent", .patch, "/api/v1/consents/{consent_id}", tag: .consents))

    static let consentsOperations: [Operation] = [
        listConsents.operation, grantConsent.operation, updateConsent.operation,
    ]
}

// MARK: Parameters

/// A page of a family's consents.
public struct ConsentListQuery: WireParameters, Hashable {
    public var familyID: FamilyID
    public var page: PageRequest

    public init(familyID: FamilyID, page: PageRequest = PageRequest()) {
        self.familyID = familyID
        self.page = page
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.query("family_id")
        page = try PageRequest(parameters)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
        page.write(to: &parameters)
    }
}

/// Path parameter: one consent.
public struct ConsentPath: WireParameters, Hashable {
    public var consentID: ConsentID

    public init(consentID: ConsentID) {
        self.consentID = consentID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        consentID = try parameters.path("consent_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("consent_id", consentID)
    }
}
