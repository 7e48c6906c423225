-- The time at which a notification was first sent: a reminder changes `sent_at`. It is null in rows that were sent before
-- this migration and not reminded since; for these it is `sent_at`.
ALTER TABLE deliveries ADD COLUMN first_sent_at timestamptz;
