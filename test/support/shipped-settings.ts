import { serve } from '../../src/service/cli/commands/serve.ts';
import { parseRateLimit } from '../../src/service/cli/line/values.ts';
import type { RateLimit } from '../../src/service/http/rate-limit.ts';

function defaultRateLimit(): RateLimit {
  // Of a command only the help tells the defaults: it is what an operator reads.
  const [, text = ''] = /^default (\S+)$/.exec(serve.flags['rate-limit']?.otherwise ?? '') ?? [];
  const parsed = parseRateLimit(text);
  if (!parsed.ok) throw new Error(`The help names no default of --rate-limit. ${parsed.why}`);
  return parsed.value;
}

/** That of `serve` where nobody names one. Tests, benchmarks and the simulation have it unless they say otherwise. */
export const shippedRateLimit: RateLimit = defaultRateLimit();
