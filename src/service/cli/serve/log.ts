import { type Logger, pino } from 'pino';
import type { Output } from '../output/log-output.ts';
import { safeJson } from '../output/print.ts';
import type { LogLevel } from '../values.ts';

/** Only the parts of an error that are known to be harmless: drivers attach more, such as values of columns. */
function shownError(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack } = error;
  return { type: name, message, stack, ...('code' in error && { code: error.code }) };
}

/** One JSON object a line. Nothing secret is ever handed to it. */
export function createLog(level: LogLevel, output: Output): Logger {
  return pino(
    { level, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: shownError } },
    { write: (line: string) => output.write(safeJson(line)) },
  );
}
