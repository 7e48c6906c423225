-- The reasons kept with inputs that were not applied take the codes that clients know now.

UPDATE inputs SET code = CASE code WHEN 'VALIDATION_FAILED' THEN 'VALIDATION_ERROR' ELSE 'AUTHZ_DENIED' END
WHERE code IN ('VALIDATION_FAILED', 'ACCOUNT_PENDING');
