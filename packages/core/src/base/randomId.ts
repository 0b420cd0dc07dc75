import { randomBytes, randomFillSync } from 'node:crypto'

/** 96 random bits as 16 characters that are safe in keys, channels and URLs. */
export function randomId(): string {
  return randomBytes(12).toString('base64url')
}

const SECRET_BYTES = 9

/** Random bytes are dear one by one. */
const pool = Buffer.alloc(SECRET_BYTES * 512)
let used = pool.length

/** 72 random bits as 12 such characters: enough that nobody finds one by asking, and short, since every ticket carries one. */
export function randomSecret(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += SECRET_BYTES
  return pool.toString('base64url', used - SECRET_BYTES, used)
}
