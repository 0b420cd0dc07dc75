import { CommandError, run, ROOT } from '../process.mjs'

/** Compiles what the tests start as processes of their own. Faults of the types are for the gate: tsc emits all the same. */
export default async function build(): Promise<void> {
  try {
    await run(process.execPath, [`${ROOT}scripts/build.mjs`], { stdio: ['ignore', 'ignore', 'inherit'] })
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    console.error('The types do not check (npm run types); the tests run all the same.')
  }
}
