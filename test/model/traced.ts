/** Set `FAIRQUEUE_MODEL_TRACE=1` to see every event, and every call that the server executes. */
export const traced: boolean = process.env['FAIRQUEUE_MODEL_TRACE'] === '1'
