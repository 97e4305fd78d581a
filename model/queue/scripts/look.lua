-- look tells where a ticket is. It is one script, so that the verdict and the numbers are of one instant.
--
-- ARGV     epoch, seq
-- returns  missing | stale, epoch | ok, meta.epoch, state, ahead, verdict: see place
-- writes   nothing
local m, bad = state()
if not m then return bad end
return place(m, tonumber(ARGV[1]), tonumber(ARGV[2]))
