-- The proof of life, and the first write. A Redis without room refuses a script's first write if it takes memory, but none after a removal
-- (R6): so releases, heartbeats and returning tickets still work, only newcomers do not.
-- Uses what `open` and `members` made, and `lives`: whether the caller is to be believed alive.
local room = false
local aliveText = string.format('%d', math.ceil(now + livenessMs))
if lives then
  isAlive[instance] = true
  local beaten = redis.pcall('ZADD', instances, aliveText, instance)
  room = type(beaten) ~= 'table'
  sweepAt = math.min(sweepAt, now + livenessMs)
end
if not room then
  redis.call('ZREM', waiting, '')
  if lives then redis.call('ZADD', instances, aliveText, instance) end
end
