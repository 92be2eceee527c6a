import {
  type Problem,
  type ProblemName,
  problemMediaType,
  problems,
  problemTypePrefix,
} from '../../interface/problem.ts';
import type { RefusalExtras } from './refusal.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or nothing. */
  readonly body: string;
}

export function problemAnswer(
  name: ProblemName,
  detail: string,
  requestId: string,
  { errors, lock, headers = {} }: RefusalExtras = {},
): Answer {
  const { status, title } = problems[name];
  const problem: Problem = {
    type: problemTypePrefix + name,
    title,
    status,
    detail,
    request_id: requestId,
    ...(errors && { errors }),
    ...(lock && { lock }),
  };
  return {
    status,
    headers: {
      ...headers,
      'content-type': problemMediaType,
      'x-request-id': requestId,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
    body: JSON.stringify(problem),
  };
}
