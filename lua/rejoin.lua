--- rejoin: puts back tickets that the store has lost, or lost sight of. Never refuses, never grants, may be repeated (R18).
--@key waiting    the line
--@key running    who runs
--@key instances  who lives
--@key state      hash
--@arg instance   string  whose tickets these are
--@arg epoch      string  the epoch that the instance knew
--@arg batch      number  its next batch is this number and one
--@arg run        string  the server's identity; empty if not to be had
--@arg livenessMs number  for how long this call proves that the instance lives
--@arg bootMs     number  what is left of the boot grace
--@arg keepMs     number  for how long the state must at least be kept
--@arg declared   string  JSON: settings in this instance's code, and the operator's that it knows
--@arg fence      number  the highest number or fence that the instance has seen
--@arg grants_    number  the highest count of grants that it has seen
--@arg channel    string  how the wake channels' names begin
--@arg complete   number  1 with the last part of its tickets
--@arg known      string  the instances that it knew, each followed by a blank
--@arg lines      number  how many of the tickets stand in the line; the rest run
--@args tickets   members in the line; then for each running one what is left of its lease in ms, and its member
--@reply ok, epoch: the tickets are in, the instance may send its next batch
--@include open
--@include settings
--@include members
--@include hints
--@include grace
--@include close

makeFirstWrite('ZADD', instances, now + livenessMs, instance)
sweepAt = 0
seq = math.max(seq, fence)
grants = math.max(grants, grants_)
change('grants', grants)
loadSettings(false, true)

local function note(member)
  local number = tonumber(string.sub(member, 1, 16))
  seq = math.max(seq, number)
  if permitsOf(member) > 1 and not weighted then
    weighted = true
    change('weighted', '1')
  end
  return number
end

local firstRunning = tickets + lines
for index = tickets, firstRunning - 1 do
  local member = ARGV[index]
  -- A ticket that runs already stays running.
  if not redis.call('ZSCORE', running, member) then redis.call('ZADD', waiting, note(member), member) end
end
for index = firstRunning, #ARGV, 2 do
  local member = ARGV[index + 1]
  note(member)
  redis.call('ZREM', waiting, member)
  redis.call('ZADD', running, 'GT', now + tonumber(ARGV[index]), member)
end

if complete == 1 then
  change('kept:' .. instance, batch .. ' 0  ')
  comeBack(known)
  nudgeOthers()
end
close()
return { 'ok', knownEpoch }
