import fc from 'fast-check';
import type { Fault } from '../../../support/fault-proxy.ts';

interface GatewayAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const page = (status: number, title: string): GatewayAnswer => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n</body>\r\n</html>\r\n`,
});

const empty = (status: number): GatewayAnswer => ({ status, headers: { 'content-length': '0' }, body: '' });

/** None of these is the service's, whatever its status. */
const gatewayAnswers: readonly GatewayAnswer[] = [
  page(404, '404 Not Found'),
  page(403, '403 Forbidden'),
  page(401, '401 Authorization Required'),
  page(502, '502 Bad Gateway'),
  page(200, 'Sign in'),
  empty(404),
  empty(200),
  {
    status: 403,
    headers: { 'content-type': 'application/json', 'x-amzn-errortype': 'MissingAuthenticationTokenException' },
    body: '{"message":"Missing Authentication Token"}',
  },
];

/** A gateway answers a request in place of the service. It may have passed the request on, and given up the response. */
export const gatewayFault: fc.Arbitrary<Fault> = fc
  .record({ response: fc.constantFrom(...gatewayAnswers), done: fc.boolean() })
  .map(({ response, done }): Fault => ({ kind: done ? 'done-then-answer' : 'answer', ...response }));

export const isOfGateway = (fault: Fault): boolean =>
  (fault.kind === 'answer' || fault.kind === 'done-then-answer') &&
  gatewayAnswers.some(({ status, body }) => status === fault.status && body === fault.body);

/** A fault as a failed sequence shows it. */
export function faultText(fault: Fault): string {
  if (fault.kind !== 'answer' && fault.kind !== 'done-then-answer') return fault.kind;
  const { kind, status, headers = {}, body = '' } = fault;
  const details = [headers['retry-after'], headers['content-type'], body === '' ? 'empty' : undefined];
  return [kind, status, ...details.filter((detail) => detail !== undefined)].join(' ');
}
