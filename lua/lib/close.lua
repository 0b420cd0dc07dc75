-- Writes back what has changed, in one command; puts up the sentinels of a new epoch; renews the life of the keys, seldom (R20).
-- Uses what `open` made, and keepMs.
if isNew or lossSeen then
  redis.call('ZADD', waiting, 'inf', '~')
  redis.call('ZADD', running, 'inf', '~')
  redis.call('ZADD', instances, 'inf', '~')
end
local renew = expires - now < keepMs
if renew then
  expires = now + 2 * keepMs
  change('expires', expires)
end
redis.call('HSET', state, 'seq', string.format('%016.0f', seq), 'last', now, 'sweep', sweepAt, 'grants', grants, unpack(changes))
if renew then
  for _, key in ipairs({ waiting, running, instances, state }) do
    -- In the server's own time, without our skew.
    redis.call('PEXPIREAT', key, expires - skewMs)
  end
end
