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
    ageMs: 0,
    slot: undefined,
    told,
    grant: undefined,
    onQueued: (position) => void told.push(`queued ${position}`),
    onGranted: (grant) => {
      recording.grant = grant
      told.push('granted')
    },
    onRefused: (reason) => void told.push(`refused ${reason}`),
    onFound: ({ permits: found, ageMs }) => void told.push(`found ${found} ${ageMs}`),
    onTaken: () => void told.push('taken'),
    onLost: (cause) => void told.push(`lost ${cause}`),
  }
  return recording
}
