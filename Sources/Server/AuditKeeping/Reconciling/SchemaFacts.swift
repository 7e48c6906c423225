/// The facts that `SchemaCheck` finds in a database that only the migrations have changed.
///
/// After a migration that changes one of them, the test “the schema is the one that the migrations make” prints the new
/// lines.
enum SchemaFacts {
    static let expected = Set(text.split(separator: "\n").map(String.init))

    /// Returns the fact as it is in a database that was never restored. In a restored one, PostgreSQL prints a
    /// condition of three parts without the inner parentheses.
    static func normalized(_ fact: String) -> String {
        let comparisons = ["status", "recipient_id", "category"].map { "(old.\($0) IS DISTINCT FROM new.\($0))" }
        let restoredCondition = "(\(comparisons[0]) OR \(comparisons[1]) OR \(comparisons[2]))"
        return fact.replacing(
            restoredCondition, with: "((\(comparisons[0]) OR \(comparisons[1])) OR \(comparisons[2]))")
    }

    private static let text = """
        constraint admins admins_pkey PRIMARY KEY (user_id)
        constraint admins admins_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
        constraint audit_checkpoint audit_checkpoint_pkey PRIMARY KEY (size, at)
        constraint audit_checkpoint audit_checkpoint_size_check CHECK ((size >= 0))
        constraint audit_entry audit_entry_commit_check CHECK ((length(commit) = 32))
        constraint audit_entry audit_entry_hash_check CHECK ((length(hash) = 32))
        constraint audit_entry audit_entry_number CHECK ((n > 0))
        constraint audit_entry audit_entry_pkey PRIMARY KEY (family_id, n)
        constraint audit_entry audit_entry_prev_check CHECK ((length(prev) = 32))
        constraint audit_findings audit_findings_check CHECK (((acknowledged_at IS NULL) = (acknowledged_by IS NULL)))
        constraint audit_findings audit_findings_check1 CHECK (((acknowledged_at IS NULL) = (reason IS NULL)))
        constraint audit_findings audit_findings_pkey PRIMARY KEY (id)
        constraint audit_findings audit_findings_source_check CHECK ((source = ANY (ARRAY['verification'::text, 'check'::text])))
        constraint audit_key audit_key_pkey PRIMARY KEY (verifier, handover)
        constraint audit_leaf audit_leaf_family_id_n_key UNIQUE (family_id, n)
        constraint audit_leaf audit_leaf_hash_check CHECK ((length(hash) = 32))
        constraint audit_leaf audit_leaf_number CHECK ((n > 0))
        constraint audit_leaf audit_leaf_pkey PRIMARY KEY ("position")
        constraint audit_leaf audit_leaf_position_check CHECK (("position" >= 0))
        constraint audit_node audit_node_hash_check CHECK ((length(hash) = 32))
        constraint audit_node audit_node_level_check CHECK (((level >= 1) AND (level <= 7)))
        constraint audit_node audit_node_pkey PRIMARY KEY (level, "position")
        constraint audit_node audit_node_position_check CHECK (("position" >= 0))
        constraint audit_payload audit_payload_number CHECK ((n > 0))
        constraint audit_payload audit_payload_pkey PRIMARY KEY (family_id, n)
        constraint audit_payload audit_payload_salt_check CHECK ((length(salt) = 32))
        constraint audit_prune audit_prune_pkey PRIMARY KEY (family_id, cut)
        constraint audit_subject_key audit_subject_key_master_check CHECK ((length(master) = 4))
        constraint audit_subject_key audit_subject_key_pkey PRIMARY KEY (id)
        constraint audit_pass audit_pass_is_only_check CHECK (is_only)
        constraint audit_pass audit_pass_pkey PRIMARY KEY (is_only)
        constraint family_clock family_clock_pkey PRIMARY KEY (family_id)
        function audit_goes_only_when_pruned plpgsql fd59d3553c6240e8
        function audit_is_append_only plpgsql 3b3151797e16dee0
        function audit_number_at plpgsql 7cf931daadc58cbe
        function count_resolved_nag plpgsql 3106cb7cc45ac564
        function ledger_burst sql 982f4e0c397d2fef
        function ledger_ts sql 4046c8e7344da928
        function replication_status sql definer d304b7826717d1d1
        function name_creator_of_nag plpgsql 915f1580aad0d0cb
        function refuse_deletion_of_member plpgsql 799186830f8c8310
        function refuse_membership_of_deleted plpgsql b1633d1b4b25ad09
        function wait_for_guardian plpgsql 3dac66bc4d8665a6
        function drop_devices_of_account plpgsql 91b371220593dea1
        function drop_devices_of_session plpgsql f1b07ef323d513bc
        trigger sessions session_drops_devices O AFTER UPDATE OF revoked_at ON public.sessions FOR EACH ROW WHEN ((new.revoked_at IS NOT NULL)) EXECUTE FUNCTION drop_devices_of_session()
        trigger users account_drops_devices O AFTER UPDATE OF status ON public.users FOR EACH ROW WHEN (((new.status = 'deleted'::text) AND (old.status <> 'deleted'::text))) EXECUTE FUNCTION drop_devices_of_account()
        function refuse_connection_of_deleted plpgsql 8f20a9ce860769f7
        function refuse_deletion_of_connected plpgsql 860d610c9101ef36
        trigger connections deleted_has_no_connection O AFTER INSERT OR UPDATE OF status ON public.connections FOR EACH ROW WHEN ((new.status = ANY (ARRAY['pending'::text, 'active'::text]))) EXECUTE FUNCTION refuse_connection_of_deleted()
        trigger users deleted_has_no_connection O AFTER UPDATE OF status ON public.users FOR EACH ROW WHEN (((new.status = 'deleted'::text) AND (old.status <> 'deleted'::text))) EXECUTE FUNCTION refuse_deletion_of_connected()
        grant admins SELECT to nagz_server
        grant audit_checkpoint INSERT SELECT to nagz_server
        grant audit_entry INSERT SELECT to nagz_server
        grant audit_findings INSERT SELECT to nagz_server
        grant audit_findings.acknowledged_at UPDATE
        grant audit_findings.acknowledged_by UPDATE
        grant audit_findings.reason UPDATE
        grant audit_key INSERT SELECT to nagz_server
        grant audit_leaf INSERT SELECT to nagz_server
        grant audit_node INSERT SELECT to nagz_server
        grant audit_pass SELECT UPDATE to nagz_server
        grant audit_payload INSERT SELECT to nagz_server
        grant audit_prune SELECT to nagz_server
        grant audit_subject_key INSERT SELECT to nagz_server
        grant family_clock INSERT SELECT UPDATE to nagz_server
        policy audit_entry has_clock a - (EXISTS ( SELECT FROM family_clock c WHERE (c.family_id = audit_entry.family_id)))
        policy audit_entry readable r true -
        policy audit_leaf has_clock a - (EXISTS ( SELECT FROM family_clock c WHERE (c.family_id = audit_leaf.family_id)))
        policy audit_leaf readable r true -
        policy audit_payload has_clock a - (EXISTS ( SELECT FROM family_clock c WHERE (c.family_id = audit_payload.family_id)))
        policy audit_payload readable r true -
        row security audit_entry
        row security audit_leaf
        row security audit_payload
        trigger audit_checkpoint append_only A BEFORE DELETE OR UPDATE ON public.audit_checkpoint FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()
        trigger audit_checkpoint append_only_truncate A BEFORE TRUNCATE ON public.audit_checkpoint FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()
        trigger audit_entry append_only A BEFORE UPDATE ON public.audit_entry FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()
        trigger audit_entry append_only_truncate A BEFORE TRUNCATE ON public.audit_entry FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()
        trigger audit_entry only_pruned A BEFORE DELETE ON public.audit_entry FOR EACH ROW EXECUTE FUNCTION audit_goes_only_when_pruned()
        trigger audit_key append_only A BEFORE DELETE OR UPDATE ON public.audit_key FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()
        trigger audit_key append_only_truncate A BEFORE TRUNCATE ON public.audit_key FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()
        trigger audit_leaf append_only A BEFORE DELETE OR UPDATE ON public.audit_leaf FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()
        trigger audit_leaf append_only_truncate A BEFORE TRUNCATE ON public.audit_leaf FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()
        trigger audit_node append_only A BEFORE DELETE OR UPDATE ON public.audit_node FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()
        trigger audit_node append_only_truncate A BEFORE TRUNCATE ON public.audit_node FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()
        trigger audit_payload append_only A BEFORE UPDATE ON public.audit_payload FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()
        trigger audit_payload append_only_truncate A BEFORE TRUNCATE ON public.audit_payload FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()
        trigger audit_prune append_only A BEFORE DELETE OR UPDATE ON public.audit_prune FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()
        trigger audit_prune append_only_truncate A BEFORE TRUNCATE ON public.audit_prune FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()
        trigger memberships deleted_is_no_member O AFTER INSERT OR UPDATE OF status ON public.memberships FOR EACH ROW WHEN ((new.status = 'active'::text)) EXECUTE FUNCTION refuse_membership_of_deleted()
        trigger memberships young_account_waits O AFTER UPDATE OF status ON public.memberships FOR EACH ROW WHEN (((new.status = 'removed'::text) AND (old.status = 'active'::text))) EXECUTE FUNCTION wait_for_guardian()
        trigger nag_events event_is_final O BEFORE UPDATE OF payload ON public.nag_events FOR EACH ROW WHEN (((old.event_type <> 'note_added'::text) OR (new.payload <> (old.payload - 'text'::text)))) EXECUTE FUNCTION refuse_change_of_event()
        trigger nag_events creator_of_nag O BEFORE INSERT ON public.nag_events FOR EACH ROW WHEN ((new.creator_id IS NULL)) EXECUTE FUNCTION name_creator_of_nag()
        trigger nags count_resolved O AFTER INSERT ON public.nags FOR EACH ROW WHEN ((new.status = ANY (ARRAY['completed'::text, 'missed'::text]))) EXECUTE FUNCTION count_resolved_nag()
        trigger nags recount_resolved O AFTER UPDATE OF status, recipient_id, category ON public.nags FOR EACH ROW WHEN (((((old.status IS DISTINCT FROM new.status) OR (old.recipient_id IS DISTINCT FROM new.recipient_id)) OR (old.category IS DISTINCT FROM new.category)) AND ((old.status = ANY (ARRAY['completed'::text, 'missed'::text])) OR (new.status = ANY (ARRAY['completed'::text, 'missed'::text]))))) EXECUTE FUNCTION count_resolved_nag()
        trigger users deleted_is_no_member O AFTER UPDATE OF status ON public.users FOR EACH ROW WHEN (((new.status = 'deleted'::text) AND (old.status <> 'deleted'::text))) EXECUTE FUNCTION refuse_deletion_of_member()
        function refuse_block_with_nags plpgsql bb8e239a8c1752fe
        function refuse_change_of_event plpgsql 8c90a74c082083ba
        function refuse_departure_with_nags plpgsql 448b8e9e2945418c
        function refuse_input_of_stranger plpgsql 7cd04726395f15f0
        function refuse_nag_of_nonmember plpgsql 1abc7958ffbca867
        trigger blocks blocked_has_no_connection_nag O AFTER INSERT OR UPDATE OF state ON public.blocks FOR EACH ROW WHEN ((new.state = 'active'::text)) EXECUTE FUNCTION refuse_block_with_nags()
        trigger inputs input_is_of_member O AFTER INSERT ON public.inputs FOR EACH ROW EXECUTE FUNCTION refuse_input_of_stranger()
        trigger memberships departed_has_no_connection_nag O AFTER UPDATE OF status ON public.memberships FOR EACH ROW WHEN (((new.status = 'removed'::text) AND (old.status = 'active'::text))) EXECUTE FUNCTION refuse_departure_with_nags()
        trigger nags nag_has_connection O AFTER INSERT ON public.nags FOR EACH ROW WHEN ((new.connection_id IS NOT NULL)) EXECUTE FUNCTION refuse_nag_without_connection()
        trigger nags nag_is_of_members O AFTER INSERT ON public.nags FOR EACH ROW WHEN ((new.connection_id IS NULL)) EXECUTE FUNCTION refuse_nag_of_nonmember()
        function refuse_nag_without_connection plpgsql d2b5b1096bb9dc82
        function drop_ai_keys_of_account plpgsql 1c89522be864b980
        trigger users account_drops_ai_keys O AFTER UPDATE OF status ON public.users FOR EACH ROW WHEN (((new.status = 'deleted'::text) AND (old.status <> 'deleted'::text))) EXECUTE FUNCTION drop_ai_keys_of_account()
        """
}
