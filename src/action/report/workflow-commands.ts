/**
 * What a step says in its log, and what the runner takes from there: docs.github.com, "Workflow commands for GitHub
 * Actions". A test holds these lines to those of `@actions/core`. That one itself would have to be loaded as a whole,
 * with its HTTP client, TLS and child processes, before the first wrong input could be told: as long as all of Node.
 */

const escaped = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

const escapedProperty = (text: string): string => escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/** Where an annotation stands, and under which title. */
export interface AnnotationProperties {
  readonly title?: string;
  readonly file?: string;
}

function command(name: string, text: string, properties: AnnotationProperties = {}): void {
  const given = Object.entries(properties).filter(([, value]) => value !== '');
  const list = given.map(([key, value]) => `${key}=${escapedProperty(value)}`).join(',');
  info(`::${name}${list === '' ? '' : ` ${list}`}::${escaped(text)}`);
}

export function info(line: string): void {
  process.stdout.write(`${line}\n`);
}

export const debug = (text: string): void => command('debug', text);
export const warning = (text: string): void => command('warning', text);
export const error = (text: string, properties: AnnotationProperties): void => command('error', text, properties);
export const setSecret = (secret: string): void => command('add-mask', secret);
export const startGroup = (title: string): void => command('group', title);
export const endGroup = (): void => command('endgroup', '');
