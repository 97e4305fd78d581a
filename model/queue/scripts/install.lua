-- install puts the item under a new epoch of SQL's. The state of the epoch right before is kept with its order and its
-- tickets, whatever life it is of; any other is thrown away, for what was lost with the gap can not be told apart. Marks
-- and verdicts are not restored.
--
-- ARGV     channel, epoch, base (highest number decided), row (version, available, starts_at, ends_at, paused, closed)
-- returns  newer (there is this epoch or a later one) | kept | ok
-- writes   kept: meta.cut of the old epoch, larger cuts lowered to it; seq not below base, epoch, life, and the mirror,
--          if the row is newer or the life another: a mirror of another life may be of commits that SQL has lost
--          else: all keys unlinked; meta new, with seq = served = base
--          publishes changed
local ROW = 4
local epoch, base = tonumber(ARGV[2]), tonumber(ARGV[3])
local meta, there = {}, redis.call('HGETALL', META)
for n = 1, #there, 2 do meta[there[n]] = there[n + 1] end
local old = tonumber(meta.epoch or '0')
if meta.epoch and old >= epoch then return {'newer'} end

local answer = 'ok'
if meta.epoch and old + 1 == epoch then
  answer = 'kept'
  local seq = tonumber(meta.seq)
  open_writes()
  for field, cut in pairs(meta) do
    if string.sub(field, 1, 4) == 'cut:' and tonumber(cut) > seq then redis.call('HSET', META, field, meta.seq) end
  end
  redis.call('HSET', META, 'cut:' .. meta.epoch, meta.seq, 'seq', whole(math.max(seq, base)), 'epoch', ARGV[2],
    'life', life())
  if meta.life ~= life() or tonumber(ARGV[ROW]) > tonumber(meta.version) then write_mirror(ROW) end
else
  redis.call('UNLINK', META, QUEUE, MARKS, VERDICTS)
  redis.call('HSET', META, 'epoch', ARGV[2], 'life', life(), 'seq', ARGV[3], 'served', ARGV[3])
  write_mirror(ROW)
end
publish(ARGV[1], 'changed', '')
return {answer}
