import type { Clock, Timer } from '../base/clock.js'
import { OptionError } from '../base/errors.js'

/** Waits for what an option's function promised, but not for ever. @throws OptionError when the time is over */
export async function within<Value>(
  ms: number,
  clock: Clock,
  option: string,
  promised: PromiseLike<Value>,
): Promise<Value> {
  let timer: Timer | undefined
  const late = new Promise<never>((_resolve, reject) => {
    const message = `The promise of the function "${option}" was not kept within ${ms} ms.`
    timer = clock.setTimer(() => reject(new OptionError(option, message)), ms, 'background')
  })
  try {
    return await Promise.race([promised, late])
  } finally {
    timer?.cancel()
  }
}
