import { startDeafPort } from '../support/deaf-port.ts';
import { type Fault, isLocking, isReleasing } from '../support/fault-proxy.ts';
import { startSlowReader } from '../support/slow-reader.ts';
import type { Ground } from './ground.ts';

/** What is wrong between a step and its service. */
export interface Trouble {
  readonly name: string;
  /** What comes of a step, unless it is a post-step, which fails no job. */
  readonly ends: 'success' | 'failure';
  /** It is at the address that a step is given, so that it is there for what comes before the step as well. */
  readonly atAddress?: true;
  begin(ground: Ground): Promise<void>;
}

const page = '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>nginx</body>\r\n</html>\r\n';

const faults: Readonly<Record<string, Fault>> = {
  'a reset before a request is done': { kind: 'cut' },
  'a reset after a request is done': { kind: 'done-then-cut' },
  'an answer that is cut in its middle': { kind: 'done-then-truncated' },
  'a 502 before a request is done': {
    kind: 'answer',
    status: 502,
    headers: { 'content-type': 'text/html' },
    body: page,
  },
  'a 504 after a request is done': { kind: 'done-then-answer', status: 504 },
  'a 429 with Retry-After': { kind: 'answer', status: 429, headers: { 'retry-after': '1' } },
  'a request that nobody answers': { kind: 'silence' },
  'a request that is done and never answered': { kind: 'done-then-silence' },
  'an answer that takes an hour, a byte at a time': { kind: 'done-then-drip', everyMs: 100 },
};

/** As many as a step with four retries gets over, of each kind of request. */
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
  always('a network that takes its time', 'success', { kind: 'delay', ms: 100 }),
  {
    name: 'a network that is gone after the first lock, or release',
    ends: 'failure',
    async begin({ proxy }) {
      let done = 0;
      proxy.meet((passing) => {
        done += 1;
        return done === 1 && (isLocking(passing) || isReleasing(passing)) ? undefined : { kind: 'silence' };
      });
    },
  },
  always('answers that come a byte at a time', 'success', { kind: 'done-then-drip', everyMs: 0 }),
  always('a 429 that asks for more time than there is', 'failure', {
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
    name: 'a service that takes its requests slowly',
    ends: 'success',
    atAddress: true,
    async begin(ground) {
      const reader = await startSlowReader(Number(new URL(ground.proxy.baseUrl).port), 10);
      ground.later(() => reader.close());
      ground.reachAt(reader.port);
    },
  },
];
