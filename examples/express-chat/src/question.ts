import type { RequestHandler } from 'express'

/** Checks a question before it takes a place in the line, and leaves it in `res.locals`. */
export const readQuestion: RequestHandler = (req, res, next) => {
  const { question } = (req.body ?? {}) as { question?: unknown }
  if (typeof question === 'string' && question.trim() !== '' && question.length <= 500) {
    res.locals['question'] = question.trim()
    next()
  } else {
    res.status(400).json({ detail: 'Send JSON such as {"question": "Who is next?"}, with 1 to 500 characters.' })
  }
}
