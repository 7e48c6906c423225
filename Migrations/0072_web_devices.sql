-- Devices of browsers (Web Push) and of Android.
-- contract: devices.devices_token_check: what 0.1.0 writes satisfies it, because it writes 512 characters at most.
-- contract: devices.devices_web_keys: what 0.1.0 writes satisfies it, because it writes neither keys nor the platform web.

ALTER TABLE devices
    -- The keys of a browser's subscription, whose endpoint is the token.
    ADD COLUMN p256dh bytea,
    ADD COLUMN auth bytea,
    DROP CONSTRAINT devices_platform_check,
    ADD CONSTRAINT devices_platform_check CHECK (platform IN ('ios', 'ipados', 'macos', 'web', 'android')) NOT VALID,
    DROP CONSTRAINT devices_token_check,
    ADD CONSTRAINT devices_token_check CHECK (length(token) BETWEEN 1 AND 1024) NOT VALID,
    ADD CONSTRAINT devices_web_keys CHECK (
        CASE WHEN platform = 'web' THEN coalesce(length(p256dh) = 65 AND length(auth) = 16, false)
             ELSE p256dh IS NULL AND auth IS NULL END) NOT VALID;
