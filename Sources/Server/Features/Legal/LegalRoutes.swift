import Contract

/// The routes of the group `legal`: texts that a person agrees to.
enum LegalRoutes {
    static func register(in routes: RouteTable, _ parties: ThirdPartyRecipients) {
        routes.constant(API.getPrivacyPolicy, LegalTexts.privacyPolicy(parties))
        routes.constant(API.getTermsOfService, LegalTexts.termsOfService)
    }
}
