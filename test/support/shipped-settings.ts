import { durationUpTo } from '../../src/interface/duration.ts';
import type { Parsed } from '../../src/interface/parsed.ts';
import { serveFlags } from '../../src/service/cli/serve/settings.ts';
import { parseByteCount, parseRateLimit, wholeNumber } from '../../src/service/cli/values.ts';
import type { RateLimit } from '../../src/service/http/rate-limit.ts';

/** Of a command only the help tells the defaults: it is what an operator reads. */
function defaultOf<T>(flag: keyof typeof serveFlags, parse: (text: string) => Parsed<T>): T {
  const [, text = ''] = /^default (\S+)$/.exec(serveFlags[flag].otherwise) ?? [];
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(`The help names no default of ${flag}. ${parsed.reason}`);
  return parsed.value;
}

/** That of `serve` where nobody names one. Tests, benchmarks and the simulation have it unless they say otherwise. */
export const shippedRateLimit: RateLimit = defaultOf('rateLimit', parseRateLimit);

const count = wholeNumber(0, Number.MAX_SAFE_INTEGER);

const duration = durationUpTo({ seconds: 36_500 * 86_400 }, '36500d');

export const shippedRetention = {
  keepLockHistory: defaultOf('keepLockHistory', duration),
  keepSyncs: defaultOf('keepSyncs', duration),
  keepDeliveries: defaultOf('keepDeliveries', duration),
  keepAudit: undefined,
};

export const shippedQuotas = {
  maxLocks: defaultOf('maxLocks', count),
  maxLocksPerOwner: defaultOf('maxLocksPerOwner', count),
  maxRememberedBytes: defaultOf('maxRememberedBytes', parseByteCount),
};
