extension API {
    /// Get the privacy policy.
    public static let getPrivacyPolicy = Endpoint<NoParameters, NoBody, LegalDocument>(
        Operation("getPrivacyPolicy", .get, "/api/v1/legal/privacy-policy", tag: .legal, access: .open))

    /// Get the terms of service.
    public static let getTermsOfService = Endpoint<NoParameters, NoBody, LegalDocument>(
        Operation("getTermsOfService", .get, "/api/v1/legal/terms-of-service", tag: .legal, access: .open))

    static let legalOperations: [Operation] = [
        getPrivacyPolicy.operation, getTermsOfService.operation,
    ]
}
