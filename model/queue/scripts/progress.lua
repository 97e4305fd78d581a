-- progress tells how far the queue is.
--
-- ARGV     none
-- returns  missing | stale, epoch | ok, epoch, served, seq, queued, available, version
-- writes   nothing
local m, bad = state()
if not m then return bad end
return {'ok', m.epoch, m.served, m.seq, whole(redis.call('LLEN', QUEUE)), m.available, m.version}
