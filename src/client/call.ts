import { unlessAborted } from '../interface/timers.ts';
import type { Answer } from './answer.ts';
import type { Clock, ServerClock } from './clock.ts';
import type { SentRequest } from './connection.ts';
import { connectionFailure } from './connection.ts';
import type { JsonObject } from './json.ts';
import { rateLimitIn } from './rate-limit.ts';
import { type RefusalContext, refusalOf, retryAfterOf } from './refusal.ts';
import { type Attempt, backoff, judge, type RetryReason } from './retry.ts';
import type { Failure, Refused } from './service-error.ts';
import { ServiceError } from './service-error.ts';
import { createServiceText, type ServiceText } from './service-text.ts';
import { createAdmission, createThrottle } from './throttle.ts';
import { type StartTimer, startTimeLimit, type TimeLimit } from './time-limit.ts';

/** The limits of one operation: of its calls, its retries and its sleeps together. */
export interface Within {
  /** By the clock of the client, in milliseconds since 1970. */
  readonly deadline: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path and query on the origin of the service, encoded. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  /** The same key may have been sent before this call. */
  readonly keySentBefore?: boolean;
  /** It is not sent again where an attempt before may have done what was asked. */
  readonly attempts?: 'once' | undefined;
  /** False for what has to be sent at once, whatever the service has said of its limit: a release, unless it is said. */
  readonly paced?: boolean | undefined;
  /** The service is asked to take so much longer for its answer. */
  readonly answerDelayMs?: number;
  /** What is secret in the request itself. */
  readonly secrets?: readonly string[];
}

interface Course {
  readonly texts: ServiceText;
  /** An attempt of which no answer was seen, in this call or before it, can have done what was asked. */
  readonly mayBeDone: boolean;
  /** By the clock of the client, when it was first sent. */
  readonly sentAt: number;
  fail(failure: Failure): ServiceError;
  /** Of an answer that is none of success. */
  refuse(answer: Answer): ServiceError;
}

export type Outcome =
  /** The last answer, whatever its status; what is worth a retry has had it. */
  | (Course & { readonly kind: 'answered'; readonly answer: Answer })
  | (Course & { readonly kind: 'given-up'; readonly error: ServiceError });

export type Call = (request: Request, within: Within) => Promise<Outcome>;

export interface Retry {
  readonly method: string;
  readonly path: string;
  /** How often it was sent so far. */
  readonly attempts: number;
  readonly delayMs: number;
  readonly reason: RetryReason;
  /** Why, as a sentence. */
  readonly why: string;
}

/** Sends a request once and reads its answer; rejects when the connection breaks or the signal is aborted. */
export type Send = (request: SentRequest, signal: AbortSignal, texts: ServiceText) => Promise<Answer>;

export interface CallParts {
  readonly baseUrl: URL;
  readonly clock: Clock;
  readonly send: Send;
  /** For each attempt. */
  readonly timeoutMs: number;
  /** What is more waits until one of them is free. */
  readonly maxConnections: number;
  readonly secrets: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Attempts after the first. */
  readonly retries: number;
  readonly serverClock: ServerClock;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly closed: AbortSignal;
  readonly onAnswer: (answer: Answer, texts: ServiceText) => void;
  readonly onRetry: (retry: Retry) => void;
  /** Little remains of a rate limit, so that the next request waits for so long. */
  readonly onPaced: (delayMs: number) => void;
  readonly startTimer?: StartTimer | undefined;
}

interface AttemptContext {
  readonly texts: ServiceText;
  /** Of the whole call. */
  readonly signal: AbortSignal;
  readonly paced: boolean;
  readonly limitMs: number;
}

const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** RFC 9110 section 5.5. */
const unsendableHeader = (headers: Readonly<Record<string, string>>): string | undefined =>
  Object.keys(headers).find((name) => !fieldValue.test(headers[name] ?? ''));

const pathOf = (target: string): string => target.replace(/\?.*$/s, '');

export function createCall(parts: CallParts): Call {
  const { baseUrl, clock, serverClock, random, sleep } = parts;
  const throttle = createThrottle(random);
  const admit = createAdmission({ ...parts, throttle });
  // All spellings of a secret take a while to make, and most requests have none of their own.
  const usualTexts = createServiceText(parts.secrets);
  /** The last answer that refused a request for the rate limit. */
  let limitedBy: Refused | undefined;

  const wireOf = ({ method, target, headers, body }: Request): SentRequest => ({
    method,
    target,
    headers: { ...parts.headers, ...(body && { 'content-type': 'application/json' }), ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });

  /** What an answer says of the limit counts before the next request gets the connection. */
  function heed(answer: Answer, sentAt: number, texts: ServiceText, paced: boolean): void {
    serverClock.saw(answer.headers);
    parts.onAnswer(answer, texts);
    const status = rateLimitIn(answer.headers, serverClock.now());
    if (status !== undefined) throttle.saw(status, clock());
    if (!paced) return;
    if (answer.status === 429) throttle.refused(sentAt, retryAfterOf(answer, serverClock.now()), clock());
    else throttle.served();
  }

  /** Undefined when the whole call ended before the attempt did. */
  async function attempt(wire: SentRequest, context: AttemptContext): Promise<Attempt | undefined> {
    const { texts, signal, paced, limitMs } = context;
    const sentAt = clock();
    const limit = startTimeLimit(limitMs, [signal], parts.startTimer);
    let answer: Answer;
    try {
      answer = await unlessAborted(parts.send(wire, limit.signal, texts), limit.signal);
    } catch (error) {
      if (limit.isOver()) return { kind: 'lost', failure: { kind: 'timeout', limitMs }, mayBeDone: true };
      if (signal.aborted) return undefined;
      const failure = connectionFailure(error, texts);
      return { kind: 'lost', failure, mayBeDone: failure.mayHaveArrived };
    } finally {
      limit.stop();
      if (paced) throttle.ended();
    }
    heed(answer, sentAt, texts, paced);
    return { kind: 'answered', answer };
  }

  async function run(request: Request, { deadline }: Within, limit: TimeLimit): Promise<Outcome> {
    const { attempts: most, answerDelayMs = 0 } = request;
    const wire = wireOf(request);
    const path = pathOf(request.target);
    const { secrets: ownSecrets = [] } = request;
    const texts = ownSecrets.length === 0 ? usualTexts : createServiceText([...parts.secrets, ...ownSecrets]);
    const limitMs = parts.timeoutMs + answerDelayMs;
    const retries = most === 'once' ? 0 : parts.retries;
    // To give back is never held up by what is still to be asked for.
    const paced = request.paced ?? request.method !== 'DELETE';
    let sentAt: number | undefined;
    let attempts = 0;
    let failed = 0;
    let counted = 0;
    let mayBeDone = request.keySentBefore === true;
    let last: Failure | undefined;

    const fail = (failure: Failure): ServiceError =>
      new ServiceError({ method: request.method, path, attempts }, failure);
    const context = (): RefusalContext => ({ baseUrl, texts, serverNow: serverClock.now() });
    const refuse = (answer: Answer): ServiceError => fail(refusalOf(answer, context()));
    const course = (): Course => ({ texts, sentAt: sentAt ?? clock(), mayBeDone, fail, refuse });
    const interruption = ({ limited }: { limited?: boolean } = {}): Failure =>
      limit.signal.aborted && !limit.isOver()
        ? { kind: 'aborted' }
        : { kind: 'deadline', last, retryAfterMs: undefined, limited };
    const giveUp = (failure: Failure): Outcome => ({ kind: 'given-up', error: fail(failure), ...course() });

    const unsendable = unsendableHeader(wire.headers);
    if (unsendable !== undefined) {
      return giveUp({
        kind: 'unsendable',
        why: `the header ${unsendable} would have characters that no header can have`,
      });
    }

    for (;;) {
      if (limit.signal.aborted || clock() >= deadline) return giveUp(interruption());

      const admission = await admit({ paced, deadline, signal: limit.signal });
      if (admission.kind === 'too-late') {
        const retryAfterMs = limitedBy?.retryAfterMs === undefined ? undefined : admission.delayMs;
        return giveUp({ kind: 'deadline', last: limitedBy, retryAfterMs });
      }
      if (admission.kind === 'ended') {
        if (!admission.limited) return giveUp(interruption());
        last ??= limitedBy;
        return giveUp(interruption({ limited: true }));
      }
      sentAt ??= clock();
      attempts += 1;
      const tried = await attempt(wire, { texts, signal: limit.signal, paced, limitMs }).finally(admission.leave);
      if (tried === undefined) {
        mayBeDone = true;
        return giveUp(interruption());
      }
      const judgement = judge(tried, context(), mayBeDone);
      if (judgement.kind === 'end') return { kind: 'answered', answer: judgement.answer, ...course() };

      const { failure } = judgement;
      mayBeDone ||= judgement.mayBeDone;
      if (judgement.kind === 'stop') return giveUp(failure);

      const { reason, retryAfterMs } = judgement;
      last = failure;
      failed += 1;
      if (reason === 'failed') counted += 1;
      if (counted > retries || (most === 'once' && mayBeDone)) return giveUp(failure);
      // All that are paced wait for the limit together, where they are admitted.
      const waitsTogether = paced && reason === 'limited';
      if (waitsTogether && failure.kind === 'refused') limitedBy = failure;
      const delayMs = waitsTogether ? throttle.refusedUntil() - clock() : backoff(failed, retryAfterMs, random);
      const timeLeft = deadline - clock();
      if (delayMs >= timeLeft) {
        const asked = retryAfterMs !== undefined && retryAfterMs >= timeLeft ? retryAfterMs : undefined;
        return giveUp({ kind: 'deadline', last: failure, retryAfterMs: asked });
      }
      parts.onRetry({ method: request.method, path, attempts, delayMs, reason, why: fail(failure).message });
      if (!waitsTogether) await sleep(delayMs, limit.signal);
    }
  }

  return async (request, within) => {
    const outer = [parts.closed, ...(within.signal ? [within.signal] : [])];
    const limit = startTimeLimit(within.deadline - clock(), outer, parts.startTimer);
    try {
      return await run(request, within, limit);
    } finally {
      limit.stop();
    }
  };
}
