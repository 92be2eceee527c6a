import type { Parsed } from '../../src/interface/parsed.ts';
import type { RateLimit } from '../../src/service/access/access.ts';
import { parseRateLimit, serveFlags } from '../../src/service/cli/settings.ts';

/** Reads a default from the help of the command, because operators read it there. */
function defaultOf<T>(flag: keyof typeof serveFlags, parse: (text: string) => Parsed<T>): T {
  const [, text = ''] = /^default (\S+)$/.exec(serveFlags[flag].otherwise) ?? [];
  const parsed = parse(text);
  if (!parsed.ok) throw new Error(`The help names no default of ${flag}. ${parsed.reason}`);
  return parsed.value;
}

/** The default rate limit of `serve`. Tests, benchmarks and the simulation use it unless they set another one. */
export const shippedRateLimit: RateLimit = defaultOf('rateLimit', parseRateLimit);
