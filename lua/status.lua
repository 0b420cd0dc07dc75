--- status: looks at a queue and changes nothing.
--@key waiting    the line
--@key running    who runs
--@key instances  who lives
--@key state      hash
--@key parked     tickets out of the line because their key is at its cap
--@args members   tickets whose positions are asked for
--@reply epoch, server time in ms, waiting, running, instances, grants, settings in force, then a position for each member (0: it does not wait)
--@include clock
local fields = redis.call('HMGET', state, 'numbers')
--@include numbers
local knownRevision = limit < 0 and revision or -1
--@include news
local runningCount = math.max(0, redis.call('ZCARD', running) - 1)
--@include members
--@include used
local reply = {
  string.format('%d', epochNumber), string.format('%d', math.floor(serverUs / 1000) + skewMs), math.max(0, redis.call('ZCARD', waiting) - 1),
  used, math.max(0, redis.call('ZCARD', instances) - 1), grants, news,
}
if capped ~= 0 then reply[3] = reply[3] + math.max(0, redis.call('ZCARD', parked) - 1) end
for index = members, #ARGV do
  local rank = redis.call('ZRANK', waiting, ARGV[index])
  if capped ~= 0 and (rank or redis.call('ZSCORE', parked, ARGV[index])) then
    local before = '(' .. string.sub(ARGV[index], 1, 16)
    rank = redis.call('ZCOUNT', waiting, '-inf', before) + redis.call('ZCOUNT', parked, '-inf', before)
  end
  reply[#reply + 1] = rank and rank + 1 or 0
end
return reply
