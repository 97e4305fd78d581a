-- mirror takes over the gate of a newer row, all of it: a partial write would hide the change that it skipped.
--
-- ARGV     channel, force (1: also of an older row), row (version, available, starts_at, ends_at, paused, closed)
-- returns  missing | stale, epoch | ok
-- writes   the mirror; publishes changed
local m, bad = state()
if not m then return bad end
if ARGV[2] == '1' or tonumber(ARGV[3]) > tonumber(m.version) then
  open_writes()
  write_mirror(3)
  publish(ARGV[1], 'changed', '')
end
return {'ok'}
