--- rejoin: puts back tickets that the store has lost, or lost sight of. Never refuses, never grants, may be repeated (R18).
--@key waiting    the line
--@key running    who runs
--@key instances  who lives
--@key aside      places whose client is not connected
--@key state      hash
--@key parked     tickets out of the line because their key is at its cap
--@key keyed      tickets by key
--@arg instance   string  whose tickets these are
--@arg batch      number  its next batch is this number and one
--@arg standing   string  epoch, server and revision as the instance knew them, like `exchange`
--@arg livenessMs number  for how long this call proves that the instance lives
--@arg terms      string  JSON, like `exchange`
--@arg fence      number  the highest number or fence that the instance has seen
--@arg channel    string  how the wake channels' names begin
--@arg complete   number  1 with the last part of its tickets
--@arg known      string  the instances that it knew, each followed by a blank
--@arg lines      number  how many of the tickets stand in the line; the rest run
--@args tickets   members in the line; then for each running one what is left of its lease in ms, and its member
--@reply ok, epoch: the tickets are in, the instance may send its next batch
--@include open
--@include members

-- A late copy of a rejoin after which batches were answered: what it brings may have ended meanwhile.
if keptBatch and batch < keptBatch then return { 'ok', knownEpoch } end

local lives = true
--@include beat
local declaring, rejoining = false, true
--@include settings
--@include keyed

-- What the store has not seen yet ranks behind all that these have seen (R2, R18).
seq = math.max(seq, fence)
sweepAt = 0
local firstRunning = tickets + lines
local given, taken = {}, {}
-- Of what others have taken since its last answer it has not been told.
local untold = {}
for member in string.gmatch(kept or '', '%*([^,]+)') do
  untold[member] = true
  given[#given + 1] = '*' .. member
end
for index = tickets, #ARGV do
  local member = ARGV[index]
  local isRunning = index >= firstRunning
  if not isRunning or (index - firstRunning) % 2 == 1 then
    local number = tonumber(string.sub(member, 1, 16))
    seq = math.max(seq, number)
    if permitsOf(member) > 1 then weighted = 1 end
    --@include latest
    if not isLatest then
      if not untold[member] then given[#given + 1] = '*' .. member end
    elseif isRunning then
      redis.call('ZREM', waiting, member)
      if absent ~= 0 then redis.call('ZREM', aside, member) end
      redis.call('ZADD', running, 'GT', now + tonumber(ARGV[index - 1]), member)
      if capped ~= 0 then
        redis.call('ZREM', parked, member)
        put(member, ':1:')
      end
    elseif redis.call('ZSCORE', running, member) then
      -- It does not know yet that it runs: its lease begins now (R13).
      redis.call('ZADD', running, 'GT', leaseEndText, member)
    elseif not (capped ~= 0 and redis.call('ZSCORE', parked, member)) and not (absent ~= 0 and redis.call('ZSCORE', aside, member)) then
      -- (What is parked or aside stays so. The others of a key over its cap are parked in their turn.)
      redis.call('ZADD', waiting, number, member)
      if capped ~= 0 then put(member, ':2:') end
    end
  end
end
--@include told

local otherGrants, nudge = {}, complete == 1
if complete == 1 then
  local kept = string.format('%d 0   ', batch) .. knownEpoch
  if #given > 0 then kept = kept .. ' ' .. table.concat(given, ',') end
  change('kept:' .. instance, kept)
  --@include grace
end
--@include hints
--@include close
return { 'ok', knownEpoch }
