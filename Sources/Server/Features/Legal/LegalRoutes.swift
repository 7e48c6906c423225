import Contract

/// The group `legal`: texts that a person agrees to.
enum LegalRoutes {
    static func register(in routes: RouteTable) {
        routes.constant(API.getPrivacyPolicy, LegalTexts.privacyPolicy)
        routes.constant(API.getTermsOfService, LegalTexts.termsOfService)
    }
}
