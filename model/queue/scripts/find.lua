-- find tells a buyer's marked ticket, else the newest one, and where it is.
--
-- ARGV     buyer
-- returns  missing | stale, epoch | none | ok, meta.epoch, state, ahead, verdict, ticket as epoch.seq.quantity
-- writes   nothing
local m, bad = state()
if not m then return bad end
local mark = redis.call('HGET', MARKS, ARGV[1])
if not mark then return {'none'} end
local epoch, seq, quantity = string.match(mark, '^-?(%d+)%.(%d+)%.(%d+)$')
if not epoch then return {'none'} end
local answer = place(m, tonumber(epoch), tonumber(seq))
answer[6] = epoch .. '.' .. seq .. '.' .. quantity
return answer
