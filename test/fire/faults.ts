import { type Fault, isLocking, isReleasing } from '../support/fault-proxy.ts';
import { startDeafPort } from './deaf-port.ts';
import type { Ground } from './ground.ts';
import { startSlowReader } from './slow-reader.ts';

/** A fault between a step and its service. */
export interface Trouble {
  readonly name: string;
  /** The conclusion of the step, unless it is a post-step, which never fails a job. */
  readonly ends: 'success' | 'failure';
  /** The fault is at the URL that the step gets, so it also affects the preparation of the step. */
  readonly atAddress?: true;
  begin(ground: Ground): Promise<void>;
}

const page = '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>nginx</body>\r\n</html>\r\n';

const faults: Readonly<Record<string, Fault>> = {
  'a reset before a request is done': { kind: 'cut' },
  'a reset after a request is done': { kind: 'done-then-cut' },
  'a truncated response': { kind: 'done-then-truncated' },
  'a 502 before a request is done': {
    kind: 'answer',
    status: 502,
    headers: { 'content-type': 'text/html' },
    body: page,
  },
  'a 504 after a request is done': { kind: 'done-then-answer', status: 504 },
  'a 429 with Retry-After': { kind: 'answer', status: 429, headers: { 'retry-after': '1' } },
  'a request without a response': { kind: 'silence' },
  'a processed request without a response': { kind: 'done-then-silence' },
  'a response that takes an hour, one byte at a time': { kind: 'done-then-drip', everyMs: 100 },
};

/** The number of faults that a step with four retries survives, per kind of request. */
const burst = 3;

const met = (name: string, fault: Fault): readonly Trouble[] => [
  {
    name: `${name}, ${burst} times`,
    ends: 'success',
    async begin({ proxy }) {
      let left = burst;
      proxy.meet(() => {
        left -= 1;
        return left >= 0 ? fault : undefined;
      });
    },
  },
  { name: `${name}, always`, ends: 'failure', begin: async ({ proxy }) => proxy.meet(() => fault) },
];

const always = (name: string, ends: Trouble['ends'], fault: Fault): Trouble => ({
  name,
  ends,
  begin: async ({ proxy }) => proxy.meet(() => fault),
});

export const troubles: readonly Trouble[] = [
  ...Object.entries(faults).flatMap(([name, fault]) => met(name, fault)),
  always('a slow network', 'success', { kind: 'delay', ms: 100 }),
  {
    name: 'a network that fails after the first lock or release',
    ends: 'failure',
    async begin({ proxy }) {
      let done = 0;
      proxy.meet((passing) => {
        done += 1;
        return done === 1 && (isLocking(passing) || isReleasing(passing)) ? undefined : { kind: 'silence' };
      });
    },
  },
  always('responses that arrive one byte at a time', 'success', { kind: 'done-then-drip', everyMs: 0 }),
  always('a 429 that asks for more time than is left', 'failure', {
    kind: 'answer',
    status: 429,
    headers: { 'retry-after': '3600' },
  }),
  {
    name: 'a port that never accepts a connection',
    ends: 'failure',
    atAddress: true,
    async begin(ground) {
      const deaf = await startDeafPort();
      ground.later(() => deaf.close());
      ground.reachAt(deaf.port);
    },
  },
  {
    name: 'a service that reads requests slowly',
    ends: 'success',
    atAddress: true,
    async begin(ground) {
      const reader = await startSlowReader(Number(new URL(ground.proxy.baseUrl).port), 10);
      ground.later(() => reader.close());
      ground.reachAt(reader.port);
    },
  },
];
