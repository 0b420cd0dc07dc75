const files = /** @type {HTMLInputElement} */ (document.querySelector('#files'))
const uploads = /** @type {HTMLElement} */ (document.querySelector('#uploads'))

files.addEventListener('change', () => {
  for (const file of files.files ?? []) void send(file)
  files.value = ''
})

/**
 * Sends a file until the server takes it.
 * @param {File} file
 */
async function send(file) {
  const item = document.createElement('li')
  uploads.append(item)
  /** @param {string} state */
  const show = (state) => (item.textContent = `${file.name}: ${state}`)
  for (;;) {
    show('in line, or being sent')
    try {
      const response = await fetch('/files', { method: 'POST', body: formOf(file) })
      const answer = await response.json()
      if (response.ok) {
        show(`stored, SHA-256 ${answer.sha256}`)
        return
      }
      if (response.status !== 429) {
        show(answer.detail)
        return
      }
      const seconds = Number(response.headers.get('Retry-After'))
      show(`too many uploads, again in ${seconds} s`)
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    } catch {
      show('the connection broke')
      return
    }
  }
}

/** @param {File} file */
function formOf(file) {
  const form = new FormData()
  form.set('file', file)
  return form
}
