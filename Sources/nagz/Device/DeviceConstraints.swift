import Contract
import Device
import Domain
import JSON
import LocalAI
import NagzAI

/// `nagz device constraint`: lists and changes the constraints that apply to the person's questions on this device.
/// Those that are added here are not sent to the server.
enum DeviceConstraints {
    static func run(_ context: DeviceContext, _ arguments: inout Arguments) throws {
        let (conditions, action) = (try arguments.takeValues("--if"), try arguments.takeValue("--then"))
        let priority = try arguments.takeNumber("--priority", in: 1...999)
        let (verb, name) = (arguments.takeNext() ?? "list", arguments.takeNext())
        try arguments.finish()
        let cache = try context.openCache()
        let family = try context.requireFamily(of: context.requireSession())
        switch (verb, name, action) {
        case ("list", nil, nil): break
        case ("add", let name?, let action?):
            let terms = try parseTerms(name, conditions, action, priority: priority ?? 500)
            guard try cache.addOwnConstraint(terms, MachineClock.newIdentifier(), of: family) else {
                throw Stop(
                    .notApplied,
                    "not added: this device never synced, or has \(EventCache.maxOwnConstraintsPerFamily) constraints already"
                )
            }
        case ("delete", let name?, nil):
            let matches = try cache.ownConstraints(of: family).filter { $0.id.description.hasSuffix(name.lowercased()) }
            guard let constraint = matches.first, matches.count == 1 else {
                throw Stop(
                    .notFound,
                    "\(counted(matches.count, "own constraint")) match “\(name)”: nagz device constraint lists them")
            }
            _ = try cache.deleteOwnConstraint(constraint.id)
        default:
            throw Stop(
                .usage,
                "nagz device constraint [list], add NAME --if \"FIELD OPERATOR VALUE\" --then \"ACTION TEXT\", or delete ID"
            )
        }
        try show(cache, family, context)
    }

    /// Parses the terms of a constraint.
    /// - Parameters:
    ///   - conditions: the conditions, such as `content contains passport|visa`.
    ///   - action: the action, such as `block It names a document.`
    private static func parseTerms(
        _ name: String, _ conditions: [String], _ action: String, priority: Int
    ) throws -> ConstraintTerms {
        let action = action.split(separator: " ", maxSplits: 1).map(String.init)
        do {
            return try ConstraintTerms(
                scope: .own, name: name, type: .privacy, priority: priority,
                conditions: try conditions.map { text throws(ConstraintFault) in
                    let words = text.split(separator: " ", maxSplits: 2).map(String.init)
                    guard words.count == 3 else {
                        throw ConstraintFault("conditions", "are each a field, an operator and a value")
                    }
                    return try ConstraintCondition(field: words[0], operator: words[1], value: words[2])
                },
                action: try ConstraintAction(type: action.first ?? "", text: action.dropFirst().first)
            ).checked()
        } catch let fault as ConstraintFault {
            throw Stop(.usage, "\(fault.field) \(fault.message)")
        } catch let fault as InvalidInput {
            throw Stop(.usage, "\(fault.field ?? "it") \(fault.message)")
        }
    }

    private static func show(_ cache: EventCache, _ family: FamilyID, _ context: DeviceContext) throws {
        let (constraints, ownIDs) = (
            try cache.constraints(of: family), Set(try cache.ownConstraints(of: family).map(\.id))
        )
        if context.asJSON {
            return print(
                json: .array(
                    constraints.map { constraint in
                        var members = constraint.jsonMembers
                        members["is_of_device"] = .bool(ownIDs.contains(constraint.id))
                        return .object(members)
                    }))
        }
        if constraints.isEmpty { print("no constraints") }
        for constraint in constraints {
            let place = ownIDs.contains(constraint.id) ? "this device" : constraint.scope.rawValue
            print(
                constraint.id.ending, place.padded(to: 12), "\(constraint.name): \(constraint.plainText)",
                separator: "  ")
        }
    }
}
