-- The only time that counts is the store's own. Tests put a clock of theirs in place of this fragment.
local clock = redis.call('TIME')
local serverUs = clock[1] * 1000000 + clock[2]
