import { type Logger, pino } from 'pino';
import { safeText } from '../../dashboard/assets/text.js';
import type { Output } from '../output/log-output.ts';
import { safeJson } from '../output/print.ts';
import type { LogFormat, LogLevel } from '../values.ts';

type WrittenFormat = Exclude<LogFormat, 'auto'>;

/** Somebody reads along at a terminal; what is piped is for a program. */
export function logFormatFor(format: LogFormat, { columns }: Output): WrittenFormat {
  if (format !== 'auto') return format;
  return columns === undefined ? 'json' : 'text';
}

/** Nothing secret is ever handed to it. */
export function createLog(level: LogLevel, format: WrittenFormat, output: Output): Logger {
  const written = format === 'json' ? safeJson : logText;
  return pino(
    {
      level,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (name) => ({ level: name }) },
      serializers: { err: shownError },
    },
    { write: (line: string) => output.write(written(line)) },
  );
}

/** A line that pino has made, for a person: when, how bad, what, and then the rest. The stack of an error follows it. */
export function logText(json: string): string {
  // pino writes one object a line, with these of its own.
  const { level, time, pid: _, hostname: __, msg = '', err, ...rest } = JSON.parse(json) as Record<string, unknown>;
  const details = Object.entries(rest).map(([name, value]) => `${name}=${textOf(value)}`);
  // As shownError() has made it.
  const { message, stack } = (err ?? {}) as { readonly message?: string; readonly stack?: string };
  const head = `${textOf(time).slice(11, 19)} ${textOf(level).padEnd(5)} ${textOf(msg)}`;
  const first = [head, ...details, ...(message === undefined ? [] : [`error=${message}`])].join('  ');
  const stackLines = stack === undefined ? [] : stack.split('\n').slice(1);
  return `${[first, ...stackLines].map(safeText).join('\n')}\n`;
}

/** Only the parts of an error that are known to be harmless: drivers attach more, such as values of columns. */
function shownError(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack } = error;
  return { type: name, message, stack, ...('code' in error && { code: error.code }) };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
