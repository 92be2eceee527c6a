import { EventEmitter, once } from 'node:events';
import type { BrowserContext, ConsoleMessage, Request } from 'playwright-core';

/** The maximum wait for an expected problem. */
const timeoutMs = 20_000;

export interface Problems {
  /** The unexpected problems, as lines for a person. */
  readonly unexpected: readonly string[];
  /** Waits for a problem, and removes it from the unexpected ones. */
  expect(pattern: RegExp): Promise<void>;
}

const isOurs = (url: string): boolean => /^(127\.0\.0\.1|localhost|\[::1\])$/.test(new URL(url).hostname);
const hasHost = (url: string): boolean => /^(https?|wss?):/.test(url);

function ofConsole(message: ConsoleMessage): string | undefined {
  const text = message.text();
  // The failed request reports the same problem, with its URL.
  if (message.type() !== 'error' || text.startsWith('Failed to load resource: net::')) return undefined;
  const { url, lineNumber } = message.location();
  // The wording differs between browser versions and directives; all contain one of these names.
  const isPolicy = /Content[ -]Security[ -]Policy|'?Trusted(HTML|Script|ScriptURL|Type)/i.test(text);
  return `${isPolicy ? 'Content Security Policy' : 'Console'}: ${text} (${url}:${lineNumber + 1})`;
}

function ofRequest(request: Request): string | undefined {
  const reason = request.failure()?.errorText ?? 'no reason given';
  const what = `${request.method()} ${request.url()}`;
  // Aborted by the page or by leaving it, as every event stream is; servers and networks cannot cause this.
  if (reason === 'net::ERR_ABORTED') return undefined;
  // The console reports policy violations, with the directive.
  if (reason === 'csp') return undefined;
  if (hasHost(request.url()) && !isOurs(request.url())) return `Beyond this machine: ${what} was refused (${reason})`;
  return `Request failed: ${what} (${reason})`;
}

/** Collects the problems in all pages of a context from now on. */
export function collectProblems(context: BrowserContext): Problems {
  const unexpected: string[] = [];
  const events = new EventEmitter();
  const add = (line: string | undefined): void => {
    if (line === undefined) return;
    unexpected.push(line);
    events.emit('problem');
  };
  context.on('console', (message) => add(ofConsole(message)));
  context.on('weberror', (failed) => {
    const error = failed.error();
    add(`Error of a script: ${error.stack || error.message}`);
  });
  context.on('requestfailed', (request) => add(ofRequest(request)));
  context.on('page', (page) => page.on('crash', () => add(`The page crashed: ${page.url()}`)));

  return {
    unexpected,
    async expect(pattern) {
      const signal = AbortSignal.timeout(timeoutMs);
      const find = () => unexpected.findIndex((line) => pattern.test(line));
      while (find() === -1) {
        await once(events, 'problem', { signal }).catch(() => {
          throw new Error(`There was no problem like ${pattern}, but: ${unexpected.join('\n') || 'none at all.'}`);
        });
      }
      unexpected.splice(find(), 1);
    },
  };
}
