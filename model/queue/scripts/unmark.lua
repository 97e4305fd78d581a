-- unmark lets a buyer's ticket go, if it is the one marked and it is decided.
--
-- ARGV     buyer, ticket as epoch.seq. , seq
-- returns  missing | stale, epoch | ok
-- writes   marks
local m, bad = state()
if not m then return bad end
local buyer, ticket = ARGV[1], ARGV[2]
local mark = redis.call('HGET', MARKS, buyer)
if mark and string.sub(mark, 1, #ticket) == ticket and tonumber(ARGV[3]) <= tonumber(m.served) then
  redis.call('HDEL', MARKS, buyer)
  redis.call('HSET', MARKS, buyer, '-' .. mark)
end
return {'ok'}
