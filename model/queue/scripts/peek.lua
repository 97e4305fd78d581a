-- peek shows the oldest entries and removes none.
--
-- ARGV     most (0 or more)
-- returns  missing | stale, epoch | ok, epoch, served, seq, version, queued, lines (those too long as their stand-ins)
-- writes   nothing
local m, bad = state()
if not m then return bad end
local lines, most = {}, tonumber(ARGV[1])
if most > 0 then lines = redis.call('LRANGE', QUEUE, 0, most - 1) end
for n = 1, #lines do lines[n] = short(lines[n]) end
return {'ok', m.epoch, m.served, m.seq, m.version, whole(redis.call('LLEN', QUEUE)), lines}
