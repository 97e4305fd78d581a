-- Stands before every script of an item. Their KEYS are always the same four: meta, queue, marks, verdicts.
--
--   meta      hash: epoch life seq served, the mirror (version available starts_at ends_at paused closed), cut:<epoch>
--   queue     list, oldest left: 1|epoch|seq|at|quantity|buyer
--   marks     hash: buyer -> epoch.seq.quantity of the undecided or winning ticket; a leading '-' lets the ticket go:
--             it is only the newest that this buyer had, and keeps nobody from joining
--   verdicts  hash: seq -> won duplicate ended failed; sold_out is not written
--
-- A script that fails half way keeps its writes. So every check comes before the first write, and the first write is one
-- that Redis takes when it is full, but for join, whose first write has to be refused then.
local META, QUEUE, MARKS, VERDICTS = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

-- Numbers are doubles here, and tostring(1e14) is '1e+14'.
local function whole(n) return string.format('%.0f', n) end

-- The gate's clock, in Unix milliseconds.
local function clock()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- One unbroken life of this server's data as a master.
local function life() return string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') end

-- The item's meta, every field a string; or nil and the answer to give: missing, or stale and the epoch.
local function state()
  local f = redis.call('HMGET', META, 'epoch', 'life', 'seq', 'served', 'version', 'available', 'starts_at', 'ends_at',
    'paused', 'closed')
  if not f[1] then return nil, {'missing'} end
  if f[2] ~= life() then return nil, {'stale', f[1]} end
  return {epoch = f[1], seq = f[3], served = f[4], version = f[5], available = f[6], starts_at = f[7], ends_at = f[8],
    paused = f[9], closed = f[10]}
end

-- Lets the writes after it through when Redis is full.
local function open_writes() redis.call('HDEL', META, '') end

-- Writes all of the gate from ARGV[at]: version, available, starts_at, ends_at, paused, closed.
local function write_mirror(at)
  redis.call('HSET', META, 'version', ARGV[at], 'available', ARGV[at + 1], 'starts_at', ARGV[at + 2],
    'ends_at', ARGV[at + 3], 'paused', ARGV[at + 4], 'closed', ARGV[at + 5])
end

-- Tells subscribers: kind|item|epoch|served|seq|queued|available|version|told
local function publish(channel, kind, told)
  local f = redis.call('HMGET', META, 'epoch', 'served', 'seq', 'available', 'version')
  redis.call('PUBLISH', channel, table.concat({kind, string.match(META, '%d+'), f[1], f[2], f[3],
    whole(redis.call('LLEN', QUEUE)), f[4], f[5], told}, '|'))
end

-- What stands for a line of the queue: the line, or, of one too long to be an entry, its digest.
local function short(line)
  if #line > 300 then return '#' .. redis.sha1hex(line) end
  return line
end

-- Where the ticket is, ready to be returned: ok, meta.epoch, state (gone unknown queued decided), ahead, verdict.
local function place(m, epoch, seq)
  if epoch > tonumber(m.epoch) then return {'ok', m.epoch, 'unknown', '0', ''} end
  if epoch < tonumber(m.epoch) then
    local cut = redis.call('HGET', META, 'cut:' .. whole(epoch))
    if not cut or seq > tonumber(cut) then return {'ok', m.epoch, 'gone', '0', ''} end
  elseif seq > tonumber(m.seq) then
    return {'ok', m.epoch, 'unknown', '0', ''}
  end
  local verdict = redis.call('HGET', VERDICTS, whole(seq))
  if verdict then return {'ok', m.epoch, 'decided', '0', verdict} end
  local served = tonumber(m.served)
  if seq <= served then return {'ok', m.epoch, 'decided', '0', 'sold_out'} end
  local ahead = math.min(seq - served, redis.call('LLEN', QUEUE)) - 1
  return {'ok', m.epoch, 'queued', whole(math.max(ahead, 0)), ''}
end

