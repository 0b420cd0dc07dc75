-- Gives free permits to the head of the line, in the same step that freed them (promise 3).
-- Uses what `open`, `members`, `settings` and `keyed` made, and `mayGrant`.
--@include recall
local ownGrants, otherGrants = {}, {}
-- Tickets at the head that need more than the limit: passed over, ended by their own instance (R8).
local passedOver = 0
local free = 0
if mayGrant and now >= graceUntil then
  --@include used
  free = limit - used
end

if free > 0 and waitingCount > 0 then
  local budget = 500
  -- As many as can run; more at once when some of them turn out to be dead.
  local chunk = free
  local blocked = false
  while free > 0 and waitingCount > passedOver and budget > 0 and not blocked do
    local heads = redis.call('ZRANGE', waiting, passedOver, passedOver + math.min(chunk, budget, waitingCount - passedOver) - 1)
    local removed, granted = {}, {}
    for _, member in ipairs(heads) do
      local permits = weighted == 1 and permitsOf(member) or 1
      local key = capped ~= 0 and string.match(member, '[^:]*$') or ''
      local lives = ownerIsAlive(member)
      -- For those who have left another of their key may come in, before this one.
      if lives and parkedCount > 0 and next(leftKeys) then break end
      budget = budget - 1
      if not lives then
        chunk = 100
        removed[#removed + 1] = member
        if key ~= '' then put(member) end
      elseif permits > limit then
        passedOver = passedOver + 1
      elseif key ~= '' and standsAside(key, member) then
        chunk = 100
        removed[#removed + 1] = member
      elseif permits > free then
        blocked = true
        break
      else
        if key ~= '' then put(member, ':1:') end
        free = free - permits
        removed[#removed + 1] = member
        granted[#granted + 1] = leaseEndText
        granted[#granted + 1] = member
        seq = math.max(seq + 1, serverUs)
        local owner = ownerOf(member)
        local entry = member .. '/' .. string.format('%d', seq)
        if owner == instance then
          ownGrants[#ownGrants + 1] = entry
        elseif otherGrants[owner] then
          otherGrants[owner] = otherGrants[owner] .. ',' .. entry
        else
          otherGrants[owner] = entry
        end
      end
    end
    if #removed > 0 then waitingCount = waitingCount - redis.call('ZREM', waiting, unpack(removed)) end
    if #granted > 0 then
      redis.call('ZADD', running, unpack(granted))
      runningCount = runningCount + #granted / 2
      grants = grants + #granted / 2
      sweepAt = math.min(sweepAt, leaseEnd)
    end
    if #heads == 0 then blocked = true end
    if next(leftKeys) then
      recallAll()
      passedOver = 0
    end
  end
  -- (Another call would do no better where the head cannot run, or where all that was looked at needs more than the limit.)
  if budget <= 0 and not blocked and passedOver < 500 then more = 1 end
end
