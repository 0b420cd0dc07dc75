import { setTimeout as sleep } from 'node:timers/promises'
import { Injectable } from '@nestjs/common'

const { WORD_MS = '200', REPORT_MS = '3000' } = process.env

/** Stands for what is slow and expensive. */
@Injectable()
export class AnswersService {
  /** Says the question back, at a model's pace. @throws AbortError when nobody wants it any more */
  async *words(question: string, signal: AbortSignal): AsyncGenerator<string> {
    for (const word of question.split(/\s+/)) {
      await sleep(Number(WORD_MS), undefined, { signal })
      yield word
    }
  }

  /** Something that cannot be stopped halfway. */
  async report(): Promise<string> {
    await sleep(Number(REPORT_MS))
    return 'Sales were good.'
  }
}
