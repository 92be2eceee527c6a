const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}';
const named = (prefix: string): RegExp => new RegExp(`\\b${prefix}${uuid}\\b`, 'g');

/** What is another in every run, and what stands for it. The order matters: a later one may be a part of an earlier one. */
const replacements: readonly (readonly [pattern: RegExp, name: string])[] = [
  // Only there so that GitHub does not take a part of a text for a mention, an issue or an emoji.
  [/<wbr>/g, ''],
  [/[^\s"'`]*\/runner-[^/\s]+\/work\/_temp/g, '<temp>'],
  [/[^\s"'`]*\/runner-[^/\s]+\/work\/dragon\/dragon/g, '<checkout>'],
  [/(?<=:\/\/(?:127\.0\.0\.1|localhost)):\d+/g, ':<port>'],
  [named('w'), '<workspace>'],
  [named('req_'), '<request>'],
  [named('sync_'), '<sync>'],
  [named('lock_'), '<lock>'],
  [named('hook_'), '<hook>'],
  [named(''), '<id>'],
  [/\b[0-9a-f]{40}\b/g, '<commit>'],
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
  [/\b(?:\d{4}-\d\d-\d\d )?\d\d:\d\d UTC/g, '<clock>'],
  [/\b(?:in \d+ (?:s|min|h|d)(?: \d+ (?:min|h))?|\d+ (?:s|min|h) ago)\b/g, '<distance>'],
  [/\b\d+(?:\.\d)? s\b/g, '<duration>'],
];

/** A text as it is in every run: with names for times, ids, ports and folders. */
export const stable = (text: string): string =>
  replacements.reduce((rest, [pattern, name]) => rest.replaceAll(pattern, name), text);

/** The same of each text. */
export const stableAll = (texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, stable(text)]));
