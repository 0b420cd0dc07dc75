// Generated from lua/*.lua by scripts/build-lua.mjs. Do not edit; run `npm run lua`.

/** A script with what its header says; `keys` and `args` are the names, in order. */
export interface Script {
  readonly name: string
  /** SHA-1 of `lua` in hexadecimal: the name for EVALSHA. */
  readonly sha1: string
  readonly keys: readonly string[]
  readonly args: readonly string[]
  readonly lua: string
}

/** What follows the script in an EVALSHA or EVAL: the number of keys, the keys, the arguments. */
export type ScriptArguments = (string | number)[]

export interface ConfigureKeys {
  /** the line */
  readonly waiting: string
  /** who runs */
  readonly running: string
  /** who lives */
  readonly instances: string
  /** places whose client is not connected */
  readonly aside: string
  /** hash */
  readonly state: string
  /** tickets out of the line because their key is at its cap */
  readonly parked: string
  /** tickets by key */
  readonly keyed: string
}

export interface ConfigureArguments {
  /** who asks */
  readonly instance: string
  /** epoch, server and revision as the instance knows them, like `exchange` */
  readonly standing: string
  /** of this instance */
  readonly livenessMs: number
  /** JSON, like `exchange` */
  readonly terms: string
  /** how the wake channels' names begin */
  readonly channel: string
  /** names this change: the same again changes nothing, since client libraries repeat calls (R5) */
  readonly changeId: string
  /** change only if this is the version in force; empty: whatever it is */
  readonly ifVersion: string
  /** JSON: name → new value as text, or false to clear it */
  readonly values: string
  /** who makes the change */
  readonly by: string
}

/**
 * Changes the operator's settings for all instances at once, and lets in whom the change allows.
 *
 * Replies ok, settings, grants of the caller's own tickets, 1 if it should exchange at once since more could be let in
 * Replies conflict, version in force: nothing was changed
 * Replies full: the server has no room No batch: this call may be made at any time, by an instance that has no tickets.
 */
export const configure: Script = {
  name: 'configure',
  sha1: '87ac97f17c5f41c68625e586a08822f8e43bebe6',
  keys: ['waiting', 'running', 'instances', 'aside', 'state', 'parked', 'keyed'],
  args: ['instance', 'standing', 'livenessMs', 'terms', 'channel', 'changeId', 'ifVersion', 'values', 'by'],
  lua: `local waiting, running, instances, aside, state, parked, keyed = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local instance, standing, livenessMs, terms, channel, changeId, ifVersion, values, by = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local batch = nil
local clock = redis.call('TIME')
local serverUs = clock[1] * 1000000 + clock[2]
local fields = redis.call('HMGET', state, 'numbers', 'standing', 'kept:' .. instance)
local kept = fields[3]
local keptBatch = kept and tonumber(string.match(kept, '^%d+'))
local epochNumber, seq, last, skewMs, sweepAt, quietUntil, graceUntil, grants = 0, 0, 0, 0, 0, 0, 0, 0
local limit, sizeLimit, leaseMs, revision, weighted, graced, purge, renewAt, keptFor, absent = -1, 0, 0, 0, 0, 0, 0, 0, 0, 0
local keyLimit, keySizeLimit, capped, comb = math.huge, math.huge, 0, 0
if fields[1] and #fields[1] == 176 then
  epochNumber, seq, last, skewMs, sweepAt, quietUntil, graceUntil, grants,
  limit, sizeLimit, leaseMs, revision, weighted, graced, purge, renewAt, keptFor, absent,
  keyLimit, keySizeLimit, capped, comb = struct.unpack('<dddddddddddddddddddddd', fields[1])
end
local more = 0
local changes = {}
local function change(field, value)
  changes[#changes + 1] = field
  changes[#changes + 1] = value
end
local asKnown = epochNumber > 0 and fields[2] == standing
local knownEpoch, epoch, run, storedRun, knownRevision
if asKnown then
  epoch, storedRun = string.match(standing, '^(%d+) (%w*)')
  knownEpoch, knownRevision = epoch, revision
else
  knownEpoch = string.format('%d', epochNumber)
  epoch, run, knownRevision = string.match(standing, '^(%d*) (%w*) (%-?%d+)$')
  knownRevision = tonumber(knownRevision)
  storedRun = fields[2] and string.match(fields[2], '^%d+ (%w*)') or ''
end
local now = math.floor(serverUs / 1000) + skewMs
if now < last then
  skewMs = skewMs + last - now
  now = last
end
if last > 0 and now - last > livenessMs / 2 then
  quietUntil = now + math.ceil(livenessMs * 2 / 3)
  if last < graceUntil then graceUntil = math.max(graceUntil, quietUntil) end
end
local waitingCount = redis.call('ZCARD', waiting) - 1
local runningCount = redis.call('ZCARD', running) - 1
local aliveUntil = tonumber(redis.call('ZSCORE', instances, instance))
local instancesThere = aliveUntil or redis.call('EXISTS', instances) == 1
if epochNumber == 0 then capped = redis.call('EXISTS', parked) end
local parkedCount = capped ~= 0 and redis.call('ZCARD', parked) - 1 or 0
local isNew = epochNumber == 0 and capped == 0 and waitingCount < 0 and runningCount < 0 and not instancesThere
local lossSeen = not isNew and not (epochNumber > 0 and waitingCount >= 0 and runningCount >= 0 and instancesThere)
if capped ~= 0 and (parkedCount < 0 or redis.call('EXISTS', keyed) == 0) then lossSeen = true end
if batch and keptBatch and batch > keptBatch + 1 and epoch == knownEpoch then lossSeen = true end
if not asKnown and run ~= '' and run ~= storedRun then
  if storedRun ~= '' and redis.call('HGET', state, 'formerRun') ~= run then
    lossSeen = true
    change('formerRun', storedRun)
  end
  if lossSeen or storedRun == '' then storedRun = run end
end
waitingCount = math.max(0, waitingCount)
runningCount = math.max(0, runningCount)
parkedCount = math.max(0, parkedCount)
if isNew or lossSeen then
  seq = math.max(seq + 1, serverUs)
  epochNumber = seq
  asKnown = false
  knownEpoch = string.format('%d', epochNumber)
  graced = 0
  if runningCount > 0 or waitingCount + parkedCount > 0 then weighted = 1 end
  absent = 1
  sweepAt = 0
  purge = -1
  renewAt, keptFor = 0, 0
  local bootMs = cjson.decode(terms).bootMs
  graceUntil = bootMs > 0 and now + bootMs or 0
end
local otherEpoch = epoch ~= '' and epoch ~= knownEpoch
local graceBegins = lossSeen or otherEpoch and graced == 0
if graceBegins then
  graceUntil = now + livenessMs
  graced = 1
  change('awaited', '')
  change('returned', '')
end
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
local probe = redis.pcall('HSET', state, 'room', '1')
if type(probe) == 'table' then return { 'full' } end
local known = cjson.decode(terms).declared
local settingNames = { 'concurrency', 'maxQueueSize', 'maxWaitMs', 'leaseMs', 'enabled', 'perKey' }
local function readJson(text)
  local ok, value = pcall(cjson.decode, text or '')
  return ok and type(value) == 'table' and value or nil
end
local function isLegal(name, value)
  if name == 'enabled' then return value == 'true' or value == 'false' end
  if name == 'perKey' then
    local concurrency, size = string.match(type(value) == 'string' and value or '', '^(%S+) (%S+)$')
    return concurrency and isLegal('concurrency', concurrency) and isLegal('maxQueueSize', size)
  end
  local number = tonumber(value)
  if not number or number < (name == 'leaseMs' and 1 or 0) then return false end
  if number == math.huge then return name == 'concurrency' or name == 'maxQueueSize' end
  return number == number and (name == 'maxWaitMs' or name == 'leaseMs' or number == math.floor(number))
end
local function readLegal(text)
  local values = readJson(text)
  if not values then return nil end
  local legal = {}
  for _, name in ipairs(settingNames) do
    if isLegal(name, values[name]) then legal[name] = values[name] end
  end
  return legal
end
local function storedRecord()
  local stored = redis.call('HMGET', state, 'code', 'operator', 'version', 'by')
  local record = {
    code = readLegal(stored[1]) or known.code,
    operator = readLegal(stored[2]),
    version = tonumber(stored[3]) or 0,
    by = stored[4] or '',
  }
  if not record.operator then
    record.operator, record.version, record.by = known.operator, tonumber(known.version) or 0, known.by or ''
  end
  return record
end
local function putInForce(record)
  revision = math.max(revision + 1, epochNumber)
  change('code', cjson.encode(record.code))
  change('operator', cjson.encode(record.operator))
  change('version', record.version)
  change('by', record.by)
  local inForce = { concurrency = limit, maxQueueSize = sizeLimit, leaseMs = leaseMs }
  for _, name in ipairs({ 'concurrency', 'maxQueueSize', 'leaseMs' }) do
    local value = record.operator[name]
    if value == nil then value = record.code[name] end
    if isLegal(name, value) then inForce[name] = tonumber(value) end
  end
  limit, sizeLimit, leaseMs = inForce.concurrency, inForce.maxQueueSize, inForce.leaseMs
  local perKey = record.operator.perKey or record.code.perKey
  if isLegal('perKey', perKey) then
    local concurrency, size = string.match(perKey, '^(%S+) (%S+)$')
    if tonumber(concurrency) ~= keyLimit then comb = -1 end
    keyLimit, keySizeLimit = tonumber(concurrency), tonumber(size)
  end
end
local declaring, rejoining = false, false
if limit < 0 or declaring or rejoining then
  local record = storedRecord()
  local changed = limit < 0
  if declaring then
    for _, name in ipairs(settingNames) do changed = changed or record.code[name] ~= known.code[name] end
    record.code = known.code
  end
  if rejoining and (tonumber(known.version) or 0) > record.version then
    record.operator, record.version, record.by = known.operator, tonumber(known.version), known.by or ''
    changed = true
  end
  if changed then putInForce(record) end
end
local leaseEnd = now + math.ceil(leaseMs)
local leaseEndText = string.format('%d', leaseEnd)
local record = storedRecord()
local repeated = redis.call('HGET', state, 'changeId') == changeId
local conflicts = not repeated and ifVersion ~= '' and tonumber(ifVersion) ~= record.version
local applies = not conflicts and not repeated
if applies then
  for name, value in pairs(cjson.decode(values)) do record.operator[name] = value or nil end
  record.version = record.version + 1
  record.by = by
  putInForce(record)
  change('changeId', changeId)
  leaseEnd = now + math.ceil(leaseMs)
  leaseEndText = string.format('%d', leaseEnd)
end
local count, put, standsAside, recallAll
local leftKeys = {}
local hasCaps = keyLimit < math.huge or keySizeLimit < math.huge
local begins = capped == 0 and hasCaps
if begins then capped = 1 end
if capped ~= 0 then
  function count(key, from, to)
    return redis.call('ZLEXCOUNT', keyed, '[' .. key .. from, '(' .. key .. to)
  end
  function put(member, place)
    local rest, key = string.match(member, '^(.*):([^:]*)$')
    if key == '' then return end
    redis.call('ZREM', keyed, key .. ':1:' .. rest, key .. ':2:' .. rest, key .. ':3:' .. rest)
    if place then
      redis.call('ZADD', keyed, 0, key .. place .. rest)
    else
      leftKeys[key] = true
    end
  end
  function standsAside(key, member)
    local number = string.sub(member, 1, 16)
    if count(key, ':1:', ':2:') < keyLimit then
      if parkedCount == 0 or count(key, ':3:', ':3:' .. number) == 0 then return false end
      leftKeys[key] = true
    end
    parkedCount = parkedCount + redis.call('ZADD', parked, number, member)
    put(member, ':3:')
    return true
  end
  local budget = 500
  function recallAll()
    for key in pairs(leftKeys) do
      leftKeys[key] = nil
      while parkedCount > 0 do
        local first = redis.call('ZRANGEBYLEX', keyed, '[' .. key .. ':3:', '(' .. key .. ':4:', 'LIMIT', 0, 1)[1]
        if not first then break end
        local rest = string.sub(first, #key + 4)
        local number = string.sub(rest, 1, 16)
        if count(key, ':1:', ':2:' .. number) >= keyLimit then break end
        if budget == 0 then
          comb, more = -1, 1
          break
        end
        budget = budget - 1
        local member = rest .. ':' .. key
        parkedCount = parkedCount - redis.call('ZREM', parked, member)
        waitingCount = waitingCount + redis.call('ZADD', waiting, number, member)
        put(member, ':2:')
      end
    end
  end
  if begins or isNew or lossSeen then
    redis.call('UNLINK', keyed)
    redis.call('ZADD', keyed, 0, '~')
    redis.call('ZADD', parked, 'inf', '~')
    for from = 0, runningCount, 500 do
      for _, member in ipairs(redis.call('ZRANGE', running, from, from + 499)) do
        if member ~= '~' then put(member, ':1:') end
      end
    end
    purge, comb, renewAt = -1, -1, 0
  end
end
local mayGrant, nudge = not conflicts, applies
if capped ~= 0 then
  if comb ~= 0 and now >= graceUntil then
    local found = redis.call('ZRANGEBYSCORE', parked, '(' .. string.format('%d', comb), '(inf', 'WITHSCORES', 'LIMIT', 0, 500)
    for i = 1, #found, 2 do
      local member = found[i]
      if ownerIsAlive(member) then
        put(member, ':3:')
        leftKeys[string.match(member, '[^:]*$')] = true
      else
        parkedCount = parkedCount - redis.call('ZREM', parked, member)
        put(member)
      end
    end
    comb = #found == 1000 and tonumber(found[1000]) or 0
    if comb ~= 0 then more = 1 end
  end
  recallAll()
  if not hasCaps and parkedCount == 0 and comb == 0 then
    capped = 0
    redis.call('UNLINK', parked, keyed)
  end
end
local ownGrants, otherGrants = {}, {}
local passedOver = 0
local free = 0
if mayGrant and now >= graceUntil then
local used = runningCount
if weighted ~= 0 then
  used = 0
  for from = 0, runningCount, 500 do
    for _, member in ipairs(redis.call('ZRANGE', running, from, from + 499)) do
      if member ~= '~' then used = used + permitsOf(member) end
    end
  end
end
  free = limit - used
end
if free > 0 and waitingCount > 0 then
  local budget = 500
  local chunk = free
  local blocked = false
  while free > 0 and waitingCount > passedOver and budget > 0 and not blocked do
    local heads = redis.call('ZRANGE', waiting, passedOver, passedOver + math.min(chunk, budget, waitingCount - passedOver) - 1)
    local removed, granted = {}, {}
    for _, member in ipairs(heads) do
      local permits = weighted == 1 and permitsOf(member) or 1
      local key = capped ~= 0 and string.match(member, '[^:]*$') or ''
      local lives = ownerIsAlive(member)
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
  if budget <= 0 and not blocked and passedOver < 500 then more = 1 end
end
for owner, list in pairs(otherGrants) do
  redis.pcall('PUBLISH', channel .. string.match(owner, '^[^.]+'), owner .. ' ' .. knownEpoch .. ' ' .. list)
end
if nudge then
  for _, id in ipairs(redis.call('ZRANGE', instances, 0, 499)) do
    if id ~= '~' and id ~= instance then
      redis.pcall('PUBLISH', channel .. string.match(id, '^[^.]+'), id .. ' ' .. knownEpoch .. ' ')
    end
  end
end
if isNew or lossSeen then
  redis.call('ZADD', waiting, 'inf', '~')
  redis.call('ZADD', running, 'inf', '~')
  redis.call('ZADD', instances, 'inf', '~')
end
local asBefore = asKnown and revision == knownRevision
local renews = now >= renewAt
if not asBefore then
  change('standing', knownEpoch .. ' ' .. storedRun .. ' ' .. string.format('%d', revision))
  local keepMs = cjson.decode(terms).keepMs
  if keepMs > keptFor then
    keptFor = keepMs
    renews = true
  end
end
if renews then renewAt = now + keptFor end
local numbers = struct.pack('<dddddddddddddddddddddd', epochNumber, seq, now, skewMs, sweepAt, quietUntil, graceUntil, grants,
  limit, sizeLimit, leaseMs, revision, weighted, graced, purge, renewAt, keptFor, absent, keyLimit, keySizeLimit, capped, comb)
redis.call('HSET', state, 'numbers', numbers, unpack(changes))
if renews then
  for _, key in ipairs({ waiting, running, instances, aside, state, parked, keyed }) do
    redis.call('PEXPIREAT', key, renewAt + keptFor - skewMs)
  end
end
if conflicts then return { 'conflict', record.version } end
knownRevision = -1
local news = ''
if knownRevision ~= revision then
  local stored = redis.call('HMGET', state, 'code', 'operator', 'version', 'by')
  news = cjson.encode({
    code = stored[1], operator = stored[2], version = stored[3], by = stored[4],
    revision = string.format('%d', revision),
    inForce = {
      concurrency = string.format('%.17g', limit), maxQueueSize = string.format('%.17g', sizeLimit),
      leaseMs = string.format('%.17g', leaseMs), perKey = string.format('%.17g %.17g', keyLimit, keySizeLimit),
    },
  })
end
return { 'ok', news, table.concat(ownGrants, ','), more }`,
}

export function configureArguments(keys: ConfigureKeys, args: ConfigureArguments): ScriptArguments {
  return [
    7,
    keys.waiting,
    keys.running,
    keys.instances,
    keys.aside,
    keys.state,
    keys.parked,
    keys.keyed,
    args.instance,
    args.standing,
    args.livenessMs,
    args.terms,
    args.channel,
    args.changeId,
    args.ifVersion,
    args.values,
    args.by,
  ]
}

export interface ExchangeKeys {
  /** the line: member text → arrival number */
  readonly waiting: string
  /** who runs: member text → end of lease, server time in ms */
  readonly running: string
  /** who lives: instance → alive until, server time in ms */
  readonly instances: string
  /** places whose client is not connected: member text → arrival number */
  readonly aside: string
  /** hash: epoch, numbers, settings, statistics, kept verdicts */
  readonly state: string
  /** tickets out of the line because their key is at its cap: member text → arrival number */
  readonly parked: string
  /** tickets by key, where keys have caps: key:place:number:instance:ticket:permits */
  readonly keyed: string
}

export interface ExchangeArguments {
  /** whose batch this is */
  readonly instance: string
  /** counts the instance's batches; the same number again changes nothing (R4) */
  readonly batch: number
  /** three words as the instance knows them: the epoch (empty if none, or too old to prove anything), the server's identity as read at connect (empty if not to be had), the revision of the settings */
  readonly standing: string
  /** letters: `h` it believes to have tickets in the store; `s` it has just started, so that its code value counts from now on (R23); `f` it asks for all its running tickets and all instances; `m` there are operations of `moves` among the acquires */
  readonly flags: string
  /** for how long this exchange proves that the instance lives */
  readonly livenessMs: number
  /** JSON of what is rarely looked at: bootMs, what is left of the boot grace (R17); keepMs, for how long the state must at least be kept; declared, the settings in this instance's code, and the operator's that it knows */
  readonly terms: string
  /** how the wake channels' names begin */
  readonly channel: string
  /** how many of the operations are members to release */
  readonly releases: number
  /** how many of the next are members to cancel, from the line or from running (R7) */
  readonly cancels: number
  /** members to release, members to cancel, then acquires as ticket:permits:key; among these `-:member` (its client is gone: it is put aside), `-claimMs:member` (kept: once its turn has come it is held for so long), `+number:ticket:key` (a ticket takes up that place again), `?number:ticket:key` (the same, but to look: whose turn has come stays kept) */
  readonly operations: readonly (string | number)[]
}

/**
 * Applies one batch of an instance: releases and cancels, proof of life, sweep, grants, acquires, hints, in this order (R6).
 *
 * Replies same, kept, nextMs, waiting: like `ok`, where the standing is as the instance knows it, no grace is on and nothing more was asked for
 * Replies ok, epoch, kept (batch, first number, verdicts, grants, epoch[, news: `!member` taken, `=member/ageMs/position[/fence/leftMs]` taken up]), nextMs (-1: exchange again at once), graceMs, waiting, settings[, first fence for own running, own running, instances]
 * Replies rejoin, epoch, kept: nothing was applied, the instance must put its tickets back (R14); kept if it is of this batch
 * Replies stale: a late copy of an earlier batch; ignored
 */
export const exchange: Script = {
  name: 'exchange',
  sha1: '73cfa164f3c0f8f374087e5efc6a44a16f84e8cc',
  keys: ['waiting', 'running', 'instances', 'aside', 'state', 'parked', 'keyed'],
  args: ['instance', 'batch', 'standing', 'flags', 'livenessMs', 'terms', 'channel', 'releases', 'cancels', 'operations'],
  lua: `local waiting, running, instances, aside, state, parked, keyed = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local instance, batch, standing, flags, livenessMs, terms, channel, releases, cancels = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6], ARGV[7], tonumber(ARGV[8]), tonumber(ARGV[9])
local operations = 10
local clock = redis.call('TIME')
local serverUs = clock[1] * 1000000 + clock[2]
local fields = redis.call('HMGET', state, 'numbers', 'standing', 'kept:' .. instance)
local kept = fields[3]
local keptBatch = kept and tonumber(string.match(kept, '^%d+'))
local epochNumber, seq, last, skewMs, sweepAt, quietUntil, graceUntil, grants = 0, 0, 0, 0, 0, 0, 0, 0
local limit, sizeLimit, leaseMs, revision, weighted, graced, purge, renewAt, keptFor, absent = -1, 0, 0, 0, 0, 0, 0, 0, 0, 0
local keyLimit, keySizeLimit, capped, comb = math.huge, math.huge, 0, 0
if fields[1] and #fields[1] == 176 then
  epochNumber, seq, last, skewMs, sweepAt, quietUntil, graceUntil, grants,
  limit, sizeLimit, leaseMs, revision, weighted, graced, purge, renewAt, keptFor, absent,
  keyLimit, keySizeLimit, capped, comb = struct.unpack('<dddddddddddddddddddddd', fields[1])
end
local more = 0
local changes = {}
local function change(field, value)
  changes[#changes + 1] = field
  changes[#changes + 1] = value
end
local asKnown = epochNumber > 0 and fields[2] == standing
local knownEpoch, epoch, run, storedRun, knownRevision
if asKnown then
  epoch, storedRun = string.match(standing, '^(%d+) (%w*)')
  knownEpoch, knownRevision = epoch, revision
else
  knownEpoch = string.format('%d', epochNumber)
  epoch, run, knownRevision = string.match(standing, '^(%d*) (%w*) (%-?%d+)$')
  knownRevision = tonumber(knownRevision)
  storedRun = fields[2] and string.match(fields[2], '^%d+ (%w*)') or ''
end
local now = math.floor(serverUs / 1000) + skewMs
if now < last then
  skewMs = skewMs + last - now
  now = last
end
if last > 0 and now - last > livenessMs / 2 then
  quietUntil = now + math.ceil(livenessMs * 2 / 3)
  if last < graceUntil then graceUntil = math.max(graceUntil, quietUntil) end
end
local waitingCount = redis.call('ZCARD', waiting) - 1
local runningCount = redis.call('ZCARD', running) - 1
local aliveUntil = tonumber(redis.call('ZSCORE', instances, instance))
local instancesThere = aliveUntil or redis.call('EXISTS', instances) == 1
if epochNumber == 0 then capped = redis.call('EXISTS', parked) end
local parkedCount = capped ~= 0 and redis.call('ZCARD', parked) - 1 or 0
local isNew = epochNumber == 0 and capped == 0 and waitingCount < 0 and runningCount < 0 and not instancesThere
local lossSeen = not isNew and not (epochNumber > 0 and waitingCount >= 0 and runningCount >= 0 and instancesThere)
if capped ~= 0 and (parkedCount < 0 or redis.call('EXISTS', keyed) == 0) then lossSeen = true end
if batch and keptBatch and batch > keptBatch + 1 and epoch == knownEpoch then lossSeen = true end
if not asKnown and run ~= '' and run ~= storedRun then
  if storedRun ~= '' and redis.call('HGET', state, 'formerRun') ~= run then
    lossSeen = true
    change('formerRun', storedRun)
  end
  if lossSeen or storedRun == '' then storedRun = run end
end
waitingCount = math.max(0, waitingCount)
runningCount = math.max(0, runningCount)
parkedCount = math.max(0, parkedCount)
if isNew or lossSeen then
  seq = math.max(seq + 1, serverUs)
  epochNumber = seq
  asKnown = false
  knownEpoch = string.format('%d', epochNumber)
  graced = 0
  if runningCount > 0 or waitingCount + parkedCount > 0 then weighted = 1 end
  absent = 1
  sweepAt = 0
  purge = -1
  renewAt, keptFor = 0, 0
  local bootMs = cjson.decode(terms).bootMs
  graceUntil = bootMs > 0 and now + bootMs or 0
end
local otherEpoch = epoch ~= '' and epoch ~= knownEpoch
local graceBegins = lossSeen or otherEpoch and graced == 0
if graceBegins then
  graceUntil = now + livenessMs
  graced = 1
  change('awaited', '')
  change('returned', '')
end
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
if keptBatch and batch < keptBatch then return { 'stale' } end
local repeated = keptBatch == batch
local stalled = aliveUntil and aliveUntil < now and now >= quietUntil and now >= graceUntil
local forgotten = string.find(flags, 'h', 1, true) and (otherEpoch or stalled or not aliveUntil or not kept)
if repeated and string.match(kept, '^[^ ]* [^ ]* [^ ]* [^ ]* (%d+)') ~= knownEpoch then forgotten = true end
local applies = not forgotten and not repeated
if forgotten and stalled then sweepAt = 0 end
local lives = not forgotten
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
local known = ''
if lives then
if now < graceUntil then
  local stored = graceBegins and {} or redis.call('HMGET', state, 'awaited', 'returned')
  local awaited = (stored[1] or '') .. known
  local returned = stored[2] or ''
  if epoch ~= knownEpoch then
    more = 1
  elseif not string.find(' ' .. returned, ' ' .. instance .. ' ', 1, true) then
    returned = returned .. instance .. ' '
  end
  change('awaited', awaited)
  change('returned', returned)
  local missing = awaited == ''
  for id in string.gmatch(awaited, '%S+') do
    if not string.find(' ' .. returned, ' ' .. id .. ' ', 1, true) then missing = true end
  end
  if not missing then
    graceUntil = 0
  end
end
end
local declaring, rejoining = lives and string.find(flags, 's', 1, true), false
if limit < 0 or declaring or rejoining then
local known = cjson.decode(terms).declared
local settingNames = { 'concurrency', 'maxQueueSize', 'maxWaitMs', 'leaseMs', 'enabled', 'perKey' }
local function readJson(text)
  local ok, value = pcall(cjson.decode, text or '')
  return ok and type(value) == 'table' and value or nil
end
local function isLegal(name, value)
  if name == 'enabled' then return value == 'true' or value == 'false' end
  if name == 'perKey' then
    local concurrency, size = string.match(type(value) == 'string' and value or '', '^(%S+) (%S+)$')
    return concurrency and isLegal('concurrency', concurrency) and isLegal('maxQueueSize', size)
  end
  local number = tonumber(value)
  if not number or number < (name == 'leaseMs' and 1 or 0) then return false end
  if number == math.huge then return name == 'concurrency' or name == 'maxQueueSize' end
  return number == number and (name == 'maxWaitMs' or name == 'leaseMs' or number == math.floor(number))
end
local function readLegal(text)
  local values = readJson(text)
  if not values then return nil end
  local legal = {}
  for _, name in ipairs(settingNames) do
    if isLegal(name, values[name]) then legal[name] = values[name] end
  end
  return legal
end
local function storedRecord()
  local stored = redis.call('HMGET', state, 'code', 'operator', 'version', 'by')
  local record = {
    code = readLegal(stored[1]) or known.code,
    operator = readLegal(stored[2]),
    version = tonumber(stored[3]) or 0,
    by = stored[4] or '',
  }
  if not record.operator then
    record.operator, record.version, record.by = known.operator, tonumber(known.version) or 0, known.by or ''
  end
  return record
end
local function putInForce(record)
  revision = math.max(revision + 1, epochNumber)
  change('code', cjson.encode(record.code))
  change('operator', cjson.encode(record.operator))
  change('version', record.version)
  change('by', record.by)
  local inForce = { concurrency = limit, maxQueueSize = sizeLimit, leaseMs = leaseMs }
  for _, name in ipairs({ 'concurrency', 'maxQueueSize', 'leaseMs' }) do
    local value = record.operator[name]
    if value == nil then value = record.code[name] end
    if isLegal(name, value) then inForce[name] = tonumber(value) end
  end
  limit, sizeLimit, leaseMs = inForce.concurrency, inForce.maxQueueSize, inForce.leaseMs
  local perKey = record.operator.perKey or record.code.perKey
  if isLegal('perKey', perKey) then
    local concurrency, size = string.match(perKey, '^(%S+) (%S+)$')
    if tonumber(concurrency) ~= keyLimit then comb = -1 end
    keyLimit, keySizeLimit = tonumber(concurrency), tonumber(size)
  end
end
  local record = storedRecord()
  local changed = limit < 0
  if declaring then
    for _, name in ipairs(settingNames) do changed = changed or record.code[name] ~= known.code[name] end
    record.code = known.code
  end
  if rejoining and (tonumber(known.version) or 0) > record.version then
    record.operator, record.version, record.by = known.operator, tonumber(known.version), known.by or ''
    changed = true
  end
  if changed then putInForce(record) end
end
local leaseEnd = now + math.ceil(leaseMs)
local leaseEndText = string.format('%d', leaseEnd)
local count, put, standsAside, recallAll
local leftKeys = {}
local hasCaps = keyLimit < math.huge or keySizeLimit < math.huge
local begins = capped == 0 and hasCaps
if begins then capped = 1 end
if capped ~= 0 then
  function count(key, from, to)
    return redis.call('ZLEXCOUNT', keyed, '[' .. key .. from, '(' .. key .. to)
  end
  function put(member, place)
    local rest, key = string.match(member, '^(.*):([^:]*)$')
    if key == '' then return end
    redis.call('ZREM', keyed, key .. ':1:' .. rest, key .. ':2:' .. rest, key .. ':3:' .. rest)
    if place then
      redis.call('ZADD', keyed, 0, key .. place .. rest)
    else
      leftKeys[key] = true
    end
  end
  function standsAside(key, member)
    local number = string.sub(member, 1, 16)
    if count(key, ':1:', ':2:') < keyLimit then
      if parkedCount == 0 or count(key, ':3:', ':3:' .. number) == 0 then return false end
      leftKeys[key] = true
    end
    parkedCount = parkedCount + redis.call('ZADD', parked, number, member)
    put(member, ':3:')
    return true
  end
  local budget = 500
  function recallAll()
    for key in pairs(leftKeys) do
      leftKeys[key] = nil
      while parkedCount > 0 do
        local first = redis.call('ZRANGEBYLEX', keyed, '[' .. key .. ':3:', '(' .. key .. ':4:', 'LIMIT', 0, 1)[1]
        if not first then break end
        local rest = string.sub(first, #key + 4)
        local number = string.sub(rest, 1, 16)
        if count(key, ':1:', ':2:' .. number) >= keyLimit then break end
        if budget == 0 then
          comb, more = -1, 1
          break
        end
        budget = budget - 1
        local member = rest .. ':' .. key
        parkedCount = parkedCount - redis.call('ZREM', parked, member)
        waitingCount = waitingCount + redis.call('ZADD', waiting, number, member)
        put(member, ':2:')
      end
    end
  end
  if begins or isNew or lossSeen then
    redis.call('UNLINK', keyed)
    redis.call('ZADD', keyed, 0, '~')
    redis.call('ZADD', parked, 'inf', '~')
    for from = 0, runningCount, 500 do
      for _, member in ipairs(redis.call('ZRANGE', running, from, from + 499)) do
        if member ~= '~' then put(member, ':1:') end
      end
    end
    purge, comb, renewAt = -1, -1, 0
  end
end
local firstCancel = operations + releases
local firstAcquire = firstCancel + cancels
if applies then
  if releases > 0 then runningCount = runningCount - redis.call('ZREM', running, unpack(ARGV, operations, firstCancel - 1)) end
  if cancels > 0 then
    local left = redis.call('ZREM', waiting, unpack(ARGV, firstCancel, firstAcquire - 1))
    waitingCount = waitingCount - left
    if left < cancels then runningCount = runningCount - redis.call('ZREM', running, unpack(ARGV, firstCancel, firstAcquire - 1)) end
    if parkedCount > 0 then parkedCount = parkedCount - redis.call('ZREM', parked, unpack(ARGV, firstCancel, firstAcquire - 1)) end
  end
  if capped ~= 0 then
    for index = operations, firstAcquire - 1 do put(ARGV[index]) end
  end
  if absent ~= 0 and firstAcquire > operations then redis.call('ZREM', aside, unpack(ARGV, operations, firstAcquire - 1)) end
end
local moved, news, taken = {}, {}, {}
if applies and kept then
  for member in string.gmatch(kept, '%*([^,]+)') do news[#news + 1] = '!' .. member end
end
if applies and string.find(flags, 'm', 1, true) then
  for index = firstAcquire, #ARGV do
    local operation = ARGV[index]
    local kind = string.sub(operation, 1, 1)
    if kind == '-' then
      local claimMs, member = string.match(operation, '^%-(%d*):(.+)$')
      local isAway = false
      if claimMs ~= '' then
        isAway = redis.call('ZSCORE', waiting, member) or parkedCount > 0 and redis.call('ZSCORE', parked, member)
        if redis.call('ZSCORE', running, member) then
          isAway = true
          local claimEnd = now + tonumber(claimMs)
          redis.call('ZADD', running, 'LT', string.format('%d', claimEnd), member)
          sweepAt = math.min(sweepAt, claimEnd)
        end
      elseif redis.call('ZREM', waiting, member) == 1 then
        isAway = true
        waitingCount = waitingCount - 1
      elseif redis.call('ZREM', running, member) == 1 then
        isAway = true
        runningCount = runningCount - 1
      elseif parkedCount > 0 and redis.call('ZREM', parked, member) == 1 then
        isAway = true
        parkedCount = parkedCount - 1
      end
      if isAway and claimMs == '' and capped ~= 0 then put(member) end
      if isAway then
        absent = 1
        redis.call('ZADD', aside, string.sub(member, 1, 16), member)
      end
      moved[index] = ''
    elseif kind == '+' or kind == '?' then
      local number, place, secret, key = string.match(operation, '^.(%d+):([^.]+)%.([^:]+):(.*)$')
      local found
      if now >= graceUntil and room then
        for _, set in ipairs(parkedCount > 0 and { aside, waiting, parked } or { aside, waiting }) do
          for _, member in ipairs(redis.call('ZRANGEBYSCORE', set, number, number)) do
            local itsSecret, itsKey = string.match(member, '^%d+:[^:]+:[^.]+%.([^.:]+)[^:]*:%d+:(.*)$')
            if itsSecret == secret and itsKey == key then found = member end
          end
        end
      end
      if not found then
        moved[index] = now < graceUntil and 'h' or room and 'n' or 'u'
      else
        moved[index] = 'm'
        local generation = tonumber(string.match(found, '^%d+:[^:]+:[^.]+%.[^.:]+%.(%d+)')) or 0
        local permits = permitsOf(found)
        if permits > 1 then weighted = 1 end
        local member = string.format('%s:%s:%s.%s.%d:%d:%s', number, instance, place, secret, generation + 1, permits, key)
        local entry = '=' .. member .. '/' .. string.format('%d', math.max(0, serverUs - tonumber(number)) / 1000) .. '/'
        redis.call('ZREM', aside, found)
        if capped ~= 0 then put(found) end
        local leaseEnds = tonumber(redis.call('ZSCORE', running, found))
        if leaseEnds then
          if kind == '+' then leaseEnds = leaseEnd end
          redis.call('ZREM', running, found)
          redis.call('ZADD', running, string.format('%d', leaseEnds), member)
          if capped ~= 0 then put(member, ':1:') end
          sweepAt = math.min(sweepAt, leaseEnds)
          seq = math.max(seq + 1, serverUs)
          entry = entry .. '0/' .. string.format('%d/%d', seq, math.max(0, leaseEnds - now))
        else
          if parkedCount > 0 and redis.call('ZREM', parked, found) == 1 then
            redis.call('ZADD', parked, number, member)
            put(member, ':3:')
          else
            waitingCount = waitingCount + 1 - redis.call('ZREM', waiting, found)
            redis.call('ZADD', waiting, number, member)
            if capped ~= 0 then put(member, ':2:') end
          end
          local before = redis.call('ZCOUNT', waiting, '-inf', '(' .. number)
          if parkedCount > 0 then before = before + redis.call('ZCOUNT', parked, '-inf', '(' .. number) end
          entry = entry .. string.format('%d', before + 1)
        end
        news[#news + 1] = entry
        local owner = ownerOf(found)
        if owner == instance then
          news[#news + 1] = '!' .. found
        else
          taken[owner] = taken[owner] or {}
          table.insert(taken[owner], found)
        end
      end
    end
  end
for owner, list in pairs(taken) do
  local theirs = redis.call('HGET', state, 'kept:' .. owner)
  if theirs then
    local separator = string.find(theirs, '^[^ ]* [^ ]* [^ ]* [^ ]* [^ ]* ') and ',' or ' '
    change('kept:' .. owner, theirs .. separator .. '*' .. table.concat(list, ',*'))
  end
end
end
if absent ~= 0 and redis.call('EXISTS', aside) == 0 then absent = 0 end
if not repeated then
if now >= quietUntil and now >= graceUntil then
  if now >= sweepAt then
    local before = '(' .. string.format('%d', now)
    local dead = redis.call('ZRANGEBYSCORE', instances, '-inf', before, 'LIMIT', 0, 500)
    local gone = redis.call('ZRANGEBYSCORE', running, '-inf', before, 'LIMIT', 0, 500)
    if #dead == 500 or #gone == 500 then more = 1 end
    for _, id in ipairs(dead) do
      redis.call('ZREM', instances, id)
      redis.call('HDEL', state, 'kept:' .. id)
      isAlive[id] = false
    end
    if #dead > 0 then purge, comb = -1, -1 end
    if purge == -1 then
      for from = 0, runningCount, 500 do
        for _, member in ipairs(redis.call('ZRANGE', running, from, from + 499)) do
          if member ~= '~' and not ownerIsAlive(member) then gone[#gone + 1] = member end
        end
      end
      for from = 0, absent ~= 0 and redis.call('ZCARD', aside) or -1, 500 do
        for _, member in ipairs(redis.call('ZRANGE', aside, from, from + 499)) do
          if not ownerIsAlive(member) then gone[#gone + 1] = member end
        end
      end
    end
    for from = 1, #gone, 500 do
      if absent ~= 0 then redis.call('ZREM', aside, unpack(gone, from, math.min(from + 499, #gone))) end
      runningCount = runningCount - redis.call('ZREM', running, unpack(gone, from, math.min(from + 499, #gone)))
    end
    if capped ~= 0 then
      for _, member in ipairs(gone) do put(member) end
    end
    sweepAt = math.min(
      tonumber(redis.call('ZRANGE', instances, 0, 0, 'WITHSCORES')[2]) or math.huge,
      tonumber(redis.call('ZRANGE', running, 0, 0, 'WITHSCORES')[2]) or math.huge
    )
  end
  if purge ~= 0 then
    local found = redis.call('ZRANGEBYSCORE', waiting, '(' .. string.format('%d', purge), '(inf', 'WITHSCORES', 'LIMIT', 0, 500)
    local gone = {}
    for i = 1, #found, 2 do
      local lives = ownerIsAlive(found[i])
      if not lives then gone[#gone + 1] = found[i] end
      if capped ~= 0 then put(found[i], lives and ':2:') end
    end
    if #gone > 0 then waitingCount = waitingCount - redis.call('ZREM', waiting, unpack(gone)) end
    purge = #found == 1000 and tonumber(found[1000]) or 0
    if purge ~= 0 then more = 1 end
  end
end
end
local mayGrant = applies
if capped ~= 0 then
  if comb ~= 0 and now >= graceUntil then
    local found = redis.call('ZRANGEBYSCORE', parked, '(' .. string.format('%d', comb), '(inf', 'WITHSCORES', 'LIMIT', 0, 500)
    for i = 1, #found, 2 do
      local member = found[i]
      if ownerIsAlive(member) then
        put(member, ':3:')
        leftKeys[string.match(member, '[^:]*$')] = true
      else
        parkedCount = parkedCount - redis.call('ZREM', parked, member)
        put(member)
      end
    end
    comb = #found == 1000 and tonumber(found[1000]) or 0
    if comb ~= 0 then more = 1 end
  end
  recallAll()
  if not hasCaps and parkedCount == 0 and comb == 0 then
    capped = 0
    redis.call('UNLINK', parked, keyed)
  end
end
local ownGrants, otherGrants = {}, {}
local passedOver = 0
local free = 0
if mayGrant and now >= graceUntil then
local used = runningCount
if weighted ~= 0 then
  used = 0
  for from = 0, runningCount, 500 do
    for _, member in ipairs(redis.call('ZRANGE', running, from, from + 499)) do
      if member ~= '~' then used = used + permitsOf(member) end
    end
  end
end
  free = limit - used
end
if free > 0 and waitingCount > 0 then
  local budget = 500
  local chunk = free
  local blocked = false
  while free > 0 and waitingCount > passedOver and budget > 0 and not blocked do
    local heads = redis.call('ZRANGE', waiting, passedOver, passedOver + math.min(chunk, budget, waitingCount - passedOver) - 1)
    local removed, granted = {}, {}
    for _, member in ipairs(heads) do
      local permits = weighted == 1 and permitsOf(member) or 1
      local key = capped ~= 0 and string.match(member, '[^:]*$') or ''
      local lives = ownerIsAlive(member)
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
  if budget <= 0 and not blocked and passedOver < 500 then more = 1 end
end
for owner, list in pairs(taken) do
  local told = table.concat(list, '/0,') .. '/0'
  otherGrants[owner] = otherGrants[owner] and otherGrants[owner] .. ',' .. told or told
end
if applies then
  local first = 0
  local words, line, started = {}, {}, {}
  for index = firstAcquire, #ARGV do
    local operation = ARGV[index]
    local word = moved[index]
    local permits = 1
    if not word and not string.find(operation, ':1:', 1, true) then permits = tonumber(string.match(operation, '^[^:]+:(%d+)')) end
    if word then
    elseif now < graceUntil then
      word = 'h'
    elseif not room then
      word = 'u'
    elseif permits > limit and limit > 0 then
      word = 'p'
    else
      local key = capped ~= 0 and string.match(operation, '[^:]*$') or ''
      local parks = key ~= '' and (count(key, ':1:', ':3:') >= keyLimit or parkedCount > 0 and count(key, ':3:', ':4:') > 0)
      local goesFirst = waitingCount == passedOver and permits <= free and not parks
      if not goesFirst and key ~= '' and count(key, ':2:', ':4:') >= keySizeLimit then
        word = 'k'
      elseif not goesFirst and waitingCount + parkedCount >= sizeLimit then
        word = 'f'
      else
        seq = math.max(seq + 1, serverUs)
        if first == 0 then first = seq end
        local number = string.format('%016d', seq)
        local member = number .. ':' .. instance .. ':' .. operation
        if permits > 1 then weighted = 1 end
        if key ~= '' then put(member, goesFirst and ':1:' or parks and ':3:' or ':2:') end
        if goesFirst then
          word = 'g'
          free = free - permits
          started[#started + 1] = leaseEndText
          started[#started + 1] = member
        elseif parks then
          word = 'q'
          parkedCount = parkedCount + redis.call('ZADD', parked, number, member)
        else
          word = 'q'
          waitingCount = waitingCount + 1
          line[#line + 1] = number
          line[#line + 1] = member
        end
      end
    end
    words[#words + 1] = word
  end
  if #started > 0 then
    redis.call('ZADD', running, unpack(started))
    runningCount = runningCount + #started / 2
    grants = grants + #started / 2
    sweepAt = math.min(sweepAt, leaseEnd)
  end
  if #line > 0 then redis.call('ZADD', waiting, unpack(line)) end
  kept = string.format('%d %d ', batch, first) .. table.concat(words) .. ' ' .. table.concat(ownGrants, ',') .. ' ' .. knownEpoch
  if #news > 0 then kept = kept .. ' ' .. table.concat(news, ',') end
  change('kept:' .. instance, kept)
end
if waitingCount == 0 and runningCount == 0 and parkedCount == 0 then weighted = 0 end
local firstFence = seq + 1
local full = string.find(flags, 'f', 1, true)
if full then seq = seq + runningCount end
local nudge = applies and not aliveUntil
for owner, list in pairs(otherGrants) do
  redis.pcall('PUBLISH', channel .. string.match(owner, '^[^.]+'), owner .. ' ' .. knownEpoch .. ' ' .. list)
end
if nudge then
  for _, id in ipairs(redis.call('ZRANGE', instances, 0, 499)) do
    if id ~= '~' and id ~= instance then
      redis.pcall('PUBLISH', channel .. string.match(id, '^[^.]+'), id .. ' ' .. knownEpoch .. ' ')
    end
  end
end
if isNew or lossSeen then
  redis.call('ZADD', waiting, 'inf', '~')
  redis.call('ZADD', running, 'inf', '~')
  redis.call('ZADD', instances, 'inf', '~')
end
local asBefore = asKnown and revision == knownRevision
local renews = now >= renewAt
if not asBefore then
  change('standing', knownEpoch .. ' ' .. storedRun .. ' ' .. string.format('%d', revision))
  local keepMs = cjson.decode(terms).keepMs
  if keepMs > keptFor then
    keptFor = keepMs
    renews = true
  end
end
if renews then renewAt = now + keptFor end
local numbers = struct.pack('<dddddddddddddddddddddd', epochNumber, seq, now, skewMs, sweepAt, quietUntil, graceUntil, grants,
  limit, sizeLimit, leaseMs, revision, weighted, graced, purge, renewAt, keptFor, absent, keyLimit, keySizeLimit, capped, comb)
redis.call('HSET', state, 'numbers', numbers, unpack(changes))
if renews then
  for _, key in ipairs({ waiting, running, instances, aside, state, parked, keyed }) do
    redis.call('PEXPIREAT', key, renewAt + keptFor - skewMs)
  end
end
if forgotten then return { 'rejoin', knownEpoch, repeated and kept or '' } end
local nextAt = math.min(math.max(sweepAt, quietUntil, graceUntil), now + 86400000)
local nextMs = more == 1 and -1 or math.max(0, nextAt - now)
if asBefore and now >= graceUntil and not full then return { 'same', kept, nextMs, waitingCount + parkedCount } end
local news = ''
if knownRevision ~= revision then
  local stored = redis.call('HMGET', state, 'code', 'operator', 'version', 'by')
  news = cjson.encode({
    code = stored[1], operator = stored[2], version = stored[3], by = stored[4],
    revision = string.format('%d', revision),
    inForce = {
      concurrency = string.format('%.17g', limit), maxQueueSize = string.format('%.17g', sizeLimit),
      leaseMs = string.format('%.17g', leaseMs), perKey = string.format('%.17g %.17g', keyLimit, keySizeLimit),
    },
  })
end
local reply = { 'ok', knownEpoch, kept, nextMs, math.max(0, graceUntil - now), waitingCount + parkedCount, news }
if full then
  local own = {}
  for from = 0, runningCount, 500 do
    for _, member in ipairs(redis.call('ZRANGE', running, from, from + 499)) do
      if member ~= '~' and ownerOf(member) == instance then own[#own + 1] = member end
    end
  end
  reply[8] = string.format('%d', firstFence)
  reply[9] = table.concat(own, ',')
  reply[10] = table.concat(redis.call('ZRANGEBYSCORE', instances, '-inf', '(inf', 'LIMIT', 0, 500), ' ')
end
return reply`,
}

export function exchangeArguments(keys: ExchangeKeys, args: ExchangeArguments): ScriptArguments {
  return [
    7,
    keys.waiting,
    keys.running,
    keys.instances,
    keys.aside,
    keys.state,
    keys.parked,
    keys.keyed,
    args.instance,
    args.batch,
    args.standing,
    args.flags,
    args.livenessMs,
    args.terms,
    args.channel,
    args.releases,
    args.cancels,
    ...args.operations,
  ]
}

export interface RejoinKeys {
  /** the line */
  readonly waiting: string
  /** who runs */
  readonly running: string
  /** who lives */
  readonly instances: string
  /** places whose client is not connected */
  readonly aside: string
  /** hash */
  readonly state: string
  /** tickets out of the line because their key is at its cap */
  readonly parked: string
  /** tickets by key */
  readonly keyed: string
}

export interface RejoinArguments {
  /** whose tickets these are */
  readonly instance: string
  /** its next batch is this number and one */
  readonly batch: number
  /** epoch, server and revision as the instance knew them, like `exchange` */
  readonly standing: string
  /** for how long this call proves that the instance lives */
  readonly livenessMs: number
  /** JSON, like `exchange` */
  readonly terms: string
  /** the highest number or fence that the instance has seen */
  readonly fence: number
  /** how the wake channels' names begin */
  readonly channel: string
  /** 1 with the last part of its tickets */
  readonly complete: number
  /** the instances that it knew, each followed by a blank */
  readonly known: string
  /** how many of the tickets stand in the line; the rest run */
  readonly lines: number
  /** members in the line; then for each running one what is left of its lease in ms, and its member */
  readonly tickets: readonly (string | number)[]
}

/**
 * Puts back tickets that the store has lost, or lost sight of. Never refuses, never grants, may be repeated (R18).
 *
 * Replies ok, epoch: the tickets are in, the instance may send its next batch
 */
export const rejoin: Script = {
  name: 'rejoin',
  sha1: 'f7da7f46f4ff0ee995da394fc65d226c78752115',
  keys: ['waiting', 'running', 'instances', 'aside', 'state', 'parked', 'keyed'],
  args: ['instance', 'batch', 'standing', 'livenessMs', 'terms', 'fence', 'channel', 'complete', 'known', 'lines', 'tickets'],
  lua: `local waiting, running, instances, aside, state, parked, keyed = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local instance, batch, standing, livenessMs, terms, fence, channel, complete, known, lines = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6]), ARGV[7], tonumber(ARGV[8]), ARGV[9], tonumber(ARGV[10])
local tickets = 11
local clock = redis.call('TIME')
local serverUs = clock[1] * 1000000 + clock[2]
local fields = redis.call('HMGET', state, 'numbers', 'standing', 'kept:' .. instance)
local kept = fields[3]
local keptBatch = kept and tonumber(string.match(kept, '^%d+'))
local epochNumber, seq, last, skewMs, sweepAt, quietUntil, graceUntil, grants = 0, 0, 0, 0, 0, 0, 0, 0
local limit, sizeLimit, leaseMs, revision, weighted, graced, purge, renewAt, keptFor, absent = -1, 0, 0, 0, 0, 0, 0, 0, 0, 0
local keyLimit, keySizeLimit, capped, comb = math.huge, math.huge, 0, 0
if fields[1] and #fields[1] == 176 then
  epochNumber, seq, last, skewMs, sweepAt, quietUntil, graceUntil, grants,
  limit, sizeLimit, leaseMs, revision, weighted, graced, purge, renewAt, keptFor, absent,
  keyLimit, keySizeLimit, capped, comb = struct.unpack('<dddddddddddddddddddddd', fields[1])
end
local more = 0
local changes = {}
local function change(field, value)
  changes[#changes + 1] = field
  changes[#changes + 1] = value
end
local asKnown = epochNumber > 0 and fields[2] == standing
local knownEpoch, epoch, run, storedRun, knownRevision
if asKnown then
  epoch, storedRun = string.match(standing, '^(%d+) (%w*)')
  knownEpoch, knownRevision = epoch, revision
else
  knownEpoch = string.format('%d', epochNumber)
  epoch, run, knownRevision = string.match(standing, '^(%d*) (%w*) (%-?%d+)$')
  knownRevision = tonumber(knownRevision)
  storedRun = fields[2] and string.match(fields[2], '^%d+ (%w*)') or ''
end
local now = math.floor(serverUs / 1000) + skewMs
if now < last then
  skewMs = skewMs + last - now
  now = last
end
if last > 0 and now - last > livenessMs / 2 then
  quietUntil = now + math.ceil(livenessMs * 2 / 3)
  if last < graceUntil then graceUntil = math.max(graceUntil, quietUntil) end
end
local waitingCount = redis.call('ZCARD', waiting) - 1
local runningCount = redis.call('ZCARD', running) - 1
local aliveUntil = tonumber(redis.call('ZSCORE', instances, instance))
local instancesThere = aliveUntil or redis.call('EXISTS', instances) == 1
if epochNumber == 0 then capped = redis.call('EXISTS', parked) end
local parkedCount = capped ~= 0 and redis.call('ZCARD', parked) - 1 or 0
local isNew = epochNumber == 0 and capped == 0 and waitingCount < 0 and runningCount < 0 and not instancesThere
local lossSeen = not isNew and not (epochNumber > 0 and waitingCount >= 0 and runningCount >= 0 and instancesThere)
if capped ~= 0 and (parkedCount < 0 or redis.call('EXISTS', keyed) == 0) then lossSeen = true end
if batch and keptBatch and batch > keptBatch + 1 and epoch == knownEpoch then lossSeen = true end
if not asKnown and run ~= '' and run ~= storedRun then
  if storedRun ~= '' and redis.call('HGET', state, 'formerRun') ~= run then
    lossSeen = true
    change('formerRun', storedRun)
  end
  if lossSeen or storedRun == '' then storedRun = run end
end
waitingCount = math.max(0, waitingCount)
runningCount = math.max(0, runningCount)
parkedCount = math.max(0, parkedCount)
if isNew or lossSeen then
  seq = math.max(seq + 1, serverUs)
  epochNumber = seq
  asKnown = false
  knownEpoch = string.format('%d', epochNumber)
  graced = 0
  if runningCount > 0 or waitingCount + parkedCount > 0 then weighted = 1 end
  absent = 1
  sweepAt = 0
  purge = -1
  renewAt, keptFor = 0, 0
  local bootMs = cjson.decode(terms).bootMs
  graceUntil = bootMs > 0 and now + bootMs or 0
end
local otherEpoch = epoch ~= '' and epoch ~= knownEpoch
local graceBegins = lossSeen or otherEpoch and graced == 0
if graceBegins then
  graceUntil = now + livenessMs
  graced = 1
  change('awaited', '')
  change('returned', '')
end
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
if keptBatch and batch < keptBatch then return { 'ok', knownEpoch } end
local lives = true
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
local declaring, rejoining = false, true
if limit < 0 or declaring or rejoining then
local known = cjson.decode(terms).declared
local settingNames = { 'concurrency', 'maxQueueSize', 'maxWaitMs', 'leaseMs', 'enabled', 'perKey' }
local function readJson(text)
  local ok, value = pcall(cjson.decode, text or '')
  return ok and type(value) == 'table' and value or nil
end
local function isLegal(name, value)
  if name == 'enabled' then return value == 'true' or value == 'false' end
  if name == 'perKey' then
    local concurrency, size = string.match(type(value) == 'string' and value or '', '^(%S+) (%S+)$')
    return concurrency and isLegal('concurrency', concurrency) and isLegal('maxQueueSize', size)
  end
  local number = tonumber(value)
  if not number or number < (name == 'leaseMs' and 1 or 0) then return false end
  if number == math.huge then return name == 'concurrency' or name == 'maxQueueSize' end
  return number == number and (name == 'maxWaitMs' or name == 'leaseMs' or number == math.floor(number))
end
local function readLegal(text)
  local values = readJson(text)
  if not values then return nil end
  local legal = {}
  for _, name in ipairs(settingNames) do
    if isLegal(name, values[name]) then legal[name] = values[name] end
  end
  return legal
end
local function storedRecord()
  local stored = redis.call('HMGET', state, 'code', 'operator', 'version', 'by')
  local record = {
    code = readLegal(stored[1]) or known.code,
    operator = readLegal(stored[2]),
    version = tonumber(stored[3]) or 0,
    by = stored[4] or '',
  }
  if not record.operator then
    record.operator, record.version, record.by = known.operator, tonumber(known.version) or 0, known.by or ''
  end
  return record
end
local function putInForce(record)
  revision = math.max(revision + 1, epochNumber)
  change('code', cjson.encode(record.code))
  change('operator', cjson.encode(record.operator))
  change('version', record.version)
  change('by', record.by)
  local inForce = { concurrency = limit, maxQueueSize = sizeLimit, leaseMs = leaseMs }
  for _, name in ipairs({ 'concurrency', 'maxQueueSize', 'leaseMs' }) do
    local value = record.operator[name]
    if value == nil then value = record.code[name] end
    if isLegal(name, value) then inForce[name] = tonumber(value) end
  end
  limit, sizeLimit, leaseMs = inForce.concurrency, inForce.maxQueueSize, inForce.leaseMs
  local perKey = record.operator.perKey or record.code.perKey
  if isLegal('perKey', perKey) then
    local concurrency, size = string.match(perKey, '^(%S+) (%S+)$')
    if tonumber(concurrency) ~= keyLimit then comb = -1 end
    keyLimit, keySizeLimit = tonumber(concurrency), tonumber(size)
  end
end
  local record = storedRecord()
  local changed = limit < 0
  if declaring then
    for _, name in ipairs(settingNames) do changed = changed or record.code[name] ~= known.code[name] end
    record.code = known.code
  end
  if rejoining and (tonumber(known.version) or 0) > record.version then
    record.operator, record.version, record.by = known.operator, tonumber(known.version), known.by or ''
    changed = true
  end
  if changed then putInForce(record) end
end
local leaseEnd = now + math.ceil(leaseMs)
local leaseEndText = string.format('%d', leaseEnd)
local count, put, standsAside, recallAll
local leftKeys = {}
local hasCaps = keyLimit < math.huge or keySizeLimit < math.huge
local begins = capped == 0 and hasCaps
if begins then capped = 1 end
if capped ~= 0 then
  function count(key, from, to)
    return redis.call('ZLEXCOUNT', keyed, '[' .. key .. from, '(' .. key .. to)
  end
  function put(member, place)
    local rest, key = string.match(member, '^(.*):([^:]*)$')
    if key == '' then return end
    redis.call('ZREM', keyed, key .. ':1:' .. rest, key .. ':2:' .. rest, key .. ':3:' .. rest)
    if place then
      redis.call('ZADD', keyed, 0, key .. place .. rest)
    else
      leftKeys[key] = true
    end
  end
  function standsAside(key, member)
    local number = string.sub(member, 1, 16)
    if count(key, ':1:', ':2:') < keyLimit then
      if parkedCount == 0 or count(key, ':3:', ':3:' .. number) == 0 then return false end
      leftKeys[key] = true
    end
    parkedCount = parkedCount + redis.call('ZADD', parked, number, member)
    put(member, ':3:')
    return true
  end
  local budget = 500
  function recallAll()
    for key in pairs(leftKeys) do
      leftKeys[key] = nil
      while parkedCount > 0 do
        local first = redis.call('ZRANGEBYLEX', keyed, '[' .. key .. ':3:', '(' .. key .. ':4:', 'LIMIT', 0, 1)[1]
        if not first then break end
        local rest = string.sub(first, #key + 4)
        local number = string.sub(rest, 1, 16)
        if count(key, ':1:', ':2:' .. number) >= keyLimit then break end
        if budget == 0 then
          comb, more = -1, 1
          break
        end
        budget = budget - 1
        local member = rest .. ':' .. key
        parkedCount = parkedCount - redis.call('ZREM', parked, member)
        waitingCount = waitingCount + redis.call('ZADD', waiting, number, member)
        put(member, ':2:')
      end
    end
  end
  if begins or isNew or lossSeen then
    redis.call('UNLINK', keyed)
    redis.call('ZADD', keyed, 0, '~')
    redis.call('ZADD', parked, 'inf', '~')
    for from = 0, runningCount, 500 do
      for _, member in ipairs(redis.call('ZRANGE', running, from, from + 499)) do
        if member ~= '~' then put(member, ':1:') end
      end
    end
    purge, comb, renewAt = -1, -1, 0
  end
end
seq = math.max(seq, fence)
sweepAt = 0
local firstRunning = tickets + lines
local given, taken = {}, {}
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
local isLatest = not untold[member]
local text = string.sub(member, 1, 16)
local secret, moves = string.match(member, '^%d+:[^:]+:[^.]+%.([^.:]+)%.?(%d*)')
for _, set in ipairs({ waiting, aside, parked }) do
  for _, other in ipairs(redis.call('ZRANGEBYSCORE', set, text, text)) do
    local itsSecret, itsMoves = string.match(other, '^%d+:[^:]+:[^.]+%.([^.:]+)%.?(%d*)')
    if other ~= member and itsSecret == secret then
      if (tonumber(itsMoves) or 0) > (tonumber(moves) or 0) then
        isLatest = false
      else
        redis.call('ZREM', set, other)
        local owner = ownerOf(other)
        if owner ~= instance then
          taken[owner] = taken[owner] or {}
          table.insert(taken[owner], other)
        end
        if capped ~= 0 and set ~= aside then put(other) end
      end
    end
  end
end
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
      redis.call('ZADD', running, 'GT', leaseEndText, member)
    elseif not (capped ~= 0 and redis.call('ZSCORE', parked, member)) and not (absent ~= 0 and redis.call('ZSCORE', aside, member)) then
      redis.call('ZADD', waiting, number, member)
      if capped ~= 0 then put(member, ':2:') end
    end
  end
end
for owner, list in pairs(taken) do
  local theirs = redis.call('HGET', state, 'kept:' .. owner)
  if theirs then
    local separator = string.find(theirs, '^[^ ]* [^ ]* [^ ]* [^ ]* [^ ]* ') and ',' or ' '
    change('kept:' .. owner, theirs .. separator .. '*' .. table.concat(list, ',*'))
  end
end
local otherGrants, nudge = {}, complete == 1
if complete == 1 then
  local kept = string.format('%d 0   ', batch) .. knownEpoch
  if #given > 0 then kept = kept .. ' ' .. table.concat(given, ',') end
  change('kept:' .. instance, kept)
if now < graceUntil then
  local stored = graceBegins and {} or redis.call('HMGET', state, 'awaited', 'returned')
  local awaited = (stored[1] or '') .. known
  local returned = stored[2] or ''
  if epoch ~= knownEpoch then
    more = 1
  elseif not string.find(' ' .. returned, ' ' .. instance .. ' ', 1, true) then
    returned = returned .. instance .. ' '
  end
  change('awaited', awaited)
  change('returned', returned)
  local missing = awaited == ''
  for id in string.gmatch(awaited, '%S+') do
    if not string.find(' ' .. returned, ' ' .. id .. ' ', 1, true) then missing = true end
  end
  if not missing then
    graceUntil = 0
  end
end
end
for owner, list in pairs(otherGrants) do
  redis.pcall('PUBLISH', channel .. string.match(owner, '^[^.]+'), owner .. ' ' .. knownEpoch .. ' ' .. list)
end
if nudge then
  for _, id in ipairs(redis.call('ZRANGE', instances, 0, 499)) do
    if id ~= '~' and id ~= instance then
      redis.pcall('PUBLISH', channel .. string.match(id, '^[^.]+'), id .. ' ' .. knownEpoch .. ' ')
    end
  end
end
if isNew or lossSeen then
  redis.call('ZADD', waiting, 'inf', '~')
  redis.call('ZADD', running, 'inf', '~')
  redis.call('ZADD', instances, 'inf', '~')
end
local asBefore = asKnown and revision == knownRevision
local renews = now >= renewAt
if not asBefore then
  change('standing', knownEpoch .. ' ' .. storedRun .. ' ' .. string.format('%d', revision))
  local keepMs = cjson.decode(terms).keepMs
  if keepMs > keptFor then
    keptFor = keepMs
    renews = true
  end
end
if renews then renewAt = now + keptFor end
local numbers = struct.pack('<dddddddddddddddddddddd', epochNumber, seq, now, skewMs, sweepAt, quietUntil, graceUntil, grants,
  limit, sizeLimit, leaseMs, revision, weighted, graced, purge, renewAt, keptFor, absent, keyLimit, keySizeLimit, capped, comb)
redis.call('HSET', state, 'numbers', numbers, unpack(changes))
if renews then
  for _, key in ipairs({ waiting, running, instances, aside, state, parked, keyed }) do
    redis.call('PEXPIREAT', key, renewAt + keptFor - skewMs)
  end
end
return { 'ok', knownEpoch }`,
}

export function rejoinArguments(keys: RejoinKeys, args: RejoinArguments): ScriptArguments {
  return [
    7,
    keys.waiting,
    keys.running,
    keys.instances,
    keys.aside,
    keys.state,
    keys.parked,
    keys.keyed,
    args.instance,
    args.batch,
    args.standing,
    args.livenessMs,
    args.terms,
    args.fence,
    args.channel,
    args.complete,
    args.known,
    args.lines,
    ...args.tickets,
  ]
}

export interface StatusKeys {
  /** the line */
  readonly waiting: string
  /** who runs */
  readonly running: string
  /** who lives */
  readonly instances: string
  /** hash */
  readonly state: string
  /** tickets out of the line because their key is at its cap */
  readonly parked: string
}

export interface StatusArguments {
  /** tickets whose positions are asked for */
  readonly members: readonly (string | number)[]
}

/**
 * Looks at a queue and changes nothing.
 *
 * Replies epoch, server time in ms, waiting, running, instances, grants, settings in force, then a position for each member (0: it does not wait)
 */
export const status: Script = {
  name: 'status',
  sha1: '32bed3cb052243a33236404657eda32036d1f01f',
  keys: ['waiting', 'running', 'instances', 'state', 'parked'],
  args: ['members'],
  lua: `local waiting, running, instances, state, parked = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local members = 1
local clock = redis.call('TIME')
local serverUs = clock[1] * 1000000 + clock[2]
local fields = redis.call('HMGET', state, 'numbers')
local epochNumber, seq, last, skewMs, sweepAt, quietUntil, graceUntil, grants = 0, 0, 0, 0, 0, 0, 0, 0
local limit, sizeLimit, leaseMs, revision, weighted, graced, purge, renewAt, keptFor, absent = -1, 0, 0, 0, 0, 0, 0, 0, 0, 0
local keyLimit, keySizeLimit, capped, comb = math.huge, math.huge, 0, 0
if fields[1] and #fields[1] == 176 then
  epochNumber, seq, last, skewMs, sweepAt, quietUntil, graceUntil, grants,
  limit, sizeLimit, leaseMs, revision, weighted, graced, purge, renewAt, keptFor, absent,
  keyLimit, keySizeLimit, capped, comb = struct.unpack('<dddddddddddddddddddddd', fields[1])
end
local knownRevision = limit < 0 and revision or -1
local news = ''
if knownRevision ~= revision then
  local stored = redis.call('HMGET', state, 'code', 'operator', 'version', 'by')
  news = cjson.encode({
    code = stored[1], operator = stored[2], version = stored[3], by = stored[4],
    revision = string.format('%d', revision),
    inForce = {
      concurrency = string.format('%.17g', limit), maxQueueSize = string.format('%.17g', sizeLimit),
      leaseMs = string.format('%.17g', leaseMs), perKey = string.format('%.17g %.17g', keyLimit, keySizeLimit),
    },
  })
end
local runningCount = math.max(0, redis.call('ZCARD', running) - 1)
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
local used = runningCount
if weighted ~= 0 then
  used = 0
  for from = 0, runningCount, 500 do
    for _, member in ipairs(redis.call('ZRANGE', running, from, from + 499)) do
      if member ~= '~' then used = used + permitsOf(member) end
    end
  end
end
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
return reply`,
}

export function statusArguments(keys: StatusKeys, args: StatusArguments): ScriptArguments {
  return [
    5,
    keys.waiting,
    keys.running,
    keys.instances,
    keys.state,
    keys.parked,
    ...args.members,
  ]
}
