-- Publish one notification of the watch bus. Its epoch stays when the counter begins anew.
local counter, channel, epoch, token = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local body, candidate, token_s = ARGV[1], ARGV[2], ARGV[3]
if not redis.call('SET', token, '1', 'NX', 'EX', token_s) then
  return 0
end
local id = redis.call('INCR', counter)
redis.call('SET', epoch, candidate, 'NX')
redis.call('PUBLISH', channel, redis.call('GET', epoch) .. '|' .. id .. '|' .. body)
return id
