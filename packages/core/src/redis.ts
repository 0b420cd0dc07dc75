export { RedisStore } from './redis/redisStore.js'
export type { RedisStoreOptions } from './redis/redisStore.js'
export type { RedisClient, RedisSubscriber } from './redis/client.js'
