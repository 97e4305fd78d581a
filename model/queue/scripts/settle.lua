-- settle takes a decided batch off the head of the queue, or, if it does not stand there, only brings the mirror up to
-- date.
--
-- ARGV     epoch of the peek, first line (or its stand-in), n, last seq, units sold, channel, told,
--          row (version, available, starts_at, ends_at, paused, closed),
--          then for each of the n entries: seq, verdict, buyer, ticket as epoch.seq. ('' for one that can not be read)
-- returns  missing | stale, epoch | epoch (another) | again (mirror only) | ok
-- writes   verdicts; marks of all but the winners are let go; meta.served; the mirror if the row is newer; queue (LTRIM);
--          publishes settled with told, and changed if the row shows more than the units that the batch sold
--
-- The verdicts come first and the trim last: a server that was killed while it wrote its file may, two starts later, run
-- only the first of these writes.
local ROW, ENTRIES = 8, 14
local m, bad = state()
if not m then return bad end
if m.epoch ~= ARGV[1] then return {'epoch'} end
local n, sold, channel = tonumber(ARGV[3]), tonumber(ARGV[5]), ARGV[6]
local head = n > 0 and redis.call('LINDEX', QUEUE, 0)
local stands = head and short(head) == ARGV[2]
local newer = tonumber(ARGV[ROW]) > tonumber(m.version)
local only_sold = stands and sold > 0 and tonumber(ARGV[ROW]) == tonumber(m.version) + 1 and
  tonumber(ARGV[ROW + 1]) == tonumber(m.available) - sold and ARGV[ROW + 2] == m.starts_at and
  ARGV[ROW + 3] == m.ends_at and ARGV[ROW + 4] == m.paused and ARGV[ROW + 5] == m.closed

if stands or newer then open_writes() end
if stands then
  for at = ENTRIES, ENTRIES + 4 * (n - 1), 4 do
    local seq, verdict, buyer, ticket = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
    if verdict ~= 'sold_out' then redis.call('HSETNX', VERDICTS, seq, verdict) end
    if verdict ~= 'won' and ticket ~= '' then
      local mark = redis.call('HGET', MARKS, buyer)
      if mark and string.sub(mark, 1, #ticket) == ticket then redis.call('HSET', MARKS, buyer, '-' .. mark) end
    end
  end
  redis.call('HSET', META, 'served', whole(math.max(tonumber(m.served), tonumber(ARGV[4]))))
end
if newer then write_mirror(ROW) end
if stands then redis.call('LTRIM', QUEUE, n, -1) end
if stands then publish(channel, 'settled', ARGV[7]) end
if newer and not only_sold then publish(channel, 'changed', '') end
return {stands and 'ok' or 'again'}
