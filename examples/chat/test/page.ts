import { describe, expect, it } from 'vitest'
import type { StartChat } from './chatServer.js'
import { eventually } from './eventually.js'
import { FakeModel } from './fakeModel.js'
import { answerOf, says, useBrowser } from './visitor.js'
import { twentyQuestions } from '../public/questions.js'

/** The page in a real browser. */
export function pageTests(start: StartChat): void {
  describe('The page of the example', () => {
    const visit = useBrowser()

    it('shows the place in the line, counts down, and shows the answer as it comes', async () => {
      const model = await FakeModel.started()
      const server = await start({ ...model.env, CONCURRENCY: '1' })
      const visitor = await visit(server.url)
      await visitor.seesCounts('0', '0')

      const first = await visitor.ask('Who is first?')
      await says(first, /^Answering/)
      const second = await visitor.ask('Who is second?')
      await says(second, /^Next in line/)
      const third = await visitor.ask('Who is third?')
      await says(third, /^2nd in line/)
      await visitor.seesCounts('1', '2')

      const conversation = await model.conversation(0)
      conversation.say('The first ')
      await eventually(() => answerOf(first)).toBe('The first ')
      conversation.finish('word.')
      await says(first, /^Answered/)
      expect(await answerOf(first)).toBe('The first word.')
      expect(await first.textContent()).toMatch(/fake-1, from [\w./]+\.md/)

      await says(second, /^Answering/)
      await says(third, /^Next in line, about \d+ s/)
      await visitor.seesCounts('1', '1')
      model.answerEverything()
      await says(third, /^Answered/)
      await visitor.seesCounts('0', '0')
      expect(model.conversations.map(({ question }) => question)).toEqual([
        'Who is first?',
        'Who is second?',
        'Who is third?',
      ])
      expect(visitor.complaints).toEqual([])
    })

    it('answers twenty questions at once in the order of their places, two at a time', async () => {
      const model = await FakeModel.started()
      const server = await start({ ...model.env, CONCURRENCY: '2' })
      const visitor = await visit(server.url)
      await visitor.askTwenty()
      await visitor.seesCounts('2', '18')
      const places = (): Promise<string[]> => visitor.cards().locator('.place').allTextContents()
      const line = ['Next', '2nd', '3rd', ...Array.from({ length: 15 }, (_, i) => `${i + 4}th`)]
      await eventually(async () => (await places()).toSorted()).toEqual(['Answering', 'Answering', ...line].toSorted())
      const shown = await places()
      const inLine = line.map((place) => twentyQuestions[shown.indexOf(place)])

      for (let number = 0; number < 18; number += 1) {
        expect(model.conversations.length).toBeLessThanOrEqual(number + 2)
        ;(await model.conversation(number)).finish()
        await model.conversation(number + 2)
      }
      expect(model.conversations.slice(2).map(({ question }) => question)).toEqual(inLine)
      model.answerEverything()
      await eventually(places).toEqual(Array.from({ length: 20 }, () => 'Answered'))
      await visitor.seesCounts('0', '0')
      expect(visitor.complaints).toEqual([])
    })

    it('gives the place to the next when a question is cancelled, waiting or running, alone or one of twenty', async () => {
      const model = await FakeModel.started()
      const server = await start({ ...model.env, CONCURRENCY: '1' })
      const visitor = await visit(server.url)
      const alone = await visitor.ask('Who waits for nobody?')
      await model.conversation(0)
      await visitor.askTwenty()
      await server.untilCounts(1, 20)

      const [next, second] = [await visitor.questionAt('Next'), await visitor.questionAt('2nd')]
      await visitor.card(next).getByRole('button').click()
      await server.untilCounts(1, 19)
      await says(visitor.card(next), /^Cancelled/)
      await says(visitor.card(second), /^Next in line/)

      await alone.getByRole('button', { name: 'Cancel: Who waits for nobody?' }).click()
      const conversation = await model.conversation(0)
      await conversation.closed
      expect(conversation.wasLeft).toBe(true)
      await says(visitor.card(second), /^Answering/)
      await server.untilCounts(1, 18)
      expect(visitor.complaints).toEqual([])
    })

    it('frees all places of a visitor who leaves the page', async () => {
      const model = await FakeModel.started()
      const server = await start({ ...model.env, CONCURRENCY: '1' })
      const [leaving, staying] = [await visit(server.url), await visit(server.url)]
      await leaving.ask('Who leaves?')
      const running = await model.conversation(0)
      await leaving.ask('Who waits and leaves?')
      await server.untilCounts(1, 1)
      await leaving.askTwenty()
      await server.untilCounts(1, 21)
      const last = await staying.ask('Who stays?')
      await says(last, /^22nd in line/)

      await leaving.page.goto('about:blank')
      await running.closed
      expect(running.wasLeft).toBe(true)
      await says(last, /^Answering/)
      await server.untilCounts(1, 0)
      // The page is told of the turn before the model is asked.
      await eventually(() =>
        model.conversations.filter(({ wasLeft }) => !wasLeft).map(({ question }) => question),
      ).toEqual(['Who stays?'])
    })

    it('shows what comes from outside as text, whatever it looks like', async () => {
      const model = await FakeModel.started()
      const server = await start(model.env)
      const visitor = await visit(server.url)
      const markup = '<img src="x" onerror="document.title = 1"><script>document.title = 1</script>'
      const card = await visitor.ask(markup)
      const answer = await model.conversation(0)
      answer.finish(`${markup}\n\nevent: done\ndata: null\n\n`)
      await says(card, /^Answered/)
      expect(answer.question).toBe(markup)
      expect(await answerOf(card)).toBe(`${markup}\n\nevent: done\ndata: null\n\n`)
      expect(await card.locator('img, script').count()).toBe(0)
      expect(visitor.complaints).toEqual([])
    })

    it('says so when an answer breaks off, and goes on', async () => {
      const model = await FakeModel.started()
      const server = await start({ ...model.env, CONCURRENCY: '1' })
      const visitor = await visit(server.url)
      const card = await visitor.ask('What breaks?')
      const broken = await model.conversation(0)
      broken.say('It ')
      await eventually(() => answerOf(card)).toBe('It ')
      broken.breakOff()
      await says(card, /^The answer broke off/)
      await server.untilCounts(0, 0)
      model.answerEverything()
      await says(await visitor.ask('What goes on?'), /^Answered/)
      expect(visitor.complaints).toEqual([])
    })

    it('keeps one connection free for the counts, because a browser has only six', async () => {
      const model = await FakeModel.started()
      const server = await start({ ...model.env, CONCURRENCY: '1' })
      const visitor = await visit(server.url)
      for (let i = 1; i <= 5; i += 1) await visitor.ask(`Question ${i}`)
      await server.untilCounts(1, 4)
      const ask = visitor.page.getByRole('button', { name: 'Ask', exact: true })
      expect(await ask.isDisabled()).toBe(true)
      await visitor.seesCounts('1', '4')
      await visitor.card('Question 5').getByRole('button').click()
      await eventually(() => ask.isDisabled()).toBe(false)
      await visitor.seesCounts('1', '3')
    })

    it('fits a phone', async () => {
      const model = await FakeModel.started()
      const server = await start(model.env)
      const visitor = await visit(server.url, { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true })
      await visitor.askTwenty()
      await server.untilCounts(2, 18)
      const card = await visitor.ask('x'.repeat(500))
      await says(card, /^19th in line/)
      const first = await model.conversation(0)
      first.say('y'.repeat(500))
      await eventually(() => visitor.page.evaluate('document.body.innerText')).toContain('y'.repeat(500))
      expect(await visitor.page.evaluate('[document.documentElement.scrollWidth, innerWidth]')).toEqual([360, 360])
      const sideways = `[...document.querySelectorAll('.answer')].filter((it) => it.scrollWidth > it.clientWidth).length`
      expect(await visitor.page.evaluate(sideways)).toBe(0)
    })

    it('works by keyboard alone', async () => {
      const model = await FakeModel.started()
      const server = await start({ ...model.env, CONCURRENCY: '1' })
      const visitor = await visit(server.url)
      const { keyboard } = visitor.page
      const focused = (): Promise<unknown> =>
        visitor.page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent.trim()')
      await keyboard.press('Tab')
      await keyboard.type('Who has no mouse?')
      await keyboard.press('Enter')
      await model.conversation(0)
      await keyboard.press('Tab')
      expect(await focused()).toBe('Ask')
      await keyboard.press('Tab')
      expect(await focused()).toBe('Ask twenty at once')
      await keyboard.press('Tab')
      expect(await focused()).toBe('Cancel: Who has no mouse?')
      await keyboard.press('Enter')
      await says(visitor.card('Who has no mouse?'), /^Cancelled/)
      expect(await focused()).toContain('Who has no mouse?')
    })

    it('allows nothing but its own files', async () => {
      const server = await start()
      const { headers } = await fetch(server.url)
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self'; /,
      )
      expect(headers.get('content-security-policy')).not.toMatch(/unsafe|\*/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    })
  })
}
