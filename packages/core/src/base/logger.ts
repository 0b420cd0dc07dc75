/** Where warnings go: one per outage or finding, never one per request. `console` fits. */
export interface Logger {
  warn(message: string, details: { readonly code: WarningCode; readonly cause?: unknown }): void
}

/** Stable words for what a warning is about. */
export type WarningCode =
  | 'FQ_STORE_DOWN'
  | 'FQ_WAKE_CHANNEL_DOWN'
  | 'FQ_CONFIG_CONFLICT'
  | 'FQ_LISTENER_THREW'
  | 'FQ_TROUBLE'
  | 'FQ_LOST_HEADERS'
  | 'FQ_REACHED_TWICE'
  | 'FQ_HELD_WHILE_WAITING'
  | 'FQ_BODY_FLOWS'

/** The default: Node's own warnings, which a process prints on stderr and can listen to (`process.on('warning')`). */
export const processLogger: Logger = {
  warn: (message, { code, cause }) => {
    process.emitWarning(message, {
      type: 'FairqueueWarning',
      code,
      ...(cause instanceof Error && { detail: cause.message }),
    })
  },
}
