-- A ticket's member text: number:instance:ticket:permits:key. The number has 16 digits, so equal scores stay in order; nothing in it
-- holds a colon but the four that separate.
local function ownerOf(member)
  return string.match(member, '^%d+:([^:]+)')
end
local function permitsOf(member)
  return tonumber(string.match(member, '^%d+:[^:]+:[^:]+:(%d+)')) or 1
end

local isAlive = {}
local function ownerIsAlive(member)
  local owner = ownerOf(member)
  if isAlive[owner] == nil then isAlive[owner] = redis.call('ZSCORE', instances, owner) ~= false end
  return isAlive[owner]
end
