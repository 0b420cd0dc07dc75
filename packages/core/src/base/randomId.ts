import { randomBytes } from 'node:crypto'

/** 96 random bits as 16 characters that are safe in keys, channels and URLs. */
export function randomId(): string {
  return randomBytes(12).toString('base64url')
}
