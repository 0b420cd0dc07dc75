/** Milliseconds of the machine's monotonic clock: the same for all processes, unlike `performance.now()`. */
export function machineNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
