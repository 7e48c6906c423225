-- The windows of escalation that the open nags were last looked at with: one row. Other windows may have earlier steps.
CREATE TABLE scheduler_plan (
    is_current boolean PRIMARY KEY DEFAULT true CHECK (is_current),
    windows    text NOT NULL
);
GRANT SELECT, INSERT, UPDATE ON scheduler_plan TO nagz_server;
