import Contract

/// The operations of the tag `legal`: texts that a person agrees to.
enum LegalRoutes {
    static func register(in routes: RouteTable, _ parties: ThirdPartyRecipients) {
        routes.constant(API.getPrivacyPolicy, LegalTexts.privacyPolicy(parties))
        routes.constant(API.getTermsOfService, LegalTexts.termsOfService)
    }
}
