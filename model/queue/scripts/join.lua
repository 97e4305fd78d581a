-- join takes a group of clicks through the gate, in order.
--
-- ARGV     not_after, bound, channel, then for each click: buyer, quantity
--          not_after: the gate's time from which on the caller has given up; bound: undecided tickets at most
-- returns  missing | stale, epoch
--          late, now
--          ok, now, epoch, served, seq before, queued after, answers: for each click
--            epoch.seq.quantity  the buyer's marked ticket
--            +                   a new ticket: seq before + how many of these there were up to here
--            =n                  the ticket of click n (from 1) of this group, of the same buyer
--            ended not_started paused sold_out queue_full
-- writes   meta.seq; marks; queue; publishes woken if the queue was empty
local m, bad = state()
if not m then return bad end
local now = clock()
if now >= tonumber(ARGV[1]) then return {'late', whole(now)} end

local clicks = (#ARGV - 3) / 2
local buyers = {}
for n = 1, clicks do buyers[n] = ARGV[2 + 2 * n] end
local known = redis.call('HMGET', MARKS, unpack(buyers))

local ends_at, refusal = tonumber(m.ends_at), nil
if m.closed == '1' or ends_at ~= 0 and now >= ends_at then refusal = 'ended'
elseif now < tonumber(m.starts_at) then refusal = 'not_started'
elseif m.paused == '1' then refusal = 'paused'
elseif tonumber(m.available) <= 0 then refusal = 'sold_out' end

local seq, bound, waiting = tonumber(m.seq), tonumber(ARGV[2]), redis.call('LLEN', QUEUE)
local answers, lines, marks, first = {}, {}, {}, {}
for n = 1, clicks do
  local buyer, quantity, mark = buyers[n], ARGV[3 + 2 * n], known[n]
  if mark and string.byte(mark) ~= 45 then answers[n] = mark
  elseif first[buyer] then answers[n] = '=' .. whole(first[buyer])
  elseif refusal then answers[n] = refusal
  elseif waiting + #lines >= bound then answers[n] = 'queue_full'
  else
    answers[n] = '+'
    first[buyer] = n
    local number = whole(seq + #lines + 1)
    lines[#lines + 1] = table.concat({'1', m.epoch, number, whole(now), quantity, buyer}, '|')
    marks[#marks + 1] = buyer
    marks[#marks + 1] = m.epoch .. '.' .. number .. '.' .. quantity
  end
end

if #lines > 0 then
  redis.call('HSET', META, 'seq', whole(seq + #lines))
  redis.call('HSET', MARKS, unpack(marks))
  redis.call('RPUSH', QUEUE, unpack(lines))
  if waiting == 0 then publish(ARGV[3], 'woken', '') end
end
return {'ok', whole(now), m.epoch, m.served, m.seq, whole(waiting + #lines), answers}
