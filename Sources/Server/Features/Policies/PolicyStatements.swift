import Contract
import Domain
import JSON
import SQL

/// Every statement on policies and on their approvals.
enum PolicyStatements {
    /// The columns of `policies o` that `CurrentPolicy` reads.
    private static let columns: SQL = """
        o.id, o.family_id, o.version, o.changed_by, o.awaits_co_owner, o.left_owner, o.created_at,
        o.owners, o.daily_cap, o.max_snooze_minutes, o.points_multiplier, o.max_pushback,
        o.cooldown_minutes, o.third_party_models, o.constraints::text AS constraints, o.proposal_id, o.proposed_by, o.proposed_at,
        o.proposed_owners, o.proposed_constraints::text AS proposed_constraints,
        ARRAY(SELECT a.approver_id FROM policy_approvals a
              WHERE a.family_id = o.family_id AND a.policy_id = o.id AND a.proposal_id = o.proposal_id) AS approvers
        """

    static func policy(_ id: PolicyID, in family: FamilyID) -> SQL {
        "SELECT \(columns) FROM policies o WHERE o.family_id = \(family) AND o.id = \(id) AND o.status = 'active'"
    }

    /// Reads a page of a family's policies, the default one first.
    static func page(_ page: PageRequest, in family: FamilyID) -> SQL {
        page.select(
            columns, from: "policies", as: "o", where: "o.family_id = \(family) AND o.status = 'active'",
            orderBy: "o.is_default DESC, o.created_at, o.id")
    }

    /// Reads a page of a policy's approvals, the newest first.
    static func approvals(_ page: PageRequest, of policy: PolicyID, in family: FamilyID) -> SQL {
        page.select(
            "a.id, a.policy_id, a.approver_id, a.approved_at, a.comment", from: "policy_approvals", as: "a",
            where: "a.family_id = \(family) AND a.policy_id = \(policy)", orderBy: "a.approved_at DESC, a.id DESC")
    }

    /// Reads the person's approval of the proposal, or of the version in force where there is no proposal.
    static func approval(of policy: CurrentPolicy, by user: UserID) -> SQL {
        """
        SELECT id, policy_id, approver_id, approved_at, comment FROM policy_approvals
        WHERE family_id = \(policy.familyID) AND policy_id = \(policy.id) AND approver_id = \(user)
            AND policy_version = \(policy.version) AND proposal_id IS NOT DISTINCT FROM \(policy.proposal?.id)
        """
    }

    /// Reads people's pseudonyms, and whether each is a guardian of the family with a password, as `may_own`.
    static func ownerEligibility(of users: [UserID], in family: FamilyID) -> SQL {
        """
        SELECT u.id, u.pseudonym, u.password_hash IS NOT NULL AND EXISTS (
            SELECT 1 FROM memberships m WHERE m.family_id = \(family) AND m.user_id = u.id
                AND m.status = 'active' AND m.role = 'guardian') AS may_own
        FROM users u WHERE u.id = ANY(\(SQLList(users)))
        """
    }

    /// Reads the `email` of everybody who is notified of a proposed co-owner: the owner who left, and the guardians
    /// other than the proposer. No row unless a new co-owner is proposed in place of one who left.
    static func coOwnerNoticeEmails(of proposal: PolicyProposalID, in family: FamilyID) -> SQL {
        """
        SELECT u.email FROM policies o
        JOIN users u ON u.id = o.left_owner OR u.id IN (
            SELECT m.user_id FROM memberships m
            WHERE m.family_id = o.family_id AND m.status = 'active' AND m.role = 'guardian')
        WHERE o.family_id = \(family) AND o.proposal_id = \(proposal) AND o.awaits_co_owner
            AND cardinality(o.proposed_owners) > 1 AND u.id <> o.proposed_by AND u.email IS NOT NULL
        """
    }

    // MARK: Statements of an act

    /// Inserts the default policy of a new family: the table's defaults, with an owner.
    static func insertDefault(_ id: PolicyID, owner: UserID, at now: Timestamp) -> SQL {
        """
        INSERT INTO policies (family_id, id, owners, is_default, created_at)
        SELECT family_id, \(id), ARRAY[\(owner)], true, \(now) FROM ledger_stamp
        """
    }

    /// Puts a policy in force, and removes its proposal.
    static func enact(_ policy: CurrentPolicy) -> SQL {
        let (limits, clientValues) = (policy.terms.limits, JSONValue.object(policy.terms.clientValues).description)
        return """
            UPDATE policies SET owners = \(SQLList(policy.terms.owners)), daily_cap = \(limits.dailyNagCap),
                max_snooze_minutes = \(limits.maxSnoozeMinutes), points_multiplier = \(limits.pointsMultiplier),
                max_pushback = \(limits.maxPushBacksPerNag), cooldown_minutes = \(limits.pushBackCooldownMinutes),
                third_party_models = \(limits.allowsThirdPartyModels), constraints = \(SQLJSON(clientValues)),
                version = \(policy.version), awaits_co_owner = \(policy.awaitsCoOwner),
                left_owner = \(policy.leftOwner), changed_by = ledger_stamp.seq, \(clearedProposal)
            FROM ledger_stamp WHERE policies.family_id = ledger_stamp.family_id AND policies.id = \(policy.id)
            """
    }

    /// The assignments that remove a proposal.
    private static let clearedProposal: SQL = """
        proposal_id = NULL, proposed_by = NULL, proposed_at = NULL, proposed_owners = NULL, proposed_constraints = NULL
        """

    /// Stores a proposal, and replaces an earlier one.
    static func setProposal(_ proposal: CurrentPolicy.Proposal, for policy: PolicyID) -> SQL {
        let constraints = JSONValue.object(proposal.terms.constraints).description
        return """
            UPDATE policies SET proposal_id = \(proposal.id), proposed_by = \(proposal.proposedBy),
                proposed_at = \(proposal.proposedAt), proposed_owners = \(SQLList(proposal.terms.owners)),
                proposed_constraints = \(SQLJSON(constraints)), changed_by = ledger_stamp.seq
            FROM ledger_stamp WHERE policies.family_id = ledger_stamp.family_id AND policies.id = \(policy)
            """
    }

    /// Gives the policy a new entity tag, because one more person has approved the proposal.
    static func markChanged(_ policy: PolicyID) -> SQL {
        """
        UPDATE policies SET changed_by = ledger_stamp.seq
        FROM ledger_stamp WHERE policies.family_id = ledger_stamp.family_id AND policies.id = \(policy)
        """
    }

    static func insertApproval(_ approval: ApprovalResponse, version: Int, proposal: PolicyProposalID?) -> SQL {
        """
        INSERT INTO policy_approvals
            (family_id, id, policy_id, approver_id, approved_at, comment, policy_version, proposal_id)
        SELECT family_id, \(approval.id), \(approval.policyID), \(approval.approverID), \(approval.approvedAt),
               \(approval.comment), \(version), \(proposal) FROM ledger_stamp
        """
    }

    /// Part of a departure: removes the person from the policies that they own, and drops the proposals of policies
    /// that they own or would own. If a policy has two owners, the other one remains, and a new co-owner is awaited.
    /// If the person is the sole owner, the other guardian with a password who joined first becomes the owner; if there
    /// is none, the person stays the owner.
    static func removeOwnership(of user: UserID) -> SQL {
        """
        UPDATE policies SET owners = CASE
            WHEN NOT \(user) = ANY(owners) THEN owners
            WHEN cardinality(owners) > 1 THEN array_remove(owners, \(user))
            ELSE ARRAY[coalesce((
                SELECT m.user_id FROM memberships m JOIN users u ON u.id = m.user_id
                WHERE m.family_id = policies.family_id AND m.status = 'active' AND m.role = 'guardian'
                    AND m.user_id <> \(user) AND u.password_hash IS NOT NULL
                ORDER BY m.joined_at, m.user_id LIMIT 1), \(user))]
            END,
            awaits_co_owner = awaits_co_owner OR (cardinality(owners) > 1 AND \(user) = ANY(owners)),
            left_owner = CASE WHEN cardinality(owners) > 1 AND \(user) = ANY(owners) THEN \(user) ELSE left_owner END,
            changed_by = ledger_stamp.seq, \(clearedProposal)
        FROM ledger_stamp
        WHERE policies.family_id = ledger_stamp.family_id AND \(user) = ANY(policies.owners || policies.proposed_owners)
            AND policies.status <> 'superseded'
        """
    }

    /// Part of a purge: removes the comments that the person wrote.
    static func deleteApprovalComments(of user: UserID) -> SQL {
        """
        UPDATE policy_approvals SET comment = NULL FROM ledger_stamp
        WHERE policy_approvals.approver_id = \(user) AND policy_approvals.comment IS NOT NULL
        """
    }
}
