-- beat says that a worker lives, and tells who does. It stands alone, without the prelude.
--
-- KEYS     workers
-- ARGV     worker, milliseconds after which one without a beat is dropped
-- returns  the live workers, this one among them
-- writes   workers: the worker out and in again, at the server's time; old ones dropped, and those from times that are
--          still to come: of before the clock was set back, so that who has died since does not live on until then
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('(%.0f', now - tonumber(ARGV[2])))
redis.call('ZREMRANGEBYSCORE', KEYS[1], string.format('(%.0f', now), '+inf')
redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
return redis.call('ZRANGE', KEYS[1], 0, -1)
