-- Publish one message under a generation that Redis counts. The token is spent last, so that a run
-- that failed may be tried again. Numbers are joined as Lua writes them: 1e+14 from 10^14 on.
local counter, channel, epoch, token, generations = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local body, token_s = ARGV[1], ARGV[2]

local function rotate()
  local fresh = tostring(redis.call('INCR', generations))
  redis.call('SET', epoch, fresh)
  return fresh
end

local function usable_epoch()
  if redis.call('TYPE', epoch).ok ~= 'string' then
    return nil
  end
  local known = redis.call('GET', epoch)
  return string.match(known, '^[1-9][0-9]*$') and #known <= 18 and known or nil
end

if redis.call('EXISTS', token) == 1 then
  return 0
end
local id = redis.call('INCR', counter)
if id == 1 or redis.call('EXISTS', epoch) == 0 then
  rotate()
end
local current = usable_epoch() or rotate()
redis.call('PUBLISH', channel, current .. '|' .. id .. '|' .. body)
redis.call('SET', token, '1', 'EX', token_s)
return id
