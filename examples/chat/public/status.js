const EVERY_MS = 500

/** Shows how many run and wait over all servers, as it changes. Asks only while somebody can see it. */
export function watchStatus() {
  void look()
  setInterval(() => {
    if (!document.hidden) void look()
  }, EVERY_MS)
}

let looking = false

async function look() {
  if (looking) return
  looking = true
  const status = await fetch('/status').then(
    (response) => response.json(),
    () => ({}),
  )
  looking = false
  const { running, waiting, concurrency, instances, store } = status
  show('running', running)
  show('concurrency', concurrency === undefined ? '' : `of ${concurrency}`)
  show('waiting', waiting)
  show('instances', instances)
  show('servers', instances === 1 ? 'server' : 'servers')
  show('store', store ?? '')
}

/** @param {string} id @param {string | number | null | undefined} value null or undefined: unknown */
function show(id, value) {
  const element = /** @type {HTMLElement} */ (document.getElementById(id))
  const text = String(value ?? '–')
  if (element.textContent !== text) element.textContent = text
}
