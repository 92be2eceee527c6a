import { type Logger, pino } from 'pino';
import type { Output } from '../../command/io.ts';
import { safeJson } from '../../command/print.ts';
import { safeText } from '../../interface/safe-text.ts';
import type { ServeSettings } from './settings.ts';

/** Text on a terminal, which a person reads; JSON in a pipe, for programs. Callers must not log secrets. */
export function createLog({ logLevel: level }: Pick<ServeSettings, 'logLevel'>, output: Output): Logger {
  const format = output.columns === undefined ? safeJson : logText;
  return pino(
    {
      level,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (name) => ({ level: name }) },
      serializers: { err: errorFields },
    },
    { write: (line: string) => output.write(format(line)) },
  );
}

/** Formats a line of pino for people: time, level, message, further fields, then the stack of an error. */
function logText(json: string): string {
  // pino writes one object per line and adds these fields.
  const { level, time, pid: _, hostname: __, msg = '', err, ...rest } = JSON.parse(json) as Record<string, unknown>;
  const details = Object.entries(rest).map(([name, value]) => `${name}=${textOf(value)}`);
  // Created by errorFields().
  const { message, stack } = (err ?? {}) as { readonly message?: string; readonly stack?: string };
  const head = `${textOf(time).slice(11, 19)} ${textOf(level).padEnd(5)} ${textOf(msg)}`;
  const first = [head, ...details, ...(message === undefined ? [] : [`error=${message}`])].join('  ');
  const stackLines = stack === undefined ? [] : stack.split('\n').slice(1);
  return `${[first, ...stackLines].map(safeText).join('\n')}\n`;
}

/** The parts of an error that contain no secrets: drivers attach more, such as column values. */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack } = error;
  return { type: name, message, stack, ...('code' in error && { code: error.code }) };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
