-- Codes for telephone numbers are counted where attempts at passwords and other codes are, each with a window of its own.

-- When all attempts have become available again; null in rows that an earlier release counted, whose window is 15 minutes.
ALTER TABLE sign_in_attempts ADD COLUMN expires_at timestamptz;

-- contract: phone_code_counts: 0.1.0 does not know it.
DROP INDEX phone_code_counts_by_window;
DROP TABLE phone_code_counts;
