-- A ticket's member text: number:instance:ticket:permits:key. The number has 16 digits, so equal scores stay in order; nothing in it
-- holds a colon but the four that separate.
local function ownerOf(member)
  return string.match(member, '^%d+:([^:]+)')
end
local function permitsOf(member)
  return tonumber(string.match(member, '^%d+:[^:]+:[^:]+:(%d+)')) or 1
end

-- Permits in use: always derived from who holds them, never stored. Counting suffices where every ticket has one.
local function usedPermits()
  if weighted == 0 then return runningCount end
  local used = 0
  for from = 0, runningCount, 500 do
    for _, member in ipairs(redis.call('ZRANGE', running, from, from + 499)) do
      if member ~= '~' then used = used + permitsOf(member) end
    end
  end
  return used
end

local isAlive = {}
local function ownerIsAlive(member)
  local owner = ownerOf(member)
  if isAlive[owner] == nil then isAlive[owner] = redis.call('ZSCORE', instances, owner) ~= false end
  return isAlive[owner]
end
