import type { Grant, Place } from '../../src/store/contract.js'

/** A place that writes down what it is told. */
export interface RecordingPlace extends Place {
  readonly told: string[]
  grant: Grant | undefined
}

export function place(permits = 1, key: string | null = null): RecordingPlace {
  const told: string[] = []
  const recording: RecordingPlace = {
    permits,
    key,
    slot: undefined,
    told,
    grant: undefined,
    onQueued: (position) => void told.push(`queued ${position}`),
    onGranted: (grant) => {
      recording.grant = grant
      told.push('granted')
    },
    onRefused: (reason) => void told.push(`refused ${reason}`),
    onLost: (cause) => void told.push(`lost ${cause}`),
  }
  return recording
}
