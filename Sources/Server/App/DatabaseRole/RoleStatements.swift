import SQL

/// Every statement on database roles and their privileges.
enum RoleStatements {
    static let roleExists: SQL = "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'nagz_server') AS exists"

    static let createRole: SQL = "CREATE ROLE nagz_server NOLOGIN"

    /// Takes the lock for changes of roles and grants until the transaction ends. Migrations take the same lock.
    static let lock: SQL = "SELECT pg_advisory_xact_lock(7239410023)"

    /// Reads the session's login, whether it is a superuser, whether it has the rights of `nagz_server`, and whether it
    /// can read the table of migrations, if that exists. The other columns name what a server's login may not have,
    /// such as attributes or objects that it owns; each is null where there is nothing to name.
    static let loginFacts: SQL = """
        WITH own AS (
            SELECT * FROM pg_roles
            WHERE rolname = session_user OR rolname = 'nagz_server' AND pg_has_role(session_user, oid, 'MEMBER')
        ), ownership AS (
            SELECT o.relname::text AS name FROM pg_class o JOIN own ON own.oid = o.relowner
            WHERE o.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
            UNION ALL SELECT o.proname FROM pg_proc o JOIN own ON own.oid = o.proowner
            UNION ALL SELECT o.nspname FROM pg_namespace o JOIN own ON own.oid = o.nspowner
            UNION ALL SELECT o.typname FROM pg_type o JOIN own ON own.oid = o.typowner WHERE typtype IN ('d', 'e', 'r')
            UNION ALL SELECT o.datname FROM pg_database o JOIN own ON own.oid = o.datdba
        )
        SELECT session_user::text AS login,
            (SELECT rolsuper FROM pg_roles WHERE rolname = session_user) AS is_superuser,
            coalesce((SELECT pg_has_role(session_user, oid, 'USAGE') FROM pg_roles WHERE rolname = 'nagz_server'), false)
                AS is_member,
            (SELECT string_agg(attribute, ', ') FROM (
                SELECT DISTINCT attribute FROM own, unnest(ARRAY[
                    CASE WHEN rolsuper THEN 'SUPERUSER' END, CASE WHEN rolcreaterole THEN 'CREATEROLE' END,
                    CASE WHEN rolcreatedb THEN 'CREATEDB' END, CASE WHEN rolbypassrls THEN 'BYPASSRLS' END,
                    CASE WHEN rolreplication THEN 'REPLICATION' END]) AS a (attribute)
                WHERE attribute IS NOT NULL) a) AS attributes,
            (SELECT string_agg(rolname, ', ' ORDER BY rolname) FROM pg_roles
             WHERE pg_has_role(session_user, oid, 'MEMBER') AND rolname NOT IN (session_user, 'nagz_server')) AS becomes,
            (SELECT string_agg(rolname, ', ') FROM own WHERE pg_has_role(session_user, oid, 'MEMBER WITH ADMIN OPTION'))
                AS administers,
            (SELECT min(name) FROM ownership) AS owns,
            (SELECT string_agg(parname, ', ') FROM pg_parameter_acl p, aclexplode(p.paracl) a
             WHERE a.grantee = 0 OR a.grantee IN (SELECT oid FROM own)) AS parameters,
            coalesce(has_table_privilege(session_user, to_regclass('schema_migrations'), 'SELECT'), true)
                AS reads_migrations
        """

    /// Reads the privileges to create something in the current database that a role has and should not have, such as
    /// `TEMPORARY on the database`: as one text, which is null if it has none.
    static func creationPrivileges(of role: String) -> SQL {
        """
        SELECT string_agg(name, ', ') AS makes FROM (
            SELECT 'CREATE on the database' WHERE has_database_privilege(\(role), current_database(), 'CREATE')
            UNION ALL
            SELECT 'TEMPORARY on the database' WHERE has_database_privilege(\(role), current_database(), 'TEMPORARY')
            UNION ALL
            SELECT 'CREATE on the schema ' || nspname FROM pg_namespace WHERE has_schema_privilege(\(role), oid, 'CREATE')
        ) m (name)
        """
    }

    /// Reads a role's privileges on the tables of the schema's owner: `tab`, `privilege`, and `columns`, the names of the
    /// columns; null for a privilege on the whole table.
    static func tablePrivileges(of role: String) -> SQL {
        """
        SELECT c.relname::text AS tab, p.name AS privilege,
            CASE WHEN NOT has_table_privilege(\(role), c.oid, p.name) THEN ARRAY(
                SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                    AND has_column_privilege(\(role), c.oid, a.attnum, p.name)) END AS columns
        FROM pg_class c CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'REFERENCES', 'DELETE', 'TRUNCATE', 'TRIGGER'])
            AS p (name)
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
            AND c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
            AND c.relowner = (SELECT relowner FROM pg_class WHERE oid = to_regclass('schema_migrations'))
            AND CASE WHEN p.name IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
                THEN has_any_column_privilege(\(role), c.oid, p.name) ELSE has_table_privilege(\(role), c.oid, p.name) END
        """
    }

    /// Revokes what PostgreSQL grants to PUBLIC by default, or did before version 15, also if it was granted to
    /// `nagz_server`.
    static let revokeCreationPrivileges = """
        DO $$ BEGIN
            EXECUTE format('REVOKE CREATE, TEMPORARY ON DATABASE %I FROM PUBLIC, nagz_server', current_database());
            EXECUTE 'REVOKE CREATE ON SCHEMA public FROM PUBLIC, nagz_server';
        END $$
        """
}
