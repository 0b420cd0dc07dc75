-- Writes back what has changed, in one command; puts up the sentinels of a new epoch; renews the life of the keys, seldom (R20).
-- Uses what `open` made, and keepMs.
if isNew or lossSeen then
  redis.call('ZADD', waiting, 'inf', '~')
  redis.call('ZADD', running, 'inf', '~')
  redis.call('ZADD', instances, 'inf', '~')
end
local renews = expires - now < keepMs
if renews then expires = now + 2 * keepMs end
local numbers = struct.pack('<dddddddddddddddd', epochNumber, seq, now, skewMs, sweepAt, quietUntil, graceUntil, grants,
  limit, sizeLimit, leaseMs, revision, weighted, graced, expires, purge)
redis.call('HSET', state, 'numbers', numbers, unpack(changes))
if renews then
  for _, key in ipairs({ waiting, running, instances, state }) do
    -- In the server's own time, without our skew.
    redis.call('PEXPIREAT', key, expires - skewMs)
  end
end
