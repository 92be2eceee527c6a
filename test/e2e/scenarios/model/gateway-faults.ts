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

/**
 * Responses of gateways. None of them comes from the service, whatever the status. Empty ones and JSON are recognized
 * only once the service has shown its marks.
 */
const gatewayAnswers: readonly GatewayAnswer[] = [
  page(404, '404 Not Found'),
  page(403, '403 Forbidden'),
  page(401, '401 Authorization Required'),
  page(502, '502 Bad Gateway'),
  page(200, 'Sign in'),
];

/** A response of a gateway in place of the service. The request may have been forwarded, and its response dropped. */
export const gatewayFault: fc.Arbitrary<Fault> = fc
  .record({ response: fc.constantFrom(...gatewayAnswers), done: fc.boolean() })
  .map(({ response, done }): Fault => ({ kind: done ? 'done-then-answer' : 'answer', ...response }));

/** Describes a fault in the output of a failed sequence. */
export function faultText(fault: Fault): string {
  if (fault.kind !== 'answer' && fault.kind !== 'done-then-answer') return fault.kind;
  const { kind, status, headers = {}, body = '' } = fault;
  const details = [headers['retry-after'], headers['content-type'], body === '' ? 'empty' : undefined];
  return [kind, status, ...details.filter((detail) => detail !== undefined)].join(' ');
}
