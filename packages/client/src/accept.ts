/**
 * Asks the server to tell of the wait: it does so for who prefers `text/event-stream` to every other type that is named. Types that the
 * caller wants stay wanted, a little less. A caller who names `text/event-stream` has decided for themselves.
 */
export function askForEvents(headers: Headers): void {
  const wanted = headers.get('accept') ?? '*/*'
  if (/text\/event-stream/i.test(wanted)) return
  const others = wanted.replaceAll(/[^,]+/g, (type) => (/;\s*q\s*=/i.test(type) ? type : `${type};q=0.9`))
  headers.set('accept', `text/event-stream,${others}`)
}
