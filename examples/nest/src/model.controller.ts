import { Body, Controller, Get, HttpCode, Inject, Post, Query, Sse, type MessageEvent } from '@nestjs/common'
import { concat, from, map, of, type Observable } from 'rxjs'
import type { FairQueueContext } from '@fairqueue/core/http'
import { AnswersService } from './answers.service.js'
import { InTurn, Turn } from './lines/inTurn.js'
import { QuestionPipe } from './question.pipe.js'

/** One way: the decorator. All handlers of this controller share the line `model`, but the one that has its own. */
@Controller()
@InTurn('model')
export class ModelController {
  readonly #answers: AnswersService

  constructor(@Inject(AnswersService) answers: AnswersService) {
    this.#answers = answers
  }

  /** An `EventSource` is told of its wait in the same stream. */
  @Sse('ask')
  ask(
    @Query('question', QuestionPipe) question: string,
    @Turn() { signal }: FairQueueContext,
  ): Observable<MessageEvent> {
    const words = from(this.#answers.words(question, signal)).pipe(map((data): MessageEvent => ({ data })))
    return concat(words, of({ type: 'done', data: '' }))
  }

  /** Waits in silence. */
  @Post('answer')
  @HttpCode(200)
  async answer(
    @Body('question', QuestionPipe) question: string,
    @Turn() { signal, waitedMs }: FairQueueContext,
  ): Promise<object> {
    const words: string[] = []
    for await (const word of this.#answers.words(question, signal)) words.push(word)
    return { answer: words.join(' '), waitedMs }
  }

  @Get('report')
  @InTurn('reports')
  async report(): Promise<object> {
    return { report: await this.#answers.report() }
  }
}
