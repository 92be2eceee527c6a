import { expect } from 'vitest';
import { type ProblemName, problemMediaType, problems, problemTypePrefix } from '../../../src/interface/problem.ts';
import type { Problem } from '../../../src/service/contract/schemas.ts';

/** A response, however it was fetched. */
export interface Answered {
  readonly status: number;
  readonly headers: { get(name: string): string | null | undefined };
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the expectations of a test state the shape.
  readonly body: any;
}

/** Expects this problem, with everything that all problems have. */
export function expectProblem({ status, headers, body }: Answered, name: ProblemName): Problem {
  expect(body, `an answer ${status} with a body`).not.toBeNull();
  expect(body).toMatchObject({
    type: problemTypePrefix + name,
    title: problems[name].title,
    status: problems[name].status,
    detail: expect.stringMatching(/^\S.*[.)]$/s),
    request_id: expect.stringMatching(/^req_[0-9a-f-]{36}$/),
  });
  expect(status).toBe(problems[name].status);
  expect(headers.get('content-type')).toBe(problemMediaType);
  expect(headers.get('x-request-id')).toBe(body.request_id);
  expect(headers.get('cache-control')).toBe('no-store');
  return body;
}

/** Expects the response to name exactly these fields of the request as invalid. */
export function expectInvalid(response: Answered, ...pointers: readonly string[]): void {
  const { errors = [], detail } = expectProblem(response, 'invalid-request');
  expect(errors.map(({ pointer }) => pointer).sort()).toEqual([...pointers].sort());
  for (const error of errors) expect(error.detail).toMatch(/^\S.*\.$/s);
  // Some clients show only the detail.
  expect(detail).toContain(errors[0]?.detail);
}
