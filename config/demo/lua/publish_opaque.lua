-- Publish one message under an opaque epoch. The token is spent first, so an error further down
-- leaves it behind, and the message is lost for good.
local counter, channel, epoch, token = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local body, candidate, token_s = ARGV[1], ARGV[2], ARGV[3]
if not redis.call('SET', token, '1', 'NX', 'EX', token_s) then
  return 0
end
local id = redis.call('INCR', counter)
if id == 1 then
  redis.call('SET', epoch, candidate)
else
  redis.call('SET', epoch, candidate, 'NX')
end
redis.call('PUBLISH', channel, redis.call('GET', epoch) .. '|' .. id .. '|' .. body)
return id
