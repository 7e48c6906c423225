-- Run as the owner on a restored database, before the first server starts: tells devices to fetch everything again. A device may
-- have seen writes that the restored database lacks, and would keep them for good.
UPDATE family_clock SET epoch = epoch + 1;
