import { styleText } from 'node:util';

/** The role of a text, which determines its style. */
export type Tone =
  | 'console'
  | 'debug'
  | 'error'
  | 'good'
  | 'heading'
  | 'nightly'
  | 'notice'
  | 'plain'
  | 'quiet'
  | 'release'
  | 'title'
  | 'warning'
  | 'webhook';

type Style = Parameters<typeof styleText>[0];

const styles: Readonly<Record<Exclude<Tone, 'plain'>, Style>> = {
  console: 'blue',
  debug: 'magenta',
  error: ['bold', 'red'],
  good: 'green',
  heading: 'bold',
  nightly: 'magenta',
  notice: 'blue',
  quiet: 'gray',
  release: 'cyan',
  title: ['bold', 'green'],
  warning: ['bold', 'yellow'],
  webhook: 'yellow',
};

export type Paint = (tone: Tone, text: string) => string;

export const createPaint =
  (coloured: boolean): Paint =>
  (tone, text) =>
    coloured && tone !== 'plain' && text !== '' ? styleText(styles[tone], text, { validateStream: false }) : text;

/** Follows https://no-color.org and https://force-color.org. FORCE_COLOR takes precedence, as in Node. */
export function wantsColour(terminal: { readonly isTTY?: boolean }, environment: NodeJS.ProcessEnv): boolean {
  const forced = environment['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return terminal.isTTY === true && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
}
