-- Who is to be told of a grant: the caller in its reply, every other instance by one message on the channel of its process.
-- Uses what `open` and `members` made, and `channel`.
local ownGrants, otherGrants = {}, {}

local function noteGrant(member, fence)
  local owner = ownerOf(member)
  local entry = member .. '/' .. numberText(fence)
  if owner == instance then
    ownGrants[#ownGrants + 1] = entry
  else
    local list = otherGrants[owner]
    if list then list[#list + 1] = entry else otherGrants[owner] = { entry } end
  end
end

-- One message for each other instance that got grants. A hint may be lost, so a refused PUBLISH (rights) must not undo the grant.
local function instanceChannel(owner)
  return channel .. string.match(owner, '^[^.]+')
end
local function hintOthers()
  for owner, list in pairs(otherGrants) do
    redis.pcall('PUBLISH', instanceChannel(owner), owner .. ' ' .. knownEpoch .. ' ' .. table.concat(list, ','))
  end
end
-- A hint without grants: look at the store soon.
local function nudgeOthers()
  for _, owner in ipairs(redis.call('ZRANGE', instances, 0, 499)) do
    if owner ~= '~' and owner ~= instance then
      redis.pcall('PUBLISH', instanceChannel(owner), owner .. ' ' .. knownEpoch .. ' ')
    end
  end
end
