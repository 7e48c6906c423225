-- Whether a family's adults may send questions to AI models of third parties, with their own keys.
ALTER TABLE policies ADD COLUMN third_party_models boolean NOT NULL DEFAULT false;
