import { parsePositiveDuration } from '../../src/interface/duration.ts';
import type { Parsed } from '../../src/interface/parsed.ts';
import { parseByteCount, parseRateLimit, wholeNumber } from '../../src/service/cli/definition/values.ts';
import { serveFlags } from '../../src/service/cli/serve/settings.ts';
import type { RateLimit } from '../../src/service/http/rate-limit.ts';

/** Reads a default from the help of the command, because operators read it there. */
function defaultOf<T>(flag: keyof typeof serveFlags, parse: (text: string) => Parsed<T>): T {
  const [, text = ''] = /^default (\S+)$/.exec(serveFlags[flag].otherwise) ?? [];
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(`The help names no default of ${flag}. ${parsed.reason}`);
  return parsed.value;
}

/** The default rate limit of `serve`. Tests, benchmarks and the simulation use it unless they set another one. */
export const shippedRateLimit: RateLimit = defaultOf('rateLimit', parseRateLimit);

const count = wholeNumber(0, Number.MAX_SAFE_INTEGER);

export const shippedRetention = {
  keepLockHistory: defaultOf('keepLockHistory', parsePositiveDuration),
  keepSyncs: defaultOf('keepSyncs', parsePositiveDuration),
  keepAudit: undefined,
};

export const shippedQuotas = {
  maxLocks: defaultOf('maxLocks', count),
  maxLocksPerOwner: defaultOf('maxLocksPerOwner', count),
  maxRememberedBytes: defaultOf('maxRememberedBytes', parseByteCount),
};
